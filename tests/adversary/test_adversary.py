"""A fixed share of what `make adversary` runs, and the judge itself, which must find every fault that it is shown."""

import ast
from pathlib import Path

import pytest

from .generate import by_hand, case_of
from .judge import Release, judge
from .judge_files import Malformed, read_csv
from .run import attack

HERE = Path(__file__).parent
OF_THE_JUDGE = sorted({*HERE.glob("judge*.py"), HERE / "feasible.py", HERE / "generate.py", HERE / "mutate.py"})
BATCH = 8
SHARE = {"memory": [], "disk": []}
"""First seeds of the batches that the suite runs."""


@pytest.mark.promise("3.2")
@pytest.mark.parametrize("path", [*OF_THE_JUDGE, HERE.parent / "oracles" / "models.py"], ids=lambda path: path.name)
def test_the_judge_knows_nothing_of_kohort(path):
    for node in ast.walk(ast.parse(path.read_text())):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
        module = getattr(node, "module", None) or ""
        assert not any(name.split(".")[0] == "kohort" for name in (*names, module)), ast.unparse(node)


def attacked(engine, first, folder, spark=None):
    found = []
    for seed in range(first, first + BATCH):
        (folder / str(seed)).mkdir()
        _, faults, _ = attack(case_of(seed, engine), folder / str(seed), spark)
        found += [f"{engine} {seed}: {fault}" for fault in faults]
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
