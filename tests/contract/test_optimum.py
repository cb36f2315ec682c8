"""How near every algorithm comes to the least loss that any partition has, on tables small enough to know it.

The ratios are reported at the end of the run (`tests/conftest.py`), not judged: an algorithm for
large tables owes a small one nothing. But none can be below the optimum, unless the loss lies.
"""

from itertools import combinations

import numpy as np
import pytest

from contract.tables import UNBALANCED, Example, trial_of
from kohort.algorithms import ALGORITHMS
from kohort.codes.boxes import boxes_of_labels
from kohort.codes.encode import encode
from kohort.codes.publish import InTables
from kohort.errors import PolicyError
from kohort.measures import MEASURES
from kohort.measures.loss import loss_of_boxes, loss_of_solution
from kohort.policy import Policy
from oracles.optimum import least_loss

NCP = MEASURES.make("ncp", {})
DRAWS = 20
"""Tables of each kind and k."""


def columns(kind, rng, n):
    """A random table of a kind, with its hierarchies."""
    numbers = {"a": rng.integers(0, 40, n), "b": rng.normal(size=n).round(1)}
    trees = {"c": rng.choice(list("abcdefghi"), n), "d": [f"{number:03d}" for number in rng.integers(0, 30, n)]}
    hierarchies = {"c": UNBALANCED, "d": {"prefix": [3, 2]}}
    if kind == "numbers":
        return numbers, {}
    if kind == "trees":
        return trees, hierarchies
    if kind == "mixed":
        return numbers | trees | {"e": rng.choice(list("xy"), n)}, hierarchies
    assert kind == "missing"
    cells = {name: list(values) for name, values in (numbers | {"c": trees["c"]}).items()}
    return {name: _with_a_gap(rng, values) for name, values in cells.items()}, {"c": UNBALANCED}


def _with_a_gap(rng, values):
    rows = set(rng.choice(len(values), 2, replace=False).tolist())
    return [None if row in rows else value for row, value in enumerate(values)]


@pytest.fixture(scope="module")
def known():
    """(example, its least loss) of many small tables; the loss is above 0, or there is no ratio."""
    found = []
    for number, (kind, k) in enumerate(
        (kind, k) for kind in ("numbers", "trees", "mixed", "missing") for k in (2, 3) for _ in range(DRAWS)
    ):
        rng = np.random.default_rng(number)
        cells, hierarchies = columns(kind, rng, int(rng.integers(2 * k + 1, 13)))
        example = Example.of({name: list(values) for name, values in cells.items()}, k, hierarchies=hierarchies)
        task = trial_of("k-member", example).task
        optimum = least_loss(task.codes, NCP, k)
        assert optimum > 0
        found.append((example, optimum))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, cls in ALGORITHMS.items() if cls.anonymity == "classes"])
def test_never_below_the_optimum(name, known, record_property):
    ratios = []
    for example, optimum in known:
        try:
            trial = trial_of(name, example)
        except PolicyError as error:
            pytest.skip(f"refused: {error}")
        solution = trial.algorithm.solve(trial.task)
        if isinstance(solution, InTables):
            pytest.skip("sub-tables are no partition of the records")
        ratios.append(loss_of_solution(NCP, trial.task.codes, solution).total / optimum)
    record_property("ratio to the optimum", {"mean": float(np.mean(ratios)), "worst": max(ratios)})
    assert min(ratios) >= 1 - 1e-9


# -- the optimum itself ----------------------------------------------------------------------------


def partitions(records, k):
    """Every partition into classes of at least k, one record after the other."""
    if not records:
        yield []
        return
    first, *rest = records
    for size in range(k - 1, len(rest) + 1):
        for others in combinations(rest, size):
            left = [record for record in rest if record not in others]
            for found in partitions(left, k):
                yield [[first, *others], *found]


@pytest.mark.parametrize("measure", list(MEASURES))
@pytest.mark.parametrize("kind", ["trees", "mixed", "missing"])
def test_the_optimum_is_that_of_all_partitions(measure, kind):
    made = MEASURES.make(measure, {})
    cells, hierarchies = columns(kind, np.random.default_rng(1), 7)
    example = Example.of({name: list(values) for name, values in cells.items()}, 2, hierarchies=hierarchies)
    weights = dict(zip(cells, (2.0, 0.5, 1.0, 0.0, 1.0), strict=False))
    policy = Policy.build(k=2, quasi_identifiers=list(cells), hierarchies=hierarchies, weights=weights)
    codes = encode(example.frame, policy)
    losses = []
    for classes in partitions(list(range(7)), 2):
        labels = np.empty(7, np.int32)
        for label, members in enumerate(classes):
            labels[members] = label
        boxes = boxes_of_labels(codes.array, labels)
        losses.append(loss_of_boxes(made, codes, boxes.lo, boxes.hi).total)
    assert len(losses) == 162, "partitions of 7 into parts of 2 or more"
    assert least_loss(codes, made, 2) == pytest.approx(min(losses), abs=1e-12)
