"""Nothing is left out: algorithms, measures, models, policy keys, exit codes; and the README stays short."""

import re

import pytest

import kohort
from kohort.algorithms import ALGORITHMS
from kohort.measures import MEASURES
from kohort.policy import Policy
from kohort.policy.sections import Algorithm, Column, Hierarchy, Input, Intervals, Output, Privacy, PseudonymKey
from kohort.privacy import MODELS, SensitiveModel


def test_the_readme_is_short(root):
    lines = (root / "README.md").read_text().splitlines()
    assert 1 <= len(lines) < 150


@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_algorithm_has_a_page(root, name):
    page = (root / "docs" / "algorithms" / f"{name}.md").read_text()
    assert f"`{name}`" in page
    for heading in ("## Idea", "## Pseudocode", "## Parameters", "## When to use it"):
        assert heading in page
    for parameter in ALGORITHMS[name].__dataclass_fields__:
        assert f"`{parameter}`" in page


def test_no_page_is_about_an_algorithm_that_is_gone(root):
    assert {page.stem for page in (root / "docs" / "algorithms").glob("*.md")} == set(ALGORITHMS)


@pytest.mark.parametrize("name", MEASURES)
def test_every_measure_is_described(root, name):
    page = (root / "docs" / "measures.md").read_text()
    assert f"### {name}\n" in page
    assert f'cost("{name}"' in page, "a worked example is asked for"
    for parameter in MEASURES[name].__dataclass_fields__:
        assert f"`{parameter}`" in page


@pytest.mark.parametrize("name", MODELS)
def test_every_privacy_model_is_described(root, name):
    parameters = MODELS[name].__dataclass_fields__
    row = next(
        line for line in (root / "docs" / "policy.md").read_text().splitlines() if line.startswith(f"| `{name}`")
    )
    assert all(f"`{parameter}`" in row for parameter in parameters)
    if not issubclass(MODELS[name], SensitiveModel):
        return
    page = (root / "docs" / "models.md").read_text()
    section = page.partition(f"\n### {name}\n")[2].partition("\n#")[0]
    for part in (
        "- **Parameters.**",
        "- **Missing values**",
        "- **When to use it.**",
        "- **Trap.**",
        f'"{name}"',
        *parameters,
    ):
        assert part in section, part


@pytest.mark.parametrize(
    "section", [Policy, Input, Privacy, Algorithm, Output, PseudonymKey, Column, Hierarchy, Intervals]
)
def test_every_key_of_the_policy_is_described(root, section):
    page = (root / "docs" / "policy.md").read_text()
    for key in section.model_fields:
        described = rf"`{key}`|^## `\[{key}\]`|\*\*{key}\.\*\*"
        assert re.search(described, page, flags=re.MULTILINE), f"{section.__name__}.{key}"


def test_every_exit_code_is_described(root):
    page = (root / "docs" / "verify.md").read_text()
    errors = [getattr(kohort, name) for name in kohort.__all__ if name.endswith("Error")]
    for code in {0, *(error.exit_code for error in errors)}:
        assert re.search(rf"^\| {code} \|", page, flags=re.MULTILINE), code


def test_the_changelog_has_this_version(root):
    assert f"## [{kohort.__version__}]" in (root / "CHANGELOG.md").read_text()
