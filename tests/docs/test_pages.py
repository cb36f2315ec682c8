"""Every page works: its commands and code run, its links lead somewhere, its policies load."""

import os
import re
import subprocess
import sys
import tomllib
from unittest.mock import patch

import pytest

from kohort.measures import MEASURES
from kohort.policy import Policy
from kohort.policy.hierarchy import Taxonomy


@pytest.fixture
def _for_itself():
    """A page may register measures and set variables; no other test sees them."""
    with patch.dict(os.environ), patch.dict(MEASURES._classes, dict(MEASURES)):  # all are loaded before
        yield


@pytest.mark.slow
@pytest.mark.usefixtures("_for_itself", "full_bounds")
def test_page_runs_and_its_outputs_are_current(generate, page, capsys):
    code = generate.main(["--check", str(page)])
    assert code == 0, capsys.readouterr().err


def check(root, *arguments):
    """Run docs/generate.py in a process of its own: what it shows depends on nothing that a test has imported."""
    return subprocess.run(
        [sys.executable, "-W", "error", str(root / "docs" / "generate.py"), "--check", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("name", ["cli.md", "policy.schema.json", "report.schema.json", "api.md", "promises.md"])
def test_reference_is_current(root, name):
    done = check(root, root / "docs" / "reference" / name)
    assert done.returncode == 0, done.stderr


# -- the conventions themselves -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("```console\n$ kohort --version\n```\n", None),
        ("```console\n$ kohort nonsense\n```\n", "ended with 2, not 0"),
        ("```console\n$ kohort nonsense # exit 2\n```\n", None),
        ("```console\n$ kohort --version # exit 1\n```\n", "ended with 0, not 1"),
        ("```sh\nkohort nonsense\n```\n", "ended with 2, not 0"),
        ("```sh\npip install nonsense\n```\n", None),
        ("<!-- setup: kohort nonsense -->\n", "ended with 2, not 0"),
        ("<!-- no-run -->\n```sh\nkohort nonsense\n```\n", None),
        ("<!-- same-output -->\n```console\n$ kohort --version\nstale\n```\n", "is out of date"),
        ("```python\nx = 1\n```\n\n```python\nassert x == 1\n```\n", None),
        ("```python\nassert False\n```\n", "AssertionError"),
        ("<!-- no-run -->\n```python\nassert False\n```\n", None),
        ("```python\n>>> 1 + 1\n2\n```\n", None),
        ("```python\n>>> 1 + 1\n3\n```\n", "Expected"),
        ("```python\nimport warnings\nwarnings.warn('old')\n```\n", "UserWarning"),
        ("```text\n$ kohort nonsense\n```\n", None),
    ],
)
def test_a_page_that_does_not_work_is_found(generate, tmp_path, capsys, text, fault):
    page = tmp_path / "page.md"
    page.write_text(text)
    assert generate.main(["--check", str(page)]) == (0 if fault is None else 1)
    said = capsys.readouterr().err
    assert fault is None or fault in said
    assert page.read_text() == text, "--check must not write"


def test_without_check_the_output_is_written(generate, tmp_path, capsys):
    from kohort import __version__

    page = tmp_path / "page.md"
    page.write_text("before\n\n<!-- same-output -->\n```console\n$ kohort --version\nstale\n```\n\nafter\n")
    assert generate.main([str(page)]) == 0
    assert page.read_text() == (
        f"before\n\n<!-- same-output -->\n```console\n$ kohort --version\n{__version__}\n```\n\nafter\n"
    )
    assert generate.main(["--check", str(page)]) == 0
    capsys.readouterr()


# -- links ----------------------------------------------------------------------------------------

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def prose(text):
    """A page without its code."""
    text = re.sub(r"^(`{3,}).*?^\1", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"`[^`\n]*`", "", text)


def anchors(text):
    """The anchors of a page, as GitHub makes them from its headings."""
    text = re.sub(r"^(`{3,}).*?^\1", "", text, flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ +(.+?) *$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def dead_links(page):
    dead = []
    for target in LINK.findall(prose(page.read_text())):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        there = (page.parent / path).resolve() if path else page
        if not there.exists() or (anchor and anchor not in anchors(there.read_text())):
            dead.append(target)
    return dead


def test_links_lead_somewhere(page):
    assert dead_links(page) == []


def test_dead_links_are_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "# A heading, `[here]`\n[a](#a-heading-here) [b](page.md#b) [c](c.md) [d](https://d.e) `[e](e.md)`\n"
    )
    assert dead_links(page) == ["page.md#b", "c.md"]


def test_every_page_is_on_the_map(root, generate):
    linked = {(root / "docs" / target).resolve() for target in LINK.findall((root / "docs" / "index.md").read_text())}
    pages = {*generate.pages(), *generate.REFERENCES} - {root / "docs" / "index.md"}
    assert pages <= linked


# -- policies in pages ----------------------------------------------------------------------------


def test_policies_in_pages_are_valid(generate, page):
    for block in generate.blocks(page.read_text()):
        if block.kind != "toml" or block.marker == "no-run":
            continue
        data = tomllib.loads(block.body)
        if "tree" in data:
            Taxonomy.from_tree(data["tree"], "example", root=data.get("root", "*"))
            continue
        # An excerpt is completed by the least that a policy needs.
        whole = {"privacy": {"k": 2}, "columns": {"some_other_column": "quasi"}} | data
        Policy(**whole)
