"""Reproduce a paper: run what is missing, judge every claim, draw figures and write the page."""

from __future__ import annotations

from pathlib import Path

import polars as pl

import kohort
from kohort.errors import DataError
from kohort.reports.reproduce.base import Axes, Claim, Paper, Size, Verdict
from kohort.reports.reproduce.charts import draw, shown
from kohort.reports.reproduce.run import Progress, Results, run_all
from kohort.table.safe import write_text

OPTIONS: dict[Size, str] = {"quick": " --quick", "full": "", "paper": " --paper-sizes"}


def reproduce(paper: Paper, folder: Path, *, size: Size = "full", progress: Progress) -> dict[str, Verdict]:
    """Repeat the experiments of a paper, and report which of its claims hold.

    Parameters
    ----------
    paper : Paper
        See `PAPERS`.
    folder : Path
        Gets `<paper>.md` and a folder `<paper>` with `results.csv` and the figures. Results that are there, of the same
        version of kohort, are not measured again.
    size : str
        "quick" for fewer values of k, sizes and seeds; "paper" for the paper's own numbers of records.
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
    claims = paper.claims(size)
    results = Results(place / "results.csv", kohort.__version__)
    run_all(paper, [run for claim in claims for run in claim.runs], results, progress)
    verdicts = {claim.name: _verdict(paper, claim, results) for claim in claims}
    measured = [claim for claim in claims if claim.axes and verdicts[claim.name].outcome != "not measured"]
    drawn = {claim.name for claim in measured if draw(claim, results.of(claim.runs), place)}
    write_text(folder / f"{paper.name}.md", _page(paper, claims, verdicts, results, drawn, size))
    return verdicts


def _verdict(paper: Paper, claim: Claim, results: Results) -> Verdict:
    """What became of a claim, unless its runs cannot be made here."""
    lacking = next((why for run in claim.runs if not results.has(run) and (why := paper.unable(run))), None)
    return Verdict("not measured", lacking) if lacking else claim.judge(results.of(claim.runs))


def _page(
    paper: Paper, claims: tuple[Claim, ...], verdicts: dict[str, Verdict], results: Results, drawn: set[str], size: Size
) -> str:
    command = f"kohort reproduce {paper.name}"
    lines = [
        f"# {paper.title}",
        "",
        f"<!-- Written by `{command}{OPTIONS[size]}`; run it again instead of editing. -->",
        "",
        f"{_made(results)}{'; quick run' * (size == 'quick')}. "
        f"Data: [{paper.name}/results.csv]({paper.name}/results.csv), one row for each run. The full run: `{command}`.",
        *(["", paper.data] if paper.data else []),
        "",
        *_table(
            ["Claim", "Where", "The paper says", "Verdict"],
            [
                [f"[{claim.name}](#{claim.name})", claim.where, claim.says, verdicts[claim.name].outcome]
                for claim in claims
            ],
        ),
    ]
    for claim in claims:
        verdict = verdicts[claim.name]
        lines += ["", f"## {claim.name}", "", f"{claim.where}: {claim.says}", ""]
        lines += [f"**{verdict.outcome.capitalize()}.** {verdict.why}"]
        if claim.axes is not None and verdict.outcome != "not measured":
            if claim.name in drawn:
                lines += ["", f"![{claim.axes.y} over {claim.axes.x}]({paper.name}/{claim.name}.svg)"]
            lines += ["", f"{paper.figures[claim.axes.y]}; mean over seeds, and how far they spread:", ""]
            lines += _means(claim.axes, shown(claim.axes, results.of(claim.runs)))
    return "\n".join(lines) + "\n"


def _made(results: Results) -> str:
    """When and where the runs were made."""
    days, machines = (sorted({row.get(what) or "" for row in results.rows}) for what in ("date", "machine"))
    return f"{' to '.join(dict.fromkeys([*days[:1], *days[-1:]]))}, kohort {results.version}, {'; '.join(machines)}"


def _means(axes: Axes, results: pl.DataFrame) -> list[str]:
    """A row for each table and value of the setting, a column for each line."""
    found = results.group_by("table", axes.x, axes.lines, maintain_order=True).agg(
        low=pl.col(axes.y).min(), mean=pl.col(axes.y).mean(), high=pl.col(axes.y).max()
    )
    cells = {
        (table, x, line): f"{mean:.4g} ({low:.4g} - {high:.4g})" if low < high else f"{mean:.4g}"
        for table, x, line, low, mean, high in found.iter_rows()
    }
    lines = found[axes.lines].unique(maintain_order=True).to_list()
    tables = found["table"].unique(maintain_order=True).to_list()
    rows = [
        [table, str(x), *(cells.get((table, x, line), "") for line in lines)]
        for table in tables
        for x in found.filter(pl.col("table") == table)[axes.x].unique().sort()
    ]
    return _table(["table", axes.x, *map(str, lines)], rows)


def _table(head: list[str], rows: list[list[str]]) -> list[str]:
    return [
        f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
        for cells in (head, ["---"] * len(head), *rows)
    ]
