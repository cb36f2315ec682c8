"""Random tables with random schemas, and random policies for them."""

from __future__ import annotations

import datetime as dt
from collections import Counter

import polars as pl
from hypothesis import strategies as st

from helpers.tasks import SHORT
from kohort.algorithms import ALGORITHMS
from kohort.measures import MEASURES
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


@st.composite
def requests(draw, algorithm, max_rows=30):
    """(frame, policy): a random table, and whatever else may be asked of an algorithm beside k."""
    frame, policy = draw(cases(max_rows))
    if draw(st.booleans()):  # in buckets, values as frequent as "flu" are seldom possible
        values = draw(st.permutations(range(frame.height)))
        most = draw(st.integers(1, max(1, frame.height // policy.privacy.k)))
        frame = frame.with_columns(pl.Series("ill", [f"ill {value // most}" for value in values]))
    cls = ALGORITHMS[algorithm]
    privacy = {"anonymity": cls.anonymity, "suppression_limit": draw(st.sampled_from([0.0, 0.0, 0.1, 0.4]))}
    changed = policy.with_changes("privacy", **privacy)
    usable = frame.drop_nulls(list(policy.quasi_identifiers)).height
    fits = changed.privacy.may_suppress(frame.height - usable, frame.height) and usable >= policy.privacy.k
    if fits and draw(st.booleans()):
        privacy["missing"] = "suppress"
    if "frequency-l-diversity" in cls.keeps and draw(st.booleans()):
        privacy["models"] = [{"model": "frequency-l-diversity", "column": "ill", "l": draw(st.integers(2, 3))}]
    changed = policy.with_changes("privacy", **privacy)
    how = {"name": algorithm, "parameters": SHORT.get(algorithm, {}), "measure": draw(st.sampled_from(list(MEASURES)))}
    return frame, changed.with_changes("algorithm", **how)


def may_be_impossible(frame, policy):
    """Whether some sensitive value is too frequent for what is asked; if not, one class of all would do."""
    if policy.privacy.missing == "suppress":
        frame = frame.drop_nulls(list(policy.quasi_identifiers))
    most = max(Counter(frame["ill"]).values())
    shares = [model["l"] for model in policy.privacy.models]
    if policy.privacy.anonymity == "buckets":
        shares.append(policy.privacy.k)
    return any(most * share > frame.height for share in shares)
