"""Cuts lead every record to one part, in NumPy and in SQL alike, and go where few clusters are."""

import duckdb
import numpy as np
import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from kohort.codes.boxes import Boxes
from kohort.common.arrow import ArrowStream
from kohort.release.engines.cuts import Cut, Cuts, find_cuts
from kohort.release.engines.sample import condition


@st.composite
def clusters(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d = draw(st.integers(1, 60)), draw(st.integers(1, 4))
    lo = rng.integers(0, draw(st.sampled_from([2, 5, 40])), (n, d)).astype(np.int32)
    hi = lo + rng.integers(0, 4, (n, d)).astype(np.int32)
    return Boxes(lo, hi), rng.integers(1, 9, n).astype(float)


@given(clusters(), st.integers(1, 12))
@settings(max_examples=60, deadline=None)
def test_numpy_and_sql_agree_on_every_part(made, parts):
    boxes, counts = made
    cuts = find_cuts(boxes, counts, parts=parts)
    assert 1 <= len(cuts.parts) <= parts
    assert cuts.parts == list(range(len(cuts.parts)))
    codes = np.vstack([boxes.lo, boxes.hi])
    names = [f"c{j}" for j in range(codes.shape[1])]
    with duckdb.connect() as database:
        database.register("rows", ArrowStream(pl.DataFrame(codes, schema=names)))
        found = database.sql(f"SELECT {cuts.expression(names)} FROM rows").fetchall()
    assert [part for (part,) in found] == cuts.route(codes).tolist()


@given(clusters(), st.integers(2, 12), st.integers(1, 60))
@settings(max_examples=60, deadline=None)
def test_joined_parts_are_large_enough_and_hold_what_they_held(made, parts, least):
    boxes, counts = made
    cuts = find_cuts(boxes, counts, parts=parts)
    records = dict(enumerate(np.bincount(cuts.route(boxes.lo), minlength=parts).tolist()))
    joined = cuts.joined(records, lambda leaves: sum(records[leaf] for leaf in leaves) >= least)
    groups = joined.groups
    assert sorted(leaf for some in groups.values() for leaf in some) == cuts.parts
    assert joined.parts == sorted(min(some) for some in groups.values())
    of_fine = {fine: part for part, some in groups.items() for fine in some}
    assert joined.route(boxes.lo).tolist() == [of_fine[part] for part in cuts.route(boxes.lo).tolist()]
    sizes = [sum(records[fine] for fine in some) for some in groups.values()]
    assert len(sizes) == 1 or min(sizes) >= least


def test_a_cut_goes_between_clusters_rather_than_through_the_middle():
    # On the first axis every cut divides a cluster; on the second, one divides none.
    lo = np.array([[0, 0], [0, 0], [0, 5], [0, 5], [0, 5]], np.int32)
    hi = np.array([[9, 1], [9, 1], [9, 7], [9, 7], [9, 7]], np.int32)
    assert find_cuts(Boxes(lo, hi), np.ones(5), parts=2) == Cuts(Cut(1, 1, 0, 1))


def test_parts_that_are_small_enough_are_not_cut():
    boxes = Boxes(*(np.arange(100, dtype=np.int32).reshape(-1, 1),) * 2)
    sizes = np.bincount(find_cuts(boxes, np.ones(100), parts=99, most=30).route(boxes.lo))
    assert sizes.max() <= 30
    assert find_cuts(boxes, np.ones(100), parts=99, most=100).parts == [0]
    assert find_cuts(boxes, np.ones(100), parts=99, least=60).parts == [0]


def test_a_sample_is_a_share_of_the_rows_whatever_the_codes():
    rng = np.random.default_rng(1)
    rows = pl.DataFrame(rng.integers(0, [2, 3, 100, 2**31 - 1], (20_000, 4)).astype(np.int32), schema=list("abcd"))
    with duckdb.connect() as database:
        database.register("rows", ArrowStream(rows))
        for share in (0.01, 0.2):
            [(found,)] = database.sql(f"SELECT count(*) FROM rows WHERE {condition(list('abcd'), share)}").fetchall()
            assert abs(found / 20_000 - share) < 0.15 * share + 0.002
