"""The verdict: a plain, machine-readable document of what was checked and found.

It holds counts, names of columns, hashes and versions; no cell value, no seed, no list of classes. What may be handed
over of it is a verdict, too: `Verdict.public`.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kohort.audit.public import LEFT_OUT, public_check
from kohort.audit.read.files import files_hash, listed_files
from kohort.audit.words import are, count
from kohort.common.html import html_block, html_table, html_text
from kohort.errors import DataError

if TYPE_CHECKING:
    from kohort.policy import Policy

SCHEMA = 1
UNDECIDED = "not decided"
"""The method of a check that lacks what it needs: what it asks may hold or not."""
_SUMMARY = ("k", "persons", "diversity", "suppression", "coverage", "m-invariance", "intersection")


@dataclass(frozen=True)
class Check:
    """One question and its answer.

    Attributes
    ----------
    name : str
        Short name, such as ``k``.
    passed : bool
        The answer.
    sentence : str
        The reason, either way.
    figures : dict
        The numbers behind it.
    table : str
        Which table it is about, where a release has several.
    """

    name: str
    passed: bool
    sentence: str
    figures: Mapping[str, int | float | str] = field(default_factory=dict)
    table: str = ""

    @property
    def undecided(self) -> bool:
        """Whether it did not pass only because something was not given that it needs."""
        return not self.passed and self.figures.get("method") == UNDECIDED


@dataclass(frozen=True)
class Facts:
    """The numbers of a release; None where a number could not be had."""

    k: int
    rows_released: int
    rows_original: int | None
    suppressed: int
    withheld: int | None
    classes: int | None
    smallest_class: int | None


@dataclass(frozen=True)
class AsIs:
    """What a release publishes as it is, and what it hides altogether: whoever has it can count this."""

    columns: Mapping[str, int]
    """Distinct values of each column that is published as it is."""
    combinations: int
    """Distinct rows of these columns."""
    unique: int
    """Rows that no other is equal to in all of these columns."""
    hidden: Mapping[str, str] = field(default_factory=dict)
    """Quasi-identifiers that are ``*`` in every row, each with what may help."""

    def sentence(self, rows: int) -> str:
        """What is published as it is, for a release of a number of rows; empty if nothing is."""
        columns = ", ".join(f"{name} ({count(number, 'value')})" for name, number in self.columns.items())
        if not columns:
            return ""
        together = "" if len(self.columns) == 1 else " together"
        share = f"{self.unique:,} of {count(rows, 'row')} ({self.unique / rows:.2%})".replace("%", " %")
        return f"{columns}; {share} {are(self.unique)} unique in this{together}."


@dataclass(frozen=True)
class Verdict:
    """Whether a file keeps the promise of its policy, with reasons.

    Attributes
    ----------
    checks : tuple of Check
        In the order of importance.
    facts : Facts
        The numbers of the release.
    hashes : dict
        SHA-256 of the release file, the policy and each hierarchy file. For a release in several files it is that of
        the hashes of the files, a line for each in the order of the files.
    versions : dict
        Of the programs that took part.
    promise : dict
        What it was judged by: the part of the policy that may be handed over.
    as_is : AsIs or None
        What is published as it is, and what is `*` everywhere.
    """

    checks: tuple[Check, ...]
    facts: Facts
    hashes: Mapping[str, str] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    schema: int = SCHEMA
    promise: Mapping[str, Any] = field(default_factory=dict)
    as_is: AsIs | None = None

    @classmethod
    def of_tables(cls, verdicts: Mapping[str, Verdict]) -> Verdict:
        """Put the verdicts on the tables of one release together, by their names; a single one stays as it is."""
        if len(verdicts) == 1:
            return next(iter(verdicts.values()))
        checks = [
            replace(check, table=table, sentence=f"table {table}: {check.sentence}")
            for table, verdict in verdicts.items()
            for check in verdict.checks
        ]
        facts = [verdict.facts for verdict in verdicts.values()]
        sizes = [fact.smallest_class for fact in facts if fact.smallest_class is not None]
        joined = replace(
            facts[0],
            k=min(fact.k for fact in facts),
            classes=sum(fact.classes or 0 for fact in facts),
            smallest_class=min(sizes) if len(sizes) == len(facts) else None,
        )
        hashes = {
            f"{name}:{table}" if name == "release" else name: value
            for table, verdict in verdicts.items()
            for name, value in verdict.hashes.items()
        }
        shown = [verdict.as_is for verdict in verdicts.values() if verdict.as_is is not None]
        # All tables have the same columns as they are. Each has a promise of its own, and no verdict.
        hidden = {name: why for one in shown for name, why in one.hidden.items()}
        as_is = replace(shown[0], hidden=hidden) if shown else None
        return cls(tuple(checks), joined, hashes, next(iter(verdicts.values())).versions, as_is=as_is)

    @property
    def passed(self) -> bool:
        """Whether every check passed."""
        return all(check.passed for check in self.checks)

    @property
    def undecided(self) -> bool:
        """Whether nothing speaks against the promise, and something was not given that is needed to confirm it."""
        failed = [check for check in self.checks if not check.passed]
        return bool(failed) and all(check.undecided for check in failed)

    @property
    def reason(self) -> str:
        """One sentence: what holds, or the most important thing that does not."""
        failed = [check for check in self.checks if not check.passed]
        if not failed:
            kept = [check.sentence for check in self.checks if check.name in _SUMMARY]
            if self.check("rows") is None:
                kept.append("truth was not checked, as the original was not given.")
            return "; ".join(sentence.removesuffix(".") for sentence in kept) + "."
        first, others = failed[0].sentence, failed[1:]
        if not others:
            return first
        names = ", ".join(check.name for check in others)
        count = "1 further check" if len(others) == 1 else f"{len(others)} further checks"
        return f"{first.removesuffix('.')}; also: {count} failed ({names})."

    def check(self, name: str) -> Check | None:
        """Find a check by its name."""
        return next((check for check in self.checks if check.name == name), None)

    def public(self) -> Verdict:
        """The verdict without what only somebody with the original can know."""
        checks = []
        for check in self.checks:
            if check.name in LEFT_OUT:
                continue
            sentence, figures = public_check(check)
            checks.append(replace(check, sentence=sentence, figures=figures))
        classes = all("classes" in check.figures for check in checks if check.name == "k")
        facts = replace(
            self.facts,
            rows_original=None,
            withheld=None,
            classes=self.facts.classes if classes else None,
            smallest_class=self.facts.smallest_class if classes else None,
        )
        return replace(self, checks=tuple(checks), facts=facts)

    def with_hashes(self, **hashes: str) -> Verdict:
        """Copy with further hashes, such as that of the input."""
        return replace(self, hashes={**self.hashes, **hashes})

    def to_dict(self) -> dict[str, Any]:
        """Plain data; `passed` and `reason` come along for readers of the document."""
        return {
            "schema": self.schema,
            "passed": self.passed,
            "reason": self.reason,
            "facts": asdict(self.facts),
            "checks": [{**vars(check), "figures": dict(check.figures)} for check in self.checks],
            "hashes": dict(self.hashes),
            "versions": dict(self.versions),
            "promise": dict(self.promise),
            "as_is": None if self.as_is is None else asdict(self.as_is),
        }

    def _repr_html_(self) -> str:
        """For notebooks: every check with its answer."""
        title = f"{'verified' if self.passed else 'NOT verified'}: {self.reason}"
        rows = [("ok" if check.passed else "FAIL", check.name, check.sentence) for check in self.checks]
        shown = "" if self.as_is is None else self.as_is.sentence(self.facts.rows_released)
        return html_block(title, html_table((), rows), *([html_text(f"published as it is: {shown}")] if shown else []))

    def to_json(self) -> str:
        """The document as text."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Verdict:
        """Read a document back.

        Raises
        ------
        DataError
            When the text is no verdict, or one of a later schema.
        """
        try:
            data = json.loads(text)
            _refuse_other_kinds(data)
            checks = tuple(Check(**check) for check in data["checks"])
            as_is = AsIs(**data["as_is"]) if data.get("as_is") else None
            more = {"promise": data.get("promise", {}), "as_is": as_is}
            verdict = cls(checks, Facts(**data["facts"]), data["hashes"], data["versions"], data["schema"], **more)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            raise DataError("verdict: the text is not a verdict of kohort.") from None
        if verdict.schema != SCHEMA:
            raise DataError(f"verdict: this version of kohort reads schema {SCHEMA} only; update kohort.")
        return verdict


def _refuse_other_kinds(data: Mapping[str, Any]) -> None:
    """Refuse a document whose parts are of other kinds than those of a verdict.

    Raises
    ------
    TypeError
        For anything else to be made of it.
    """
    as_is = data.get("as_is") or {}
    maps = [data["facts"], data["hashes"], data["versions"], data.get("promise", {}), as_is]
    maps += [as_is.get(part, {}) for part in ("columns", "hidden")]
    maps += [check.get("figures", {}) for check in data["checks"]]
    texts = [*data["hashes"].values(), *(check["name"] for check in data["checks"])]
    passed = [check["passed"] for check in data["checks"]]
    kinds = ((maps, dict), (texts, str), (passed, bool))
    if not all(isinstance(part, kind) for parts, kind in kinds for part in parts):
        raise TypeError


def hashes(release: object, policy: Policy) -> dict[str, str]:
    """Hash what the verdict is about: the release file, the policy and the hierarchy files.

    Seeds are left out of the policy first: a seed can be guessed, and a public hash would confirm it.
    """
    content = policy.model_dump(mode="json", exclude={"algorithm": {"seed"}, "output": {"shuffle_seed"}})
    canonical = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    found = {"policy": hashlib.sha256(canonical.encode()).hexdigest()}
    if isinstance(release, str | Path | list | tuple):
        found["release"] = files_hash(listed_files(release, "release"))
    for name, column in policy.columns.items():
        if column.hierarchy is not None and column.hierarchy.file is not None:
            found[f"hierarchy:{name}"] = files_hash([policy.folder / column.hierarchy.file])
    return dict(sorted(found.items()))


def versions() -> dict[str, str]:
    """Versions of the programs that take part in an audit."""
    python = ".".join(map(str, sys.version_info[:3]))
    return {"kohort": _installed("kohort"), "python": python} | {
        name: _installed(name) for name in ("duckdb", "polars")
    }


@cache
def _installed(name: str) -> str:
    """The version of a library; to find it takes as long as several checks of a small table."""
    return version(name)
