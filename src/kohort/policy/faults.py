"""Faults of a policy as sentences, with file and line where the fault has one."""

from __future__ import annotations

import difflib
import json
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from kohort.common.registry import closest

KeyPath = tuple[str | int, ...]
MOST_NESTED = 150
DEEP = f"tables and lists are nested more than {MOST_NESTED} deep; write them flatter."


class Source(NamedTuple):
    """The file a policy was read from, so that later faults can still name a line."""

    path: Path
    text: str


def sentences(
    error: ValidationError, known_keys: Callable[[KeyPath], Sequence[str]], source: Source | None = None
) -> list[str]:
    """One sentence per fault; `known_keys` says which keys the section at a path may have."""
    faults = error.errors()
    # A list with a wrong item counts as too short as well; the item is what is wrong.
    wrong = {tuple(fault["loc"])[:depth] for fault in faults for depth in range(len(fault["loc"]))}
    reported = [fault for fault in faults if not (fault["type"] == "too_short" and tuple(fault["loc"]) in wrong)]
    return [located(source, *_sentence(fault, known_keys)) for fault in reported]


def _sentence(fault: Any, known_keys: Callable[[KeyPath], Sequence[str]]) -> tuple[KeyPath, str]:
    keys: KeyPath = tuple(fault["loc"])
    name = ".".join(toml_key(str(key)) for key in keys)
    kind = fault["type"]
    if kind == "extra_forbidden":
        known = known_keys(keys[:-1])
        where = f"[{'.'.join(toml_key(str(key)) for key in keys[:-1])}]" if len(keys) > 1 else "the policy"
        key, known_list = str(keys[-1]), ", ".join(known)
        return keys, f"unknown key '{key}' in {where}{closest(key, known)}; known are {known_list}."
    if kind == "missing":
        return keys, f"'{name}' is missing; it must be given."
    if kind == "value_error":
        reason = str(fault["msg"]).removeprefix("Value error, ")
        if reason.startswith("must "):
            return keys, f"'{name}' {reason}."
        return keys, f"{name}: {reason}." if keys else f"{reason}."
    if keys == ("columns",) and kind == "too_short":
        return keys, "no column is given; add [columns.NAME] with a role."
    # Whoever wrote the key itself where its place is asked for has not meant to have it printed.
    shown = "" if "pseudonym_key" in keys else _shown(fault["input"])
    return keys, f"'{name}' must be {_requirement(fault)}{shown}."


def _requirement(fault: Any) -> str:
    """What a value must be, in the words of the policy file rather than of Python."""
    limits = fault.get("ctx", {})
    match fault["type"]:
        case "dict_type" | "model_type" | "model_attributes_type":
            return "a table, such as { key = value }"
        case "tuple_type" | "list_type":
            return 'a list, such as [1, 2] or ["a"]'
        case "too_short":
            return f"a list of at least {limits['min_length']}"
        case "too_long":
            return f"a list of at most {limits['max_length']}"
        case "string_too_short":
            return f"a text of at least {limits['min_length']} character"
        case "string_too_long":
            return f"a text of at most {limits['max_length']} character"
        case "float_type" | "float_parsing":
            return "a valid number"
        case "literal_error" if limits["expected"] == "True":
            return "true"
    return str(fault["msg"]).removeprefix("Input should be ")


def _shown(given: Any) -> str:
    """A short value as the policy file writes it."""
    if isinstance(given, bool):
        return f"; got {str(given).lower()}"
    return f"; got {given!r}" if isinstance(given, str | int | float) else ""


def closest_place(name: str, present: Sequence[str]) -> str:
    """Point at the column with the nearest name by its position, for its name may be a cell."""
    near = difflib.get_close_matches(name, present, n=1)
    return f" (column {present.index(near[0]) + 1} has a similar name)" if near else ""


def toml_key(name: str) -> str:
    """A key as TOML writes it; characters that would break a line or a terminal are escaped."""
    bare = name.isascii() and name.replace("-", "").replace("_", "").isalnum()
    return name if bare else toml_text(name)


def toml_text(text: str) -> str:
    """A text as TOML writes it."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def is_deep(data: Any) -> bool:
    """Whether tables and lists are nested deeper than anybody writes them; whoever walks through them may stop here."""
    level = [data]
    for _ in range(MOST_NESTED):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list | tuple)
        ]
        if not level:
            return False
    return True


def syntax_sentence(message: str) -> str:
    """Rewrite a fault of the TOML parser, which knows its line but may quote the text."""
    what, _, place = message.rpartition(" (at ")
    line = place.removesuffix(")").split(",")[0] or "end of document"
    if what.startswith(("Cannot declare", "Cannot overwrite", "Cannot mutate", "Duplicate")):
        return f"{line}: this key or table is given twice; a column has one role and a key one value."
    return f"{line}: this is not TOML ({what[:1].lower()}{what[1:]})."


def located(source: Source | None, keys: KeyPath, sentence: str) -> str:
    """Put file and line before a sentence."""
    if source is None:
        return f"policy: {sentence}"
    lines = _lines(source.text)
    line = next((lines[keys[:depth]] for depth in range(len(keys), 0, -1) if keys[:depth] in lines), None)
    return f"{source.path.name}{f', line {line}' if line else ''}: {sentence}"


@lru_cache(maxsize=8)
def _lines(text: str) -> dict[KeyPath, int]:
    """Line of the statement that introduces each key.

    The parser itself is asked, statement by statement: a statement ends where its lines are
    complete TOML by themselves.
    """
    lines = text.splitlines()
    found: dict[KeyPath, int] = {}
    table: KeyPath = ()
    arrays: Counter[KeyPath] = Counter()
    start = 0
    while start < len(lines):
        end, data = _statement(lines, start)
        if lines[start].lstrip().startswith("["):
            table = _header_path(data, arrays)
            paths: Iterator[KeyPath] = (table[:depth] for depth in range(1, len(table) + 1))
        else:
            paths = (table + path for path in _paths(data))
        for path in paths:
            found.setdefault(path, start + 1)
        start = end
    return found


def _statement(lines: Sequence[str], start: int) -> tuple[int, Any]:
    """Where the statement that begins at a line ends, and what it says."""
    for end in range(start + 1, len(lines) + 1):
        try:
            return end, tomllib.loads("\n".join(lines[start:end]) + "\n")
        except tomllib.TOMLDecodeError:
            continue
    return start + 1, {}


def _header_path(data: Any, arrays: Counter[KeyPath]) -> KeyPath:
    """Path of a `[table]`, or of the next element of a `[[list of tables]]`."""
    path: KeyPath = ()
    while data:
        if isinstance(data, list):
            path, data = (*path, arrays[path]), data[0]
            arrays[path[:-1]] += 1
        else:
            key, data = next(iter(data.items()))
            path = (*path, key)
    return path


def _paths(data: Any, above: KeyPath = ()) -> Iterator[KeyPath]:
    items: Any = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in items:
        yield (*above, key)
        yield from _paths(value, (*above, key))
