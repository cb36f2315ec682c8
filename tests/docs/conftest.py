"""Help for the tests of the documentation: the pages, and docs/generate.py as a module."""

import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def load_generate():
    if "kohort_docs_generate" not in sys.modules:
        spec = importlib.util.spec_from_file_location("kohort_docs_generate", ROOT / "docs" / "generate.py")
        module = importlib.util.module_from_spec(spec)
        sys.modules["kohort_docs_generate"] = module
        spec.loader.exec_module(module)
    return sys.modules["kohort_docs_generate"]


@pytest.fixture(scope="session")
def generate():
    return load_generate()


@pytest.fixture(scope="session")
def root():
    return ROOT


def pytest_generate_tests(metafunc):
    """Give every test that asks for a `page` each page of the documentation."""
    if "page" in metafunc.fixturenames:
        generate = load_generate()
        pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *generate.pages()]
        metafunc.parametrize("page", pages, ids=[str(page.relative_to(ROOT)) for page in pages])
