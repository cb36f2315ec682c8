"""Tables in many files, in limited memory: the verdict is that of one table in one piece."""

from __future__ import annotations

import hashlib

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kohort.audit import verify
from kohort.audit.checks import histograms, rowwise, truth
from kohort.audit.ledger import Ledger
from kohort.audit.meaning.spelling import identity, told_apart
from kohort.audit.read import database, texts
from kohort.audit.read import table as tables
from kohort.audit.read.database import Database
from kohort.errors import DataError, PolicyError
from kohort.policy import Policy

MEMORY = 300 * 10**6
RULES = Policy.build(
    k=2,
    quasi_identifiers=["age", "sex"],
    sensitive=["ill"],
    insensitive=["pay", "visit"],
    types={"age": "integer", "sex": "string"},
).with_changes("privacy", models=({"model": "distinct-l-diversity", "column": "ill", "l": 2},))
N = 60


def original():
    rng = np.random.default_rng(3)
    return pl.DataFrame(
        {
            "age": np.sort(rng.integers(20, 80, N)),
            "sex": rng.choice(["F", "M"], N),
            "ill": rng.choice(["flu", "cough", "gout"], N),
            "pay": rng.choice([0.5, 1.25, 2.0], N),
            "visit": [f"v{row}" for row in range(N)],
        }
    )


ORDER = np.random.default_rng(4).permutation(N)


def release():
    whole = original().with_columns(
        age=pl.format(
            "[{} - {}]", pl.col("age").min().over(pl.int_range(N) // 6), pl.col("age").max().over(pl.int_range(N) // 6)
        ),
        sex=pl.lit("*"),
    )
    return whole[ORDER.tolist()]


@pytest.fixture
def files(tmp_path):
    """The release and the original in files of different sizes, and the order of rows."""
    for name, frame in {"release": release(), "original": original()}.items():
        (tmp_path / name / "more").mkdir(parents=True)
        frame[:7].write_parquet(tmp_path / name / "a.parquet")
        frame[7:7].write_parquet(tmp_path / name / "b.parquet")
        # by name, whatever the order of columns
        frame[7:].select(reversed(frame.columns)).write_parquet(tmp_path / name / "more" / "c.parquet")
    pl.DataFrame({"row": ORDER}).write_parquet(tmp_path / "order.parquet")
    return tmp_path


@pytest.fixture
def small_pieces(monkeypatch):
    """Batches, arrays and keys so small that nothing is done in one piece."""
    monkeypatch.setattr(tables, "BATCH", 8)
    monkeypatch.setattr(tables, "_WORD", 7)
    monkeypatch.setattr(tables, "TEXTS", 3)
    monkeypatch.setattr(texts, "TEXTS", 3)
    monkeypatch.setattr(histograms, "_AT_ONCE", 9)
    monkeypatch.setattr(database, "_FOR_ARRAYS", 25 / MEMORY)
    monkeypatch.setattr(database, "_ROWS", 4)


def figures(verdict):
    return [(check.name, check.passed, check.sentence, check.figures) for check in verdict.checks]


def in_files(folder, **changes):
    given = {"original": folder / "original", "row_order": folder / "order.parquet", "memory": MEMORY} | changes
    return verify(folder / "release", RULES, **given)


# -- the same verdict --------------------------------------------------------------------------------


@pytest.mark.parametrize("narrow", [0, 1 << 20], ids=["compared as texts", "compared by number"])
def test_the_verdict_is_that_of_one_piece(files, small_pieces, monkeypatch, narrow):
    monkeypatch.setattr(tables, "_NARROW", narrow)
    found = in_files(files)
    assert found.passed, found.reason
    assert figures(found) == figures(verify(release(), RULES, original=original(), row_order=ORDER))


@pytest.mark.slow
def test_faults_are_counted_as_in_one_piece(files, small_pieces):
    path = files / "release" / "more" / "c.parquet"
    rows = pl.int_range(pl.len())
    wrong = pl.read_parquet(path).with_columns(
        age=pl.when(rows % 5 == 1).then(pl.lit("[1 - 2]")).otherwise("age"),
        pay=pl.when(rows % 4 == 1).then(pl.lit(9.0)).otherwise("pay"),
    )
    wrong.write_parquet(path)
    found = in_files(files)
    whole = pl.concat([pl.read_parquet(files / "release" / "a.parquet"), wrong.select(release().columns)])
    assert figures(found) == figures(verify(whole, RULES, original=original(), row_order=ORDER))
    assert {check.name for check in found.checks if not check.passed} >= {"coverage", "values"}


@pytest.mark.slow
def test_lists_patterns_and_files_in_the_same_order(files, small_pieces):
    original().write_csv(files / "o.csv")
    paths = [files / "release" / name for name in ("a.parquet", "b.parquet", "more/c.parquet")]
    wanted = figures(in_files(files))
    assert figures(verify(paths, RULES, original=original(), row_order=ORDER)) == wanted
    pattern = files / "rel*" / "**" / "*.parquet"
    assert figures(verify(pattern, RULES, original=files / "o.csv", row_order=ORDER, memory=MEMORY)) == wanted
    kept = original()[ORDER.tolist()]
    unordered = verify(paths, RULES, original=kept, memory=MEMORY)  # rows stand where they stood
    assert unordered.passed
    assert unordered.check("coverage").figures["method"] == "row by row, as the files stand"


@pytest.mark.slow
def test_csv_in_many_files(tmp_path, small_pieces):
    for name, frame in {"a": release()[:9], "b": release()[9:]}.items():
        frame.write_csv(tmp_path / f"{name}.csv")
    found = verify(tmp_path, RULES, original=original(), row_order=ORDER, memory=MEMORY)
    assert figures(found) == figures(verify(release(), RULES, original=original(), row_order=ORDER))
    (tmp_path / "b.csv").write_text("age,sex,ill,pay,name\n1,2,3,4,s3cret\n")
    with pytest.raises(DataError, match=r"^release b\.csv: its header is not that of a\.csv"):
        verify(tmp_path, RULES)


def test_the_hash_of_several_files(files):
    paths = [files / "release" / name for name in ("a.parquet", "b.parquet", "more/c.parquet")]
    lines = "".join(hashlib.sha256(path.read_bytes()).hexdigest() + "\n" for path in paths)
    assert in_files(files).hashes["release"] == hashlib.sha256(lines.encode()).hexdigest()


def test_signs_of_zero_tell_classes_apart(tmp_path):
    rules = Policy.build(k=2, quasi_identifiers=["q"], types={"q": "number"})
    for cells, classes, smallest in (
        ([0.0, 0.0, -0.0], 2, 1),
        ([0.0, 0.0, float("nan"), None], 3, 1),
        ([0.5, 0.5], 1, 2),
    ):
        pl.DataFrame({"q": cells}).write_parquet(tmp_path / "r.parquet")
        found = verify(tmp_path / "r.parquet", rules).check("k").figures
        assert (found["classes"], found["smallest_class"]) == (classes, smallest)


# -- the order of rows -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "fault"),
    [
        ([*ORDER[:-1], ORDER[0]], "none of them twice"),
        ([*ORDER[:-1], N], "must name an original row"),
        ([*ORDER[:-1], -1], "must name an original row"),
        ([*ORDER[:-1], None], "must name an original row"),
        (ORDER[:-1], "one whole number for each released row"),
        ([f"{row}" for row in ORDER], "one whole number for each released row"),
    ],
    ids=["twice", "beyond", "below", "null", "too few", "texts"],
)
def test_an_order_that_is_none(files, small_pieces, rows, fault):
    pl.DataFrame({"row": rows}).write_parquet(files / "order.parquet")
    with pytest.raises(DataError, match=f"^row_order: .*{fault}"):
        in_files(files)


@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["LF", "CRLF"])
@pytest.mark.parametrize("closed", [True, False], ids=["closed", "open"])
def test_an_order_in_lines(files, end, closed):
    (files / "order.txt").write_bytes((end.join(map(str, ORDER)) + (end if closed else "")).encode())
    assert figures(in_files(files, row_order=files / "order.txt")) == figures(in_files(files))


@pytest.mark.parametrize(
    ("first", "fault"),
    [
        (["row"], r" order\.txt: line 1 is not one whole number"),
        ([ORDER[0], ""], r" order\.txt: line 2 is not one whole number"),
        ([f"{ORDER[0]},1"], r" order\.txt: line 1 is not"),
        ([f" {ORDER[0]}"], r" order\.txt: line 1 is not"),
        (["-1"], r" order\.txt: line 1 is not"),
        (["1.0"], r" order\.txt: line 1 is not"),
        (["\u0663"], r" order\.txt: line 1 is not"),
        (["9" * 19], r" order\.txt: line 1 is not"),
        (["7" * 10**5], r" order\.txt: line 1 is not"),
        ([], ": it must hold one whole number for each released row"),
        ([ORDER[0]] * 2, ": it must hold one whole number for each released row"),
        ([ORDER[1]], ": it must name an original row, counted from 0, and none of them twice"),
        ([N], ": it must name an original row"),
    ],
)
def test_lines_that_are_no_order(files, first, fault):
    path = files / "order.txt"
    path.write_text("".join(f"{row}\n" for row in [*first, *ORDER[1:]]))
    with pytest.raises(DataError, match=f"^row_order{fault}") as refused:
        in_files(files, row_order=path)
    assert len(refused.value.faults[0]) < 200


def test_an_order_that_changes_meanwhile(files, monkeypatch):
    path = files / "order.txt"
    path.write_text("".join(f"{row}\n" for row in ORDER))
    monkeypatch.setattr(truth, "rows", lambda _: path.write_text("0\n") and None)
    with pytest.raises(DataError, match=r"^order\.txt: was written to while it was checked"):
        in_files(files, row_order=path)


def test_files_that_are_no_order(files):
    with pytest.raises(DataError, match=r"row_order no\.parquet: cannot be opened"):
        in_files(files, row_order=files / "no.parquet")
    (files / "order.parquet").write_text("row\n1\n")
    with pytest.raises(DataError, match=r"row_order order\.parquet: line 1 is not one whole number"):
        in_files(files)
    with pytest.raises(DataError, match="needs the original"):
        in_files(files, original=None)


# -- what cannot be read -----------------------------------------------------------------------------


def test_files_that_differ(files):
    frame = pl.read_parquet(files / "release" / "a.parquet")
    frame.drop("sex").with_columns(pay=pl.lit("s3cret"), row=1).write_parquet(files / "release" / "b.parquet")
    with pytest.raises(DataError) as caught:
        in_files(files)
    assert caught.value.faults == (
        "release b.parquet: lacks column 'sex' of a.parquet; every file needs the same columns.",
        "release b.parquet: its column 5 is not in a.parquet; every file needs the same columns.",
        "release b.parquet: column 'pay' is of another type than in a.parquet; write all files alike.",
    )
    (files / "release" / "b.parquet").write_text("a;b\n")
    with pytest.raises(DataError, match="release: its files are of several kinds; give files of one kind"):
        in_files(files)


def test_a_damaged_page_is_blamed_on_its_file(files):
    path = files / "original" / "more" / "c.parquet"
    content = bytearray(path.read_bytes())
    content[4:40] = bytes(255 - byte for byte in content[4:40])
    path.write_bytes(content)
    with pytest.raises(DataError) as caught:
        in_files(files)
    assert caught.value.faults == ("original c.parquet: it cannot be read; it is damaged, or of a strange type.",)


def test_a_file_that_changes_meanwhile(files, monkeypatch):
    def write(*_):
        release()[:9].write_parquet(files / "release" / "a.parquet")

    monkeypatch.setattr(truth, "rows", write)
    with pytest.raises(DataError, match=r"^a\.parquet: was written to while it was checked"):
        in_files(files)


# -- memory ------------------------------------------------------------------------------------------


def test_what_is_not_done_in_pieces_is_refused(files):
    with pytest.raises(PolicyError, match="'matchings' needs the whole table in memory"):
        verify(release(), RULES.with_changes("privacy", anonymity="matchings", models=()), memory=MEMORY)
    with pytest.raises(DataError, match="memory: a ledger lists every class"):
        in_files(files, against=Ledger())


def test_temporary_files_are_private_and_gone(tmp_path):
    for fails in (False, True):
        with Database(256 * 10**6, tmp_path) as base:
            [private] = tmp_path.iterdir()
            assert private.stat().st_mode & 0o777 == 0o700
            base.rows("SET memory_limit = '30MB'")
            base.rows("CREATE TABLE t AS SELECT hash(range) AS a, hash(range + 1) AS b FROM range(5000000)")
            assert list((private / "spilled").iterdir())
            if fails:
                with pytest.raises(DataError, match="memory: it does not suffice"):
                    base.rows("SELECT list(a) FROM t")
        assert not list(tmp_path.iterdir())


def test_the_arrays_are_as_small_as_their_numbers():
    question = rowwise.Question.of("q", (np.array([0, 2]), np.array([3, 1])), np.arange(4))
    assert question.place.dtype == np.uint8
    assert question.outside(np.array([0, 0, 1]), np.array([3, 0, 1], np.uint8)) == 1


names_given = st.text(st.sampled_from("0017+-. .aé\u0301\t\u00a0"), max_size=6) | st.none()


@settings(max_examples=60, deadline=None)
@given(st.lists(names_given, min_size=1, max_size=30))
def test_persons_are_those_of_their_identities(names):
    with Database() as base:
        base.register("given", pl.DataFrame({"who": names}, schema={"who": pl.String}))
        base.rows("CREATE TABLE told AS SELECT who FROM given")
        person = told_apart(base, "SELECT who FROM told", RULES)
        found = base.rows(f"SELECT who, {person} FROM told LEFT JOIN people ON people.text = who")
    assert sorted(found, key=str) == sorted(
        ((name, None if name is None else identity(name) or None) for name in names), key=str
    )
