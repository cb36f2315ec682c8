"""Hierarchies that are no trees, cannot be read, or do not fit their column."""

import pytest

from faults.harness import (
    CANARY,
    DATA,
    Fault,
    age,
    assert_nothing_told,
    assert_refused,
    command,
    dated,
    each,
    like,
    place,
    says,
    town,
    zip_code,
)

ROWS = "Sekretheim;West;*\nSekretdorf;West;*\n"
WHERE = "hierarchy of column 'town' (town.csv)"
HOW = "write one row per value: the value, its coarser labels and the root, separated by semicolons."
SAME_LEVELS = "give every row the same number of levels."


def rows(name: str, text: str | bytes, *sentences: str) -> Fault:
    """A fault of a file of ARX rows."""
    return Fault(name, says(*sentences), policy=town('hierarchy = "town.csv"'), files={"town.csv": text})


def nested(name: str, text: str, *sentences: str) -> Fault:
    """A fault of a nested file."""
    said = [f"hierarchy of column 'town' (town.toml){sentence}" for sentence in sentences]
    return Fault(name, says(*said), policy=town('hierarchy = "town.toml"'), files={"town.toml": text})


FILES = [
    Fault(
        "no-hierarchy-file",
        says(like(r".*hierarchy of column 'town' \(.*town\.csv\): there is no such file; check its path\.")),
        policy=town('hierarchy = "hierarchies/town.csv"'),
    ),
    Fault(
        "no-hierarchy-file-of-a-sensitive-column",
        says(like(r".*column 'disease'.*disease\.csv.*\.")),
        policy=town("").replace('role = "sensitive"', 'role = "sensitive"\nhierarchy = "disease.csv"'),
    ),
    Fault(
        "hierarchy-is-a-folder",
        says(f"{WHERE}: cannot be read (Is a directory); check path and permissions."),
        policy=town('hierarchy = "town.csv"'),
        files={"town.csv/x": "1"},
    ),
    Fault(
        "hierarchy-of-unknown-kind",
        says(
            "hierarchy of column 'town' (town.xlsx): the kind of file is not known; "
            "name it .csv (ARX rows) or .toml (nested)."
        ),
        policy=town('hierarchy = "town.xlsx"'),
        files={"town.xlsx": ROWS},
    ),
    Fault(
        "hierarchy-without-a-name",
        says(like(r".*column 'town'.*\.")),
        policy=town('hierarchy = ""'),
    ),
]

ARX = [
    rows("ragged-short", f"{ROWS}{CANARY};*\n", f"{WHERE}, row 3: has 2 cells where row 1 has 3; {SAME_LEVELS}"),
    rows("ragged-long", f"{ROWS}{CANARY};a;b;*\n", f"{WHERE}, row 3: has 4 cells where row 1 has 3; {SAME_LEVELS}"),
    rows(
        "two-parents",
        f"Sekretheim;{CANARY};North;*\nSekretdorf;{CANARY};South;*\n",
        f"{WHERE}, row 2, cell 2: has another parent than the same label in row 1; give it one parent, or two names.",
    ),
    rows(
        "cycle",
        f"Sekretheim;{CANARY};a;{CANARY};*\nSekretdorf;West;b;c;*\n",
        f"{WHERE}, row 1, cell 2: the label is its own ancestor, with another cell in between; rename one of the two.",
    ),
    rows(
        "value-that-is-a-group-too",
        "Sekretheim;Sekretdorf;*\nSekretdorf;West;*\n",
        f"{WHERE}, row 2, cell 1: the label stands at another place too (row 1, cell 2); "
        "a label must name one place, so rename one of the two.",
    ),
    rows("value-twice", f"{ROWS}Sekretheim;West;*\n", f"{WHERE}, row 3: repeats row 1; remove one of the two."),
    rows(
        "value-at-two-places",
        f"{ROWS}Sekretheim;East;*\n",
        f"{WHERE}, row 3: places the value of row 1 elsewhere; keep one of the two.",
    ),
    rows("cell-empty", f"{ROWS}{CANARY};;*\n", f"{WHERE}, row 3, cell 2: is empty; write a label there."),
    rows("cell-blank", f"{ROWS}{CANARY};  ;*\n", f"{WHERE}, row 3, cell 2: is empty; write a label there."),
    rows(
        "two-roots",
        f"{ROWS}{CANARY};East;+\n",
        f"{WHERE}, row 3: ends in another root than row 1 (2 roots in all); end every row in the same label.",
    ),
    rows(
        "value-like-the-root",
        f"{ROWS}*;West;*\n",
        f"{WHERE}, row 3, cell 1: the value is labelled like the root; rename the root.",
    ),
    rows("hierarchy-empty", "", f"{WHERE}: is empty; {HOW}"),
    rows("hierarchy-blank", "\n\n", f"{WHERE}: is empty; {HOW}"),
    rows("one-cell-per-row", "Sekretheim\nSekretdorf\n", f"{WHERE}: has one cell in every row; {HOW}"),
    rows(
        "hierarchy-quote-not-closed",
        f'{ROWS}"{CANARY};West;*\n',
        f'{WHERE}, row 3: cannot be split into cells; close every quote, and write "" for a quote inside quotes.',
    ),
    rows(
        "hierarchy-not-utf-8",
        ROWS.encode() + CANARY.encode() + b"\xff;West;*\n",
        f"{WHERE}: is not UTF-8 text (line 3); save it as UTF-8.",
    ),
    rows(
        "value-that-is-no-leaf",
        f"Sekretheim;West;*\n{CANARY};West;*\n",
        "column 'town': 1 distinct values in 2 rows are not leaves of its hierarchy (first in row 3); "
        "add them to the hierarchy or correct the table.",
    ),
    rows(
        "all-faults-of-a-file",
        f"Sekretheim;West;*\n{CANARY};*\nSekretdorf;;*\nSekretheim;West;*\n",
        f"{WHERE}, row 2: has 2 cells where row 1 has 3; {SAME_LEVELS}",
        f"{WHERE}, row 3, cell 2: is empty; write a label there.",
        f"{WHERE}, row 4: repeats row 1; remove one of the two.",
    ),
    rows(
        "too-many-faults-to-list",
        ROWS + "".join(f"{CANARY}{i};;*\n" for i in range(25)),
        *(f"{WHERE}, row {row}, cell 2: is empty; write a label there." for row in range(3, 23)),
        f"{WHERE}: and 5 more faults like these.",
    ),
]

NESTED = [
    nested(
        "nested-no-toml",
        f'[tree]\nWest = ["Sekretheim"\n{CANARY} = 1',
        ": is not valid TOML at line 3; correct it there.",
    ),
    nested(
        "nested-branch-twice",
        f'[tree]\n{CANARY} = ["Sekretheim"]\n{CANARY} = ["Sekretdorf"]\n',
        ": is not valid TOML at line 3; correct it there.",
    ),
    nested(
        "nested-without-tree",
        'Sekretland = ["Sekretheim", "Sekretdorf"]\n',
        ": its top holds more than 'root' and 'tree' (1 unknown); put the branches under [tree].",
        ": has no 'tree'; write the branches under [tree].",
    ),
    nested(
        "nested-branch-empty",
        f'[tree]\nWest = ["Sekretheim", "Sekretdorf"]\n{CANARY} = []\n',
        ": 1 branch is without leaves; list them, or write a lone value as a leaf.",
    ),
    nested(
        "nested-branch-a-text",
        f'[tree]\nWest = ["Sekretheim", "Sekretdorf"]\nEast = "{CANARY}"\n',
        ": 1 branch is neither a list nor a table; list the leaves in brackets.",
    ),
    nested(
        "nested-leaf-a-number",
        '[tree]\nWest = ["Sekretheim", "Sekretdorf", 77031]\n',
        ", leaf 3, label 1: is not text; write it in quotes.",
    ),
    nested(
        "nested-root-a-number",
        'root = 77031\n[tree]\nWest = ["Sekretheim", "Sekretdorf"]\n',
        ": its 'root' is not text; write it in quotes.",
    ),
    Fault(
        "tree-in-the-policy-lacks-a-value",
        says(
            "column 'town': 1 distinct values in 2 rows are not leaves of its hierarchy (first in row 3); "
            "add them to the hierarchy or correct the table."
        ),
        policy=town('hierarchy = { tree = { West = ["Sekretheim"] } }'),
    ),
    Fault(
        "tree-in-the-policy-empty",
        says("hierarchy of column 'town': 1 branch is without leaves; list them, or write a lone value as a leaf."),
        policy=town("hierarchy = { tree = {} }"),
    ),
]

PREFIXES_DECREASE = says("hierarchy of column 'zip': prefix lengths must be positive and decrease.")
PREFIXES = [
    Fault("prefixes-increase", PREFIXES_DECREASE, policy=zip_code("{ prefix = [3, 5] }")),
    Fault("prefixes-repeat", PREFIXES_DECREASE, policy=zip_code("{ prefix = [5, 3, 3] }")),
    Fault("prefix-of-0", PREFIXES_DECREASE, policy=zip_code("{ prefix = [3, 0] }")),
    Fault("prefix-negative", PREFIXES_DECREASE, policy=zip_code("{ prefix = [-1] }")),
    Fault(
        "prefix-a-text",
        says("policy.toml, line 12: 'columns.zip.hierarchy.prefix.0' must be a valid integer; got 'a'."),
        policy=zip_code('{ prefix = ["a"] }'),
    ),
    Fault(
        "prefix-a-fraction",
        says("policy.toml, line 12: 'columns.zip.hierarchy.prefix.0' must be a valid integer; got 5.5."),
        policy=zip_code("{ prefix = [5.5] }"),
    ),
    Fault(
        "prefix-not-a-list",
        says(like(r"policy\.toml, line 12: 'columns\.zip\.hierarchy\.prefix' must be .*; got 5\.")),
        policy=zip_code("{ prefix = 5 }"),
    ),
    Fault(
        "prefixes-empty",
        says(like(r"policy\.toml, line 12: .*columns\.zip\.hierarchy\.prefix.*\.")),
        policy=zip_code("{ prefix = [] }"),
    ),
    Fault(
        "prefix-longer-than-the-values",
        says(
            "column 'zip': 4 of 4 values are shorter than the prefix length 6; shorten the prefixes or pad the values."
        ),
        policy=zip_code("{ prefix = [6] }"),
    ),
    Fault(
        "codes-of-different-length",
        says("column 'zip': values differ in length (2 of length 5, 2 of length 6); pad them to one length."),
        data=DATA.replace("77153", "771530").replace("77154", "771540"),
    ),
]


def bins(keys: str) -> str:
    return age(f'type = "integer"\nhierarchy = {{ intervals = {{ {keys} }} }}')


def cut(levels: str) -> str:
    return age(f'type = "integer"\nhierarchy = {{ cuts = {levels} }}')


def of_age(sentence: str) -> tuple[str]:
    return (f"hierarchy of column 'age': {sentence}",)


INTERVALS = [
    Fault(
        "intervals-of-texts",
        says("column 'town': a hierarchy of intervals needs type integer or number; change the type or the hierarchy."),
        policy=town("hierarchy = { intervals = { width = 5 } }"),
    ),
    Fault(
        "intervals-of-dates",
        says("column 'age': a hierarchy of intervals needs type integer or number; change the type or the hierarchy."),
        policy=age('type = "date"\nhierarchy = { intervals = { width = 5 } }'),
        data=dated("2020-01-02", "2020-01-03"),
    ),
    Fault(
        "width-0",
        says("policy.toml, line 10: 'columns.age.hierarchy.intervals.width' must be greater than 0; got 0."),
        policy=bins("width = 0"),
    ),
    Fault(
        "width-negative",
        says("policy.toml, line 10: 'columns.age.hierarchy.intervals.width' must be greater than 0; got -5."),
        policy=bins("width = -5"),
    ),
    Fault(
        "width-text",
        says(like(r"policy\.toml, line 10: 'columns\.age\.hierarchy\.intervals\.width' must be .*number.*; got 'x'\.")),
        policy=bins('width = "x"'),
    ),
    Fault(
        "width-true",
        says(like(r"policy\.toml, line 10: 'columns\.age\.hierarchy\.intervals\.width' must be .*\.")),
        policy=bins("width = true"),
    ),
    Fault("width-infinite", says(like(r".*age.*width.*\.")), policy=bins("width = inf")),
    Fault(
        "width-a-fraction-of-integers",
        of_age("width and origin must be whole numbers, as the values are."),
        policy=bins("width = 5.5"),
    ),
    Fault(
        "origin-a-fraction-of-integers",
        of_age("width and origin must be whole numbers, as the values are."),
        policy=bins("width = 5, origin = 0.5"),
    ),
    Fault(
        "no-width",
        says("policy.toml, line 10: 'columns.age.hierarchy.intervals.width' is missing; it must be given."),
        policy=bins("levels = [1, 2]"),
    ),
    Fault(
        "levels-not-multiples",
        of_age("each of the levels must be a multiple of the one before, and wider."),
        policy=bins("width = 5, levels = [1, 2, 3]"),
    ),
    Fault(
        "levels-that-narrow",
        of_age("each of the levels must be a multiple of the one before, and wider."),
        policy=bins("width = 5, levels = [2, 1]"),
    ),
    Fault("level-0", of_age("levels must be whole numbers from 1 up."), policy=bins("width = 5, levels = [0]")),
    Fault(
        "levels-empty",
        says(like(r"policy\.toml, line 10: .*columns\.age\.hierarchy\.intervals\.levels.*\.")),
        policy=bins("width = 5, levels = []"),
    ),
    Fault(
        "cuts-not-nested",
        of_age("the cuts of a level must be some, not all, of the cuts of the level before."),
        policy=cut("[[35, 65], [40]]"),
    ),
    Fault(
        "cuts-the-same-twice",
        of_age("the cuts of a level must be some, not all, of the cuts of the level before."),
        policy=cut("[[35, 65], [35, 65]]"),
    ),
    Fault("cuts-descend", of_age("cuts must ascend within a level."), policy=cut("[[65, 35]]")),
    Fault(
        "cut-a-fraction-of-integers", of_age("cuts must be whole numbers, as the values are."), policy=cut("[[35.5]]")
    ),
    Fault("cut-infinite", of_age("cuts must be finite numbers."), policy=cut("[[inf]]")),
    Fault("cuts-of-one-level-empty", of_age("cuts must list at least one cut per level."), policy=cut("[[]]")),
    Fault(
        "cut-a-text",
        says(like(r"policy\.toml, line 10: 'columns\.age\.hierarchy\.cuts\.0\.0' must be a valid number.*; got 'a'\.")),
        policy=cut('[["a"]]'),
    ),
    Fault(
        "cuts-of-texts",
        says("column 'town': a hierarchy of cuts needs type integer or number; change the type or the hierarchy."),
        policy=town("hierarchy = { cuts = [[5]] }"),
    ),
]


def periods(levels: str) -> str:
    return age(f'type = "date"\nhierarchy = {{ dates = {levels} }}')


DATES = [
    Fault(
        "periods-of-integers",
        says("column 'age': a hierarchy of dates needs type date; change the type or the hierarchy."),
        policy=age('type = "integer"\nhierarchy = { dates = ["year"] }'),
    ),
    Fault(
        "periods-of-texts",
        says("column 'town': a hierarchy of dates needs type date; change the type or the hierarchy."),
        policy=town('hierarchy = { dates = ["year"] }'),
    ),
    Fault(
        "period-unknown",
        says(
            "policy.toml, line 10: 'columns.age.hierarchy.dates.0' must be 'month', 'quarter', 'year' or 'decade'; "
            "got 'week'."
        ),
        policy=periods('["week"]'),
        data=dated("2020-01-02", "2020-01-03"),
    ),
    Fault(
        "periods-upside-down",
        of_age("date levels must be some of month, quarter, year, decade, in this order."),
        policy=periods('["year", "month"]'),
        data=dated("2020-01-02", "2020-01-03"),
    ),
    Fault(
        "periods-not-a-list",
        says(like(r"policy\.toml, line 10: 'columns\.age\.hierarchy\.dates' must be .*; got 'year'\.")),
        policy=periods('"year"'),
        data=dated("2020-01-02", "2020-01-03"),
    ),
]

TOGETHER = [
    Fault(
        "two-hierarchies-at-fault",
        says(*PREFIXES_DECREASE, f"{WHERE}, row 3: has 2 cells where row 1 has 3; {SAME_LEVELS}"),
        policy=town('hierarchy = "town.csv"').replace("[5, 3]", "[3, 5]"),
        files={"town.csv": f"{ROWS}{CANARY};*\n"},
    ),
]


@each([*FILES, *ARX, *NESTED, *PREFIXES, *INTERVALS, *DATES, *TOGETHER])
def test_a_hierarchy_that_does_not_fit_is_refused(fault, folder, capfd):
    assert_refused(fault, folder, capfd)


@pytest.mark.parametrize(
    "policy",
    [
        bins("width = 5, levels = [1, 2]"),
        cut("[[35, 65], [35]]"),
        zip_code("{ prefix = [5, 3] }"),
        town('hierarchy = { tree = { West = ["Sekretheim", "Sekretdorf"] } }'),
    ],
    ids=["intervals", "cuts", "prefix", "tree"],
)
def test_a_hierarchy_that_fits_is_not(policy, folder, capfd):
    place(folder, {"policy.toml": policy, "people.csv": DATA})
    ended = command(capfd, "anonymize", "people.csv", "-p", "policy.toml", "-o", "release.csv", "-q")
    assert_nothing_told(ended)
    assert (ended.code, ended.out, ended.err) == (0, "", "")
