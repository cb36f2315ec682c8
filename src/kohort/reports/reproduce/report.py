"""Reproduce a paper: run what is missing, judge every claim, draw figures and write the page."""

from __future__ import annotations

import datetime as dt
import os
import platform
from pathlib import Path

import polars as pl

import kohort
from kohort.errors import DataError
from kohort.reports.reproduce.base import Claim, Paper, Verdict
from kohort.reports.reproduce.charts import draw
from kohort.reports.reproduce.run import Progress, Results, run_all
from kohort.table.safe import write_text


def reproduce(paper: Paper, folder: Path, *, quick: bool, progress: Progress) -> dict[str, Verdict]:
    """Run the experiments of a paper again, and say what became of its claims.

    Parameters
    ----------
    paper : Paper
        See `PAPERS`.
    folder : Path
        Gets `<paper>.md` and a folder `<paper>` with `results.csv` and the figures. Results that are there, of the same
        version of kohort, are not measured again.
    quick : bool
        Fewer values of k, sizes and seeds.
    progress : callable
        Called before every run.

    Returns
    -------
    dict of str to Verdict
        By the names of the claims.
    """
    place = folder / paper.name
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"{place}: cannot be made ({error.strerror}); give another --folder.") from None
    claims = paper.claims(quick=quick)
    results = Results(place / "results.csv", kohort.__version__)
    run_all(paper, [run for claim in claims for run in claim.runs], results, progress)
    verdicts = {claim.name: claim.judge(results.of(claim.runs)) for claim in claims}
    drawn = {claim.name for claim in claims if claim.axes and draw(claim, results.of(claim.runs), place)}
    write_text(folder / f"{paper.name}.md", _page(paper, claims, verdicts, results, drawn, quick=quick))
    return verdicts


def _page(
    paper: Paper,
    claims: tuple[Claim, ...],
    verdicts: dict[str, Verdict],
    results: Results,
    drawn: set[str],
    *,
    quick: bool,
) -> str:
    command = f"kohort reproduce {paper.name}"
    lines = [
        f"# {paper.title}",
        "",
        f"<!-- Written by `{command}{' --quick' if quick else ''}`; run it again instead of editing. -->",
        "",
        f"{dt.datetime.now(dt.UTC):%Y-%m-%d}, kohort {kohort.__version__}, Python {platform.python_version()}, "
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores{', quick run' if quick else ''}. "
        f"Data: [{paper.name}/results.csv]({paper.name}/results.csv), one row for each run. The full run: `{command}`.",
        "",
        *_table(["Claim", "Where", "Verdict"], [_row(claim, verdicts[claim.name]) for claim in claims]),
    ]
    for claim in claims:
        verdict = verdicts[claim.name]
        lines += ["", f"## {claim.name}", "", f"{claim.where}: {claim.says}", ""]
        lines += [f"**{verdict.outcome.capitalize()}.** {verdict.why}"]
        if claim.axes is not None:
            if claim.name in drawn:
                lines += ["", f"![{claim.axes.y} over {claim.axes.x}]({paper.name}/{claim.name}.svg)"]
            lines += ["", f"{paper.figures[claim.axes.y]}; mean over seeds, and how far they spread:", ""]
            lines += _means(claim, results.of(claim.runs))
    return "\n".join(lines) + "\n"


def _row(claim: Claim, verdict: Verdict) -> list[str]:
    return [f"[{claim.name}](#{claim.name})", claim.where, verdict.outcome]


def _means(claim: Claim, results: pl.DataFrame) -> list[str]:
    """A row for each table and value of the setting, a column for each algorithm."""
    assert claim.axes is not None
    x, y = claim.axes.x, claim.axes.y
    algorithms = list(dict.fromkeys(run.algorithm for run in claim.runs))
    rows = []
    for table, value in dict.fromkeys((run.table, getattr(run, x)) for run in claim.runs):
        cells = []
        for algorithm in algorithms:
            some = results.filter(pl.col("table") == table, pl.col(x) == value, pl.col("algorithm") == algorithm)[y]
            low, mean, high = float(some.min()), float(some.mean()), float(some.max())  # type: ignore[arg-type]
            cells.append(f"{mean:.4g} ({low:.4g} - {high:.4g})" if low < high else f"{mean:.4g}")
        rows.append([table, str(value), *cells])
    return _table(["table", x, *algorithms], rows)


def _table(head: list[str], rows: list[list[str]]) -> list[str]:
    return [f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *rows)]
