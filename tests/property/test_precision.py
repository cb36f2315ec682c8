"""Random tables and settings: every published interval of the file keeps them, and covers its record."""

import datetime as dt
import re
from fractions import Fraction

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kohort
from oracles.files import rows_of

DAY = dt.date(1999, 12, 20)


@st.composite
def cases(draw):
    """(frame, policy) with one column of each kind of line, and settings for it."""
    n = draw(st.integers(2, 30))
    frame, columns = {}, {}
    for name, kind in (("a", "integer"), ("b", "number"), ("c", "date")):
        spread = draw(st.sampled_from([3, 40, 700]))
        numbers = st.integers(-spread, spread)
        unit = draw(st.sampled_from([1, 2, 5]))
        scale = 0.1 if kind == "number" else 1
        column = {"role": "quasi", "type": kind}
        if draw(st.booleans()):
            column["snap"] = unit * scale
        if draw(st.booleans()):
            column["min_width"] = round(unit * draw(st.integers(1, 4)) * scale, 6)
        low, high = sorted(draw(st.tuples(numbers, numbers)))
        borders = {"bottom": low * unit, "top": (high + 5) * unit}
        if kind == "date":
            first = DAY.toordinal() - (DAY.toordinal() - 1) % unit
            borders = {key: dt.date.fromordinal(first + border) for key, border in borders.items()}
        else:
            borders = {key: round(border * scale, 1) for key, border in borders.items()}
        column |= {key: border for key, border in borders.items() if draw(st.booleans())}
        cells = draw(st.lists(st.one_of(st.none(), numbers), min_size=n, max_size=n))
        made = [None if cell is None else _value(kind, cell, unit) for cell in cells]
        frame[name] = pl.Series(made, dtype=DTYPES[kind])
        columns[name] = column
    algorithm = {"name": draw(st.sampled_from(["fast", "auto", "incognito", "mondrian", "cb"])), "seed": 1}
    policy = kohort.Policy(privacy={"k": draw(st.integers(2, min(n, 4)))}, algorithm=algorithm, columns=columns)
    return pl.DataFrame(frame), policy


DTYPES = {"integer": pl.Int64, "number": pl.Float64, "date": pl.Date}


def _value(kind, cell, unit):
    if kind == "date":
        return DAY + dt.timedelta(cell)
    return cell * unit / 20 if kind == "number" else cell


def exact(text):
    """A number, or the days since Monday 0001-01-01."""
    if re.fullmatch(r"\d{4}-\d\d-\d\d", str(text)):
        return Fraction(dt.date.fromisoformat(str(text)).toordinal() - 1)
    return Fraction(str(text))


def ends(text):
    """Lower and upper end, None where there is none."""
    if text.startswith("<= "):
        return None, exact(text[3:])
    if text.startswith(">= "):
        return exact(text[3:]), None
    low, high = text[1:-1].split(" - ") if text.startswith("[") else (text, text)
    return exact(low), exact(high)


@pytest.mark.promise("2.4")
@given(cases())
@settings(max_examples=25)
def test_every_published_interval_keeps_the_settings(tmp_path_factory, case):
    frame, policy = case
    path = tmp_path_factory.mktemp("release") / "out.csv"
    release = kohort.anonymize(frame, policy, output=path, overwrite=True)
    for row, record in zip(rows_of(path), release.row_order.tolist(), strict=True):
        for name, column in policy.columns.items():
            text, value = row[name], frame[name][record]
            if text in ("", "*"):
                assert text == "*" or value is None
                continue
            low, high = ends(text)
            assert low is None or low <= exact(value)
            assert high is None or high >= exact(value)
            if column.snap is not None:
                assert all(end % exact(column.snap) == 0 for end in (low, high) if end is not None)
            if low is not None and high is not None:
                assert high - low >= max(exact(column.snap or 0), exact(column.min_width or 0))
            if column.bottom is not None:
                assert low is None or exact(value) > exact(column.bottom)
                assert low is None or low >= exact(column.bottom)
                assert high is None or high >= exact(column.bottom)
            if column.top is not None:
                assert high is None or exact(value) < exact(column.top)
                assert high is None or high <= exact(column.top)
                assert low is None or low <= exact(column.top)
    again = kohort.measure(path, frame, policy)
    assert again.by_column == pytest.approx(release.loss.by_column, abs=1e-9)


FAR = 100
"""Beyond all numbers of a case: what is held up to here is held without an end."""


@st.composite
def texts(draw):
    """A published text in any style, and the test whether a number is in it."""
    low, high = sorted(draw(st.tuples(*[st.sampled_from([n / 2 for n in range(-40, 41)])] * 2)))
    one, other = (f"{end:g}" for end in (low, high))
    return draw(
        st.sampled_from(
            [
                (one, lambda x: x == low),
                (f"[{one} - {other}]", lambda x: low <= x <= high),
                (f"[{one}, {other}[", lambda x: low <= x < high),
                (f"]{one}, {other}]", lambda x: low < x <= high),
                (f"({one}, {other})", lambda x: low < x < high),
                (f"]{one}, {other}[", lambda x: low < x < high),
                (f"{one}~{other}", lambda x: low <= x <= high),
                (f"<= {one}", lambda x: x <= low),
                (f"< {one}", lambda x: x < low),
                (f">= {one}", lambda x: x >= low),
                (f"> {one}", lambda x: x > low),
                (f"{one}+", lambda x: x >= low),
            ]
        )
    )


@st.composite
def limits(draw):
    snap = draw(st.sampled_from([None, 2, 5]))
    unit = snap or 1
    bottom, width = unit * draw(st.integers(-5, 2)), unit * draw(st.integers(1, 4))
    given = {"snap": snap, "bottom": bottom, "top": bottom + max(width, 2 * unit), "min_width": width}
    kept = draw(st.sets(st.sampled_from(["bottom", "top", "min_width"]))) | ({"snap"} if snap else {"min_width"})
    return {key: given[key] for key in kept}


def too_precise(held, limits):
    """Judge from all whole numbers that a text holds whether it says more than it may."""
    low, high = min(held, default=0), max(held, default=-1)
    ends = [end for end in (low, high) if abs(end) < FAR]
    if len(ends) == 2 and high - low < max(limits.get("snap", 0), limits.get("min_width", 0)):
        return True
    if "snap" in limits and any(end % limits["snap"] for end in ends):
        return True
    for key, sign in (("bottom", -1), ("top", 1)):
        if key in limits:
            beyond = {x for x in range(-FAR, FAR + 1) if (x - limits[key]) * sign >= 0}
            some = held & beyond
            # what ends at the border says no more about who is beyond it than that they are not in it
            if some and some != beyond and (some != {limits[key]} or not held - beyond):
                return True
    return False


@pytest.mark.promise("2.4")
@given(st.lists(st.tuples(texts(), limits()), min_size=20, max_size=40))
@settings(max_examples=8)
def test_what_is_too_precise_depends_on_the_values_that_a_text_holds(cases):
    columns = {f"x{i}": {"role": "quasi", "type": "integer", **keys} for i, (_, keys) in enumerate(cases)}
    policy = kohort.Policy(privacy={"k": 2}, columns=columns)
    release = pl.DataFrame({f"x{i}": [text] * 2 for i, ((text, _), _) in enumerate(cases)})
    figures = kohort.verify(release, policy).check("precision").figures
    for i, ((_, holds), keys) in enumerate(cases):
        held = {x for x in range(-FAR, FAR + 1) if holds(x)}
        assert (figures[f"too_precise.x{i}"] > 0) == too_precise(held, keys)
