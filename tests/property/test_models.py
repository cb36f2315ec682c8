"""Privacy models against a second implementation of each, on random tables, at and around their limits."""

import itertools
import re
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kohort.kernels.search.rules import broken_by, count_records
from kohort.policy import Policy
from kohort.privacy import MODELS, Histogram, Promise, SensitiveModel, reference_of
from kohort.search.rules import rules_of
from oracles import models as oracle
from oracles.rules import holds

NUMBERS = ["-3", "-1.5", "0", "1", "2", "2.0", "2.5", "4", "5", "1e1", "12"]
LONG = ["0", "1", "0.5", "0.2500000000000000000000001", "0.25", "0.4999999999999999999999999", "0.1", "-1e-30"]
WORDS = ["acne", "flu", "cough", "burns", "warts"]
TREE = {"lung": ["flu", {"chronic": ["cough"]}], "skin": ["acne", {"deep": {"deeper": ["burns", "warts"]}}]}
LIMITS = [0.1, 0.2, 0.25, 0.3, 0.375, 0.5, 0.625, 0.75, 0.9]

PARAMETERS = {
    "distinct-l-diversity": {"l": st.integers(2, 4)},
    "entropy-l-diversity": {"l": st.sampled_from([1.5, 1.7548, 2, 2.8, 3, 4])},
    "recursive-cl-diversity": {"c": st.sampled_from([0.5, 1, 1.5, 2, 3]), "l": st.integers(2, 4)},
    "frequency-l-diversity": {"l": st.integers(2, 4)},
    "alpha-k": {"alpha": st.sampled_from(LIMITS)},
    "k-e": {"k": st.integers(1, 3), "e": st.sampled_from([0, 0.5, 1, 2, 4.5, 8, 15])},
    "variance-control": {"variance": st.sampled_from([0.25, 1, 2.25, 4, 5.5, 9])},
    "epsilon-m": {
        "epsilon": st.sampled_from([0, 0.2, 0.5, 1, 1.5, 2.5]),
        "m": st.integers(2, 3),
        "relative": st.booleans(),
    },
    "dissimilarity": {"epsilon": st.sampled_from([0, 0.5, 1, 1.5, 2.5]), "delta": st.sampled_from([*LIMITS, 1])},
    "dissimilarity-plus": {"epsilon": st.sampled_from([0, *LIMITS]), "delta": st.sampled_from([*LIMITS, 1])},
    "t-closeness": {"t": st.sampled_from([0, *LIMITS])},
    "beta-likeness": {"beta": st.sampled_from([*LIMITS, 1, 2.5]), "enhanced": st.booleans()},
    "delta-disclosure": {
        "delta": st.sampled_from([*LIMITS, 1, 2, 5]),
        "log": st.sampled_from(["e", "2"]),
        "zeros": st.sampled_from(["count", "skip"]),
    },
}
CELLS = {"numbers": NUMBERS, "long": LONG, "words": WORDS, "tree": WORDS}
NUMERIC = {"k-e", "variance-control", "epsilon-m", "dissimilarity"}


def test_every_model_takes_part():
    sensitive = {name for name, model in MODELS.items() if issubclass(model, SensitiveModel)}
    assert sensitive == set(PARAMETERS) == set(oracle.NAMES)


@dataclass(frozen=True)
class Case:
    """A model and the records of a table, as kohort sees them and as the oracle does."""

    name: str
    parameters: dict
    kinds: tuple
    records: tuple

    @property
    def columns(self):
        return tuple(f"s{j}" for j in range(len(self.kinds)))

    @property
    def model(self):
        about = {"columns": list(self.columns)} if self.name == "dissimilarity-plus" else {"column": "s0"}
        return MODELS.make(self.name, about | self.parameters)

    @property
    def policy(self):
        return Policy.build(
            k=2,
            quasi_identifiers=["q"],
            sensitive=self.columns,
            hierarchies={
                name: {"tree": TREE} for name, kind in zip(self.columns, self.kinds, strict=True) if kind == "tree"
            },
        )

    @property
    def reference(self):
        texts = {name: [record[j] for record in self.records] for j, name in enumerate(self.columns)}
        return reference_of(self.policy, texts, [1] * len(self.records))

    @property
    def values(self):
        """What the oracle is given: None, fractions or texts, alone or in tuples."""
        numeric = [kind in ("numbers", "long") for kind in self.kinds]
        told = [
            tuple(
                text if text is None or not is_number else Fraction(text)
                for text, is_number in zip(record, numeric, strict=True)
            )
            for record in self.records
        ]
        return told if self.name == "dissimilarity-plus" else [value for [value] in told]

    def kept(self, members):
        """Whether the oracle says that these records keep the promise as one class."""
        table = self.values
        trees = [oracle.paths(TREE) if kind == "tree" else None for kind in self.kinds]
        tree = trees if self.name == "dissimilarity-plus" else trees[0]
        return oracle.keeps(self.name, [table[i] for i in members], table, tree, **self.parameters)


@st.composite
def cases(draw, name, max_records=10, *, monotone=False, long=True):
    """A random table for a model, with parameters that its few records can meet exactly, or miss by very little."""
    numbers = st.sampled_from(["numbers", "numbers", "long"] if long else ["numbers"])
    some_kind = numbers if name in NUMERIC else st.one_of(numbers, st.sampled_from(["words", "tree"]))
    kind = draw(some_kind)
    parameters = {key: draw(values) for key, values in PARAMETERS[name].items()}
    kinds = (kind,)
    if name == "dissimilarity-plus":
        kinds = tuple(draw(st.lists(some_kind, min_size=1, max_size=3)))
        if draw(st.booleans()):
            parameters["weights"] = [draw(st.sampled_from([1, 0.5, 3])) for _ in kinds]
    if name == "t-closeness":
        fit = {"words": ["equal"], "tree": ["equal", "ordered", "hierarchical"]}
        parameters["distance"] = draw(st.sampled_from(fit.get(kind, ["equal", "ordered"])))
    if monotone and name == "delta-disclosure":
        parameters["zeros"] = "count"
    cells = [st.sampled_from(CELLS[kind][: draw(st.integers(1, 11))]) for kind in kinds]
    if draw(st.booleans()):
        cells = [st.one_of(cell, st.none()) for cell in cells]
    records = draw(st.lists(st.tuples(*cells), min_size=1, max_size=max_records))
    if name == "alpha-k" and draw(st.booleans()):
        some = draw(st.lists(st.sampled_from([record[0] or "" for record in records]), min_size=1, max_size=2))
        parameters["values"] = [text if kind != "numbers" or not text else float(text) for text in some]
    return Case(name, parameters, kinds, tuple(records))


def grouped(labels):
    return [[i for i, label in enumerate(labels) if label == group] for group in range(max(labels) + 1)]


def broken_in(rules, records):
    """By how much a class breaks compiled rules."""
    counts, work = np.empty(rules.width, np.int64), np.empty(rules.width + 1, np.int64)
    count_records(rules.values, rules.listed, rules.lists, records, counts)
    return broken_by(rules.table, rules.whole, rules.real, counts, len(records), work)


def numbered(labels):
    """Labels as 0, 1, 2, ..."""
    return np.unique(labels, return_inverse=True)[1].reshape(-1)


@pytest.mark.promise("1.4")
@pytest.mark.parametrize("name", PARAMETERS)
@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_a_model_keeps_what_its_definition_says(name, data):
    case = data.draw(cases(name))
    labels = numbered(data.draw(st.lists(st.integers(0, 2), min_size=len(case.records), max_size=len(case.records))))
    table, values = case.reference
    assert case.model.refuses_policy(case.policy) is None
    classes = Histogram.of(labels, values)
    shuffled = np.array(data.draw(st.permutations(range(len(classes.group)))))
    classes = Histogram(classes.group[shuffled], classes.value[shuffled], classes.count[shuffled])
    found = case.model.keeps(classes, table)
    assert found.dtype == bool
    assert found.tolist() == [case.kept(members) for members in grouped(labels.tolist())]


@pytest.mark.parametrize("name", sorted(set(PARAMETERS) - {"dissimilarity", "dissimilarity-plus"}))
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_counts_may_be_large(name, data):
    """Nothing overflows: shares decide as they do for few. Where the record itself is left out, they are not all."""
    case = data.draw(cases(name, max_records=6))
    table, values = case.reference
    labels = numbered(data.draw(st.lists(st.integers(0, 1), min_size=len(values), max_size=len(values))))
    classes = Histogram.of(labels, values)
    times = data.draw(st.sampled_from([10**6, 10**9]))
    many = Histogram(classes.group, classes.value, classes.count * times)
    large = replace(table, counts=table.counts * times)
    assert case.model.keeps(many, large).tolist() == case.model.keeps(classes, table).tolist()


@pytest.mark.parametrize("name", sorted(set(PARAMETERS) - {"epsilon-m", "dissimilarity", "dissimilarity-plus"}))
@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_classes_that_keep_a_promise_keep_it_as_one(name, data):
    case = data.draw(cases(name, monotone=True))
    assert case.model.monotone
    table, values = case.reference
    labels = numbered(data.draw(st.lists(st.integers(0, 3), min_size=len(values), max_size=len(values))))
    kept = case.model.keeps(Histogram.of(labels, values), table)
    joined = np.where(kept[labels], 0, labels + 1)
    if kept.any():
        assert case.model.keeps(Histogram.of(numbered(joined), values), table)[0]


@pytest.mark.parametrize("name", PARAMETERS)
@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_rules_say_the_same(name, data):
    case = data.draw(cases(name, long=False))
    table, values = case.reference
    labels = numbered(data.draw(st.lists(st.integers(0, 2), min_size=len(values), max_size=len(values))))
    if case.model.refuses_values(table) is not None:
        return
    rules = case.model.rules(table)
    has_no_steps = case.parameters.get("distance") == "ordered" and table.size == 1
    assert bool(rules) != has_no_steps
    kept = case.model.keeps(Histogram.of(labels, values), table)
    compiled = rules_of([Promise(case.model, table, values)], len(values))
    for group in range(max(labels) + 1):
        counts = np.bincount(values[labels == group], minlength=table.size)
        if rules:
            assert all(holds(rule, counts) for rule in rules) == kept[group]
            assert (broken_in(compiled, np.flatnonzero(labels == group)) == 0) == kept[group]


# -- what is impossible ----------------------------------------------------------------------------


@lru_cache
def partitions(number):
    """All ways to deal so many records to classes of at least two."""
    found = [[]]
    for record in range(number):
        more = []
        for parts in found:
            more += [[*parts[:i], [*parts[i], record], *parts[i + 1 :]] for i in range(len(parts))]
            more.append([*parts, [record]])
        found = more
    return [parts for parts in found if min(map(len, parts)) >= 2]


def is_feasible(case, allowance=0):
    """Whether some partition of all but a few records keeps the promise."""
    return any(
        can_be_parted(replace(case, records=list(some)))
        for gone in range(min(allowance, len(case.records) - 2) + 1)
        for some in itertools.combinations(case.records, len(case.records) - gone)
    )


def can_be_parted(case):
    kept = {}

    def keeps(members):
        key = tuple(members)
        if key not in kept:
            kept[key] = case.kept(members)
        return kept[key]

    return any(all(map(keeps, parts)) for parts in partitions(len(case.records)))


@pytest.mark.parametrize("name", PARAMETERS)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_nothing_feasible_is_refused(name, data):
    case = data.draw(cases(name, max_records=6).filter(lambda case: len(case.records) >= 2))
    allowance = data.draw(st.integers(0, 2))
    reason = case.model.refuses_values(case.reference[0], allowance)
    feasible = is_feasible(case, allowance)
    if feasible:
        assert reason is None
    elif case.model.monotone and not allowance:
        assert reason is not None


@pytest.mark.parametrize("name", PARAMETERS)
@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_what_can_be_kept_instead_is_told(name, data):
    case = data.draw(cases(name))
    table, _ = case.reference
    allowance = data.draw(st.sampled_from([0, 0, 1, 3]))
    reason = case.model.refuses_values(table, allowance)
    if reason is None:
        return
    assert reason.startswith(("alpha", "c =", "delta", "e =", "k =", "l =", "m =", "variance"))
    offer = re.search(r"(\w+) = ([\d.]+) can be kept", reason)
    if offer is None:
        assert re.search(r"no (alpha below 1|k|(delta|l|e|variance) above [01]) can be kept|no known values", reason)
        return
    key, value = offer[1], float(offer[2])
    assert not set(reason.split()) & {cell for record in case.records for cell in record if cell in WORDS}
    if key in ("l", "m", "k") and name != "entropy-l-diversity":
        value = int(value)
        if value < 2 and key != "k":
            return  # l = 1 or m = 1 promises nothing, so there is no such model
    offered = replace(case, parameters=case.parameters | {key: value})
    again = offered.model.refuses_values(table, allowance)
    assert again is None or not again.startswith(f"{key} =")
