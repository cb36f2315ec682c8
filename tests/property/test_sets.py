"""Sets on random tables, judged from the written file by code that counts record by record."""

import itertools
from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import kohort
from kohort import Policy
from kohort.errors import InfeasibleError
from oracles import sets as oracle

TREE = {"A": {"A1": ["a", "b", "c"], "A2": ["d", "e"]}, "B": ["f", "g", {"B1": ["h", "i"]}]}
ITEMS = "abcdefghi"
PATHS = oracle.leaves(TREE)
SEEDS = range(24)


def table(seed):
    """A random table: many records or few, sets small or large, common items or none."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(6, 90))
    chance = rng.dirichlet(np.full(len(ITEMS), rng.choice([0.3, 1, 5])))
    most = int(rng.integers(1, 6))
    sets = [sorted(set(rng.choice(list(ITEMS), rng.integers(0, most + 1), p=chance).tolist())) for _ in range(n)]
    return pl.DataFrame(
        {"age": rng.integers(20, 60, n), "sex": rng.choice(["f", "m"], n), "bought": map(";".join, sets)}
    )


def policy(k, models, quasi=(), limit=0.0, **hierarchy):
    return Policy.build(
        k=k,
        quasi_identifiers=[*quasi, "bought"],
        types={"bought": "set"},
        columns={"bought": {"separator": ";", "item_suppression_limit": limit}},
        hierarchies=hierarchy,
        models=models,
        seed=3,
    )


def released(people, rules, tmp_path, kind):
    """Rows of the written file: the class of each and its labels; and the items of its record."""
    path = tmp_path / f"out.{kind}"
    release = kohort.anonymize(people, rules, output=path)
    read = pl.read_csv(path, infer_schema=False) if kind == "csv" else pl.read_parquet(path)
    quasi = [name for name in read.columns if name != "bought"]
    rows = [(row[:-1], oracle.labels_of(row[-1])) for row in read.select(*quasi, "bought").rows()]
    items = [oracle.labels_of(people["bought"][int(place)]) for place in release.row_order]
    path.unlink()
    return rows, items, release


@pytest.mark.parametrize("seed", SEEDS)
def test_k_m_is_kept_by_what_is_written(seed, tmp_path):
    rng = np.random.default_rng([seed, 1])
    k, m = int(rng.integers(2, 7)), int(rng.integers(1, 4))
    quasi = ["age", "sex"] if seed % 2 else []
    model = {"model": "k-m-anonymity", "column": "bought", "m": m, "recoding": rng.choice(["global", "local"]).item()}
    limit = float(rng.choice([0.0, 0.2]))
    tree = {"bought": {"tree": TREE}} if rng.random() < 0.7 else {}
    paths = PATHS if tree else {item: (item, "*") for item in ITEMS}
    people = table(seed)[["age", "sex", "bought"] if quasi else ["bought"]]
    kind = ["csv", "parquet"][seed % 3 == 0]
    rules = policy(k, [model], quasi, limit, **tree)
    full = sum(cell != "" for cell in people["bought"])
    if 0 < full < k and not limit:
        # a class of all records with one label for all items would be too small
        with pytest.raises(InfeasibleError, match="item_suppression_limit = "):
            released(people, rules, tmp_path, kind)
        return
    rows, items, _ = released(people, rules, tmp_path, kind)
    assert not oracle.rare_sets(rows, k, m)
    wrong, gone = oracle.untrue(zip(items, (labels for _, labels in rows), strict=True), paths)
    assert not wrong
    assert gone <= limit * sum(map(len, items))
    # whoever knows the class and up to m items of a record that are not left out finds k records or more
    for (group, labels), own in zip(rows, items, strict=True):
        shown = [item for item in own if any(label in labels for label in paths[item])]
        for size in range(1, m + 1):
            for known in itertools.combinations(shown, size):
                assert oracle.candidates(known, group, rows, paths) >= k


@pytest.mark.parametrize("seed", SEEDS)
def test_constraints_are_kept_by_what_is_written(seed, tmp_path):
    rng = np.random.default_rng([seed, 2])
    k = int(rng.integers(2, 7))
    protect = [sorted(rng.choice(list(ITEMS), rng.integers(1, 4), replace=False).tolist()) for _ in range(3)]
    utility = [["a", "b", "c"], ["d", "e", "f"], ["h", "i"]] if seed % 2 else None
    model = {"model": "item-constraints", "column": "bought", "protect": protect}
    if utility:
        model["utility"] = utility
    people = table(seed)[["bought"]]
    if people.height < k:
        return
    rows, _, release = released(people, policy(k, [model], limit=1.0), tmp_path, "csv")
    labels = [labels for _, labels in rows]
    assert not oracle.rare_constraints(labels, protect, k)
    published = [set(oracle.groups(label)) for label in set().union(*labels)]
    assert sum(map(len, published)) == len(set().union(*published)), "an item is in one group"
    if utility:
        assert all(len(group) == 1 or any(group <= set(one) for one in utility) for group in published)
    assert release.verdict.passed


@pytest.mark.parametrize("quasi", [[], ["sex"]])
@pytest.mark.parametrize("m", [1, 2])
def test_every_cell_that_breaks_k_m_is_rejected(quasi, m):
    """Each cell of a release is replaced by each other cell, and by itself without a label or with one more."""
    k = 3
    people = table(11).head(24)[[*quasi, "bought"]]
    rules = policy(k, [{"model": "k-m-anonymity", "column": "bought", "m": m}], quasi, bought={"tree": TREE})
    released = kohort.anonymize(people, rules).table
    cells = released["bought"].to_list()
    labels = sorted(set().union(*map(oracle.labels_of, cells)) | {"a", "A1", "*"})
    broken = 0
    for place, cell in enumerate(cells):
        own = oracle.labels_of(cell)
        others = {*cells, ""} | {";".join(sorted(own ^ {label})) for label in labels}
        for other in sorted(others - {cell}):
            changed = [*cells[:place], other, *cells[place + 1 :]]
            groups = released.select(quasi).rows() if quasi else [()] * len(cells)
            rare = oracle.rare_sets(list(zip(groups, map(oracle.labels_of, changed), strict=True)), k, m)
            if not rare:
                continue
            broken += 1
            found = kohort.verify(released.with_columns(bought=pl.Series(changed, dtype=pl.String)), rules)
            check = next(check for check in found.checks if check.name == "k-m-anonymity")
            assert not found.passed
            assert check.figures["rare_sets"] == len(rare)
    assert broken > 20


def test_a_cell_that_is_not_of_its_record_is_rejected_with_the_original():
    people = table(7)[["bought"]]
    rules = policy(2, [{"model": "k-m-anonymity", "column": "bought", "m": 1}], bought={"tree": TREE})
    release = kohort.anonymize(people, rules)
    cells = release.table["bought"].to_list()
    for place in range(0, len(cells), 5):
        own = oracle.labels_of(people["bought"][int(release.row_order[place])])
        for other in sorted(set(cells)):
            wrong, gone = oracle.untrue([(own, oracle.labels_of(other))], PATHS)
            changed = release.table.with_columns(bought=pl.Series([*cells[:place], other, *cells[place + 1 :]]))
            found = kohort.verify(changed, rules, original=people, row_order=release.row_order)
            check = next(check for check in found.checks if check.name == "items")
            assert check.passed == (not wrong and not gone)


@pytest.mark.parametrize("seed", SEEDS)
def test_rho_uncertainty_is_kept_by_what_is_written(seed, tmp_path):
    rng = np.random.default_rng([seed, 3])
    m = [None, 1, 2][seed % 3]
    rho = float(rng.choice([0.25, 0.5, 0.7, 1.0]))
    sensitive = sorted(rng.choice(list(ITEMS), 2, replace=False).tolist())
    model = {"model": "rho-uncertainty", "column": "bought", "rho": rho, "sensitive": sensitive}
    rules = policy(2, [model | ({} if m is None else {"m": m})], limit=1.0)
    people = table(seed)[["bought"]]
    rows, items, release = released(people, rules, tmp_path, "csv")
    labels = [labels for _, labels in rows]
    exact = Fraction(str(rho))
    assert not oracle.certain_rules(labels, sensitive, exact, m)
    assert all(shown <= own for shown, own in zip(labels, items, strict=True)), "nothing is put in"
    before = oracle.certain_rules(items, sensitive, exact, m)
    assert bool(release.facts["sets"]["left_out"]) == bool(before)
    found = kohort.verify(people, rules).check("rho-uncertainty")
    assert found.figures["certain"] == len(before)
    if release.facts["sets"]["left_out"] > 0:
        with pytest.raises(InfeasibleError, match="item_suppression_limit = "):
            kohort.anonymize(people, policy(2, rules.privacy.models))
