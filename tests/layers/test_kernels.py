"""What is compiled without a door for Python is called by kernels only: from Python it would be interpreted."""

import ast
from pathlib import Path

import kohort

PACKAGE = Path(kohort.__file__).parent
COMPILED = {"kernel", "inner", "inlined"}


def decorators(node):
    return {one.id for one in getattr(node, "decorator_list", ()) if isinstance(one, ast.Name)}


def inner_kernels():
    """Inner kernels by module."""
    for path in (PACKAGE / "kernels").rglob("*.py"):
        nodes = ast.parse(path.read_text(encoding="utf-8")).body
        if names := {node.name for node in nodes if "inner" in decorators(node)}:
            yield ".".join(("kohort", *path.relative_to(PACKAGE).with_suffix("").parts)), names


def imported(tree, inner):
    """Inner kernels that a module imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            yield from inner.get(node.module, set()) & {alias.name for alias in node.names}


def misused(path, inner):
    """Inner kernels that are used where no kernel is compiled."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    module = ".".join(("kohort", *path.relative_to(PACKAGE).with_suffix("").parts))
    known = inner.get(module, set()) | set(imported(tree, inner))
    plain = [node for node in tree.body if not decorators(node) & COMPILED]
    return sorted(known & {node.id for part in plain for node in ast.walk(part) if isinstance(node, ast.Name)})


def test_inner_kernels_are_called_by_kernels_only():
    inner = dict(inner_kernels())
    assert len(inner) > 10
    faults = {str(path.relative_to(PACKAGE)): misused(path, inner) for path in PACKAGE.rglob("*.py")}
    assert {path: names for path, names in faults.items() if names} == {}
