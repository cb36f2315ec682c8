"""Anonymity by matchings: how many published rows every original record could be.

Records and rows make a graph: an edge where every published quasi-identifier covers the value of the
record. An outsider who knows all quasi-identifiers of everybody knows this graph, and that the truth
is one of its perfect matchings. So an edge counts only if some perfect matching has it; k holds if
every record has k such edges (global (1,k)-anonymity of Gionis, Mazza and Tassa, 2008).

Given one perfect matching, let records point to the rows that cover them, and rows back to the records
that they are matched with. An edge lies in some perfect matching if and only if both its ends lie in
one strongly connected component. What is connected by some of the edges is connected by all of them:
so the components of a large graph are taken from a sample of its edges. That is enough to pass, though
not to fail.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from kohort.audit.case import LoadedCase
from kohort.audit.checks.coverage import Line
from kohort.audit.meaning.published import STAR
from kohort.audit.read.table import Table
from kohort.audit.read.texts import Texts
from kohort.audit.verdict import Check
from kohort.audit.words import count, listed

Ints: TypeAlias = NDArray[np.signedinteger]
Edges: TypeAlias = tuple[Ints, Ints]
"""A record and a row for each edge."""

_BLOCK = 1 << 18
"""Pairs of records and rows that are compared at once rather than split further."""
_EDGES = 1 << 25
"""Edges that are held at once: some 1 GB in all."""
_SAMPLE = 16
"""Edges of each record and of each row in the first sample."""


@dataclass(frozen=True)
class Graph:
    """Distinct records and distinct rows; equal ones count as often as they are there."""

    places: Ints
    """Where a record stands on the line of each column; shape (records, columns)."""
    first: Ints
    last: Ints
    """The stretch of the line that a row covers; shape (rows, columns)."""
    records: Ints
    rows: Ints
    """How many there are of each."""
    pairs: Edges
    """A record and a row, for each record, that somebody says belong together; empty if nobody does."""

    @property
    def size(self) -> int:
        """Number of distinct records and rows."""
        return len(self.records) + len(self.rows)


@dataclass(frozen=True)
class Found:
    """For each distinct record, the number of rows that it could be; how many edges were looked at, of how many."""

    candidates: Ints
    edges: int
    of: int


def consistency(case: LoadedCase) -> Check:
    """Ask whether every record could be at least k rows, each by a perfect matching of all records and rows."""
    k = case.policy.privacy.k
    reason = _unanswerable(case)
    if reason:
        return Check("k", False, f"k cannot be checked, as {reason}.", {"k": k})
    figures: dict[str, int | float | str] = {"k": k, "suppressed_rows": case.suppressed}
    if case.suppressed == case.release.rows:
        return Check("k", True, "every row is suppressed, so there is no record to check.", figures)
    graph = _graph(case)
    records = int(graph.records.sum())
    figures |= {"classes": len(graph.rows), "records": records}
    found = candidates(graph, k)
    if isinstance(found, str):
        return Check("k", False, f"{found}.", figures)
    fewest, under = int(found.candidates.min()), int(graph.records[found.candidates < k].sum())
    figures |= {"smallest_class": fewest, "records_under_k": under, "edges": found.edges, "edges_in_all": found.of}
    if under:
        sentence = f"{count(under, 'record')} could be fewer than k = {k} rows (fewest {fewest})"
        return Check("k", False, f"{sentence}, each in a perfect matching of records and rows.", figures)
    seen = "fewest" if found.edges == found.of else "fewest seen"
    sentence = f"every one of {count(records, 'record')} could be at least {k} rows ({seen} {fewest:,})"
    return Check("k", True, f"{sentence}, each in a perfect matching of records and rows.", figures)


def _unanswerable(case: LoadedCase) -> str | None:
    """Say what is lacking to build the graph, if anything."""
    if case.original is None:
        return "anonymity = 'matchings' needs the original, which was not given"
    quasi = case.policy.quasi_identifiers
    for table, name in ((case.release, "release"), (case.original, "original")):
        lacking = [column for column in quasi if column not in table.columns]
        if lacking:
            return f"{listed(lacking)} {'is' if len(lacking) == 1 else 'are'} not in the {name}"
    if len(_released(case)) != case.release.rows - case.suppressed:
        # Guessing who was suppressed would be guessing the answer.
        return "some records are suppressed and it is not known which; give row_order"
    return None


def _released(case: LoadedCase) -> Ints:
    """Number the original rows that were released: by the order if it is given, else by the policy's own rule."""
    assert case.original is not None
    database, columns = case.release.database, case.original.columns
    if case.order is not None and case.order_known:
        shown = "NOT starred" if case.suppressed else "true"
        sql = f"SELECT o FROM row_order JOIN release ON release.rowid = r WHERE {shown} ORDER BY r"
        return np.asarray(database.arrays(sql)["o"], np.int64)
    complete = "true"
    if case.policy.privacy.missing == "suppress":
        complete = " AND ".join(f"{columns[name]} IS NOT NULL" for name in case.policy.quasi_identifiers)
    return np.asarray(database.arrays(f"SELECT rowid FROM original WHERE {complete} ORDER BY rowid")["rowid"], np.int64)


# -- the graph -----------------------------------------------------------------------------------------


def _graph(case: LoadedCase) -> Graph:
    """Turn texts into places and stretches, without the records that are suppressed."""
    assert case.original is not None
    database, names = case.release.database, list(case.columns)
    numbers = _numbers(case.release, [case.release.literal(name) for name in names])
    values = _numbers(case.original, [case.original.columns[name] for name in names])
    wildcard = case.policy.privacy.missing == "wildcard"
    places, first, last = [], [], []
    for j, name in enumerate(names):
        texts = [text for (text,) in _texts(case.original, case.original.columns[name])]
        line = Line(case.columns[name], Texts.of(texts))
        places.append(line.places[values[j]])
        # a '*' that the policy reads as missing still says "any value"
        written = [
            STAR if literal == STAR else text
            for literal, text in _texts(case.release, case.release.literal(name), case.release.columns[name])
        ]
        of_first, of_last = line.stretches(Texts.of(written), missing_is_any=wildcard)
        first.append(of_first[numbers[j]])
        last.append(of_last[numbers[j]])
    starred = np.asarray(database.arrays("SELECT starred FROM release ORDER BY rowid")["starred"], bool)
    shown = ~starred if case.suppressed else np.ones_like(starred)
    return graph_of(
        np.stack(places, axis=1)[_released(case)], np.stack(first, axis=1)[shown], np.stack(last, axis=1)[shown]
    )


def graph_of(places: Ints, first: Ints, last: Ints) -> Graph:
    """Put equal records and equal rows together; row i is said to be that of record i."""
    records, record_of, record_counts = _distinct(places)
    rows, row_of, row_counts = _distinct(np.hstack([first, last]))
    d = places.shape[1]
    return Graph(records, rows[:, :d], rows[:, d:], record_counts, row_counts, (record_of, row_of))


def _distinct(array: Ints) -> tuple[Ints, Ints, Ints]:
    rows, inverse, counts = np.unique(array, axis=0, return_inverse=True, return_counts=True)
    return rows, inverse.ravel(), counts


def _numbers(table: Table, columns: list[str]) -> list[Ints]:
    """Number the texts of every column, row by row in the order of the file."""
    ranks = ", ".join(f"dense_rank() OVER (ORDER BY {sql}) - 1 AS n{j}" for j, sql in enumerate(columns))
    found = table.database.arrays(f"SELECT {ranks} FROM {table.name} ORDER BY rowid")
    return [np.asarray(found[f"n{j}"], np.int64) for j in range(len(columns))]


def _texts(table: Table, column: str, *more: str) -> list[tuple[str | None, ...]]:
    """List the distinct texts of a column in the order of their numbers."""
    return table.database.rows(f"SELECT DISTINCT {', '.join([column, *more])} FROM {table.name} ORDER BY {column}")


def _covering(graph: Graph) -> Iterator[tuple[Ints, Ints, NDArray[np.bool_]]]:
    """Compare every record with every row that could cover it, block by block.

    Yields some records, some rows and which of these cover which; together with all rows that cover them.
    """
    places, first, last = graph.places, graph.first, graph.last
    waiting = [(np.arange(len(places)), np.arange(len(first)))]
    while waiting:
        records, rows = waiting.pop()
        if not len(rows):
            continue
        if len(records) == 1 or len(records) * len(rows) <= _BLOCK:
            yield records, rows, _covers(places[records], first[rows], last[rows])
            continue
        waiting += _halves(graph, records, rows)


def _covers(places: Ints, first: Ints, last: Ints) -> NDArray[np.bool_]:
    covers = np.ones((len(places), len(first)), bool)
    low, high = places.min(axis=0), places.max(axis=0)
    for j in np.flatnonzero((first > low).any(axis=0) | (last < high).any(axis=0)):
        covers &= (first[:, j] <= places[:, j, None]) & (places[:, j, None] <= last[:, j])
    return covers


def _halves(graph: Graph, records: Ints, rows: Ints) -> list[tuple[Ints, Ints]]:
    """Split records in the middle of the column that leaves the fewest pairs to compare."""
    best: tuple[int, list[tuple[Ints, Ints]]] | None = None
    for j in range(graph.places.shape[1]):
        places = graph.places[records, j]
        highest = places.max()
        if places.min() == highest:
            continue
        middle = min(np.partition(places, len(places) // 2)[len(places) // 2], highest - 1)
        low = places <= middle
        halves = [
            (records[low], rows[graph.first[rows, j] <= middle]),
            (records[~low], rows[graph.last[rows, j] > middle]),
        ]
        pairs = sum(len(some) * len(others) for some, others in halves)
        if best is None or pairs < best[0]:
            best = pairs, halves
    assert best is not None, "distinct records differ somewhere"
    return best[1]


# -- its perfect matchings -----------------------------------------------------------------------------


def candidates(graph: Graph, k: int) -> Found | str:
    """Count for every record the rows that it could be, at least as far as k; or say why that cannot be done."""
    degrees = np.zeros(len(graph.records), np.int64), np.zeros(len(graph.rows), np.int64)
    fits = np.zeros(len(graph.records), np.int64)
    for records, rows, covers in _covering(graph):
        degrees[0][records] = covers.sum(axis=1)
        degrees[1][rows] += covers.sum(axis=0)
        fits[records] = covers @ graph.rows[rows]
    total = int(degrees[0].sum())
    whole = total <= _EDGES
    if not whole and fits.min() < k:
        return Found(fits, total, total)
    matched, sample = _said(graph), total if whole else _SAMPLE
    while whole or sum(wanted.sum() for wanted in _sampled(graph, degrees, sample)) <= _EDGES:
        edges = _edges(graph, degrees, sample)
        matched = matched or _perfect_matching(graph, edges)
        if matched is not None:
            found = Found(_within(graph, _components(graph, edges, matched)), len(edges[0]), total)
            if whole or found.candidates.min() >= k:
                return found
        elif whole:
            return "no assignment gives every record a row of its own that covers it"
        sample *= 4
    return f"which record could be which row is too much to decide ({total:,} edges)"


def _sampled(graph: Graph, degrees: tuple[Ints, Ints], sample: int) -> tuple[Ints, Ints]:
    """Number of edges that are wanted of each record and each row, equal ones having as many more."""
    return np.minimum(degrees[0], sample * graph.records), np.minimum(degrees[1], sample * graph.rows)


def _edges(graph: Graph, degrees: tuple[Ints, Ints], sample: int) -> Edges:
    """Draw edges: of every record and every row as many as are wanted on average, or all if it has no more."""
    rng = np.random.default_rng(0)
    wanted = _sampled(graph, degrees, sample)
    chance = [some / np.maximum(all_, 1) for some, all_ in zip(wanted, degrees, strict=True)]
    kept: list[Edges] = []
    for some, others, covers in _covering(graph):
        i, j = np.nonzero(covers)
        records, rows = some[i], others[j]
        keep = rng.random(len(records)) < np.maximum(chance[0][records], chance[1][rows])
        kept.append((records[keep].astype(np.int32), rows[keep].astype(np.int32)))
    return np.concatenate([records for records, _ in kept]), np.concatenate([rows for _, rows in kept])


def _said(graph: Graph) -> Edges | None:
    """Return the pairs that are said to belong together, if the rows do cover their records."""
    records, rows = graph.pairs
    places = graph.places[records]
    true = ((graph.first[rows] <= places) & (places <= graph.last[rows])).all()
    return graph.pairs if true else None


def _perfect_matching(graph: Graph, edges: Edges) -> Edges | None:
    """Find an assignment of all records to rows, as a flow from records to rows; None if there is none."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import maximum_flow

    records, rows = edges
    n = len(graph.records)
    source, sink = graph.size, graph.size + 1
    start = np.concatenate([records, np.full(n, source), n + np.arange(len(graph.rows))])
    end = np.concatenate([n + rows, np.arange(n), np.full(len(graph.rows), sink)])
    capacity = np.concatenate([np.minimum(graph.records[records], graph.rows[rows]), graph.records, graph.rows])
    network = coo_matrix((capacity.astype(np.int32), (start, end)), shape=(graph.size + 2,) * 2).tocsr()
    found = maximum_flow(network, source, sink)
    if found.flow_value < graph.records.sum():
        return None
    flow = found.flow.tocoo()
    between = (flow.data > 0) & (flow.row < n) & (flow.col < graph.size)
    return flow.row[between].astype(np.int64), flow.col[between].astype(np.int64) - n


def _components(graph: Graph, edges: Edges, matched: Edges) -> tuple[Ints, Ints]:
    """Number the strongly connected component of each record and each row."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    n = len(graph.records)
    start = np.concatenate([edges[0], matched[0], n + matched[1]])
    end = np.concatenate([n + edges[1], n + matched[1], matched[0]])
    arrows = coo_matrix((np.ones(len(start), bool), (start, end)), shape=(graph.size,) * 2).tocsr()
    _, component = connected_components(arrows, connection="strong")
    return component[:n], component[n:]


def _within(graph: Graph, components: tuple[Ints, Ints]) -> Ints:
    """Count, for each record, the rows of its own component that cover it."""
    counts = np.zeros(len(graph.records), np.int64)
    of_record, of_row = components
    for records, rows, covers in _covering(graph):
        possible = covers & (of_record[records][:, None] == of_row[rows])
        counts[records] = possible @ graph.rows[rows]
    return counts
