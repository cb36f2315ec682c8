"""Papers that are run again: verdicts, data that is kept, the page; and the verdicts that are stored."""

import re
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pytest

import kohort
from kohort.datasets import _sources, papers
from kohort.errors import DataError
from kohort.reports.reproduce import PAPERS, base, cb, kmember, reproduce
from kohort.reports.reproduce.base import Axes, Claim, Paper, Run, Verdict, known
from kohort.reports.reproduce.run import of_release


@dataclass(frozen=True)
class Small(Paper):
    """Two algorithms on six records."""

    name = "small"
    title = "A small paper"
    figures = {"loss": "Loss", "seconds": "Seconds"}  # noqa: RUF012

    def case(self, run):
        frame = pl.DataFrame({"age": [1, 2, 3, 7, 8, 9][: run.records], "ill": list("aabbab")[: run.records]})
        return frame, kohort.Policy.build(k=2, quasi_identifiers=["age"], sensitive=["ill"])

    def measured(self, run, frame, policy):
        return of_release(run, frame, policy)

    def claims(self, *, quick):
        runs = tuple(
            Run("six", 6, name, 2, seed) for name in ("k-member", "mondrian") for seed in ((1,) if quick else (1, 2))
        )
        return (
            Claim("first", "Figure 1", "less is lost.", lambda results: Verdict("reproduced", f"{len(results)} runs."),
                  runs, Axes("k", "loss")),
            Claim("second", "Section 2", "2 is 1.", known("erratum", "It is 2.")),
        )  # fmt: skip


def run(folder, *, quick=False):
    made = []
    verdicts = reproduce(Small(), folder, quick=quick, progress=lambda done, of, run: made.append(run))
    return verdicts, made


def test_page_data_and_verdicts(tmp_path):
    verdicts, made = run(tmp_path)
    assert len(made) == 4
    assert {name: verdict.outcome for name, verdict in verdicts.items()} == {"first": "reproduced", "second": "erratum"}
    data = pl.read_csv(tmp_path / "small" / "results.csv")
    assert data.height == 4
    assert {"table", "records", "algorithm", "k", "seed", "loss", "cm", "dm", "seconds", "version"} <= {*data.columns}
    page = (tmp_path / "small.md").read_text()
    for text in ("| [first](#first) | Figure 1 | reproduced |", "**Erratum.** It is 2.", "small/results.csv",
                 "`kohort reproduce small`", "| six | 2 | "):  # fmt: skip
        assert text in page


def test_the_result_is_that_of_a_release(tmp_path):
    run(tmp_path, quick=True)
    frame, policy = Small().case(Run("six", 6, "k-member", 2, 1))
    policy = policy.with_changes("algorithm", name="k-member", seed=1)
    release = kohort.anonymize(frame, policy)
    figures = kohort.describe(release.table, frame, policy)
    [row] = pl.read_csv(tmp_path / "small" / "results.csv").filter(pl.col("algorithm") == "k-member").to_dicts()
    assert row["loss"] == pytest.approx(release.loss.total)
    assert row["cm"] == figures["classification"]["ill"]
    assert row["dm"] == figures["discernibility"]["total"]


def test_what_was_measured_is_not_measured_again(tmp_path):
    assert len(run(tmp_path, quick=True)[1]) == 2
    assert len(run(tmp_path)[1]) == 2  # the other seed
    assert run(tmp_path)[1] == []
    path = tmp_path / "small" / "results.csv"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-1]))  # stopped before the last
    assert len(run(tmp_path)[1]) == 1
    path.write_text(path.read_text().replace(kohort.__version__, "0.0.0"))
    assert len(run(tmp_path)[1]) == 4, "another version has to measure for itself"


def test_a_file_that_is_something_else_is_refused(tmp_path):
    (tmp_path / "small").mkdir()
    (tmp_path / "small" / "results.csv").write_text("a,b\n1,2\n")
    with pytest.raises(DataError, match="these are no results of kohort reproduce; move the file away"):
        run(tmp_path)


def test_a_folder_that_cannot_be_made_is_refused(tmp_path):
    (tmp_path / "small").write_text("")
    with pytest.raises(DataError, match=r"cannot be made .*; give another --folder"):
        run(tmp_path)


def test_figures_are_drawn(tmp_path):
    pytest.importorskip("altair")
    pytest.importorskip("vl_convert")
    run(tmp_path, quick=True)
    assert (tmp_path / "small" / "first.svg").read_text().startswith("<svg")
    assert (tmp_path / "small" / "first.png").read_bytes()[1:4] == b"PNG"
    assert "![loss over k](small/first.svg)" in (tmp_path / "small.md").read_text()


def test_ratios_are_of_means():
    results = pl.DataFrame(
        {"algorithm": ["a", "a", "b", "b"] * 2, "k": [2] * 4 + [3] * 4, "loss": [1, 3, 2, 6] + [1] * 4}
    )
    assert base.ratios(results, "loss", "b", "a", "k") == {2: 2.0, 3: 1.0}
    assert base.spelled({2: 2.0, 3: 1.0}) == "1.00 to 2.00 times"


# -- verdicts of 004 that could come out otherwise --------------------------------------------------


def results(figure, **means):
    """One run for each algorithm and k, with a figure."""
    names = dict(zip(("old", "new", "old_cm", "new_cm"), kmember.FOUR, strict=True))
    rows = [
        {"table": "t", "algorithm": names[name], "k": k, "records": 100 * k, figure: value, "homogeneity": 0.5}
        for name, values in means.items()
        for k, value in enumerate(values, 1)
    ]
    return pl.DataFrame(rows)


@pytest.mark.parametrize(
    ("judge", "found", "outcome"),
    [
        (kmember._close_loss, results("loss", old=[0.2, 0.4], new=[0.21, 0.43]), "reproduced"),
        (kmember._close_loss, results("loss", old=[0.2, 0.4], new=[0.21, 0.5]), "not reproduced"),
        (kmember._grows_with_k, results("loss", old=[0.2, 0.4], new=[0.3, 0.5]), "erratum"),
        (kmember._grows_with_k, results("loss", old=[0.2, 0.4], new=[0.5, 0.3]), "not reproduced"),
        (kmember._loss_over_sizes, results("loss", old=[0.4, 0.3], new=[0.5, 0.4]), "reproduced"),
        (kmember._loss_over_sizes, results("loss", old=[0.3, 0.4], new=[0.5, 0.5]), "trend only"),
        (kmember._loss_over_sizes, results("loss", old=[0.3, 0.4], new=[0.5, 0.3]), "not reproduced"),
        (kmember._smaller_error, results("cm", old=[4, 4], new=[4, 4], old_cm=[2, 3], new_cm=[1, 3]), "reproduced"),
        (kmember._smaller_error, results("cm", old=[4, 4], new=[4, 4], old_cm=[2, 5], new_cm=[1, 3]), "trend only"),
        (kmember._smaller_error, results("cm", old=[4, 4], new=[4, 4], old_cm=[5, 5], new_cm=[5, 5]), "not reproduced"),
        (kmember._alike, results("dm", old=[4, 5], new=[4, 5], old_cm=[4, 5], new_cm=[4, 5]), "reproduced"),
        (kmember._alike, results("dm", old=[4, 5], new=[4, 7], old_cm=[4, 5], new_cm=[4, 5]), "trend only"),
        (kmember._alike, results("dm", old=[4, 4], new=[4, 4], old_cm=[4, 4], new_cm=[4, 4]), "not reproduced"),
    ],
)
def test_verdicts_follow_the_results(judge, found, outcome):
    assert judge(found).outcome == outcome


@pytest.mark.parametrize(("new", "outcome"), [([1, 2], "reproduced"), ([5, 2], "not reproduced")])
def test_verdicts_on_time(new, outcome):
    assert kmember._speed(results("seconds", old=[4, 4], new=new), "k").outcome == outcome


def against_nh(figure, by, **losses):
    """Results of cb, with 1 for nh, for each table; centres as cb."""
    rows = []
    for table, values in losses.items():
        for x, value in enumerate(values, 1):
            for name, found in ((cb.CB, value), (cb.CENTRES, value), (cb.NH, 1.0)):
                rows.append({"table": table.replace("_", "-"), "algorithm": name, by: x, figure: found})
    return pl.DataFrame(rows)


@pytest.mark.parametrize(
    ("judge", "found", "outcome"),
    [
        (cb._below, against_nh("loss", "k", ADULT_4=[0.5, 0.9], SAL_4=[0.8, 0.9]), "reproduced"),
        (cb._below, against_nh("loss", "k", ADULT_4=[0.5, 0.9], SAL_4=[0.8, 1.1]), "trend only"),
        (cb._below, against_nh("loss", "k", ADULT_4=[0.5, 1.1], SAL_4=[1.1, 1.1]), "not reproduced"),
        (cb._three, against_nh("loss", "k", SAL_3=[1.1, 1.2], INC_3=[0.9, 0.8]), "reproduced"),
        (cb._three, against_nh("loss", "k", SAL_3=[1.1, 1.2], INC_3=[1.1, 0.8]), "trend only"),
        (cb._three, against_nh("loss", "k", SAL_3=[0.9, 1.2], INC_3=[1.1, 0.8]), "not reproduced"),
        (cb._slower, against_nh("seconds", "records", SAL_6=[2.0, 3.0]), "reproduced"),
        (cb._slower, against_nh("seconds", "records", SAL_6=[0.5, 3.0]), "not reproduced"),
    ],
)
def test_verdicts_on_cb_follow_the_results(judge, found, outcome):
    assert judge(found).outcome == outcome


def test_loss_over_k_and_sizes():
    rows = [
        {"table": "SAL-6", "algorithm": name, "k": k, "records": k, "loss": loss}
        for name, losses in (("cb", [0.3, 0.2]), ("nh", [0.4, 0.3]))
        for k, loss in enumerate(losses, 1)
    ]
    falling = pl.DataFrame(rows)
    assert cb._monotone(falling, "records", -1).outcome == "reproduced"
    assert cb._monotone(falling, "k", 1).outcome == "not reproduced"
    worse = falling.with_columns(loss=pl.when(pl.col("algorithm") == "cb").then(0.5).otherwise("loss"))
    assert cb._monotone(worse, "records", -1).outcome == "trend only"


def test_made_up_people_have_the_cardinalities_of_the_paper():
    frame = cb.census("SAL", 6, 50_000, 1)
    assert [frame[name].n_unique() for name in frame.columns] == [78, 2, 17, 6, 9, 10]
    frame = cb.census("INC", 3, 50_000, 1)
    assert [frame[name].max() for name in frame.columns] == [77, 710, 982]


def test_made_up_restaurants_are_those_of_their_seed():
    assert kmember.restaurants(50, 1).equals(kmember.restaurants(50, 1))
    assert not kmember.restaurants(50, 1).equals(kmember.restaurants(50, 2))


@pytest.mark.slow
@pytest.mark.skipif(_sources.find(papers._ADULT.file) is None, reason="Adult is not here (set KOHORT_DATA)")
@pytest.mark.parametrize("name", PAPERS)
def test_a_quick_run_comes_to_the_stored_verdicts(tmp_path, name):
    """All but those on time, which depend on the machine."""
    verdicts = reproduce(PAPERS.make(name, {}), tmp_path, quick=True, progress=lambda done, of, run: None)
    page = (Path(__file__).parents[3] / "docs" / "reproduce" / f"{name}.md").read_text()
    stored = dict(re.findall(r"^\| \[([a-z0-9-]+)\]\(#[a-z0-9-]+\) \| [^|]+ \| ([a-z ]+) \|$", page, re.MULTILINE))
    assert stored.keys() == verdicts.keys()
    for claim, verdict in verdicts.items():
        if not claim.startswith("speed"):
            assert verdict.outcome == stored[claim], claim
