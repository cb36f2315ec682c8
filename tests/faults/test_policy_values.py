"""Policy files with a value that cannot be: numbers out of range, unknown names, keys that do not fit the role."""

import pytest

from faults.harness import (
    DATA,
    Fault,
    age,
    algorithm,
    assert_refused,
    changed,
    each,
    like,
    privacy,
    says,
    section,
    town,
    zip_code,
)


def k(value: str) -> str:
    return changed("k = 2", f"k = {value}")


ROLES = "must be 'identifier', 'quasi', 'sensitive' or 'insensitive'"
ONE_HIERARCHY = "must have exactly one of file, prefix, intervals, cuts, dates, flat, tree"

PRIVACY = [
    Fault("k-1", says("policy.toml, line 2: 'privacy.k' must be greater than or equal to 2; got 1."), policy=k("1")),
    Fault("k-0", says("policy.toml, line 2: 'privacy.k' must be greater than or equal to 2; got 0."), policy=k("0")),
    Fault(
        "k-negative",
        says("policy.toml, line 2: 'privacy.k' must be greater than or equal to 2; got -3."),
        policy=k("-3"),
    ),
    Fault("k-text", says("policy.toml, line 2: 'privacy.k' must be a valid integer; got 'ten'."), policy=k('"ten"')),
    Fault("k-fraction", says("policy.toml, line 2: 'privacy.k' must be a valid integer; got 2.5."), policy=k("2.5")),
    Fault(
        "k-true",
        says(like(r"policy\.toml, line 2: 'privacy\.k' must be a valid integer; got [Tt]rue\.")),
        policy=k("true"),
    ),
    Fault("k-list", says("policy.toml, line 2: 'privacy.k' must be a valid integer."), policy=k("[2]")),
    Fault(
        "k-over-n",
        says("policy.toml, line 2: k = 5 is more than the 4 records of the table; choose a smaller k."),
        policy=k("5"),
    ),
    Fault(
        "k-huge",
        says(f"policy.toml, line 2: k = {10**30} is more than the 4 records of the table; choose a smaller k."),
        policy=k(str(10**30)),
    ),
    Fault(
        "limit-negative",
        says("policy.toml, line 3: 'privacy.suppression_limit' must be greater than or equal to 0; got -0.1."),
        policy=privacy("suppression_limit = -0.1"),
    ),
    Fault(
        "limit-over-1",
        says("policy.toml, line 3: 'privacy.suppression_limit' must be less than or equal to 1; got 1.1."),
        policy=privacy("suppression_limit = 1.1"),
    ),
    Fault(
        "limit-text",
        says("policy.toml, line 3: 'privacy.suppression_limit' must be a valid number; got 'some'."),
        policy=privacy('suppression_limit = "some"'),
    ),
    Fault(
        "limit-nan",
        says(like(r"policy\.toml, line 3: 'privacy\.suppression_limit' must be .*; got nan\.")),
        policy=privacy("suppression_limit = nan"),
    ),
    Fault(
        "missing-unknown",
        says(
            "policy.toml, line 3: 'privacy.missing' must be 'own-value', 'wildcard', 'suppress' or 'refuse'; "
            "got 'drop'."
        ),
        policy=privacy('missing = "drop"'),
    ),
]

MODELS = [
    Fault(
        "model-unknown",
        says(like(r"policy\.toml, line 3: there is no privacy model 'x-anonymity'.*; there are .*k-anonymity.*\.")),
        policy=privacy('models = [{ model = "x-anonymity", x = 3 }]'),
    ),
    Fault(
        "model-without-name",
        says(like(r"policy\.toml, line 3: .*needs 'model'.*\.")),
        policy=privacy("models = [{ l = 3 }]"),
    ),
    Fault(
        "model-text",
        says(like(r"policy\.toml, line 3: 'privacy\.models\.0' must be .*\.")),
        policy=privacy('models = ["k-anonymity"]'),
    ),
    Fault(
        # The clusterer is told privacy.k alone: a second k must be refused before any work.
        "model-that-is-a-second-k",
        says("policy.toml, line 3: k-anonymity is promised by 'k' of [privacy]; give it there alone."),
        policy=privacy('models = [{ model = "k-anonymity", k = 3 }]'),
    ),
    Fault(
        "two-models-two-faults",
        says(
            like(r"policy\.toml, line [34]: there is no privacy model 'a'.*\."),
            like(r"policy\.toml, line [35]: there is no privacy model 'b'.*\."),
        ),
        policy=privacy('models = [\n{ model = "a" },\n{ model = "b" }\n]'),
    ),
]

ALGORITHMS = [
    Fault(
        "algorithm-unknown",
        says(
            like(
                r"policy\.toml, line 5: there is no algorithm 'k-membr' "
                r"\(did you mean 'k-member'\?\); there are .*k-member.*\."
            )
        ),
        policy=algorithm('name = "k-membr"'),
    ),
    Fault(
        "algorithm-number",
        says("policy.toml, line 5: 'algorithm.name' must be a valid string; got 3."),
        policy=algorithm("name = 3"),
    ),
    Fault(
        "algorithm-parameter-unknown",
        says(
            like(
                r"policy\.toml, line \d: algorithm 'k-member' has no parameter 'far_form' "
                r"\(did you mean 'far_from'\?\); it has class_penalty, column, far_from\."
            )
        ),
        policy=algorithm('name = "k-member"\nparameters = { far_form = "last" }'),
    ),
    Fault(
        "algorithm-parameter-wrong",
        says(like(r"policy\.toml, line \d: algorithm 'k-member': 'far_from' must be 'last' or 'seed'; got 'middle'\.")),
        policy=algorithm('name = "k-member"\nparameters = { far_from = "middle" }'),
    ),
    Fault(
        "measure-unknown",
        says(like(r"policy\.toml, line 5: there is no measure 'npc' \(did you mean 'ncp'\?\); there are .*ncp.*\.")),
        policy=algorithm('measure = "npc"'),
    ),
    Fault(
        "measure-parameter-unknown",
        says("policy.toml, line 5: measure 'ncp' has no parameter 'beta'; it has none."),
        policy=algorithm('measure = { name = "ncp", beta = 2 }'),
    ),
    Fault(
        "measure-parameter-out-of-range",
        says(
            "policy.toml, line 5: measure 'whd': 'beta' must be a number from 1 to 100, or 0 for uniform weights; "
            "got 0.5."
        ),
        policy=algorithm('measure = { name = "whd", beta = 0.5 }'),
    ),
    Fault(
        "measure-parameter-text",
        says(
            "policy.toml, line 5: measure 'whd': 'beta' must be a number from 1 to 100, or 0 for uniform weights; "
            "got 'two'."
        ),
        policy=algorithm('measure = { name = "whd", beta = "two" }'),
    ),
    Fault(
        "measure-without-name",
        says("policy.toml, line 5: 'algorithm.measure.name' is missing; it must be given."),
        policy=algorithm("measure = { beta = 1 }"),
    ),
    Fault(
        "measure-number",
        says(like(r"policy\.toml, line 5: 'algorithm\.measure' must be .*; got 3\.")),
        policy=algorithm("measure = 3"),
    ),
    Fault(
        "seed-negative",
        says("policy.toml, line 4: 'algorithm.seed' must be greater than or equal to 0; got -1."),
        policy=changed("seed = 1", "seed = -1"),
    ),
    Fault(
        "seed-beyond-64-bits",
        says(like(r"policy\.toml, line 4: 'algorithm\.seed' must be less than .*; got 9223372036854775808\.")),
        policy=changed("seed = 1", "seed = 9223372036854775808"),
    ),
    Fault(
        "seed-text",
        says("policy.toml, line 4: 'algorithm.seed' must be a valid integer; got 'x'."),
        policy=changed("seed = 1", 'seed = "x"'),
    ),
    Fault(
        "algorithm-and-measure",
        says(
            like(r"policy\.toml, line 5: there is no algorithm 'x'; there are .*\."),
            like(r"policy\.toml, line 6: there is no measure 'y'; there are .*\."),
        ),
        policy=changed("seed = 1", 'seed = 1\nname = "x"\nmeasure = "y"'),
    ),
]

INPUT_AND_OUTPUT = [
    Fault(
        "order-unknown",
        says("policy.toml, line 18: 'output.order' must be 'shuffled' or 'kept'; got 'random'."),
        policy=section("output", 'order = "random"'),
    ),
    Fault(
        "suppressed-unknown",
        says("policy.toml, line 18: 'output.suppressed' must be 'withheld' or 'starred'; got 'gone'."),
        policy=section("output", 'suppressed = "gone"'),
    ),
    Fault(
        "shuffle-seed-negative",
        says("policy.toml, line 18: 'output.shuffle_seed' must be greater than or equal to 0; got -1."),
        policy=section("output", "shuffle_seed = -1"),
    ),
    Fault(
        "delimiter-of-two",
        says(like(r"policy\.toml, line 18: 'input\.delimiter' must be .*1 character.*; got '::'\.")),
        policy=section("input", 'delimiter = "::"'),
    ),
    Fault(
        "delimiter-empty",
        says(like(r"policy\.toml, line 18: 'input\.delimiter' must be .*1 character.*; got ''\.")),
        policy=section("input", 'delimiter = ""'),
    ),
    Fault(
        "delimiter-is-a-line-end",
        says(like(r"policy\.toml, line 18: .*delimiter.*\.")),
        policy=section("input", 'delimiter = "\\n"'),
    ),
    Fault(
        "delimiter-not-ascii",
        says(like(r"policy\.toml, line 18: .*delimiter.*\.")),
        policy=section("input", 'delimiter = "é"'),
        data=DATA.replace(",", "é"),
    ),
    Fault(
        "delimiter-is-the-quote",
        says(like(r"policy\.toml, line 1[789]: .*delimiter.*quote.*\.")),
        policy=section("input", 'delimiter = ","\nquote = ","'),
    ),
    Fault(
        "quote-of-two",
        says(like(r"policy\.toml, line 18: 'input\.quote' must be .*1 character.*; got '::'\.")),
        policy=section("input", 'quote = "::"'),
    ),
    Fault(
        "quote-is-a-line-end",
        says(like(r"policy\.toml, line 18: .*quote.*\.")),
        policy=section("input", 'quote = "\\n"'),
    ),
    Fault(
        "missing-texts-not-a-list",
        says(like(r"policy\.toml, line 18: 'input\.missing' must be .*; got 'NA'\.")),
        policy=section("input", 'missing = "NA"'),
    ),
    Fault(
        "missing-texts-numbers",
        says("policy.toml, line 18: 'input.missing.0' must be a valid string; got 1."),
        policy=section("input", "missing = [1]"),
    ),
]

COLUMNS = [
    Fault(
        "weight-negative",
        says("policy.toml, line 9: 'columns.age.weight' must be greater than or equal to 0; got -1."),
        policy=age("weight = -1"),
    ),
    Fault(
        "weight-huge",
        says("policy.toml, line 9: 'columns.age.weight' must be less than or equal to 1000; got 1000000000.0."),
        policy=age("weight = 1e9"),
    ),
    Fault(
        "weight-text",
        says(like(r"policy\.toml, line 9: 'columns\.age\.weight' must be a valid number.*; got 'heavy'\.")),
        policy=age('weight = "heavy"'),
    ),
    Fault(
        "weight-quoted-number",
        says(like(r"policy\.toml, line 9: 'columns\.age\.weight' must be a valid number.*; got '2'\.")),
        policy=age('weight = "2"'),
    ),
    Fault(
        "weight-true",
        says(like(r"policy\.toml, line 9: 'columns\.age\.weight' must be a valid number.*; got [Tt]rue\.")),
        policy=age("weight = true"),
    ),
    Fault(
        "weight-nan",
        says(like(r"policy\.toml, line 9: 'columns\.age\.weight' must be .*; got nan\.")),
        policy=age("weight = nan"),
    ),
    Fault(
        "every-weight-0",
        says("policy.toml: every quasi column has weight 0; give at least one a weight above 0."),
        policy=changed('role = "quasi"', 'role = "quasi"\nweight = 0'),
    ),
    Fault(
        "role-unknown",
        says(f"policy.toml, line 16: 'columns.disease.role' {ROLES}; got 'secret'."),
        policy=changed('role = "sensitive"', 'role = "secret"'),
    ),
    Fault(
        "role-number",
        says(f"policy.toml, line 16: 'columns.disease.role' {ROLES}; got 3."),
        policy=changed('role = "sensitive"', "role = 3"),
    ),
    Fault(
        "type-unknown",
        says(
            "policy.toml, line 9: 'columns.age.type' must be 'integer', 'number', 'date', 'string' or 'set'; got 'int'."
        ),
        policy=age('type = "int"'),
    ),
    Fault(
        "weight-0-of-a-sensitive-column",
        says(
            "policy.toml, line 15: columns.disease: a sensitive column needs a weight above 0; remove it or change the "
            "role."
        ),
        policy=changed('role = "sensitive"', 'role = "sensitive"\nweight = 0'),
    ),
    Fault(
        "weight-on-an-insensitive-column",
        says(
            "policy.toml, line 15: columns.disease: 'weight' is for quasi and sensitive columns only; remove it or "
            "change the role."
        ),
        policy=changed('role = "sensitive"', 'role = "insensitive"\nweight = 2'),
    ),
    Fault(
        "domain-on-an-identifier",
        says("policy.toml, line 5: columns.name: 'domain' is for quasi columns only; remove it or change the role."),
        policy=changed('role = "identifier"', 'role = "identifier"\ndomain = [0, 1]'),
    ),
    Fault(
        "hierarchy-on-an-identifier",
        says("policy.toml, line 5: columns.name: a column of role 'identifier' has no use for a hierarchy; remove it."),
        policy=changed('role = "identifier"', 'role = "identifier"\nhierarchy = { flat = true }'),
    ),
    Fault(
        "domain-upside-down",
        says(
            "policy.toml, line 10: 'columns.age.domain' must be [smallest, largest], "
            "two numbers with smallest < largest."
        ),
        policy=age('type = "integer"\ndomain = [90, 10]'),
    ),
    Fault(
        "domain-of-one-point",
        says(
            "policy.toml, line 10: 'columns.age.domain' must be [smallest, largest], "
            "two numbers with smallest < largest."
        ),
        policy=age('type = "integer"\ndomain = [90, 90]'),
    ),
    Fault(
        "domain-of-one-number",
        says(like(r"policy\.toml, line 10: 'columns\.age\.domain.*\.")),
        policy=age('type = "integer"\ndomain = [90]'),
    ),
    Fault(
        "domain-of-three-numbers",
        says(like(r"policy\.toml, line 10: 'columns\.age\.domain' must be .*\.")),
        policy=age('type = "integer"\ndomain = [1, 2, 3]'),
    ),
    Fault(
        "domain-of-texts",
        says(
            "policy.toml, line 10: 'columns.age.domain.0' must be a valid number; got 'a'.",
            "policy.toml, line 10: 'columns.age.domain.1' must be a valid number; got 'b'.",
        ),
        policy=age('type = "integer"\ndomain = ["a", "b"]'),
    ),
    Fault(
        "domain-infinite",
        says(like(r"policy\.toml, line (7|10): '?columns\.age.*\bdomain\b.*\.")),
        policy=age('type = "integer"\ndomain = [-inf, inf]'),
    ),
    Fault(
        "domain-on-a-date",
        says("policy.toml, line 7: columns.age: 'domain' is for numeric columns only; remove it."),
        policy=age('type = "date"\ndomain = [1, 10]'),
    ),
    Fault(
        # Silently ignored, the steward would believe that the declared range is what is published.
        "domain-beside-a-hierarchy",
        says(like(r"policy\.toml, line 1\d: columns\.zip: .*'domain'.*hierarchy.*\.")),
        policy=changed("hierarchy = {", "domain = [0, 3]\nhierarchy = {"),
    ),
    Fault(
        "domain-on-a-column-that-turns-out-text",
        says(like(r".*column 'town'.*domain.*\.")),
        policy=town("domain = [0, 3]"),
    ),
    Fault(
        "format-without-date",
        says("policy.toml, line 7: columns.age: 'format' needs type = \"date\"."),
        policy=age('type = "integer"\nformat = "%Y"'),
    ),
    Fault(
        "two-hierarchies",
        says(f"policy.toml, line 12: 'columns.zip.hierarchy' {ONE_HIERARCHY}."),
        policy=zip_code("{ prefix = [5, 3], flat = true }"),
    ),
    Fault(
        "no-hierarchy-in-hierarchy",
        says(f"policy.toml, line 12: 'columns.zip.hierarchy' {ONE_HIERARCHY}."),
        policy=zip_code("{}"),
    ),
    Fault(
        "hierarchy-number",
        says(like(r"policy\.toml, line 12: 'columns\.zip\.hierarchy' must be .*; got 3\.")),
        policy=zip_code("3"),
    ),
    Fault(
        "flat-false",
        says(like(r"policy\.toml, line 12: 'columns\.zip\.hierarchy\.flat' must be [Tt]rue; got [Ff]alse\.")),
        policy=zip_code("{ flat = false }"),
    ),
    Fault(
        "three-faults-of-one-column",
        says(
            "policy.toml, line 15: columns.disease: a sensitive column needs a weight above 0; remove it or change the "
            "role; 'domain' is for quasi columns only; remove it or change the role; 'format' needs type = \"date\"."
        ),
        policy=changed('role = "sensitive"', 'role = "sensitive"\nweight = 0\ndomain = [1, 2]\nformat = "%d"'),
    ),
]


@each([*PRIVACY, *MODELS, *ALGORITHMS, *INPUT_AND_OUTPUT, *COLUMNS])
def test_a_value_that_cannot_be_is_refused(fault, folder, capfd):
    assert_refused(fault, folder, capfd)


OPTIONS = [
    Fault(
        "option-k-1",
        says(like(r"(--k|policy|policy\.toml): .*k.* must be greater than or equal to 2; got 1\.")),
        options=("--k", "1"),
    ),
    Fault(
        # The k of the file is 2: its line is not at fault.
        "option-k-over-n",
        says(like(r"(--k|policy|policy\.toml): k = 9 is more than the 4 records of the table; choose a smaller k\.")),
        options=("--k", "9"),
    ),
    Fault(
        "option-algorithm",
        says(like(r"(--algorithm|policy.*): there is no algorithm 'x'; there are .*k-member.*\.")),
        options=("--algorithm", "x"),
    ),
    Fault(
        "option-measure",
        says(like(r"(--measure|policy.*): there is no measure 'x'; there are .*ncp.*\.")),
        options=("--measure", "x"),
    ),
    Fault(
        "option-seed",
        says(like(r"(--seed|policy.*): .*seed.* must be greater than or equal to 0; got -1\.")),
        options=("--seed", "-1"),
    ),
]


@each(OPTIONS)
def test_an_option_that_cannot_be_is_refused(fault, folder, capfd):
    assert_refused(fault, folder, capfd)


@pytest.mark.parametrize("quiet", ["-q", "--quiet"])
def test_errors_are_said_when_quiet(quiet, folder, capfd):
    fault = Fault(
        "quiet",
        says("policy.toml, line 2: 'privacy.k' must be a valid integer; got 'ten'."),
        policy=k('"ten"'),
        options=(quiet,),
    )
    assert_refused(fault, folder, capfd)
