"""JSON lines, by Python's own parser: numbers stay as they are written."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from typing_extensions import override

from kohort.audit.read.formats.base import READERS, ROWS, Kinds, Reader, refuse_names, text_frame
from kohort.common.packed import found_packing, unpacked
from kohort.errors import DataError
from kohort.policy.sections import Input

if TYPE_CHECKING:
    import polars as pl

_LONGEST = 1 << 25
"""Bytes of the longest record."""


class _Number(str):
    """A number as it is written."""

    __slots__ = ()


class _Truth(str):
    """``true`` or ``false``."""

    __slots__ = ()


@READERS.register("jsonl")
class JsonLines(Reader):
    """An object in each line, with single values."""

    suffixes = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz", ".jsonl.zst", ".ndjson.zst")

    @override
    def matches(self, head: bytes, path: Path) -> bool:
        return path.name.lower().endswith(self.suffixes)

    @override
    def pieces(self, path: Path, place: str, settings: Input | None, kinds: Kinds) -> Iterator[pl.DataFrame]:
        names: dict[str, None] = {}
        for record in _records(path, place):
            if settings is None and names and list(record) != list(names):
                raise DataError(f"{place}: its records have different keys, or in another order; write all alike.")
            names |= dict.fromkeys(record)
        if not names:
            raise DataError(f"{place}: the file has no records; there is nothing to check.")
        refuse_names(list(names), place)
        waiting: list[dict[str, str | None]] = []
        for record in _records(path, place):
            for name in kinds.columns:
                kinds.see(name, record.get(name), type(record.get(name)).__name__)
            waiting.append(record)
            if len(waiting) == ROWS:
                yield _frame(list(names), waiting)
                waiting = []
        yield _frame(list(names), waiting)


def _frame(names: list[str], records: list[dict[str, str | None]]) -> pl.DataFrame:
    return text_frame(names, [[record.get(name) for record in records] for name in names])


def _records(path: Path, place: str) -> Iterator[dict[str, str | None]]:
    with path.open("rb") as file:
        packing = found_packing(file.read(4))
    line, fault = 0, ""
    try:
        with unpacked(path, packing) as file:
            while text := file.readline(_LONGEST):
                line += 1
                if text.strip():
                    yield _record(text.decode("utf-8-sig" if line == 1 else "utf-8"))
        return
    except (OSError, EOFError, zlib.error):
        fault = "cannot be unpacked; the file is damaged"
    except (ValueError, RecursionError):
        fault = f"line {line} is no JSON object of single values with a name each, in UTF-8; correct the line"
    raise DataError(f"{place}: {fault}.")


def _record(text: str) -> dict[str, str | None]:
    record = json.loads(
        text, parse_int=_Number, parse_float=_Number, parse_constant=_refuse, object_pairs_hook=_without_namesakes
    )
    if not isinstance(record, dict):
        raise ValueError  # noqa: TRY004 (a fault of the file)
    if "\\u" in text:
        "".join([*record, *filter(None, record.values())]).encode()  # half of a character is none, and no text
    return record


def _without_namesakes(pairs: list[tuple[str, Any]]) -> dict[str, str | None]:
    """An object as texts; anything else than single values, and a name that is there twice, is refused."""
    record = {name: _text(value) for name, value in pairs}
    if len(record) < len(pairs):
        raise ValueError
    return record


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return _Truth("true" if value else "false")
    raise ValueError


def _refuse(_: str) -> None:
    """NaN and Infinity, which are no JSON."""
    raise ValueError
