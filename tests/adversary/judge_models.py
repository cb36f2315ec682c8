"""Privacy models on classes of canonical values, and populations record by record. Nothing of kohort.

The definitions of models about sensitive values are those of `oracles.models`, which knows nothing of kohort either.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from oracles import models as definitions

from .judge_columns import Column, paths_of
from .judge_files import Cell, canonical, read, read_as

Classes = Mapping[tuple[str, ...], Sequence[int]]
NUMERIC = ("k-e", "variance-control", "epsilon-m", "dissimilarity")
SIZES = ("average-risk", "sample-uniqueness")
POPULATIONS = ("k-map", "delta-presence")


def sensitive_value(cell: Cell, missing: frozenset[str]) -> Any:
    """The canonical value of a sensitive cell; None if it is missing."""
    return cell.text if isinstance(cell.value, dt.datetime) else read_as(cell.value, missing)


def broken_classes(
    model: Mapping[str, Any],
    classes: Classes,
    values: Mapping[str, Sequence[Any]],
    policy: Mapping[str, Any],
    folder: Path,
) -> int:
    """How many classes do not keep a model about sensitive values."""
    given = {key: value for key, value in model.items() if key != "model"}
    columns = given.get("columns") or [given["column"]]
    trees = [_tree(_spec(policy, name).get("hierarchy"), folder) for name in columns]
    several = "columns" in given
    lists = [_leaves(values[name], tree) for name, tree in zip(columns, trees, strict=True)]
    rows = list(zip(*lists, strict=True)) if several else lists[0]
    published = [row for members in classes.values() for row in members]
    table = [rows[row] for row in published]
    tree: Any = trees if several else trees[0]
    if model["model"] in NUMERIC and any(isinstance(value, str) for value in table):
        return len(classes)
    if tree and not several and any(value is not None and value not in tree for value in table):
        return len(classes)  # a value that the tree does not have
    if "weights" in given and given["weights"] is None:
        given.pop("weights")
    if given.get("values") is not None:
        listed = [None if value == "" else canonical(value) for value in given["values"]]
        texts = tree is not None or any(isinstance(value, str) for value in table)
        given["values"] = [f"{value}" if texts and value is not None else value for value in listed]
        return sum(not _alpha(given, [rows[row] for row in members]) for members in classes.values())
    return sum(
        not definitions.keeps(model["model"], [rows[row] for row in members], table, tree=tree, **given)
        for members in classes.values()
    )


def _tree(hierarchy: Any, folder: Path) -> dict[Any, tuple[str, ...]] | None:
    """The paths of a tree, under the canonical values of its leaves."""
    paths = paths_of(hierarchy, folder)
    return None if paths is None else {_leaf(leaf): (_leaf(leaf), *path[1:]) for leaf, path in paths.items()}


def _comparable(values: list[Any]) -> list[Any]:
    """Numbers as numbers if all are; else everything as text."""
    if all(value is None or isinstance(value, Fraction) for value in values):
        return values
    return [None if value is None else f"{value}" for value in values]


def _leaves(values: Sequence[Any], tree: Any) -> list[Any]:
    return _comparable(list(values)) if tree is None else [None if value is None else _leaf(value) for value in values]


def _leaf(value: Any) -> str:
    """A value of a tree: a text, also if it is a number."""
    return f"{read_as(value, frozenset())}"


def _alpha(given: Mapping[str, Any], group: Sequence[Any]) -> bool:
    alpha = definitions.exact(float(given["alpha"]))
    return all(Fraction(group.count(value), len(group)) <= alpha for value in given["values"])


def _spec(policy: Mapping[str, Any], name: str) -> dict[str, Any]:
    spec = policy["columns"][name]
    return {"role": spec} if isinstance(spec, str) else spec


def broken_sizes(model: Mapping[str, Any], classes: Classes) -> bool:
    """Whether a model about the sizes of classes does not hold."""
    records = sum(map(len, classes.values()))
    most = Fraction(str(model["most"]))
    if model["model"] == "average-risk":
        return len(classes) > most * records
    return sum(len(members) == 1 for members in classes.values()) > most * records


def broken_population(
    model: Mapping[str, Any], classes: Classes, quasi: Sequence[Column], folder: Path, dialect: Mapping[str, Any]
) -> int:
    """How many classes do not keep a model about a population."""
    path = folder / model["population"]
    population = read(path, **dialect)
    is_csv = population.types is None
    columns = [Column(c.name, c.kind, c.spec | {"_csv": is_csv}, c.missing, c.paths) for c in quasi]
    people = list(
        zip(*([column.value(cell) for cell in population.column(column.name)] for column in columns), strict=True)
    )
    fits: Callable[[tuple[str, ...], Sequence[Any]], bool] = lambda texts, person: all(  # noqa: E731
        column.covers(text, value) for column, text, value in zip(columns, texts, person, strict=True)
    )
    broken = 0
    for texts, members in classes.items():
        covered = sum(fits(texts, person) for person in people)
        if model["model"] == "k-map":
            broken += covered < model["k"]
        else:
            least, most = Fraction(str(model.get("least", 0))), Fraction(str(model["most"]))
            broken += not (covered and least <= Fraction(len(members), covered) <= most)
    return broken
