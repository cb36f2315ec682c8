"""Papers that are run again: verdicts, data that is kept, the page; and the verdicts that are stored."""

import re
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pytest

import kohort
from helpers.cli import called
from kohort.datasets import _sources, papers
from kohort.errors import DataError, EngineError
from kohort.reports.reproduce import PAPERS, base, cb, gccg, kmember, pac, reproduce, two_level, two_level_example
from kohort.reports.reproduce.base import Axes, Claim, Paper, Run, Verdict
from kohort.reports.reproduce.run import Results, outcome_of, released


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
        release = released(run, frame, policy)
        figures = kohort.describe(release.table, frame, policy)
        return {
            "loss": release.loss.total,
            "cm": figures["classification"]["ill"],
            "dm": figures["discernibility"]["total"],
            "seconds": release.provenance.seconds["cluster"],
        }

    def unable(self, run):
        return "There is no such machine." if run.table == "elsewhere" else None

    def claims(self, size):
        seeds = {"quick": (1,), "full": (1, 2), "paper": (1, 2, 3)}[size]
        runs = tuple(Run("six", 6, name, 2, seed) for name in ("k-member", "mondrian") for seed in seeds)
        return (
            Claim("first", "Figure 1", "less is lost.", lambda results: Verdict("reproduced", f"{len(results)} runs."),
                  runs, Axes("k", "loss")),
            Claim("second", "Section 2", "2 is 1.", lambda results: Verdict("erratum", "It is 2.")),
            Claim("third", "Figure 3", "it is fast.", lambda results: pytest.fail("not to be judged"),
                  (Run("elsewhere", 6, "k-member", 2, 1),), Axes("k", "seconds"), timed=True),
        )  # fmt: skip


def run(folder, size="full"):
    made = []
    verdicts = reproduce(Small(), folder, size=size, progress=lambda done, of, run: made.append(run))
    return verdicts, made


def test_page_data_and_verdicts(tmp_path):
    verdicts, made = run(tmp_path)
    assert len(made) == 4
    assert {name: verdict.outcome for name, verdict in verdicts.items()} == {
        "first": "reproduced",
        "second": "erratum",
        "third": "not measured",
    }
    data = pl.read_csv(tmp_path / "small" / "results.csv")
    assert data.height == 4
    assert {
        "table",
        "records",
        "algorithm",
        "k",
        "seed",
        "loss",
        "cm",
        "dm",
        "seconds",
        "version",
        "date",
        "machine",
    } <= {*data.columns}
    page = (tmp_path / "small.md").read_text()
    texts = (
        "| [first](#first) | Figure 1 | less is lost. | reproduced |",
        "**Erratum.** It is 2.",
        "**Not measured.** There is no such machine.",
        "small/results.csv",
        "`kohort reproduce small`",
        "| six | 2 | ",
        data["date"][0],
        data["machine"][0],
    )
    for text in texts:
        assert text in page


def test_the_result_is_that_of_a_release(tmp_path):
    run(tmp_path, "quick")
    frame, policy = Small().case(Run("six", 6, "k-member", 2, 1))
    policy = policy.with_changes("algorithm", name="k-member", seed=1)
    release = kohort.anonymize(frame, policy)
    figures = kohort.describe(release.table, frame, policy)
    [row] = pl.read_csv(tmp_path / "small" / "results.csv").filter(pl.col("algorithm") == "k-member").to_dicts()
    assert row["loss"] == pytest.approx(release.loss.total)
    assert row["cm"] == figures["classification"]["ill"]
    assert row["dm"] == figures["discernibility"]["total"]


@pytest.mark.slow
def test_what_was_measured_is_not_measured_again(tmp_path):
    assert len(run(tmp_path, "quick")[1]) == 2
    assert len(run(tmp_path)[1]) == 2  # the other seed
    assert len(run(tmp_path, "paper")[1]) == 2
    assert run(tmp_path)[1] == []
    path = tmp_path / "small" / "results.csv"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-1]))  # stopped before the last
    assert len(run(tmp_path, "paper")[1]) == 1
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


def test_runs_may_have_further_settings(tmp_path):
    """Rows of one file need not have the same columns; what is missing is null."""
    results = base_results(tmp_path)
    plain, more = Run("six", 6, "k-member", 2, 1), two_level.TwoLevelRun("six", 6, "k-member", 2, 1, "equal groups")
    for number in range(150):  # more than what polars looks at to find the columns
        results.add(Run("six", 6, "k-member", 2, number), {"loss": 0.5})
    results.add(more, {"loss": 0.25, "alone": 3.0})
    again = base_results(tmp_path)
    assert again.has(plain)
    assert again.has(more)
    assert again.of([more])["alone"].to_list() == [3.0]
    assert not again.has(two_level.TwoLevelRun("six", 6, "k-member", 2, 1, "traditional"))


def base_results(folder):
    return Results(folder / "results.csv", "1")


def test_a_refused_run_ends_the_experiment():
    frame, policy = Small().case(Run("six", 6, "k-member", 2, 1))
    with pytest.raises(DataError, match="k-member refused a run of this paper: "):
        outcome_of(Run("six", 6, "k-member", 7, 1), frame, policy)


def test_figures_are_drawn(tmp_path):
    pytest.importorskip("altair")
    pytest.importorskip("vl_convert")
    run(tmp_path, "quick")
    assert (tmp_path / "small" / "first.svg").read_text().startswith("<svg")
    assert (tmp_path / "small" / "first.png").read_bytes()[1:4] == b"PNG"
    assert "![loss over k](small/first.svg)" in (tmp_path / "small.md").read_text()


def test_ratios_are_of_means():
    results = pl.DataFrame(
        {"algorithm": ["a", "a", "b", "b"] * 2, "k": [2] * 4 + [3] * 4, "loss": [1, 3, 2, 6] + [1] * 4}
    )
    assert base.ratios(results, "loss", "b", "a", "k") == {2: 2.0, 3: 1.0}
    assert base.spelled({2: 2.0, 3: 1.0}) == "1.00 to 2.00 times"
    assert base.spelled([1.0, 1.001]) == "1.00 times"


def test_series_and_their_steps():
    results = pl.DataFrame(
        {"table": ["t"] * 6, "algorithm": ["a"] * 3 + ["b"] * 3, "k": [3, 1, 2] * 2, "loss": [3, 1, 2, 1, 1, 2]}
    )
    found = base.series(results, "loss", "k")
    assert found == {("t", "a"): [1, 2, 3], ("t", "b"): [1, 2, 1]}
    assert base.steps(found, 1) == [True, False]
    assert base.steps(found, -1) == [False, False]
    assert [base.by_share(held) for held in ([True, True], [True, False], [False])] == [
        "reproduced",
        "trend only",
        "not reproduced",
    ]


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
    """Results of cb, with 1 for nh, for each table and d; centres as cb."""
    rows = []
    for table, values in losses.items():
        kind, _, d = table.partition("_")
        for x, value in enumerate(values, 1):
            for name, found in ((cb.CB, value), (cb.CENTRES, value), (cb.NH, 1.0)):
                row = {"table": kind, "d": int(d), "k": 50, "records": 1000, "algorithm": name, figure: found}
                rows.append(row | {by: x if by != "records" else 1000 * x})
    return pl.DataFrame(rows)


@pytest.mark.parametrize(
    ("judge", "found", "outcome"),
    [
        (cb._below, against_nh("loss", "k", Adult_4=[0.5, 0.9], SAL_4=[0.8, 0.9]), "reproduced"),
        (cb._below, against_nh("loss", "k", Adult_4=[0.5, 0.9], SAL_4=[0.8, 1.1]), "trend only"),
        (cb._below, against_nh("loss", "k", Adult_4=[0.5, 1.1], SAL_4=[1.1, 1.1]), "not reproduced"),
        (cb._three, against_nh("loss", "k", SAL_3=[1.1, 1.2], INC_3=[0.9, 0.8]), "reproduced"),
        (cb._three, against_nh("loss", "k", SAL_3=[1.1, 1.2], INC_3=[1.1, 1.0]), "trend only"),
        (cb._three, against_nh("loss", "k", SAL_3=[0.9, 1.0], INC_3=[1.1, 1.2]), "not reproduced"),
        (cb._slower, against_nh("seconds", "records", SAL_6=[2.0, 2.2]), "reproduced"),
        (cb._slower, against_nh("seconds", "records", SAL_6=[2.0, 9.0]), "trend only"),
        (cb._slower, against_nh("seconds", "records", SAL_6=[0.5, 3.0]), "not reproduced"),
    ],
)
def test_verdicts_on_cb_follow_the_results(judge, found, outcome):
    assert judge(found).outcome == outcome


def lines(by, *, table="t", measure="leaf", d=6, **values):
    """Results of some algorithms, each with losses, times and sizes over a setting."""
    rows = []
    for name, series in values.items():
        for x, value in enumerate(series, 3):
            row = dict.fromkeys(
                ("loss", "seconds", "size", "classes", "clusters", "alone", "disclosed", "joined"), value
            )
            row |= {"table": table, "algorithm": name, "method": name, "measure": measure, "d": d, "k": 3, "rows": 100}
            rows.append(row | {"records": 1000, "weight": 0.0, "seed": 1, "diversity": 1} | {by: x})
    return pl.DataFrame(rows)


PARTS_2, PARTS_4 = gccg.THREADS


@pytest.mark.parametrize(
    ("judge", "found", "outcome"),
    [
        (lambda r: gccg._share(r, "incognito", 1 / 3, "k"), lines("k", gccg=[1, 1], incognito=[3, 2.8]), "reproduced"),
        (lambda r: gccg._share(r, "incognito", 1 / 3, "k"), lines("k", gccg=[1, 1], incognito=[3, 1.1]), "trend only"),
        (lambda r: gccg._share(r, "kaca", 1 / 2, "k"), lines("k", gccg=[2, 2], kaca=[1, 4]), "not reproduced"),
        (gccg._local, lines("k", gccg=[1, 1], kaca=[1, 1], incognito=[2, 2]), "reproduced"),
        (gccg._local, lines("k", gccg=[1, 3], kaca=[1, 1], incognito=[2, 2]), "trend only"),
        (gccg._of_incognito, lines("k", incognito=[36, 36, 20]), "reproduced"),
        (gccg._of_incognito, lines("k", incognito=[36, 35, 20]), "trend only"),
        (gccg._of_kaca, lines("k", kaca=[9955, 7000]), "reproduced"),
        (gccg._of_kaca, lines("k", kaca=[50, 40]), "not reproducible"),
        (gccg._of_kaca, lines("k", kaca=[50, 40]).with_columns(rows=20_000), "not reproduced"),
        (gccg._of_gccg, lines("k", gccg=[333, 250]), "reproduced"),
        (gccg._of_gccg, lines("k", gccg=[300, 200]), "not reproduced"),
        (gccg._grows, lines("k", gccg=[1, 2], kaca=[1, 1]), "reproduced"),
        (gccg._grows, lines("k", gccg=[1, 2], kaca=[2, 1]), "trend only"),
        (gccg._ten_times, lines("k", gccg=[1, 1], kaca=[9, 12]), "reproduced"),
        (gccg._ten_times, lines("k", gccg=[1, 1], kaca=[2, 12]), "trend only"),
        (gccg._ten_times, lines("k", gccg=[1, 1], kaca=[0.5, 12]), "not reproduced"),
        (gccg._incognito_first, lines("k", gccg=[2, 2], kaca=[2, 2], incognito=[1, 1]), "reproduced"),
        (gccg._threads, lines("k", gccg=[20, 20], **{PARTS_2: [6, 6], PARTS_4: [2, 3]}), "reproduced"),
        (gccg._threads, lines("k", gccg=[20, 20], **{PARTS_2: [6, 6], PARTS_4: [5, 9]}), "trend only"),
        (gccg._threads, lines("k", gccg=[20, 20], **{PARTS_2: [6, 30], PARTS_4: [5, 9]}), "not reproduced"),
        (gccg._flat, lines("k", gccg=[2, 1], **{PARTS_2: [1, 1], PARTS_4: [1, 1]}), "reproduced"),
        (gccg._flat, lines("k", gccg=[2, 1], **{PARTS_2: [3, 1], PARTS_4: [3, 1]}), "trend only"),
        (gccg._little_more, lines("k", gccg=[1, 1], **{PARTS_2: [1.01, 1.02], PARTS_4: [1.05, 1.09]}), "reproduced"),
        (gccg._little_more, lines("k", gccg=[1, 1], **{PARTS_2: [0.99, 1.02], PARTS_4: [1.05, 1.09]}), "trend only"),
        (gccg._little_more, lines("k", gccg=[1, 1], **{PARTS_2: [1.01, 1.02], PARTS_4: [1.05, 1.5]}), "not reproduced"),
        (
            gccg._less_with_size,
            lines("records", gccg=[1, 1], **{PARTS_2: [1.2, 1.1], PARTS_4: [1.3, 1.2]}),
            "reproduced",
        ),
        (
            gccg._less_with_size,
            lines("records", gccg=[1, 1], **{PARTS_2: [1.1, 1.2], PARTS_4: [1.3, 1.2]}),
            "trend only",
        ),
        (gccg._less_with_size, lines("records", gccg=[1, 1], **{PARTS_2: [1, 2], PARTS_4: [1, 2]}), "not reproduced"),
    ],
)
def test_verdicts_on_gccg_follow_the_results(judge, found, outcome):
    assert judge(found).outcome == outcome


def methods(**values):
    """Results over k of the methods of the paper on two levels."""
    names = {
        name.lower(): getattr(two_level, name) for name in ("TRADITIONAL", "EQUAL", "BOTH", "UNEQUAL", "HORIZONTAL")
    }
    return lines("k", **{names[name]: some for name, some in values.items()})


@pytest.mark.parametrize(
    ("judge", "found", "outcome"),
    [
        (two_level._third, methods(both=[1, 1], traditional=[3, 3.1]), "reproduced"),
        (two_level._third, methods(both=[1, 1], traditional=[3, 9]), "trend only"),
        (two_level._third, methods(both=[1, 1], traditional=[3, 0.9]), "not reproduced"),
        (two_level._grows, methods(both=[1, 2, 3], traditional=[3, 4, 5]), "reproduced"),
        (two_level._grows, methods(both=[1, 3, 2], traditional=[3, 4, 5]), "trend only"),
        (two_level._grows, pl.concat([methods(both=[1, 3, 2]), methods(both=[1, 1, 4])]), "reproduced"),
        (two_level._grows, methods(both=[3, 3, 2], traditional=[6, 4, 5]), "not reproduced"),
        (two_level._joined, methods(both=[1, 1], equal=[1, 1], unequal=[1, 1]), "not reproduced"),
        (two_level._joined, methods(both=[5, 5], equal=[1, 1], unequal=[1, 1]), "reproduced"),
        (two_level._disclosed, methods(both=[0, 0], equal=[0, 0], unequal=[0, 0]), "reproduced"),
        (two_level._disclosed, methods(both=[0, 1], equal=[0, 0], unequal=[0, 0]), "not reproduced"),
        (two_level._shorter, methods(both=[2, 1], traditional=[2, 1]), "reproduced"),
        (two_level._shorter, methods(both=[1, 2], traditional=[2, 1]), "trend only"),
        (two_level._longer, methods(both=[2, 2], traditional=[1, 1]), "reproduced"),
        (two_level._longer, methods(both=[1, 1], traditional=[2, 2]), "not reproduced"),
    ],
)
def test_verdicts_on_two_levels_follow_the_results(judge, found, outcome):
    assert judge(found).outcome == outcome


def test_the_hospital_of_two_levels_has_the_losses_of_the_paper():
    """By equations 1 and 2, and not as the example module sums them: tests/golden/test_two_level.py has these, too."""
    printed = two_level_example._as_printed
    assert printed(two_level_example.WITHOUT) == pytest.approx(77.4857, abs=1e-4)
    assert printed(two_level_example.EQUAL) == pytest.approx(53.4857, abs=1e-4)
    assert printed(two_level_example.BOTH) == pytest.approx(27.6571, abs=1e-4)
    for tables in (two_level_example.WITHOUT, two_level_example.EQUAL, two_level_example.BOTH):
        for name in tables:
            ids = [who for some in two_level_example.TABLES[name].values() for who in some]
            assert sorted(ids) == list(range(1, 17)), name


def weighted(figure="eps_avg", other="loss", **values):
    """Results of pac over weights, one for each value, on tables."""
    rows = [
        {"table": table, "method": method, "weight": round(0.2 * number, 1), figure: value, other: value, "seed": 1}
        for table, some in values.items()
        for method in ("pac", "k-member")
        for number, value in enumerate(some if method == "pac" else some[:1])
    ]
    return pl.DataFrame(rows)


@pytest.mark.parametrize(
    ("judge", "found", "outcome"),
    [
        (lambda r: pac._rises(r, "loss"), weighted(D1=[1, 2, 3], D2=[1, 2, 3]), "reproduced"),
        (lambda r: pac._rises(r, "loss"), weighted(D1=[1, 2, 3], D2=[1, 3, 2]), "trend only"),
        (lambda r: pac._rises(r, "loss"), weighted(D1=[1, 2, 3], D2=[2, 3, 1]), "not reproduced"),
        (pac._shifted, weighted("eps_min", D1=[0, 0.02, 0.06]), "reproduced"),
        (pac._shifted, weighted("eps_min", D1=[0, 0.02, 0.04]), "trend only"),
        (pac._shifted, weighted("eps_min", D1=[0.2, 0.1, 0.1]), "not reproduced"),
        (pac._good, weighted(D1=[1, 2, 3, 9, 9]), "reproduced"),
        (pac._good, weighted(D1=[1, 9, 9, 9, 9]), "trend only"),
        (pac._good, weighted(D1=[1, 2, 3, 4, 9]), "not reproduced"),
        (pac._linear, lines("records", pac=[1, 1.3], **{"k-member": [1, 9]}), "reproduced"),
        (pac._linear, lines("records", pac=[1, 9], **{"k-member": [1, 9]}), "not reproduced"),
        (pac._surges, lines("records", pac=[1, 1], **{"k-member": [1, 9]}), "reproduced"),
        (pac._surges, lines("records", pac=[9, 9], **{"k-member": [1, 9]}), "trend only"),
        (pac._surges, lines("records", pac=[9, 9], **{"k-member": [1, 1]}), "not reproduced"),
        (pac._nodes, lines("nodes", pac=[5, 3, 1]).with_columns(nodes=pl.col("nodes") - 2), "trend only"),
        (pac._nodes, lines("nodes", pac=[6, 5, 4, 3]).with_columns(nodes=3 * pl.col("nodes") - 8), "trend only"),
        (pac._nodes, lines("nodes", pac=[8, 4]).with_columns(nodes=5 * pl.col("nodes") - 10), "reproduced"),
        (pac._nodes, lines("nodes", pac=[1, 3]), "not reproduced"),
        (pac._nodes, lines("nodes", pac=[1]), "not reproducible"),
    ],
)
def test_verdicts_on_pac_follow_the_results(judge, found, outcome):
    assert judge(found).outcome == outcome


@pytest.mark.parametrize("paper", PAPERS)
@pytest.mark.parametrize("size", ["quick", "full", "paper"])
def test_every_claim_has_runs_that_its_figure_can_show(paper, size):
    if _sources.find(papers._ADULT_UCI.file) is None:
        pytest.skip("Adult is not here (set KOHORT_DATA)")
    made = PAPERS.make(paper, {})
    claims = made.claims(size)
    assert len({claim.name for claim in claims}) == len(claims)
    for claim in claims:
        assert claim.says.endswith(".")
        if claim.axes is not None:
            assert claim.axes.y in made.figures
            assert claim.runs
    assert not [run for claim in claims for run in claim.runs if made.unable(run) and run.table != "Spark"]


def test_spark_that_is_not_there_is_said(monkeypatch):
    def refuse():
        raise EngineError("Spark is not installed; install it with: pip install 'kohort[spark]'")

    monkeypatch.setattr(pac, "refuse_without_spark", refuse)
    paper = PAPERS.make("pac", {})
    assert paper.unable(pac.PacRun("Spark", 1000, "pac", 10, 1, nodes=2)) == (
        "Spark is not installed; install it with: pip install 'kohort[spark]'"
    )
    assert paper.unable(pac.PacRun("D1", 1000, "pac", 10, 1)) is None


def test_made_up_people_have_the_cardinalities_of_the_paper():
    frame = cb.census("SAL", 6, 50_000, 1)
    assert [frame[name].n_unique() for name in frame.columns] == [78, 2, 17, 6, 9, 10]
    frame = cb.census("INC", 3, 50_000, 1)
    assert [frame[name].max() for name in frame.columns] == [77, 710, 982]


def test_made_up_restaurants_are_those_of_their_seed():
    assert kmember.restaurants(50, 1).equals(kmember.restaurants(50, 1))
    assert not kmember.restaurants(50, 1).equals(kmember.restaurants(50, 2))


# -- the quick runs -------------------------------------------------------------------------------

DOCS = Path(__file__).parents[3] / "docs" / "reproduce"
NEEDED = [papers._ADULT.file, papers._ADULT_UCI.file, papers._CENSUS_INCOME]


def verdicts_of(page):
    """Claims and verdicts of the table of a page."""
    row = r"^\| \[([a-z0-9-]+)\]\(#[a-z0-9-]+\) \| .+ \| ([a-z ]+) \|$"
    return dict(re.findall(row, page, re.MULTILINE))


@pytest.mark.slow
@pytest.mark.skipif(any(_sources.find(file) is None for file in NEEDED), reason="the tables are not here (KOHORT_DATA)")
@pytest.mark.parametrize("name", PAPERS)
def test_a_researcher_finds_verdict_figure_data_and_command(tmp_path, name):
    """`kohort reproduce NAME --quick`: what the stored pages say, but for times, which depend on the machine."""
    told = called("reproduce", name, "--quick", folder=tmp_path)
    assert told.returncode == 0, told.stderr
    page = (tmp_path / "reproduce" / f"{name}.md").read_text()
    found, stored = verdicts_of(page), verdicts_of((DOCS / f"{name}.md").read_text())
    assert stored.keys() == found.keys()
    claims = PAPERS.make(name, {}).claims("quick")
    assert found.keys() == {claim.name for claim in claims}
    for claim in claims:
        assert f"  {claim.name:<28}{found[claim.name]}" in told.stdout
        if not claim.timed:
            assert found[claim.name] == stored[claim.name], claim.name

    assert f"The full run: `kohort reproduce {name}`." in page
    [data] = re.findall(r"^.*Data: \[[^]]+\]\(([^)]+)\)", page, re.MULTILINE)
    rows = pl.read_csv(tmp_path / "reproduce" / data, infer_schema_length=None)
    drawn = [claim for claim in claims if claim.axes and found[claim.name] != "not measured"]
    for claim in drawn:
        section = page.partition(f"\n## {claim.name}\n")[2].partition("\n## ")[0]
        [figure] = re.findall(r"^!\[[^]]+\]\(([^)]+)\)$", section, re.MULTILINE)
        assert (tmp_path / "reproduce" / figure).read_text().startswith("<svg")
        assert (tmp_path / "reproduce" / figure).with_suffix(".png").exists()
        assert re.search(r"^\| table \| ", section, re.MULTILINE), "the figure's numbers"
        if claim.axes.shape is None:
            shown_means(section, rows, claim)


def shown_means(section, rows, claim):
    """The first number of the table below a figure is the mean of its rows of the data."""
    head, first = re.findall(r"^\| (?!---)(.+) \|$", section, re.MULTILINE)[:2]
    columns, cells = head.split(" | "), first.split(" | ")
    wanted = [run.settings for run in claim.runs]
    some = [
        row
        for row in rows.to_dicts()
        if any(run.items() <= row.items() for run in wanted)
        and row["table"] == cells[0]
        and str(row[claim.axes.x]) == cells[1]
        and str(row[claim.axes.lines]) == columns[2]
    ]
    mean = sum(row[claim.axes.y] for row in some) / len(some)
    assert cells[2].split(" ")[0] == f"{mean:.4g}"


@pytest.mark.slow
def test_all_papers_are_run(tmp_path, monkeypatch):
    monkeypatch.setattr(PAPERS, "_classes", {"small": Small, "other": type("Other", (Small,), {"name": "other"})})
    told = called("reproduce", "all", "--quick", folder=tmp_path)
    assert told.returncode == 0
    assert {path.name for path in (tmp_path / "reproduce").glob("*.md")} == {"small.md", "other.md"}


def test_two_sizes_at_once_are_refused(tmp_path):
    told = called("reproduce", "cb", "--quick", "--paper-sizes", folder=tmp_path)
    assert told.returncode == 2
    assert "--quick and --paper-sizes exclude each other; give one of them, or none." in told.stderr
    assert not (tmp_path / "reproduce").exists()
