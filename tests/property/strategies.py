"""Random tables with random schemas, and a brute-force judge of a written file."""

from __future__ import annotations

import csv
import datetime as dt
from collections import Counter

import polars as pl
from hypothesis import strategies as st

from kohort.policy import Policy

WORDS = st.text(alphabet="abcdefgh é'\";,|=-", min_size=1, max_size=6).map(lambda word: "w" + word.strip())


@st.composite
def trees(draw, leaves):
    """A random nested tree over the leaves, at most three levels deep, with unique labels."""
    groups = draw(st.lists(st.integers(0, 3), min_size=len(leaves), max_size=len(leaves)))
    tree = {}
    for leaf, group in zip(leaves, groups, strict=True):
        tree.setdefault(f"group {group}", []).append(leaf)
    if draw(st.booleans()) and len(tree) > 1:
        first, *rest = tree
        return {"all but one": {name: tree[name] for name in rest}, first: tree[first]}
    return tree


@st.composite
def columns(draw, n):
    """(cells, column of the policy): one quasi-identifier of n records."""
    kind = draw(st.sampled_from(["integer", "number", "date", "flat", "tree", "prefix", "intervals", "dates"]))
    spread = draw(st.sampled_from([1, 3, 30, 1000]))
    column = {"role": "quasi"}
    if draw(st.booleans()):
        column["weight"] = draw(st.sampled_from([0.5, 1.0, 3.0]))
    if kind in ("integer", "intervals"):
        values = st.integers(-spread, spread)
        column["type"] = "integer"
        if kind == "intervals":
            column["hierarchy"] = {"intervals": {"width": draw(st.sampled_from([1, 2, 5]))}}
    elif kind == "number":
        values = st.floats(-spread, spread, allow_nan=False).map(lambda x: round(x, 3) + 0.0)
        column["type"] = "number"
    elif kind in ("date", "dates"):
        values = st.integers(0, spread).map(lambda days: dt.date(1999, 12, 20) + dt.timedelta(days))
        column["type"] = "date"
        if kind == "dates":
            column["hierarchy"] = {"dates": ["month", "year", "decade"]}
    elif kind == "prefix":
        values = st.integers(0, spread).map(lambda number: f"{number:04d}")
        column |= {"type": "string", "hierarchy": {"prefix": [4, 2]}}
    else:
        leaves = draw(st.lists(WORDS, min_size=1, max_size=8, unique=True))
        values = st.sampled_from(leaves)
        column["type"] = "string"
        if kind == "tree":
            column["hierarchy"] = {"tree": draw(trees(leaves))}
    if draw(st.booleans()):
        values = st.one_of(values, st.none())
    return draw(st.lists(values, min_size=n, max_size=n)), column


@st.composite
def cases(draw, max_rows=40):
    """(frame, policy): a random table and a policy that fits it."""
    n = draw(st.integers(2, max_rows))
    k = draw(st.integers(2, min(n, 6)))
    frame, described = {}, {}
    for index in range(draw(st.integers(1, 4))):
        cells, column = draw(columns(n))
        frame[f"q{index}"], described[f"q{index}"] = cells, column
    frame["who"] = [f"person-{row}" for row in range(n)]
    frame["ill"] = draw(st.lists(st.sampled_from(["flu", "cold", "=1+1", None]), min_size=n, max_size=n))
    described |= {"who": {"role": "identifier"}, "ill": {"role": "sensitive"}}
    schema = {name: _dtype(described[name]) for name in frame}
    policy = Policy(
        privacy={"k": k},
        algorithm={"seed": draw(st.integers(0, 99))},
        columns=described,
    )
    return pl.DataFrame(frame, schema=schema), policy


def _dtype(column):
    return {"integer": pl.Int64, "number": pl.Float64, "date": pl.Date}.get(column.get("type"), pl.String)


def classes_of_csv(path, quasi):
    """Class sizes of a written CSV file, by the standard library alone."""
    with path.open(newline="", encoding="utf-8") as file:
        return Counter(tuple(row[name] for name in quasi) for row in csv.DictReader(file))
