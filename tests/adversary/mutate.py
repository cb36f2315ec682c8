"""Releases that were tampered with: each mutant from one number. Nothing of kohort.

A mutator takes the table of a release and a source of randomness, and returns another table, or the text of a CSV file
where the fault lies below the level of cells.
"""

from __future__ import annotations

import gzip
import json
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

from .judge_files import NULL, Cell, Table


@dataclass(frozen=True)
class Subject:
    """A release, and what a mutator may look at."""

    table: Table
    quasi: Sequence[str]
    beside: Sequence[str]
    original: Table
    delimiter: str = ","

    @property
    def is_csv(self) -> bool:
        """Whether cells have no types."""
        return self.table.types is None


Mutator = Callable[[Subject, Random], "Table | str | None"]
CELLS: dict[str, Mutator] = {}
BYTES: dict[str, Mutator] = {}


def _cells(mutator: Mutator) -> Mutator:
    CELLS[mutator.__name__.strip("_").replace("_", " ")] = mutator
    return mutator


def _bytes(mutator: Mutator) -> Mutator:
    BYTES[mutator.__name__.strip("_").replace("_", " ")] = mutator
    return mutator


def cell_of(text: str | None) -> Cell:
    """A cell with a text."""
    return Cell(NULL, None) if text is None else Cell(("bare", text), text)


def _with(table: Table, row: int, name: str, cell: Cell) -> Table:
    at = table.names.index(name)
    changed = (*table.rows[row][:at], cell, *table.rows[row][at + 1 :])
    return replace(table, rows=(*table.rows[:row], changed, *table.rows[row + 1 :]))


def _row(subject: Subject, r: Random) -> int:
    return r.randrange(len(subject.table.rows))


# -- cells -------------------------------------------------------------------------------------------


@_cells
def _change_a_quasi_identifier(subject: Subject, r: Random) -> Table:
    name, row = r.choice(subject.quasi), _row(subject, r)
    others = [cell.text for cell in (*subject.table.column(name), *subject.original.column(name))]
    text = r.choice([*r.sample(others, min(4, len(others))), "*", "", "0", "[0 - 1]", "nonsense"])
    return _with(subject.table, row, name, cell_of(text) if text or r.random() < 0.5 else cell_of(None))


@_cells
def _change_a_whole_class(subject: Subject, r: Random) -> Table:
    """All rows that show a text show another one: k stays, truth may not."""
    name = r.choice(subject.quasi)
    texts = [cell.text for cell in subject.table.column(name)]
    before = r.choice(texts)
    after = r.choice([*texts, *_neighbours(before, r), "*"])
    table = subject.table
    for row, text in enumerate(texts):
        if text == before:
            table = _with(table, row, name, cell_of(after))
    return table


@_cells
def _move_an_end(subject: Subject, r: Random) -> Table:
    name, row = r.choice(subject.quasi), _row(subject, r)
    before = subject.table.column(name)[row].text
    return _with(subject.table, row, name, cell_of(r.choice(_neighbours(before, r))))


def _neighbours(text: str, r: Random) -> list[str]:
    """An interval or number, moved, opened or written in another way."""
    found = re.fullmatch(r"\[(-?\d+) - (-?\d+)\]", text)
    step = r.choice([1, 2, 5, 1000])
    if found:
        low, high = int(found[1]), int(found[2])
        return [
            *(
                f"[{low + step} - {high}]",
                f"[{low} - {high - step}]",
                f"[{low - step} - {high}]",
                f"[{low} - {high + step}]",
            ),
            *(
                f"]{low}, {high}[",
                f"[{low}, {high}[",
                f"> {low}",
                f">= {low}",
                f"< {high}",
                f"<= {high}",
                f"{low}-{high}",
            ),
            *(f"[{high} - {low}]", f"{low}", f"[{low}.0 - {high}.0]", f"[{low} -  {high}]"),
        ]
    half = re.fullmatch(r"([<>]=) (-?\d+)", text)
    if half:
        sign, end = half[1], int(half[2])
        return [f"{sign[0]} {end}", f"{sign} {end + step}", f"{sign} {end - step}", f"{end}", f"{sign}{end}"]
    if re.fullmatch(r"-?\d+", text):
        return [
            str(int(text) + step),
            f"[{text} - {text}]",
            f"{text}.0",
            f"0{text}",
            f"+{text}",
            f"[{text} - {int(text) + step}]",
        ]
    return [text + " ", " " + text, text.upper(), unicodedata.normalize("NFD", text), "*", "**", text + "*"]


@_cells
def _swap_two_cells(subject: Subject, r: Random) -> Table:
    name = r.choice([*subject.quasi, *subject.beside])
    one, other = _row(subject, r), _row(subject, r)
    cells = subject.table.column(name)
    return _with(_with(subject.table, one, name, cells[other]), other, name, cells[one])


@_cells
def _gather_a_sensitive_value(subject: Subject, r: Random) -> Table | None:
    """Swap cells beside until the first class shows as few values as it can."""
    if not subject.beside:
        return None
    name, table = r.choice(subject.beside), subject.table
    key = [tuple(table.column(n)[0].text for n in subject.quasi)]
    first = [row for row in range(len(table.rows)) if [tuple(table.column(n)[row].text for n in subject.quasi)] == key]
    wanted = table.column(name)[first[0]]
    for row in first[1:]:
        donors = [d for d, cell in enumerate(table.column(name)) if d not in first and cell.text == wanted.text]
        if donors and table.column(name)[row].text != wanted.text:
            here = table.column(name)[row]
            table = _with(_with(table, donors[0], name, here), row, name, wanted)
    return table


@_cells
def _change_a_value_beside(subject: Subject, r: Random) -> Table | None:
    if not subject.beside or not subject.is_csv:
        return None
    name, row = r.choice(subject.beside), _row(subject, r)
    identifiers = [n for n in subject.original.names if n not in subject.quasi and n not in subject.beside]
    taken = subject.original.column(identifiers[0])[row].text if identifiers else "x"
    return _with(subject.table, row, name, cell_of(r.choice([taken, "x", "", None])))


@_cells
def _change_an_end(subject: Subject, r: Random) -> Table | None:
    """Beside an interval: another one, none, or the same in another way."""
    ends = [n for n in subject.table.names if n not in (*subject.quasi, *subject.original.names)]
    if not ends:
        return None
    name, row = r.choice(ends), _row(subject, r)
    cells = subject.table.column(name)
    text = cells[row].text
    spelt = [r.choice(cells), cell_of(None), cell_of(f"{text}0"), cell_of(f"{text}.0"), cell_of(f" {text}")]
    spelt += [Cell(("quoted", text), text)] if subject.is_csv else []
    return _with(subject.table, row, name, r.choice(spelt))


@_cells
def _spell_a_cell_otherwise(subject: Subject, r: Random) -> Table | None:
    name, row = r.choice([*subject.quasi, *subject.beside]), _row(subject, r)
    if not subject.is_csv and name not in subject.quasi:
        return None
    text = subject.table.column(name)[row].text
    spelt = [f" {text}", f"{text} ", unicodedata.normalize("NFD", text), text.swapcase(), text + "\u200b", text + ".0"]
    return _with(subject.table, row, name, cell_of(r.choice(spelt)))


@_cells
def _make_null_empty_or_empty_null(subject: Subject, r: Random) -> Table | None:
    places = [
        (row, name) for name in subject.quasi for row, cell in enumerate(subject.table.column(name)) if cell.text == ""
    ]
    if not places:
        return None
    row, name = r.choice(places)
    before = subject.table.column(name)[row]
    return _with(subject.table, row, name, Cell(("quoted", ""), "") if before.value is None else Cell(NULL, None))


# -- rows and columns --------------------------------------------------------------------------------


@_cells
def _duplicate_a_row(subject: Subject, r: Random) -> Table:
    rows = subject.table.rows
    return replace(subject.table, rows=(*rows, rows[_row(subject, r)]))


@_cells
def _drop_a_row(subject: Subject, r: Random) -> Table:
    rows, row = subject.table.rows, _row(subject, r)
    return replace(subject.table, rows=(*rows[:row], *rows[row + 1 :]))


@_cells
def _one_row_for_another(subject: Subject, r: Random) -> Table:
    rows, row = list(subject.table.rows), _row(subject, r)
    rows[row] = rows[_row(subject, r)]
    return replace(subject.table, rows=tuple(rows))


@_cells
def _mix_the_rows(subject: Subject, r: Random) -> Table:
    rows = list(subject.table.rows)
    r.shuffle(rows)
    return replace(subject.table, rows=tuple(rows))


@_cells
def _add_a_row_number(subject: Subject, r: Random) -> Table:
    name = r.choice(["row", "index", "", "class"])
    rows = tuple((*row, Cell(("bare", str(i)), str(i))) for i, row in enumerate(subject.table.rows))
    types = None if subject.is_csv else (*(subject.table.types or ()), "string")
    return Table((*subject.table.names, name), rows, types)


@_cells
def _publish_an_identifier(subject: Subject, r: Random) -> Table | None:
    names = [n for n in subject.original.names if n not in subject.table.names]
    if not names:
        return None
    cells = [cell_of(cell.text) for cell in subject.original.column(names[0])]
    rows = tuple((*row, cells[i % len(cells)]) for i, row in enumerate(subject.table.rows))
    types = None if subject.is_csv else (*(subject.table.types or ()), "string")
    return Table((*subject.table.names, names[0]), rows, types)


@_cells
def _drop_a_column(subject: Subject, r: Random) -> Table | None:
    if len(subject.table.names) < 2:
        return None
    at = r.randrange(len(subject.table.names))

    def without(items: Sequence[Any]) -> tuple[Any, ...]:
        return (*items[:at], *items[at + 1 :])

    types = None if subject.table.types is None else without(subject.table.types)
    return Table(without(subject.table.names), tuple(map(without, subject.table.rows)), types)


# -- below the cells, in CSV files -------------------------------------------------------------------


def _lines(subject: Subject) -> list[str]:
    return csv_text(subject.table, subject.delimiter).split("\n")


def _line(lines: list[str], r: Random) -> int:
    return r.randrange(1, len(lines) - 1)


@_bytes
def _trailing_delimiter(subject: Subject, r: Random) -> str:
    lines = _lines(subject)
    for at in range(len(lines) - 1) if r.random() < 0.5 else [_line(lines, r)]:
        lines[at] += subject.delimiter
    return "\n".join(lines)


@_bytes
def _quote_a_cell(subject: Subject, r: Random) -> str:
    """One cell in quotes, with or without blanks around them."""
    lines = _lines(subject)
    at = _line(lines, r)
    cells = lines[at].split(subject.delimiter)
    which = r.randrange(len(cells))
    if '"' not in cells[which]:
        cells[which] = r.choice(['"{}"', '"{}" ', ' "{}"', '{}"', '"{}']).format(cells[which])
    lines[at] = subject.delimiter.join(cells)
    return "\n".join(lines)


@_bytes
def _empty_line(subject: Subject, r: Random) -> str:
    lines = _lines(subject)
    lines.insert(_line(lines, r), r.choice(["", " ", subject.delimiter * (len(subject.table.names) - 1)]))
    return "\n".join(lines)


@_bytes
def _lost_line_end(subject: Subject, r: Random) -> str:
    lines = _lines(subject)
    at = r.choice([0, 0, _line(lines, r)])
    lines[at : at + 2] = [r.choice(["", subject.delimiter]).join(lines[at : at + 2])]
    return "\n".join(lines)


@_bytes
def _other_line_ends(subject: Subject, r: Random) -> str:
    lines = _lines(subject)
    return (
        r.choice(["\r\n", "\r", "\n"]).join(lines)
        if r.random() < 0.5
        else "\r\n".join(lines[:3]) + "\n" + "\n".join(lines[3:])
    )


@_bytes
def _nul_or_mark(subject: Subject, r: Random) -> str:
    lines = _lines(subject)
    at = r.choice([0, _line(lines, r)])
    lines[at] = r.choice(["\ufeff", "\x00", "#", "\u200b"]) + lines[at]
    return "\n".join(lines)


# -- two tables that are linked by buckets -----------------------------------------------------------

BUCKET, COUNT = "bucket", "count"


@dataclass(frozen=True)
class Buckets:
    """The second table of a release in buckets, beside the first; a mutator gives both again, changed."""

    first: Table
    values: Table
    sensitive: str

    def row(self, r: Random) -> int:
        """A row of the second table."""
        return r.randrange(len(self.values.rows))

    def some(self, r: Random) -> list[str]:
        """Two different buckets, or one if there are no two."""
        names = sorted({cell.text for cell in self.first.column(BUCKET)})
        return r.sample(names, min(2, len(names)))

    def renamed(self, table: Table, changes: dict[str, str]) -> Table:
        """A table with other names of buckets."""
        for row, cell in enumerate(table.column(BUCKET)):
            if cell.text in changes:
                table = _with(table, row, BUCKET, cell_of(changes[cell.text]))
        return table


Pair = tuple[Table, Table]
PAIRS: dict[str, Callable[[Buckets, Random], Pair | None]] = {}


def _pairs(mutator: Callable[[Buckets, Random], Pair | None]) -> Callable[[Buckets, Random], Pair | None]:
    PAIRS[mutator.__name__.strip("_").replace("_", " ")] = mutator
    return mutator


@_pairs
def _move_a_record(both: Buckets, r: Random) -> Pair:
    row = r.randrange(len(both.first.rows))
    there = r.choice([*both.some(r), "new", "", None, "0", " 1", "1 ", "01"])
    return _with(both.first, row, BUCKET, cell_of(there)), both.values


@_pairs
def _exchange_two_records(both: Buckets, r: Random) -> Pair:
    """Sizes stay; the values of a bucket may be those of others."""
    cells = both.first.column(BUCKET)
    one, other = r.randrange(len(cells)), r.randrange(len(cells))
    return _with(_with(both.first, one, BUCKET, cells[other]), other, BUCKET, cells[one]), both.values


@_pairs
def _change_a_count(both: Buckets, r: Random) -> Pair:
    row = both.row(r)
    number = int(both.values.column(COUNT)[row].text)
    text = r.choice(
        [*map(str, (number + 1, number - 1, 0, -number, 10**9)), "x", "", None, f"{number}.0", f" {number}"]
    )
    return both.first, _with(both.values, row, COUNT, cell_of(text))


@_pairs
def _shift_a_count(both: Buckets, r: Random) -> Pair | None:
    """From one value of a bucket to another: sums stay, shares do not."""
    values = both.values
    bucket = r.choice([cell.text for cell in values.column(BUCKET)])
    rows = [row for row, cell in enumerate(values.column(BUCKET)) if cell.text == bucket]
    if len(rows) < 2:
        return None
    one, other = r.sample(rows, 2)
    counts = [int(cell.text) for cell in values.column(COUNT)]
    moved = r.randint(1, counts[one])
    values = _with(values, other, COUNT, cell_of(str(counts[other] + moved)))
    if moved < counts[one]:
        return both.first, _with(values, one, COUNT, cell_of(str(counts[one] - moved)))
    return both.first, replace(values, rows=(*values.rows[:one], *values.rows[one + 1 :]))


@_pairs
def _exchange_two_values(both: Buckets, r: Random) -> Pair:
    """Of two buckets, as a rule: all values together stay."""
    cells, one, other = both.values.column(both.sensitive), both.row(r), both.row(r)
    values = _with(both.values, one, both.sensitive, cells[other])
    return both.first, _with(values, other, both.sensitive, cells[one])


@_pairs
def _change_a_value(both: Buckets, r: Random) -> Pair:
    row, cells = both.row(r), both.values.column(both.sensitive)
    text = r.choice([r.choice(cells).text, "x", "", None, cells[row].text + " ", cells[row].text.swapcase()])
    return both.first, _with(both.values, row, both.sensitive, cell_of(text))


@_pairs
def _split_a_value(both: Buckets, r: Random) -> Pair | None:
    """One row of a value becomes two, which may be spelled in two ways."""
    values, row = both.values, both.row(r)
    number, text = int(values.column(COUNT)[row].text), values.column(both.sensitive)[row].text
    spelt = r.choice([text, text + " ", " " + text, text.swapcase(), text + "\u200b"])
    parts = (number, 1) if number == 1 else (number - 1, 1)
    values = _with(values, row, COUNT, cell_of(str(parts[0])))
    twice = replace(values, rows=(*values.rows, values.rows[row]))
    last = len(twice.rows) - 1
    twice = _with(_with(twice, last, both.sensitive, cell_of(spelt)), last, COUNT, cell_of(str(parts[1])))
    return both.first, twice


@_pairs
def _drop_or_repeat_a_value(both: Buckets, r: Random) -> Pair:
    rows, row = both.values.rows, both.row(r)
    some = (*rows[:row], *rows[row + 1 :]) if r.random() < 0.5 else (*rows, rows[row])
    return both.first, replace(both.values, rows=some)


@_pairs
def _rename_a_bucket(both: Buckets, r: Random) -> Pair:
    """In one table or in both, to a new name or to that of another: then two become one."""
    one, *other = both.some(r)
    changes = {one: r.choice([*other, "new", f"{one} ", f"{one}.0", ""])}
    first, values = both.renamed(both.first, changes), both.renamed(both.values, changes)
    return r.choice([(first, values), (first, values), (first, both.values), (both.first, values)])


@_pairs
def _exchange_two_buckets(both: Buckets, r: Random) -> Pair | None:
    """Of the second table alone."""
    names = both.some(r)
    if len(names) < 2:
        return None
    return both.first, both.renamed(both.values, {names[0]: names[1], names[1]: names[0]})


@_pairs
def _publish_the_value(both: Buckets, r: Random) -> Pair:
    """The sensitive column beside the quasi-identifiers."""
    cells = [r.choice(both.values.column(both.sensitive)) for _ in both.first.rows]
    rows = tuple((*row, cell) for row, cell in zip(both.first.rows, cells, strict=True))
    types = None if both.first.types is None else (*both.first.types, "string")
    return Table((*both.first.names, both.sensitive), rows, types), both.values


# -- writing -----------------------------------------------------------------------------------------


def mutant_of(subject: Subject, r: Random) -> tuple[str, Table | str] | None:
    """A random mutant, by its name; None where the mutator finds nothing to do."""
    mutators = CELLS | (BYTES if subject.is_csv else {})
    name = r.choice(sorted(mutators))
    found = mutators[name](subject, r)
    return None if found is None else (name, found)


def mutant_pair_of(subject: Subject, values: Table, sensitive: str, r: Random) -> tuple[str, Table | str, Table] | None:
    """A random mutant of a release in buckets: of both tables together, or of the first by itself."""
    if r.random() < 0.3:
        alone = mutant_of(subject, r)
        return None if alone is None else (*alone, values)
    name = r.choice(sorted(PAIRS))
    found = PAIRS[name](Buckets(subject.table, values, sensitive), r)
    return None if found is None else (name, *found)


def csv_text(table: Table, delimiter: str) -> str:
    """A table as CSV; every cell in its raw form."""
    lines = [delimiter.join(_written(name, delimiter) for name in table.names)]
    lines += [delimiter.join(_raw(cell, delimiter) for cell in row) for row in table.rows]
    return "\n".join(lines) + "\n"


def _raw(cell: Cell, delimiter: str) -> str:
    if cell.value is None:
        return ""
    quoted = isinstance(cell.raw, tuple) and cell.raw[0] == "quoted"
    return '"' + cell.text.replace('"', '""') + '"' if quoted or cell.text == "" else _written(cell.text, delimiter)


def _written(text: str, delimiter: str) -> str:
    needs = not text or any(mark in text for mark in (delimiter, '"', "\n", "\r"))
    return '"' + text.replace('"', '""') + '"' if needs else text


def write_mutant(mutant: Table | str, path: Path, delimiter: str) -> None:
    """Write it as the kind of file that it is."""
    if isinstance(mutant, str) or mutant.types is None:
        data = (mutant if isinstance(mutant, str) else csv_text(mutant, delimiter)).encode()
        path.write_bytes(gzip.compress(data, mtime=0) if path.name.endswith(".gz") else data)
        return
    if path.suffix == ".jsonl":
        path.write_text("".join(f"{_line_of(mutant.names, row)}\n" for row in mutant.rows), encoding="utf-8")
        return
    import pyarrow as pa
    import pyarrow.feather as feather
    import pyarrow.parquet as pq

    columns = []
    for at, kind in enumerate(mutant.types):
        values = [row[at].value for row in mutant.rows]
        texts = kind in ("string", "large_string", "string_view") or any(isinstance(value, str) for value in values)
        columns.append(
            pa.array([None if v is None else str(v) for v in values], pa.string()) if texts else pa.array(values)
        )
    write = feather.write_feather if path.suffix == ".feather" else pq.write_table
    write(pa.table(columns, names=list(mutant.names)), path)


def _line_of(names: Sequence[str], row: Sequence[Cell]) -> str:
    """A record as JSON; numbers as they were written."""

    def written(cell: Cell) -> str:
        is_number = isinstance(cell.raw, tuple) and cell.raw[0] == "number"
        return str(cell.raw[1]) if is_number else json.dumps(cell.value)

    return "{" + ", ".join(f"{json.dumps(name)}: {written(cell)}" for name, cell in zip(names, row, strict=True)) + "}"


# -- ledgers -----------------------------------------------------------------------------------------


def changed_ledger(document: Any, r: Random) -> Any:
    """A ledger with one leaf of its document changed, one item gone, or two in another order."""
    path: list[Any] = []
    node = document
    while isinstance(node, dict | list) and node and r.random() < 0.9:
        key = r.choice(sorted(node)) if isinstance(node, dict) else r.randrange(len(node))
        path.append(key)
        node = node[key]
    copy = _copied(document)
    if not path:
        return None
    holder = copy
    for key in path[:-1]:
        holder = holder[key]
    value = holder[path[-1]]
    if isinstance(value, bool) or value is None:
        holder[path[-1]] = "x"
    elif isinstance(value, int):
        holder[path[-1]] = value + 1
    elif isinstance(value, str):
        holder[path[-1]] = value[1:] + "0" if value else "x"
    else:
        del holder[path[-1]]
    return None if copy == document else copy


def _copied(node: Any) -> Any:
    if isinstance(node, dict):
        return {key: _copied(value) for key, value in node.items()}
    return [_copied(value) for value in node] if isinstance(node, list) else node
