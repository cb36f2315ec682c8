"""Commands that cannot be understood, and commands on hierarchies and proposals that are given nonsense."""

import json

import pytest

from faults.harness import (
    CANARY,
    DATA,
    ROWS,
    Fault,
    assert_nothing_told,
    assert_refused,
    command,
    contents,
    each,
    like,
    place,
    plain_faults,
    says,
)

GIVEN = ("anonymize", "people.csv", "-p", "policy.toml", "-o", "release.csv")
USAGE = {
    "no-policy": (("anonymize", "people.csv", "-o", "release.csv"), "--policy"),
    "no-output": (("anonymize", "people.csv", "-p", "policy.toml"), "--output"),
    "no-data": (("anonymize", "-p", "policy.toml", "-o", "release.csv"), "DATA"),
    "unknown-command": (("anonymise", "people.csv"), "anonymise"),
    "unknown-command-of-hierarchy": (("hierarchy", "lint"), "lint"),
    "unknown-option": ((*GIVEN, "--kk", "3"), "--kk"),
    "option-without-value": ((*GIVEN, "--k"), "--k"),
    "option-of-another-type": ((*GIVEN, "--k", "ten"), "--k"),
    "option-out-of-range": (("init", "people.csv", "-o", "p.toml", "--k", "1"), "--k"),
    "rows-out-of-range": (("demo", "--rows", "1"), "--rows"),
    "one-argument-too-many": ((*GIVEN, "more.csv"), "more.csv"),
}


@pytest.mark.parametrize(("arguments", "named"), USAGE.values(), ids=USAGE)
def test_a_command_that_is_not_understood_names_what_is_wrong(arguments, named, folder, capfd):
    place(folder, {"people.csv": DATA})
    before = contents(folder)
    ended = command(capfd, *arguments)
    assert (ended.code, ended.out) == (2, "")
    assert named in ended.err.splitlines()[-2], "the last line says where to read more"
    assert_nothing_told(ended)
    assert contents(folder) == before


@pytest.mark.parametrize(("arguments", "named"), USAGE.values(), ids=USAGE)
def test_a_command_that_is_not_understood_ends_in_a_line_like_any_other_error(arguments, named, capfd):
    """One line on stderr that starts with `error: `, so that who reads it needs one rule only."""
    [line] = [line for line in command(capfd, *arguments).err.splitlines() if line.lower().startswith("error: ")]
    assert line.startswith("error: ")
    assert named in line
    assert "Input should" not in line


def test_a_command_that_is_not_understood_is_json_where_json_is_asked_for(capfd):
    ended = command(capfd, "anonymize", "people.csv", "-o", "release.csv", "--json")
    facts = json.loads(ended.out)
    assert ended.err == ""
    assert facts["exit_code"] == ended.code == 2
    assert "--policy" in facts["faults"][0]


BUILD = ("hierarchy", "build", "people.csv")
ONE_KIND = says("give exactly one of --width, --cuts, --prefix, --dates and --flat.")
HEADERLESS = ROWS * 2


def build(name: str, column: str, *options: str, sentences: tuple, data: str | None = DATA) -> Fault:
    return Fault(name, sentences, command=(*BUILD, column, "-o", "h.csv", *options), data=data, has_json=False)


HIERARCHIES = [
    build("build-of-no-kind", "zip", sentences=ONE_KIND),
    build("build-of-two-kinds", "zip", "--flat", "--prefix", "5,3", sentences=ONE_KIND),
    build(
        "build-for-no-column",
        "zipp",
        "--flat",
        sentences=says(like(r"column 'zipp' is not in the table \(column 3 has a similar name\).*\.")),
    ),
    build(
        "build-for-no-column-of-no-header",
        "zip",
        "--flat",
        sentences=says(like(r"column 'zip' is not in .*\.")),
        data=HEADERLESS,
    ),
    build(
        "build-from-no-file",
        "zip",
        "--flat",
        sentences=says("people.csv: cannot be read (No such file or directory); check the path."),
        data=None,
    ),
    build(
        "build-bins-of-texts",
        "town",
        "--width",
        "5",
        sentences=says(
            "column 'town': a hierarchy of intervals needs type integer or number; change the type or the hierarchy."
        ),
    ),
    build("build-bins-of-no-width", "age", "--width", "-3", sentences=says(like(r".*width.*\b0; got -3\.0\."))),
    build(
        "build-periods-of-integers",
        "age",
        "--dates",
        "year",
        sentences=says("column 'age': a hierarchy of dates needs type date; change the type or the hierarchy."),
    ),
    build(
        "build-periods-unknown",
        "age",
        "--dates",
        "week",
        sentences=says(like(r".*dates.* must be 'month', 'quarter', 'year' or 'decade'; got 'week'\.")),
    ),
    build(
        "build-prefixes-of-letters",
        "zip",
        "--prefix",
        "a,b",
        sentences=says("--prefix must be numbers with commas between them; got 'a,b'."),
    ),
    build(
        "build-prefixes-of-fractions",
        "zip",
        "--prefix",
        "5.5,3",
        sentences=says(like(r".*prefix.*(whole|integer).*\.")),
    ),
    build("build-prefixes-infinite", "zip", "--prefix", "inf", sentences=says(like(r".*prefix.*\."))),
    build(
        "build-prefixes-increase",
        "zip",
        "--prefix",
        "3,5",
        sentences=says("hierarchy of column 'zip': prefix lengths must be positive and decrease."),
    ),
    build(
        "build-cuts-of-letters",
        "age",
        "--cuts",
        "18,65;x",
        sentences=says("--cuts must be numbers with commas between them; got 'x'."),
    ),
    build(
        "build-cuts-not-nested",
        "age",
        "--cuts",
        "35,65;40",
        sentences=says(
            "hierarchy of column 'age': the cuts of a level must be some, not all, of the cuts of the level before."
        ),
    ),
    build(
        "build-from-no-values",
        "age",
        "--width",
        "5",
        sentences=says("column 'age': there are no values to build a hierarchy from."),
        data="name,age\nx,\ny,\n",
    ),
    Fault(
        "check-of-no-file",
        says("hierarchy of column 'town' (town.csv): there is no such file; check its path."),
        command=("hierarchy", "check", "town.csv"),
    ),
    Fault(
        "show-of-no-file",
        says("hierarchy of column 'town' (town.csv): there is no such file; check its path."),
        command=("hierarchy", "show", "town.csv"),
        has_json=False,
    ),
    Fault(
        "check-of-ragged-rows",
        says(
            "hierarchy of column 'town' (town.csv), row 2: has 2 cells where row 1 has 3; "
            "give every row the same number of levels."
        ),
        command=("hierarchy", "check", "town.csv"),
        files={"town.csv": f"Sekretheim;West;*\n{CANARY};*\n"},
    ),
    Fault(
        "check-against-other-values",
        says(
            "column 'town': 1 distinct values in 2 rows are not leaves of its hierarchy (first in row 3); "
            "add them to the hierarchy or correct the table."
        ),
        command=("hierarchy", "check", "town.csv", "--data", "people.csv"),
        files={"town.csv": f"Sekretheim;*\n{CANARY};*\n"},
    ),
    Fault(
        # It is about one column; that the others have no role is no fault here.
        "check-against-no-column",
        says(like(r".*column 'city'.* not in .*\.")),
        command=("hierarchy", "check", "city.csv", "--data", "people.csv"),
        files={"city.csv": "Sekretheim;*\nSekretdorf;*\n"},
    ),
    Fault(
        "check-against-no-header",
        says(like(r".*column 'town'.* not in .*\.")),
        command=("hierarchy", "check", "town.csv", "--data", "people.csv"),
        files={"town.csv": "Sekretheim;*\nSekretdorf;*\n"},
        data=HEADERLESS,
    ),
]


def proposal(name: str, *sentences: object, data: str | None) -> Fault:
    return Fault(name, sentences, command=("init", "people.csv", "-o", "p.toml"), data=data, has_json=False)


PROPOSALS = [
    proposal("init-of-no-file", "people.csv: cannot be read (No such file or directory); check the path.", data=None),
    proposal("init-of-an-empty-file", "people.csv: is empty; give a file with a header and rows.", data=""),
    proposal("init-of-a-header", "people.csv: has no rows; there is nothing to publish.", data="name,age\n"),
    proposal(
        "init-of-one-record", like(r"people\.csv: .*(one|1|two|2) (record|row)s?.*\."), data=f"name,age\n{CANARY},3\n"
    ),
]


@each([*HIERARCHIES, *PROPOSALS])
def test_a_command_on_nonsense_is_refused(fault, folder, capfd):
    assert_refused(fault, folder, capfd)


def test_a_demo_that_cannot_be_made_says_so(folder, capfd):
    place(folder, {"taken": "x"})
    ended = command(capfd, "demo", "--folder", "taken")
    assert plain_faults(ended) == ["taken: cannot be made (File exists); give another --folder."]
    assert ended.code == 2


@pytest.mark.parametrize("name", ["patients.csv", "policy.toml", "release.csv", "private.json", "hierarchies/sex.csv"])
def test_a_demo_writes_over_nothing_that_no_demo_has_made(folder, capfd, name):
    place(folder, {f"mine/{name}": "what somebody keeps"})
    before = contents(folder)
    ended = command(capfd, "demo", "--folder", "mine", "--rows", "50")
    assert ended.code == 2
    [sentence] = plain_faults(ended)
    assert sentence.startswith(f"mine: holds {name.split('/')[0]}, which no demo has made")
    assert contents(folder) == before


def test_a_demo_of_fewer_patients_than_k_leaves_nothing(folder, capfd):
    ended = command(capfd, "demo", "--rows", "5", "--k", "10")
    [sentence] = plain_faults(ended)
    assert "10" in sentence
    assert "5" in sentence
    assert ended.code in (2, 3)
    assert contents(folder) == {}
