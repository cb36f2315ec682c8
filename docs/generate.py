"""Write what is generated in the documentation, or check that it is up to date.

Generated are `docs/reference/` (command line, policy schema, Python names, promises and tests), `docs/papers.md` (from
the pages of reproduced papers) and the outputs of console blocks that are marked ``same-output``. CONTRIBUTING.md
describes the conventions::

    python docs/generate.py            # write
    python docs/generate.py --check    # write nothing; exit code 1 if a page is out of date
    python docs/generate.py --check docs/tutorial.md
"""

from __future__ import annotations

import argparse
import contextlib
import difflib
import doctest
import importlib
import inspect
import io
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest import mock

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
REFERENCE = DOCS / "reference"
WIDTH = 100

RUNNABLE = ("kohort", "head", "cat")
"""Commands of console blocks that are run; others, such as `pip`, are only shown."""

SHOWN = 40
"""How many lines of a difference are shown."""

GENERATED = "<!-- Written by docs/generate.py; change the source, then run `make docs`. -->"


class PageError(Exception):
    """A page shows something that does not work."""


# -- pages that are run ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Block:
    """A fenced block, or a setup comment, of a page."""

    kind: str
    body: str
    marker: str
    line: int
    span: tuple[int, int]


_FENCE = re.compile(
    r"^<!-- *setup: (?P<setup>[^\n]+?) *-->$|"
    r"^(?P<fence>`{3,})(?P<kind>\w*)[^\n]*\n(?P<body>.*?)^(?P=fence) *$",
    re.MULTILINE | re.DOTALL,
)
_MARKER = re.compile(r"<!-- *([a-z-]+) *-->\s*\Z")
_EXIT = re.compile(r"# exit (\d+)\s*$")


def blocks(text: str) -> Iterator[Block]:
    """The blocks of a page in their order."""
    for match in _FENCE.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        if match["setup"]:
            yield Block("setup", match["setup"], "", line, match.span())
            continue
        marker = _MARKER.search(text[: match.start()])
        yield Block(match["kind"], match["body"], marker[1] if marker else "", line, match.span("body"))


def commands(block: Block) -> Iterator[str]:
    """The commands of a block, lines that end in a backslash joined with the next."""
    if block.kind == "setup":
        yield block.body
    elif block.kind in ("console", "sh"):
        for line in re.sub(r"\\\n>?\s*", "", block.body).splitlines():
            if block.kind == "sh":
                yield line.strip()
            elif line.startswith("$ "):
                yield line[2:].strip()


def run_page(page: Path) -> str:
    """Run the blocks of a page in an empty folder, in their order, and return it with fresh outputs.

    Raises
    ------
    PageError
        When a command ends with another exit code than the page says, or Python code fails.
    """
    text = page.read_text(encoding="utf-8")
    pieces, end = [], 0
    namespace: dict[str, Any] = {"__name__": "__main__"}
    with tempfile.TemporaryDirectory(prefix="kohort-docs-") as folder, contextlib.chdir(folder):
        if page.name == "README.md":
            _readers_own_table()
        for block in blocks(text):
            if block.marker == "no-run":
                continue
            place = f"{page.name}, line {block.line}"
            if block.kind == "python":
                _run_python(block, namespace, place)
                continue
            output = _run_commands(block, place)
            if block.kind == "console" and block.marker == "same-output":
                pieces += [text[end : block.span[0]], output]
                end = block.span[1]
    return "".join([*pieces, text[end:]])


def _readers_own_table() -> None:
    """README.md speaks of a table that the reader has; the made-up patients stand in for it."""
    from kohort.datasets import patients

    patients(1000).write_csv("patients.csv")


def _run_commands(block: Block, place: str) -> str:
    output = []
    for command in commands(block):
        output.append(f"$ {command}")
        expected = _EXIT.search(command)
        arguments = shlex.split(command, comments=True)
        if not arguments or arguments[0] not in RUNNABLE:
            continue
        code, printed = _kohort(arguments[1:]) if arguments[0] == "kohort" else _program(arguments)
        wanted = int(expected[1]) if expected else 0
        if code != wanted:
            raise PageError(f"{place}: `{command}` ended with {code}, not {wanted}:\n{printed}")
        output += [line.rstrip() for line in printed.rstrip().splitlines()]
    return "\n".join(output) + "\n"


def _kohort(arguments: list[str]) -> tuple[Any, str]:
    """Run a command of kohort in this process, which saves its start; how it ended, and what it printed."""
    from kohort.cli.main import run

    printed = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    terminal = {"COLUMNS": str(WIDTH), "NO_COLOR": "1", "TERM": "dumb"}
    with mock.patch.dict(os.environ, terminal), mock.patch.object(sys, "argv", ["kohort", *arguments]):
        try:
            with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
                run()
        except SystemExit as end:
            return end.code, printed.detach().getvalue().decode()


def _program(arguments: list[str]) -> tuple[int, str]:
    """Run another program in the same way."""
    done = subprocess.run(arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode, done.stdout


def _run_python(block: Block, namespace: dict[str, Any], place: str) -> None:
    printed = io.StringIO()
    if block.body.lstrip().startswith(">>>"):
        flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
        test = doctest.DocTestParser().get_doctest(block.body, namespace, place, place, block.line)
        result = doctest.DocTestRunner(optionflags=flags).run(test, out=printed.write, clear_globs=False)
        namespace.update(test.globs)
        if result.failed:
            raise PageError(f"{place}:\n{printed.getvalue()}")
        return
    try:
        with contextlib.redirect_stdout(printed):
            exec(compile(block.body, place, "exec"), namespace)
    except Exception as error:
        raise PageError(f"{place}: {type(error).__name__}: {error}") from error


# -- the reference --------------------------------------------------------------------------------


def command_line_reference() -> str:
    """The help of every command, at a fixed width."""
    import typer.main
    from typer.testing import CliRunner

    from kohort.cli.main import COMMANDS
    from kohort.cli.shared import app

    for module in COMMANDS:
        importlib.import_module(f"kohort.cli.{module}")
    parts = [GENERATED, "", "# Command line reference", "", "`kohort COMMAND --help` prints the same."]

    def describe(path: tuple[str, ...], command: Any) -> None:
        shown = CliRunner().invoke(
            app, [*path, "--help"], prog_name="kohort", terminal_width=WIDTH, max_content_width=WIDTH
        )
        if shown.exit_code:
            raise PageError(f"`kohort {' '.join(path)} --help` fails")
        help_text = "\n".join(line.rstrip() for line in shown.output.strip().splitlines())
        parts.extend(["", f"## {' '.join(('kohort', *path))}", "", "```text", help_text, "```"])
        for name, below in getattr(command, "commands", {}).items():
            describe((*path, name), below)

    describe((), typer.main.get_command(app))
    return "\n".join(parts) + "\n"


def policy_schema() -> str:
    """The JSON schema of the policy file."""
    from kohort import Policy

    return json.dumps(Policy.json_schema(), indent=2) + "\n"


def report_schema() -> str:
    """The JSON schema of a report."""
    from kohort import Report

    return json.dumps(Report.json_schema(), indent=2) + "\n"


def python_reference() -> str:
    """Signatures and docstrings of the public names."""
    import kohort

    public = {name: getattr(kohort, name) for name in kohort.__all__ if name != "__version__"}
    parts = [
        GENERATED,
        "",
        "# Python reference",
        "",
        "The names that `import kohort` offers. Everything else may change without notice.",
        "`kohort.__version__` is the version as text.",
    ]
    # A package of the same name answers in the place of the function.
    public = {name: getattr(value, "__wrapped__", value) for name, value in public.items()}
    functions = {name: value for name, value in public.items() if inspect.isfunction(value)}
    errors = {name: value for name, value in public.items() if _is_error(value)}
    classes = {name: value for name, value in public.items() if inspect.isclass(value) and name not in errors}
    modules = {name: value for name, value in public.items() if isinstance(value, ModuleType)}
    missing = set(public) - {*functions, *errors, *classes, *modules}
    if missing:
        raise PageError(f"public names that are no function, class or module: {', '.join(sorted(missing))}")
    for title, group in (("Functions", functions), ("Classes", classes), ("Errors", errors)):
        parts += ["", f"## {title}"]
        for name, value in sorted(group.items()):
            parts += _described(f"kohort.{name}", value, level=3)
            if name in classes:
                for member, what in _members(value):
                    parts += _described(f"{name}.{member}", what, level=4)
    for name, module in modules.items():
        parts += ["", f"## kohort.{name}", "", inspect.getdoc(module) or ""]
        for member in sorted(module.__all__):
            parts += _described(f"kohort.{name}.{member}", getattr(module, member), level=3)
    return "\n".join(parts) + "\n"


def _is_error(value: object) -> bool:
    return inspect.isclass(value) and issubclass(value, Exception)


def _members(cls: type) -> Iterator[tuple[str, Any]]:
    """Public methods and properties that a class defines itself."""
    for name, raw in vars(cls).items():
        if name.startswith("_"):
            continue
        if isinstance(raw, classmethod | staticmethod):
            yield name, getattr(cls, name)
        elif isinstance(raw, property) or (inspect.isfunction(raw) and raw.__module__.startswith("kohort")):
            yield name, raw


def _described(name: str, value: Any, level: int) -> list[str]:
    if isinstance(value, property):
        signature, doc = name, inspect.getdoc(value)
    else:
        signature, doc = name + _signature(value), inspect.getdoc(value)
    doc = "\n".join(line.rstrip() for line in (doc or "").splitlines())
    return ["", f"{'#' * level} {name}", "", "```text", signature, *(["", doc] if doc else []), "```"]


def _signature(value: Any) -> str:
    try:
        found = inspect.signature(value)
    except ValueError:
        return "(...)"
    parts = []
    keywords = False
    for each in found.parameters.values():
        if each.kind is inspect.Parameter.VAR_POSITIONAL:
            keywords = True
        elif each.kind is inspect.Parameter.KEYWORD_ONLY and not keywords:
            parts.append("*")
            keywords = True
        parts.append(_parameter(each))
    result = _annotation(found.return_annotation, " -> ")
    one_line = f"({', '.join(parts)}){result}"
    return one_line if len(one_line) <= WIDTH - 30 else "(\n    " + ",\n    ".join(parts) + f",\n){result}"


def _parameter(each: inspect.Parameter) -> str:
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}.get(each.kind, "")
    text = f"{stars}{each.name}{_annotation(each.annotation, ': ')}"
    if each.default is inspect.Parameter.empty:
        return text
    default = repr(each.default)
    return f"{text} = {default if len(default) <= 30 and '<' not in default else '...'}"


def _annotation(annotation: Any, before: str) -> str:
    """An annotation as a reader needs it: without the modules that its names come from."""
    if annotation is inspect.Signature.empty:
        return ""
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    return before + re.sub(r"\b(?:[a-z_]+\.)+(?=[A-Z])", "", text)


def promises_reference() -> str:
    """The promises, and the tests that hold them."""
    sys.path.insert(0, str(ROOT / "tests"))
    try:
        return str(importlib.import_module("helpers.promises").page())
    finally:
        del sys.path[0]


PAPERS_HEAD = """
# Claims of the papers

What became of the claims of the five papers that kohort implements. **Reproduced**: the same on our data. **Trend
only**: part of it, or the direction and not the amount. **Not reproduced**: our figures contradict it. **Not
reproducible**: the paper does not say enough. **Erratum**: the paper contradicts itself. **Not measured**: the machine
lacks something.

Verdicts are computed from the data by fixed rules. Behind each claim are the figure, its data and the reason; the
command makes all of it again (`--quick` takes about a minute, `kohort reproduce all` about half an hour).

| Paper | Claim | Verdict | Command and page |
| --- | --- | --- | --- |
"""


PAPERS_ROW = re.compile(r"^\| \[([a-z0-9-]+)\]\(#.+?\) \| .+? \| (.+) \| (.+?) \|$", re.MULTILINE)
"""Claim, what the paper says, and verdict in the page of a paper."""


def papers_table() -> str:
    """Claims and verdicts, from the pages of reproduced papers."""
    from kohort.reports.reproduce import PAPERS

    rows = []
    for name, paper in sorted(PAPERS.items(), key=lambda item: _number(item[1].title)):
        page = (DOCS / "reproduce" / f"{name}.md").read_text(encoding="utf-8")
        for claim, says, verdict in PAPERS_ROW.findall(page):
            link = f"[`kohort reproduce {name}`](reproduce/{name}.md#{claim})"
            rows.append(f"| {_number(paper.title)} {name} | {says} | {verdict} | {link} |")
    return "\n".join([GENERATED + PAPERS_HEAD.rstrip("\n"), *rows]) + "\n"


def _number(title: str) -> str:
    """The number of a paper, which its title ends with."""
    return title.removesuffix(")").rpartition("paper ")[2]


REFERENCES: Mapping[Path, Callable[[], str]] = {
    REFERENCE / "cli.md": command_line_reference,
    REFERENCE / "policy.schema.json": policy_schema,
    REFERENCE / "report.schema.json": report_schema,
    REFERENCE / "api.md": python_reference,
    REFERENCE / "promises.md": promises_reference,
    DOCS / "papers.md": papers_table,
}


def pages() -> list[Path]:
    """The pages that are written by hand."""
    return sorted(page for page in DOCS.rglob("*.md") if page not in REFERENCES)


def fresh(page: Path) -> str:
    """What a page should hold."""
    return REFERENCES[page]() if page in REFERENCES else run_page(page)


def _difference(written: str, text: str) -> Iterator[str]:
    lines = (page.splitlines(keepends=True) for page in (written, text))
    return difflib.unified_diff(*lines, "written", "fresh", n=0)


def main(arguments: Sequence[str] | None = None) -> int:
    """Write or check pages; the exit code is 1 if one is out of date or does not work."""
    parser = argparse.ArgumentParser(description="Write the generated parts of the documentation.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a page is out of date")
    parser.add_argument("page", nargs="*", type=Path, help="pages; all when absent")
    given = parser.parse_args(arguments)
    bad = 0
    for page in [path.resolve() for path in given.page] or [*REFERENCES, *pages()]:
        name = page.relative_to(ROOT) if page.is_relative_to(ROOT) else page
        try:
            text = fresh(page)
        except PageError as error:
            sys.stderr.write(f"{error}\n")
            bad += 1
            continue
        written = page.read_text(encoding="utf-8") if page.exists() else ""
        if written == text:
            continue
        if given.check:
            sys.stderr.write(f"{name} is out of date: run `make docs`.\n")
            sys.stderr.writelines(list(_difference(written, text))[:SHOWN])
            bad += 1
        else:
            page.parent.mkdir(parents=True, exist_ok=True)
            page.write_text(text, encoding="utf-8")
            sys.stdout.write(f"wrote {name}\n")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
