"""Make a report: read the release once, judge it, and let every section say what it finds."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

from kohort.audit import Verdict, verify
from kohort.audit.ledger import read_ledger
from kohort.audit.read.files import files_hash, listed_files
from kohort.common.regular import regular
from kohort.errors import DataError, PolicyError
from kohort.policy import Policy
from kohort.policy.promise import placeless
from kohort.reports.charts import refuse_without_charts
from kohort.reports.plain import promised
from kohort.reports.published import opened, policy_for
from kohort.reports.report.document import Key, Report
from kohort.reports.report.evidence import Evidence
from kohort.reports.report.section import written
from kohort.reports.report.sections import SECTIONS
from kohort.reports.words import percent
from kohort.table.databases import is_url
from kohort.table.targets import refuse_targets

assert SECTIONS  # they register themselves when they are imported


def report(
    release: Any,
    policy: Policy | str | Path | None = None,
    *,
    original: Any = None,
    output: str | Path | None = None,
    private: bool = False,
    row_order: Any = None,
    ledger: str | Path | None = None,
    private_verdict: str | Path | None = None,
    k: int | None = None,
    quasi_identifiers: tuple[str, ...] | list[str] = (),
    sensitive: tuple[str, ...] | list[str] = (),
    verdict: Verdict | None = None,
) -> Report:
    """Report on a release, made by any tool: what holds, how safe it is, how useful it still is.

    Parameters
    ----------
    release : path, or polars, pandas or pyarrow table
        The release, as one table.
    policy : Policy or path, optional
        What is promised; when absent, what the verdict beside the release says.
    original : path, or polars, pandas or pyarrow table, optional
        The table it was made of. In the public edition it serves for the verdict alone.
    output : path, optional
        Where the report is written: .html or .json.
    private : bool
        Whether to make the edition for the steward of the original, which compares with it: keep it as you keep that.
    row_order : array of int, or path, optional
        With `original`: the original row of each released row, as for `verify`.
    ledger : path, optional
        Earlier releases, which the verdict then looks at.
    private_verdict : path, optional
        With `private`: what `anonymize` wrote for its owner alone; it says how the release was made.
    k, quasi_identifiers, sensitive
        Instead of a policy, or of its k: for a file of which there is no policy.
    verdict : Verdict, optional
        What was found already, by `verify` or `anonymize`, of the same file; it is not judged again then.

    Returns
    -------
    Report
        Its `to_html` is the page, its `to_json` the same for machines. It holds no cell value of fewer than k rows.

    Raises
    ------
    DataError, PolicyError
        When something cannot be read or does not fit, or the libraries of ``kohort[report]`` are not there.

    Examples
    --------
    >>> import kohort, polars as pl
    >>> people = pl.DataFrame({"age": [31, 35, 40, 44], "sex": ["F", "M", "F", "F"], "illness": ["a", "b", "c", "d"]})
    >>> policy = kohort.Policy.build(k=2, quasi_identifiers=["age", "sex"], sensitive=["illness"], seed=1)
    >>> found = kohort.report(kohort.anonymize(people, policy).table, policy)
    >>> found.passed, found.edition, [one.figure for one in found.keys][:2]
    (True, 'public', ['4', '2'])
    """
    refuse_without_charts()
    _refuse_request(original, private=private, private_verdict=private_verdict)
    known = original if private else None
    how: dict[str, Any] = {"quasi_identifiers": quasi_identifiers, "sensitive": sensitive, "original": known}
    chosen = policy_for(release, policy, k=k, **how)
    refuse_report(output, chosen)
    beside = {"original": original, "row order": row_order, "ledger": ledger, "private verdict": private_verdict}
    _refuse_output(output, chosen, {"release": release} | beside)
    if verdict is None:
        verdict = verify(release, chosen, original=original, row_order=row_order, against=ledger)
    else:
        _refuse_other(verdict, release)
    verdict = verdict if policy is not None else _without_repeats(verdict)
    recorded = None if ledger is None else len(read_ledger(ledger).releases)
    with opened(release, chosen, known, as_is=True) as published:
        found = _report(
            Evidence(release, published, verdict, _names(release, chosen), known, _made(private_verdict), recorded)
        )
    if output is not None:
        found.save(output)
    return found


def _report(evidence: Evidence) -> Report:
    return Report(
        edition=evidence.edition,
        issued=datetime.now(UTC).date(),
        kohort=version("kohort"),
        release=evidence.names.get("release", ""),
        passed=evidence.verdict.passed,
        status=_status(evidence.verdict),
        headline=_headline(evidence),
        keys=tuple(_keys(evidence)),
        sections=written(evidence),
    )


def _without_repeats(verdict: Verdict) -> Verdict:
    """Leave out what is said of identifiers: without a policy, nobody said that what is not published are some."""
    return replace(verdict, checks=tuple(one for one in verdict.checks if one.name != "repeats"))


def _status(verdict: Verdict) -> Literal["verified", "not verified", "not decided"]:
    if verdict.passed:
        return "verified"
    return "not decided" if verdict.undecided else "not verified"


def _headline(evidence: Evidence) -> str:
    """The verdict in one line."""
    verdict = evidence.verdict
    if verdict.undecided:
        return f"Nothing speaks against the promise, and something is lacking to confirm it: {verdict.reason}"
    if not verdict.passed:
        return f"This file does not keep its promise: {verdict.reason}"
    sentence = promised(evidence.k, evidence.policy.privacy.anonymity)
    return f"{sentence[0].upper()}{sentence[1:]}: the promise was checked on the file, and holds."


def _keys(evidence: Evidence) -> list[Key]:
    """The figures that one looks for first."""
    facts, as_is = evidence.verdict.facts, evidence.verdict.as_is
    found = [(f"{facts.rows_released:,}", "published records"), (str(facts.k), "k, as promised")]
    if evidence.in_classes and facts.smallest_class:
        found.append((f"{facts.smallest_class:,}", "records in the smallest class"))
        found.append((percent(1 / facts.smallest_class), "highest risk of picking the right record"))
    found.append((percent(evidence.loss.total), "of the detail lost"))
    if as_is is not None and as_is.columns:
        found.append((percent(as_is.unique / max(facts.rows_released, 1)), "unique in columns published as they are"))
    return [Key(figure=figure, means=means) for figure, means in found]


# -- before any work ---------------------------------------------------------------------------


def _refuse_request(original: Any, *, private: bool, private_verdict: Any) -> None:
    if private and original is None:
        raise DataError("report: the private edition compares with the original, and none is given; give it.")
    if private_verdict is not None and not private:
        raise DataError("report: a private verdict is for the private edition; ask for that, or leave it out.")


def report_path(release: Any, *, private: bool = False) -> Path:
    """Where a report goes if nobody says where: beside the release.

    Examples
    --------
    >>> report_path("out.csv").name, report_path("out.csv", private=True).name
    ('out.csv.report.html', 'out.csv.private-report.html')
    """
    if not isinstance(release, str | Path) or is_url(release):
        raise DataError("report: it goes beside a file, and this release is none; say where it is written.")
    return Path(release).with_name(f"{Path(release).name}.{'private-' if private else ''}report.html")


def refuse_report(output: str | Path | None, policy: Policy) -> None:
    """Refuse a report that cannot be made: without its libraries, of several tables, or under no name of a report."""
    refuse_without_charts()
    if policy.privacy.anonymity == "buckets":
        raise PolicyError("report: it is about one table, and a release in buckets is two; use verify and measure.")
    if output is not None and Path(output).suffix not in (".html", ".json"):
        raise DataError(f"{Path(output).name}: a report is written as .html or .json; give such a name.")


def _refuse_other(verdict: Verdict, release: Any) -> None:
    """Refuse a verdict on another file."""
    is_file = isinstance(release, str | Path) and not is_url(release)
    if is_file and verdict.hashes.get("release") != files_hash(listed_files(release, "release")):
        raise DataError("report: the verdict is about another file; leave it out, and the file is judged again.")


def _refuse_output(output: str | Path | None, policy: Policy, read: Mapping[str, Any]) -> None:
    """Refuse to write over what is read."""
    if output is not None:
        files = {what: Path(path) for what, path in read.items() if isinstance(path, str | Path) and not is_url(path)}
        refuse_targets({"report": Path(output)}, files | dict(policy.files))


def _names(release: Any, policy: Policy) -> dict[str, str]:
    """The files that have a hash, as a reader finds them beside the report."""
    found = {"release": Path(release).name} if isinstance(release, str | Path) else {}
    for name, column in policy.columns.items():
        if column.hierarchy is not None and column.hierarchy.file is not None:
            found[f"hierarchy:{name}"] = placeless(column.hierarchy.file)
    return found


def _made(private_verdict: str | Path | None) -> Mapping[str, Any]:
    if private_verdict is None:
        return {}
    path = Path(private_verdict)
    try:
        with regular(path).open(encoding="utf-8") as file:
            found = json.load(file)
        return {key: found[key] for key in ("provenance", "algorithm", "bound") if key in found}
    except (ValueError, TypeError, KeyError, RecursionError):
        raise DataError(f"{path.name}: is no private verdict of kohort.") from None
    except OSError as error:
        raise DataError(f"{path.name}: cannot be opened ({(error.strerror or 'I/O error').lower()}).") from None
