"""Faults of a policy as sentences, with file and line where the fault has one."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

KeyPath = tuple[str | int, ...]


class Source(NamedTuple):
    """The file a policy was read from, so that later faults can still name a line."""

    path: Path
    text: str


def sentences(
    error: ValidationError, known_keys: Callable[[KeyPath], Sequence[str]], source: Source | None = None
) -> list[str]:
    """One sentence per fault; `known_keys` tells which keys the section at a path may have."""
    return [located(source, *_sentence(fault, known_keys)) for fault in error.errors()]


def _sentence(fault: Any, known_keys: Callable[[KeyPath], Sequence[str]]) -> tuple[KeyPath, str]:
    keys: KeyPath = tuple(fault["loc"])
    name = ".".join(toml_key(str(key)) for key in keys)
    kind, text = fault["type"], str(fault["msg"])
    if kind == "extra_forbidden":
        known = known_keys(keys[:-1])
        where = f"[{'.'.join(toml_key(str(key)) for key in keys[:-1])}]" if len(keys) > 1 else "the policy"
        key, known_list = str(keys[-1]), ", ".join(known)
        return keys, f"unknown key '{key}' in {where}{closest(key, known)}; known are {known_list}."
    if kind == "missing":
        return keys, f"'{name}' is missing; it must be given."
    if kind == "value_error":
        reason = text.removeprefix("Value error, ")
        return keys, f"{name}: {reason}." if keys else f"{reason}."
    requirement = text.removeprefix("Input should be ")
    got = fault["input"]
    shown = f"; got {got!r}" if isinstance(got, str | int | float | bool) else ""
    return keys, f"'{name}' must be {requirement}{shown}."


def closest(name: str, known: Sequence[str]) -> str:
    """Point at the nearest known name, if one is near."""
    near = difflib.get_close_matches(name, known, n=1)
    return f" (did you mean {near[0]!r}?)" if near else ""


def toml_key(name: str) -> str:
    """A key as TOML writes it."""
    bare = name.isascii() and name.replace("-", "").replace("_", "").isalnum()
    return name if bare else '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'


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
    line = _line_of(source.text, keys)
    return f"{source.path.name}{f', line {line}' if line else ''}: {sentence}"


def _line_of(text: str, keys: KeyPath) -> int | None:
    """Line of the statement that introduces a key, or its nearest given ancestor.

    The parser itself is asked, with ever longer beginnings of the text: where a key first
    appears, the statement began right after the last beginning that was complete.
    """
    lines = text.splitlines(keepends=True)
    best: tuple[int, int] | None = None
    complete = 0
    for end in range(1, len(lines) + 1):
        try:
            data: Any = tomllib.loads("".join(lines[:end]))
        except tomllib.TOMLDecodeError:
            continue
        depth = _given_depth(data, keys)
        if depth and (best is None or depth > best[0]):
            best = (depth, complete + 1)
        complete = end
    return best[1] if best else None


def _given_depth(data: Any, keys: KeyPath) -> int:
    for depth, key in enumerate(keys):
        if isinstance(data, dict) and key in data:
            data = data[str(key)]
        elif isinstance(data, list) and isinstance(key, int) and key < len(data):
            data = data[key]
        else:
            return depth
    return len(keys)
