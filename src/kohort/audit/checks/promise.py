"""The checks that need the release and its policy alone."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

import numpy as np

from kohort.audit.case import Case
from kohort.audit.checks.histograms import Judged
from kohort.audit.meaning.bulk import exact
from kohort.audit.meaning.intervals import Interval
from kohort.audit.meaning.published import Kind, PublishedColumn
from kohort.audit.read.dictionary import Ints
from kohort.audit.verdict import Check
from kohort.audit.words import are, count, listed, placed
from kohort.privacy import PrivacyModel, SensitiveModel, SizeModel

if TYPE_CHECKING:
    import polars as pl


def columns(case: Case, also: Collection[str] = (), apart: Collection[str] = ()) -> Check:
    """Ask whether the release has the columns that the policy publishes, and no others.

    Parameters
    ----------
    also : collection of str
        Columns that it must have beside those of the policy.
    apart : collection of str
        Columns of the policy that are published in another table.
    """
    header, policy = case.release.header, case.policy
    if not set(header) & set(policy.columns):
        # without a header its names would be somebody's data: they are not repeated
        return Check("columns", False, "the first line names no column of the policy; is the header there?")
    identifiers = [name for name in policy.dropped if name in header]
    allowed = {*policy.columns, *also}
    beside = [name for name in apart if name in header]
    absent = [name for name in (*case.absent, *also) if name not in header and name not in apart]
    if policy.output.bounds:
        for name, column in case.columns.items():
            allowed |= set(case.bounds(name)) if column.has_ends else set()
    # by position: if the end of the header's line is lost, cells are among the names
    unknown = [place for place, name in enumerate(header, 1) if name not in allowed]
    faults = []
    if identifiers:
        them = "them" if len(identifiers) > 1 else "it"
        faults.append(f"{listed(identifiers)} identifies people by the policy's own word; drop {them}")
    if beside:
        faults.append(f"{listed(beside)} stands beside the quasi-identifiers and belongs into the other table alone")
    if unknown:
        has, they, them = ("have", "they", "them") if len(unknown) > 1 else ("has", "it", "it")
        faults.append(f"{placed(unknown)} {has} no role in the policy, so {they} may identify people; drop {them}")
    if absent:
        faults.append(f"{listed(absent)} of the policy {are(len(absent))} not in the release")
    figures = {"identifiers": len(identifiers), "without_role": len(unknown), "absent": len(absent)}
    sentence = "; ".join(faults) or "the release has the columns that the policy publishes and no others"
    return Check("columns", not faults, f"{sentence}.", figures)


def k(case: Case) -> Check:
    """Ask whether enough records share every published combination."""
    wanted, found = case.policy.privacy.k, case.classes
    if found is None:
        quasi = [name for name in case.absent if name in case.policy.quasi_identifiers]
        reason = f"k cannot be checked, as {listed(quasi)} {are(len(quasi))} not in the release."
        return Check("k", False, reason, {"k": wanted})
    smallest, under = found.smallest, found.under(wanted)
    wildcard = case.policy.privacy.missing == "wildcard" and found.has_missing
    if wildcard:
        smallest, under = found.classes.wildcard(wanted)
    number = found.number
    if case.starred_class:
        smallest, number = min(smallest, case.starred_class) if number else case.starred_class, number + 1
    figures = {
        "k": wanted,
        "smallest_class": smallest,
        "classes": number,
        "rows_under_k": under,
        "suppressed_rows": case.suppressed,
    }
    if under:
        lie = "lies" if under == 1 else "lie"
        sentence = f"{count(under, 'row')} {lie} in classes smaller than k = {wanted} (smallest {smallest})"
        if wildcard:
            sentence = (
                f"{count(under, 'row')} {'matches' if under == 1 else 'match'} fewer than k = {wanted} rows "
                f"(fewest {smallest}), although a missing cell or * matches anything"
            )
        elif found.has_missing and found.classes.holds_as_wildcard(wanted):
            sentence += "; it would hold only if a missing cell or * matched anything, "
            sentence += "which this policy does not allow"
        return Check("k", False, f"{sentence}.", figures)
    if not case.policy.quasi_identifiers:
        sentence = f"all {count(smallest, 'record')} are one class, as there is no quasi-identifier beside the sets"
    elif not number:
        sentence = "every row is suppressed, so there is no class"
    elif wildcard:
        sentence = f"every row matches at least {wanted} rows (fewest {smallest:,})"
        sentence += ", as a missing cell or * matches anything"
    else:
        every = f"every one of {count(number, 'class', 'classes')}"
        sentence = f"{every} has at least {wanted} records (smallest {smallest:,})"
        if case.starred_class:
            sentence += f"; {case.starred_class:,} records make one class with * in every quasi-identifier"
    return Check("k", True, f"{sentence}.", figures)


def missing(case: Case) -> Check:
    """Ask whether missing quasi-identifiers are treated as the policy says."""
    rule = case.policy.privacy.missing
    cells = 0
    for name in case.columns:
        texts = case.release.dictionary(name)
        # '*' may be among the texts for missing: rows of nothing else are suppressed, and miss nothing
        starred = case.starred if texts.star is not None and texts.missing[texts.star] else 0
        cells += int(texts.times[texts.missing].sum()) - starred
    figures = {"missing_cells": cells, "rule": rule}
    if not cells:
        return Check("missing", True, "no quasi-identifier cell is missing.", figures)
    found = f"{count(cells, 'quasi-identifier cell')} {'is' if cells == 1 else 'are'} missing"
    if rule in ("suppress", "refuse"):
        return Check("missing", False, f"{found}, which the policy ({rule}) does not allow.", figures)
    meaning = "matches anything" if rule == "wildcard" else "is a value of its own"
    return Check("missing", True, f"{found}, and each {meaning}.", figures)


def suppression(case: Case) -> Check:
    """Ask whether no more records are suppressed than the policy allows."""
    privacy = case.policy.privacy
    total = case.release.rows if case.original is None else case.original.rows
    gone = case.suppressed + (case.withheld or 0)
    figures = {"suppressed": case.suppressed, "of": total, "limit": privacy.suppression_limit}
    if case.withheld is not None:
        figures["withheld"] = case.withheld
    if not gone:
        known = "nothing suppressed" if case.original else "no row of the file is suppressed"
        return Check("suppression", True, f"{known}.", figures)
    passed = privacy.may_suppress(gone, total)
    share = f"{gone:,} of {count(total, 'record')} ({100 * gone / max(total, 1):.3g} %)"
    against = f"{'within' if passed else 'more than'} the limit of {100 * privacy.suppression_limit:g} %"
    are = "is" if gone == 1 else "are"
    return Check("suppression", passed, f"{share} {are} suppressed, {against}.", figures)


_FAULTS: dict[Kind, str] = {
    "label": "a label that its hierarchy does not have",
    "number": "text that is no number and no interval",
    "date": "text that is no date and no period",
    "prefix": "a value that the original does not have",
    "text": "a value that the original does not have",
}
_EMPTY, _OUTSIDE = "an interval that is empty or upside down", "a value outside the domain"


def domain(case: Case) -> Check:
    """Ask whether every published quasi-identifier can be read as a value of its column."""
    sentences: list[str] = []
    figures: dict[str, int | float | str] = {}
    for name, column in case.columns.items():
        rows, texts, published = Counter[str](), Counter[str](), case.release.dictionary(name)
        for where, some in published.values.batches():
            for fault, faulty in _faults(column, some):
                rows[fault] += int(published.times[where][faulty].sum())
                texts[fault] += len(faulty)
        for fault, times in (+rows).items():
            hold = "holds" if times == 1 else "hold"
            distinct = count(texts[fault], "distinct value")
            sentences.append(f"column {name!r}: {count(times, 'row')} ({distinct}) {hold} {fault}")
        if rows.total():
            figures |= {f"rows.{name}": rows.total(), f"values.{name}": texts.total()}
    sentence = "; ".join(sentences) or "every published quasi-identifier can be read as a value of its column"
    return Check("domain", not sentences, f"{sentence}.", figures)


def unknown(model: PrivacyModel) -> Check:
    """Fail for a model that nobody has taught the audit: silence would be a promise."""
    return Check(model.name, False, f"the policy asks for {model.name}, which this audit does not check.")


def sensitive(case: Case, model: SensitiveModel, *, strict: bool) -> Check:
    """Ask whether every class keeps what a model promises about sensitive values.

    Parameters
    ----------
    strict : bool
        Whether it must also hold against someone who knows all other sensitive columns.
    """
    if case.classes is None or any(column not in case.release.columns for column in model.columns):
        return Check(model.name, False, f"{model.name} cannot be checked, as the release lacks a column.")
    check = judgement(model, case.judged(model), "class", "classes")
    others = [
        column
        for column in case.policy.having_role("sensitive")
        if column not in model.columns and column in case.release.columns
    ]
    if not others or not (strict or case.always_strict):
        return check
    return _also_strict(check, case.judged(model, others), strict=strict)


def _also_strict(check: Check, finer: Judged, *, strict: bool) -> Check:
    """Add how many classes fail for somebody who knows the other sensitive columns, and let it count if it must."""
    failing, number = finer.failing, finer.classes
    figures = {
        **check.figures,
        "strict_classes": number,
        "strict_classes_failing": failing,
        "strict_rows_in_them": finer.records,
    }
    if not strict:
        return replace(check, figures=figures)
    do = "does" if failing == 1 else "do"
    fate = f"{failing:,} {do} not keep it" if failing else "all keep it"
    sentence = f"{check.sentence.removesuffix('.')}; of {count(number, 'class', 'classes')} that also share the other "
    sentence += f"sensitive columns, {fate}."
    return replace(check, passed=check.passed and not failing, sentence=sentence, figures=figures)


def sizes(case: Case, model: SizeModel) -> Check:
    """Ask whether the classes taken together keep what a model promises; a missing cell is a value of its own."""
    if case.classes is None:
        return Check(model.name, False, f"{model.name} cannot be checked, as the release has no classes.")
    found = case.classes.of_each
    found = np.append(found, case.starred_class) if case.starred_class else found
    value, records = model.figure(found), int(found.sum())
    figures = {"most": model.most, "found": float(value), "classes": len(found), "records": records}
    kept = model.keeps(found)
    sentence = (
        f"{model.name}: {float(value):.4g} for {count(records, 'record')} in {count(len(found), 'class', 'classes')}"
    )
    return Check(
        model.name, kept, f"{sentence}, {'within' if kept else 'more than'} the limit of {model.most:g}.", figures
    )


def judgement(model: SensitiveModel, classes: Judged, noun: str, plural: str) -> Check:
    """Say how many classes, or whatever they are called, keep what a model promises."""
    failing, number = classes.failing, classes.classes
    figures = _parameters(model) | {"classes_failing": failing, "rows_in_them": classes.records}
    if classes.other_spellings:
        figures["other_spellings"] = classes.other_spellings
    about = f"{model.name} of {listed(model.columns)}"
    if failing:
        do = "does" if failing == 1 else "do"
        sentence = f"{about}: {failing:,} of {count(number, noun, plural)} {do} not keep it."
        return Check(model.name, False, sentence, figures)
    return Check(model.name, True, f"{about}: kept by every one of {count(number, noun, plural)}.", figures)


def _parameters(model: SensitiveModel) -> dict[str, int | float | str]:
    """The parameters of a model; not its lists, which may have values of the table."""
    given = asdict(model)  # type: ignore[call-overload]
    simple = {name: value for name, value in given.items() if isinstance(value, int | float | str)}
    return simple if "column" in simple else {"columns": ", ".join(model.columns), **simple}


def _faults(column: PublishedColumn, texts: pl.Series) -> Iterator[tuple[str, Ints]]:
    """Say what is wrong with some texts, and with which of them by number; missing ones are left out."""
    plain = np.zeros(len(texts), bool)
    border = (-math.inf, math.inf) if column.domain is None else tuple(map(exact, column.domain))
    if column.has_ends and border[0] is not None and border[1] is not None:
        ends = column.ends(texts)
        plain, empty = ends.plain, ends.lo > ends.hi
        outside = (ends.lo > border[1]) | (ends.hi < border[0])
        yield _EMPTY, np.flatnonzero(plain & empty)
        yield _OUTSIDE, np.flatnonzero(plain & ~empty & outside)
    for number in np.flatnonzero(~plain & texts.is_not_null().to_numpy()).tolist():
        if (fault := _fault(column, texts[number])) is not None:
            yield fault, np.array([number])


def _fault(column: PublishedColumn, text: str) -> str | None:
    meaning = column.read(text)
    if meaning is None:
        return _FAULTS[column.kind]
    if isinstance(meaning, Interval):
        if meaning.is_empty:
            return _EMPTY
        if column.domain is not None and not meaning.meets(*column.domain):
            return _OUTSIDE
    return None
