"""Policy files that cannot be read, are no TOML, or hold keys and columns that do not belong there."""

import tomllib

import pytest

import kohort
from faults.harness import (
    DATA,
    POLICY,
    Fault,
    age,
    assert_refused,
    changed,
    each,
    like,
    privacy,
    says,
    section,
    zip_code,
)

GIVEN_TWICE = "this key or table is given twice; a column has one role and a key one value."

READING = [
    Fault(
        "no-policy-file",
        says("policy policy.toml: cannot be read (No such file or directory); check the path."),
        policy=None,
    ),
    Fault(
        "policy-is-a-folder",
        says("policy policy.toml: cannot be read (Is a directory); check the path."),
        policy=None,
        files={"policy.toml/x": "1"},
    ),
    Fault(
        "policy-not-utf-8",
        says("policy.toml: is not UTF-8 text; save it as UTF-8."),
        policy=POLICY.encode() + b"# \xff\n",
    ),
    Fault(
        "policy-empty",
        says(
            "policy.toml: 'privacy' is missing; it must be given.",
            "policy.toml: 'columns' is missing; it must be given.",
        ),
        policy="",
    ),
    Fault(
        "policy-of-comments",
        says(
            "policy.toml: 'privacy' is missing; it must be given.",
            "policy.toml: 'columns' is missing; it must be given.",
        ),
        policy="# nothing\n\n",
    ),
    Fault("policy-is-the-data", says(like(r"policy\.toml, line 1: this is not TOML \(.*\)\.")), policy=DATA),
]

SYNTAX = [
    Fault(
        "toml-no-value",
        says("policy.toml, line 2: this is not TOML (invalid value)."),
        policy=changed("k = 2", "k = "),
    ),
    Fault(
        "toml-open-table",
        says(like(r"policy\.toml, line 17: this is not TOML \(expected ']' .*\)\.")),
        policy=f"{POLICY}[columns.x\n",
    ),
    Fault(
        "toml-open-string",
        says(like(r"policy\.toml, line 18: this is not TOML \(.*\)\.")),
        policy=section("columns.x", 'role = "quasi'),
    ),
    Fault(
        "toml-open-at-the-end",
        says("policy.toml, end of document: this is not TOML (unterminated string)."),
        policy=section("columns.x", 'role = """quasi'),
    ),
    Fault("toml-nul", says(like(r"policy\.toml, line 17: this is not TOML \(.*\)\.")), policy=f"{POLICY}\0\n"),
    Fault(
        "role-given-twice",
        says(f"policy.toml, line 17: {GIVEN_TWICE}"),
        policy=f'{POLICY}role = "quasi"\n',
    ),
    Fault(
        "column-given-twice",
        says(f"policy.toml, line 17: {GIVEN_TWICE}"),
        policy=section("columns.age", 'role = "quasi"'),
    ),
    Fault("section-given-twice", says(f"policy.toml, line 17: {GIVEN_TWICE}"), policy=section("privacy", "k = 3")),
    Fault(
        "key-given-twice-inline",
        says(f"policy.toml, line 12: {GIVEN_TWICE}"),
        policy=zip_code("{ prefix = [5], prefix = [3] }"),
    ),
]

SECTIONS = "known are input, privacy, algorithm, output, columns."
KEYS = [
    Fault(
        "unknown-section",
        says(f"policy.toml, line 17: unknown key 'privcy' in the policy (did you mean 'privacy'?); {SECTIONS}"),
        policy=section("privcy", "k = 3"),
    ),
    Fault(
        "unknown-key-at-the-top",
        says(f"policy.toml, line 1: unknown key 'foo' in the policy; {SECTIONS}"),
        policy=f"foo = 1\n{POLICY}",
    ),
    Fault(
        "unknown-key-input",
        says(
            "policy.toml, line 18: unknown key 'missin' in [input] (did you mean 'missing'?); "
            "known are missing, delimiter, quote, encoding, decimal, thousands, skip_rows, sheet, labels."
        ),
        policy=section("input", 'missin = ["NA"]'),
    ),
    Fault(
        "unknown-key-privacy",
        says(
            "policy.toml, line 3: unknown key 'supression_limit' in [privacy] (did you mean 'suppression_limit'?); "
            "known are k, anonymity, person, models, suppression_limit, missing."
        ),
        policy=privacy("supression_limit = 0.1"),
    ),
    Fault(
        "unknown-key-algorithm",
        says(
            "policy.toml, line 4: unknown key 'seeds' in [algorithm] (did you mean 'seed'?); "
            "known are name, parameters, measure, seed, refine, budget, "
            "bound_effort."
        ),
        policy=changed("seed = 1", "seeds = 1"),
    ),
    Fault(
        "unknown-key-output",
        says(
            "policy.toml, line 18: unknown key 'ordr' in [output] (did you mean 'order'?); "
            "known are order, shuffle_seed, suppressed, formulas, bounds, pseudonym_key."
        ),
        policy=section("output", 'ordr = "kept"'),
    ),
    Fault(
        "unknown-key-column",
        says(
            "policy.toml, line 9: unknown key 'tpye' in [columns.age] (did you mean 'type'?); "
            "known are role, type, weight, hierarchy, domain, format, decimal, thousands, pseudonym, "
            "snap, bottom, top, min_width, separator, item_suppression_limit."
        ),
        policy=age('tpye = "integer"'),
    ),
    Fault(
        "unknown-key-hierarchy",
        says(
            "policy.toml, line 12: unknown key 'prefixes' in [columns.zip.hierarchy] (did you mean 'prefix'?); "
            "known are file, prefix, intervals, cuts, dates, flat, tree."
        ),
        policy=zip_code("{ prefixes = [5, 3] }"),
    ),
    Fault(
        "unknown-key-intervals",
        says(
            "policy.toml, line 10: unknown key 'widht' in [columns.age.hierarchy.intervals] (did you mean 'width'?); "
            "known are width, levels, origin."
        ),
        policy=age('type = "integer"\nhierarchy = { intervals = { width = 5, widht = 5 } }'),
    ),
    Fault(
        "no-privacy",
        says("policy.toml: 'privacy' is missing; it must be given."),
        policy=POLICY.partition("seed = 1")[2],
    ),
    Fault(
        "no-k", says("policy.toml, line 1: 'privacy.k' is missing; it must be given."), policy=changed("k = 2\n", "")
    ),
    Fault("no-columns", says("policy.toml: 'columns' is missing; it must be given."), policy="[privacy]\nk = 2\n"),
    Fault(
        "columns-empty",
        says(like(r"policy\.toml, line 3: .*columns?.*\.")),
        policy="[privacy]\nk = 2\n[columns]\n",
    ),
    Fault(
        "columns-a-list",
        says(like(r"policy\.toml, line 1: 'columns' must be .*\.")),
        policy='columns = ["age"]\n[privacy]\nk = 2\n',
    ),
    Fault(
        "column-a-number",
        says(like(r"policy\.toml, line 4: 'columns\.age' must be .*; got 3\.")),
        policy="[privacy]\nk = 2\n[columns]\nage = 3\n",
    ),
    Fault(
        "privacy-a-text",
        says(like(r"policy\.toml, line 1: 'privacy' must be .*; got 'k = 2'\.")),
        policy='privacy = "k = 2"\n' + POLICY.partition("k = 2\n")[2],
    ),
    Fault(
        "no-role",
        says("policy.toml, line 15: 'columns.disease.role' is missing; it must be given."),
        policy=changed('role = "sensitive"', 'type = "string"'),
    ),
    Fault(
        "no-quasi",
        says("policy.toml: no column has role 'quasi'; name the columns that an outsider could know."),
        policy='[privacy]\nk = 2\n[columns]\nname = "identifier"\nage = "insensitive"\n',
    ),
    Fault(
        "many-faults-all-with-their-lines",
        says(
            "policy.toml, line 2: 'privacy.k' must be greater than or equal to 2; got 1.",
            "policy.toml, line 3: 'privacy.suppression_limit' must be less than or equal to 1; got 3.",
            "policy.toml, line 10: 'columns.age.type' must be 'integer', 'number', 'date', 'string' or 'set'; "
            "got 'int'.",
            "policy.toml, line 11: unknown key 'wieght' in [columns.age] (did you mean 'weight'?); "
            "known are role, type, weight, hierarchy, domain, format, decimal, thousands, pseudonym, "
            "snap, bottom, top, min_width, separator, item_suppression_limit.",
            "policy.toml, line 18: 'columns.disease.role' must be "
            "'identifier', 'quasi', 'sensitive' or 'insensitive'; got 'secret'.",
        ),
        policy=changed("k = 2", "k = 1\nsuppression_limit = 3")
        .replace('type = "integer"', 'type = "int"\nwieght = 2')
        .replace('role = "sensitive"', 'role = "secret"'),
    ),
]


WITHOUT_ROLE = "column 5 of people.csv has no role in the policy; add [columns.NAME] with a role (identifier drops it)."
COLUMNS = [
    Fault(
        "column-not-in-the-table",
        says(
            "policy.toml, line 17: column 'twon' is not in the table (column 4 has a similar name); "
            "remove or rename it."
        ),
        policy=section("columns.twon", 'role = "quasi"'),
    ),
    Fault(
        "column-without-role",
        says(WITHOUT_ROLE),
        policy=changed('[columns.disease]\nrole = "sensitive"\n', ""),
    ),
    Fault(
        "column-renamed",
        says(
            "policy.toml, line 15: column 'disease' is not in the table (column 5 has a similar name); "
            "remove or rename it.",
            WITHOUT_ROLE,
        ),
        data=DATA.replace("disease", "diseases", 1),
    ),
    Fault(
        "column-that-needs-quotes",
        says(
            "policy.toml, line 15: column 'disease' is not in the table; remove or rename it.",
            WITHOUT_ROLE,
        ),
        data=DATA.replace("disease", "a b", 1),
    ),
    Fault(
        "column-with-a-line-end",
        says(
            "policy.toml, line 15: column 'disease' is not in the table; remove or rename it.",
            WITHOUT_ROLE,
        ),
        data=DATA.replace("disease", '"a\nb"', 1),
    ),
    Fault(
        "column-with-an-escape-sequence",
        says(
            "policy.toml, line 15: column 'disease' is not in the table; remove or rename it.",
            WITHOUT_ROLE,
        ),
        data=DATA.replace("disease", "a\x1b[31mb", 1),
    ),
]


@each([*READING, *SYNTAX, *KEYS, *COLUMNS])
def test_a_policy_file_that_cannot_be_used_is_refused(fault, folder, capfd):
    assert_refused(fault, folder, capfd)


def test_many_faults_are_found_with_one_pass_over_the_text(monkeypatch):
    calls = []
    parse = tomllib.loads
    monkeypatch.setattr("kohort.policy.faults.tomllib.loads", lambda text: (calls.append(text), parse(text))[1])
    columns = "".join(f'[columns.c{i}]\nrole = "quas"\n' for i in range(50))
    with pytest.raises(kohort.PolicyError) as refusal:
        kohort.Policy.from_toml(f"[privacy]\nk = 2\n{columns}")
    assert len(calls) <= 2 * 102  # not once for every fault
    assert len(refusal.value.faults) == 50
    assert refusal.value.faults[49].startswith("policy, line 102: 'columns.c49.role' must be")
