"""Risk in plain words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain

from kohort.audit.words import are, count
from kohort.reports.risk.attackers import THRESHOLDS, Attacker
from kohort.reports.risk.crowd import Crowd
from kohort.reports.risk.exposure import Exposure
from kohort.reports.risk.result import Risk
from kohort.reports.risk.uniqueness.choice import COUNTED, Uniqueness
from kohort.reports.words import percent

_MOST = 3
"""Sets of columns that are named."""
_NAMES = {"pitman": "Pitman", "snb": "SNB", "zayatz": "Zayatz"}


def sentences_of(risk: Risk, *, private: bool) -> list[str]:
    """One thought, one sentence."""
    if not risk.file.quasi.rows:
        nobody = "Every row is nothing but * in the quasi-identifiers: nobody can be found by these."
        return [nobody, *_columns(risk.file), *risk.caveats]
    found = chain(
        risk.caveats, _alike(risk), _attackers(risk, private=private), _strict(risk.file.strict), _columns(risk.file)
    )
    more = chain(_before(risk), _contained(risk)) if private else ()
    return [*found, *more]


def _alike(risk: Risk) -> Iterator[str]:
    quasi, suppressed = risk.file.quasi, risk.file.suppressed
    if quasi.unique:
        alone = f"{count(quasi.unique, 'row')} of {quasi.rows:,} ({percent(quasi.unique_share)}) {are(quasi.unique)}"
        yield f"{alone} unique: no other row has the same quasi-identifiers."
    else:
        yield f"Nobody is alone: in the quasi-identifiers, every row looks like {quasi.smallest - 1:,} others or more."
    if risk.k is not None and risk.in_classes and (below := quasi.below(risk.k)):
        yield f"{count(below, 'row')} {are(below)} in classes of fewer than {risk.k}, the promised size."
    if suppressed:
        yield f"{count(suppressed, 'row')} of nothing but * {are(suppressed)} suppressed; no figure counts them."


def _attackers(risk: Risk, *, private: bool) -> Iterator[str]:
    quasi = risk.file.quasi
    yield (
        f"Prosecutor: somebody who knows that a person is in the table, and guesses which row it is, is right "
        f"{_chances(quasi.prosecutor)}."
    )
    unique = risk.file.uniqueness
    if quasi.journalist is None or unique is None or (risk.is_counted and not private):
        return
    how = f"counted among {unique.population:,}" if risk.is_counted else f"estimated for {unique.population:,} people"
    yield (
        f"Journalist: somebody who only knows that a person is in the population, not whether in the table, is right "
        f"{_chances(quasi.journalist)} ({how})."
    )
    yield f"Marketer: somebody who guesses for all rows whose they are is right for {percent(quasi.marketer)} of them."
    yield from _unique(unique)


def _chances(attacker: Attacker) -> str:
    """How often somebody is right, and for how many rows more often than is often taken for acceptable."""
    above = [f"above {level} for {percent(share)} of the rows" for level, share in attacker.above.items() if share]
    rows = ", ".join(above) if above else f"above {next(iter(THRESHOLDS))} for no row"
    mean, most = percent(attacker.mean), percent(attacker.maximum)
    return f"in {mean} of cases" + (f", in {most} at most" if most != mean else "") + f" (the chance is {rows})"


def _unique(found: Uniqueness) -> Iterator[str]:
    people = "of somebody who is unique in the whole population"
    if not found.share.high:
        yield f"No row is {people}, as far as the quasi-identifiers show it."
    elif found.chosen == COUNTED:
        yield f"{percent(found.share.value)} of the rows are {people}."
    else:
        low, high = found.ends
        yield (
            f"About {percent(found.share.value)} of the rows are {people}, by the estimate of {_NAMES[found.chosen]}; "
            f"all estimates are between {percent(low)} and {percent(high)}."
        )


def _strict(strict: Crowd | None) -> Iterator[str]:
    if strict is not None:
        yield (
            f"To somebody who also knows the columns that are published as they are, {count(strict.unique, 'row')} "
            f"({percent(strict.unique_share)}) {are(strict.unique)} like no other."
        )


def _columns(file: Exposure) -> Iterator[str]:
    sets = file.sets
    if sets.found:
        listed = "; ".join(f"{_listed(one.columns)} ({percent(one.unique)})" for one in sets.found[:_MOST])
        yield f"The smallest sets of columns that single out {percent(sets.share)} of the rows or more: {listed}."
    elif sets.complete and sets.largest:
        what = "column" if sets.largest == 1 else f"set of up to {sets.largest} columns"
        yield f"No {what} singles out {percent(sets.share)} of the rows or more."
    if not sets.complete:
        yield f"That is of {sets.looked_at:,} of {sets.there:,} sets of columns: there was no time for more."


def _listed(names: Sequence[str]) -> str:
    *most, last = map(repr, names)
    return f"{', '.join(most)} and {last}" if most else last


def _before(risk: Risk) -> Iterator[str]:
    if risk.original is not None:
        before, after = risk.original.quasi, risk.file.quasi
        yield (
            f"In the original, {count(before.unique, 'record')} of {before.rows:,} ({percent(before.unique_share)}) "
            f"{are(before.unique)} unique, and a prosecutor is right in {percent(before.prosecutor.mean)} of cases; "
            f"here it is {percent(after.prosecutor.mean)}."
        )


def _contained(risk: Risk) -> Iterator[str]:
    found = risk.containment
    if found is None:
        return
    if found.covered:
        yield (
            f"Whoever knows the exact quasi-identifiers of somebody in the original finds {count(found.least, 'row')} "
            f"or more that fit, {found.mean:,.1f} on average."
        )
    if found.below:
        yield f"For {count(found.below, 'record')} fewer than {risk.k} rows fit: less than what was promised."
    if lost := found.records - found.covered:
        yield f"No row fits {count(lost, 'record')} of the original: suppressed, or published as something else."


_LINES: dict[str, Callable[[Exposure], str]] = {
    "rows": lambda one: f"{one.quasi.rows:,}",
    "classes": lambda one: f"{one.quasi.classes:,}",
    "smallest class": lambda one: f"{one.quasi.smallest:,}",
    "unique rows": lambda one: f"{one.quasi.unique:,} ({percent(one.quasi.unique_share)})",
    "unique rows, strict": lambda one: "" if one.strict is None else f"{one.strict.unique:,}",
}


def lines_of(risk: Risk, *, private: bool) -> list[tuple[str, ...]]:
    """The main figures of every table, under a header; strict: what is published as it is counts as known, too."""
    tables = {"risk": risk.file}
    if private and risk.original is not None:
        tables = {"before": risk.original, "after": risk.file}
    lines = [("", *tables)]
    lines += [(name, *map(shown, tables.values())) for name, shown in _LINES.items()]
    if private and risk.containment is not None:
        lines.append(("fewest rows that fit a record", "", f"{risk.containment.least:,}"))
    attackers = {"prosecutor": [one.quasi.prosecutor for one in tables.values()]}
    outside = [one.quasi.journalist for one in tables.values() if one.quasi.journalist is not None]
    if len(outside) == len(tables) and (private or not risk.is_counted):
        attackers["journalist"] = outside
    for name, found in attackers.items():
        lines += _lines_about(name, found)
    lines.append(("marketer", *(percent(_guessed(risk, one, private=private)) for one in tables.values())))
    return [line for line in lines if any(line[1:])]


def _lines_about(name: str, found: Sequence[Attacker]) -> Iterator[tuple[str, ...]]:
    yield f"{name}, highest", *(percent(one.maximum) for one in found)
    yield f"{name}, mean", *(percent(one.mean) for one in found)
    for level in THRESHOLDS:
        yield f"{name}, above {level}", *(percent(one.above[level]) for one in found)


def _guessed(risk: Risk, table: Exposure, *, private: bool) -> float:
    """What a marketer has, who without a population table only knows the classes."""
    return table.quasi.marketer if private or not risk.is_counted else table.quasi.prosecutor.mean
