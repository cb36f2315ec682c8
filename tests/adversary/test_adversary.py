"""A fixed share of what `make adversary` runs, and the judge itself, which must find every fault that it is shown."""

import ast
import json
import os
import subprocess
import sys
from itertools import islice
from pathlib import Path
from random import Random

import pytest

from kohort.audit.ledger import read_ledger
from kohort.errors import KohortError

from .generate import by_hand, case_of, write_files
from .judge import Release, judge
from .judge_files import Malformed, read, read_csv
from .mutate import changed_ledger
from .run import attack, command

HERE = Path(__file__).parent
OF_THE_JUDGE = sorted({*HERE.glob("judge*.py"), HERE / "feasible.py", HERE / "generate.py", HERE / "mutate.py"})
BATCH = 8
SHARE = {"memory": range(0, 64, BATCH), "disk": range(0, 16, BATCH)}
"""First seeds of the batches that the suite runs."""


@pytest.mark.promise("3.2")
@pytest.mark.parametrize("path", [*OF_THE_JUDGE, HERE.parent / "oracles" / "models.py"], ids=lambda path: path.name)
def test_the_judge_knows_nothing_of_kohort(path):
    for node in ast.walk(ast.parse(path.read_text())):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
        module = getattr(node, "module", None) or ""
        assert not any(name.split(".")[0] == "kohort" for name in (*names, module)), ast.unparse(node)


def attacked(engine, first, folder, spark=None):
    found, released = [], 0
    for seed in range(first, first + BATCH):
        (folder / str(seed)).mkdir()
        outcome, faults, _ = attack(case_of(seed, engine), folder / str(seed), spark)
        released += outcome.code == 0
        found += [f"{engine} {seed}: {fault}" for fault in faults]
    assert found or released >= BATCH // 4, "most requests are refused: nothing is put to the test"
    return found


@pytest.mark.slow
@pytest.mark.promise(
    "1.1", "1.2", "1.3", "1.4", "2.1", "2.2", "2.3", "2.4", "3.1", "3.3", "3.4", "4.1", "4.2", "4.3", "5.1", "6.2"
)
@pytest.mark.parametrize("first", SHARE["memory"])
def test_requests_end_as_promised(tmp_path, first):
    assert attacked("memory", first, tmp_path) == []


@pytest.mark.slow
@pytest.mark.promise("1.1", "1.4", "2.1", "2.2", "2.3", "3.3", "4.2")
@pytest.mark.parametrize("first", SHARE["disk"])
def test_requests_beyond_memory_end_as_promised(tmp_path, first):
    assert attacked("disk", first, tmp_path) == []


@pytest.mark.slow
@pytest.mark.promise("2.3")
def test_the_zone_of_the_machine_does_not_matter(tmp_path):
    """In processes of their own: what libraries find out about the zone when they start counts, too."""
    case = next(case for case in map(case_of, range(1000)) if is_about_zones(case))
    case.policy["output"], case.target = {"order": "kept"}, "csv"
    source = write_files(case, tmp_path)
    released = set()
    for zone in ("UTC", "Asia/Tokyo", "America/New_York"):
        out = tmp_path / f"{zone[:2]}.csv"
        arguments = ["anonymize", source, "-p", tmp_path / "policy.toml", "-o", out, "--quiet"]
        done = subprocess.run(
            [sys.executable, "-c", "from kohort.cli.main import run; run()", *map(str, arguments)],
            env={**os.environ, "TZ": zone},
            capture_output=True,
            text=True,
        )
        assert (done.returncode, done.stderr) == (0, ""), zone
        assert not judge(Release(case.policy, tmp_path, read(source), read(out))), zone
        released.add(out.read_bytes())
    assert len(released) == 1


def is_about_zones(case):
    """A plain request about moments in a zone of their own."""
    zones = any("tz=Asia" in made.arrow or "tz=America" in made.arrow for made in case.columns)
    unusual = {"models", "missing", "anonymity", "person"} & case.policy["privacy"].keys()
    pseudonym = "pseudonym_key" in case.policy.get("output", {})
    return zones and case.source["kind"] == "parquet" and not unusual and not pseudonym and case.rows > 9


# -- ledgers -------------------------------------------------------------------------------------------

BY_COMMAND = 5
"""Ledgers that the command is run on; of the others it is enough that reading them is refused."""


def refusal(book):
    """The exit code that reading a ledger ends with; 0 if nothing is wrong with it."""
    try:
        read_ledger(book)
    except KohortError as error:
        return error.exit_code
    return 0


@pytest.mark.slow
@pytest.mark.promise("6.2")
def test_a_ledger_that_was_tampered_with_is_refused(tmp_path):
    (tmp_path / "policy.toml").write_text(POLICY)
    (tmp_path / "in.csv").write_text(TABLE)
    there = ["-p", str(tmp_path / "policy.toml")]
    book, out = tmp_path / "ledger.json", tmp_path / "out.csv"
    for _ in range(2):
        done = command(
            "anonymize", str(tmp_path / "in.csv"), *there, "-o", str(out), "--ledger", str(book), "--quiet", "--force"
        )
        assert done == (0, "", "")
    document = json.loads(book.read_text())
    assert len(document["releases"]) == 2
    r = Random(1)
    drawn = (changed_ledger(document, r) for _ in range(200))
    mutants = list(islice((mutant for mutant in drawn if mutant is not None), 50))
    assert len(mutants) == 50
    for number, mutant in enumerate(mutants):
        if isinstance(mutant.get("releases"), list) and mutant == document | {"releases": document["releases"][:1]}:
            continue  # what is cut off at the end leaves no trace
        book.write_text(json.dumps(mutant))
        if number >= BY_COMMAND and refusal(book) == 2:
            continue  # as the command would end
        code, _, err = command("verify", str(out), *there, "--against", str(book), "--quiet")
        assert code == 2, (mutant, err)
        assert err.startswith("error: ")


# -- the judge -----------------------------------------------------------------------------------------

POLICY = """
[privacy]
k = 2
models = [{ model = "distinct-l-diversity", column = "ill", l = 2 }]
[output]
order = "kept"
[columns]
who = "identifier"
age = { role = "quasi", type = "integer", top = 60 }
ill = "sensitive"
"""
TABLE = "who,age,ill\nann,20,flu\nbea,29,cold\ncid,40,flu\ndan,70,acne\n"
GOOD = "age,ill\n[20 - 29],flu\n[20 - 29],cold\n>= 40,flu\n>= 40,acne\n"


def judged(folder, release, policy=POLICY, *, strict=True):
    case = by_hand("memory", policy, TABLE)
    (folder / "in.csv").write_text(TABLE)
    (folder / "out.csv").write_bytes(release.encode())
    table = read_csv(folder / "out.csv")
    made = Release(case.policy, folder, read_csv(folder / "in.csv"), table, strict=strict)
    return {fault.promise for fault in judge(made)}


def test_the_judge_accepts_a_good_release(tmp_path):
    assert judged(tmp_path, GOOD) == set()
    assert judged(tmp_path, GOOD, strict=False) == set()


@pytest.mark.parametrize(
    ("before", "after", "promise"),
    [
        ("[20 - 29],flu", "[20 - 30],flu", "k"),
        ("[20 - 29],cold", '"[20 - 29]",cold', "k"),
        ("[20 - 29]", "[21 - 29]", "truth"),
        ("cold", "flu", "truth"),
        ("cold", "flu", "distinct-l-diversity"),
        ("cold", " flu ", "distinct-l-diversity"),
        ("flu\n>= 40,acne", "acne\n>= 40,flu", "truth"),
        (">= 40,acne\n", "", "suppression"),
        (">= 40", "[40 - 70]", "precision"),
        (">= 40", "> 60", "precision"),
        (">= 40", "nonsense", "domain"),
        ("[20 - 29]", "[29 - 20]", "domain"),
        ("age,ill", "age,who", "columns"),
        (">= 40,acne\n", ">= 40,acne\n>= 40,acne\n", "rows"),
    ],
)
def test_the_judge_finds_every_fault(tmp_path, before, after, promise):
    assert before in GOOD
    assert promise in judged(tmp_path, GOOD.replace(before, after))


@pytest.mark.parametrize(
    "text", ['a,b\n1,"2" \n', "a,b\n1,2,\n", 'a,b\n1,2"\n', 'a,b\n1,"2\n', "a,b\n1,2\n\n", "a\n1\n2,\n"]
)
def test_the_judge_reads_no_damaged_file(tmp_path, text):
    (tmp_path / "out.csv").write_text(text)
    with pytest.raises(Malformed):
        read_csv(tmp_path / "out.csv")
