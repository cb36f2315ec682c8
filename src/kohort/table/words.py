"""What messages say about columns: types in plain words, and one or many of a thing."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import polars as pl

# By name, for not every release of polars has every type.
_WORDS = {
    "String": "texts",
    "Categorical": "texts",
    "Enum": "texts",
    "Boolean": "truth values",
    "Null": "nothing",
    "Decimal": "decimal numbers",
    "Date": "dates",
    "Datetime": "dates with a time",
    "Time": "times of day",
    **dict.fromkeys(("Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64"), "whole numbers"),
    **dict.fromkeys(("Float16", "Float32", "Float64"), "numbers"),
}
_FLATTEN = "not one value per cell; drop or flatten it"
_STRANGE = {
    "Duration": "durations, which every tool writes in another way; convert it to a number, or to text",
    "List": f"lists, {_FLATTEN}",
    "Array": f"lists, {_FLATTEN}",
    "Struct": f"records, {_FLATTEN}",
    "Map": f"records, {_FLATTEN}",
    "Binary": f"bytes, {_FLATTEN}",
    "Object": f"Python objects, {_FLATTEN}",
    "Int128": "whole numbers of 128 bits; convert it to 64 bits, or to text",
    "UInt128": "whole numbers of 128 bits; convert it to 64 bits, or to text",
}


def in_words(dtype: pl.DataType) -> str:
    """What the values of a type are called; for a type that can be published."""
    return _WORDS[_name(dtype)]


def unusable(dtype: pl.DataType) -> str | None:
    """What is wrong with a type that cannot be published, and what to do; None for the others."""
    name = _name(dtype)
    return None if name in _WORDS else _STRANGE.get(name, "values of an unknown kind; convert it to text")


def _name(dtype: pl.DataType) -> str:
    return str(dtype.base_type().__name__)


def counted(number: int, one: str, many: str) -> str:
    """The number with the words for one or for many: `1 row holds`, `2 rows hold`."""
    return f"{number:,} {one if number == 1 else many}"


def listed(numbers: Sequence[int]) -> str:
    """The numbers in a sentence: `1, 2 and 5`."""
    *most, last = map(str, numbers)
    return f"{', '.join(most)} and {last}" if most else last


def called(name: str, place: int, known: Collection[str]) -> str:
    """What a message calls a column: by its name if the policy has it, else by its position: names may be cells."""
    return f"column {name!r}" if name in known else f"column {place}"


def no_name(places: Sequence[int]) -> str:
    """The sentence about columns that have no name."""
    if len(places) == 1:
        return f"column {places[0]} of the header has no name; name it."
    return f"columns {listed(places)} of the header have no name; name them."


def namesakes(names: Sequence[str]) -> dict[str, list[int]]:
    """Names that more than one column has, with the columns' positions from 1."""
    positions: dict[str, list[int]] = {}
    for position, name in enumerate(names, 1):
        positions.setdefault(name, []).append(position)
    return {name: found for name, found in positions.items() if len(found) > 1}
