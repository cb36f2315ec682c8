"""Which tests hold which sentence of docs/promises.md, and the page that lists them.

A test says so by a marker, ``@pytest.mark.promise("1.1")``. Run with ``--promises FILE``, the page says, too, how
many of the tests passed in that run.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
HEAD = """\
<!-- Written by docs/generate.py; change the source, then run `make docs`. -->

# Promises and their tests

Every sentence of [What kohort promises](../promises.md), and the tests that hold it. A test names its sentences by a
marker, `@pytest.mark.promise("1.1")`. `python -m pytest --promises FILE` writes this page with the outcome of the run.
"""
_SENTENCE = re.compile(r"^ *- \*\*(\d+\.\d+)\*\* (.+?)(?=\n *- \*\*|\n *\n|\n\d+\. |\Z)", re.MULTILINE | re.DOTALL)


def sentences() -> dict[str, str]:
    """The numbered sentences of docs/promises.md."""
    text = (ROOT / "docs" / "promises.md").read_text(encoding="utf-8")
    return {number: _plain(sentence) for number, sentence in _SENTENCE.findall(text)}


def _plain(sentence: str) -> str:
    """In one line, and without links, which would lead elsewhere from another page."""
    return re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", " ".join(sentence.split()))


@cache
def marked_tests() -> dict[str, list[str]]:
    """The tests that name a sentence, by its number: `tests/folder/test_file.py::test_name`."""
    found: dict[str, list[str]] = {}
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        for name, numbers in _marks(ast.parse(path.read_text(encoding="utf-8"))):
            for number in numbers:
                found.setdefault(number, []).append(f"{path.relative_to(ROOT).as_posix()}::{name}")
    return found


def _marks(tree: ast.Module) -> Iterator[tuple[str, list[str]]]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            marks = [mark for mark in node.decorator_list if ast.unparse(mark).startswith("pytest.mark.promise(")]
            yield node.name, [ast.literal_eval(number) for mark in marks for number in mark.args]  # type: ignore[attr-defined]


def page(outcomes: Mapping[str, Mapping[str, int]] | None = None) -> str:
    """Sentences and tests; with the outcomes of a run, by the names of tests."""
    tests = marked_tests()
    parts = [HEAD]
    for number, sentence in sentences().items():
        parts.append(f"## {number}\n\n{sentence}\n")
        parts.append("\n".join(f"- `{name}`{_told(outcomes, name)}" for name in tests.get(number, [])) + "\n")
    return "\n".join(parts)


def _told(outcomes: Mapping[str, Mapping[str, int]] | None, name: str) -> str:
    if outcomes is None:
        return ""
    counts = outcomes.get(name, {})
    return ": " + (", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items())) or "not run")
