"""What two releases tell together, compared with brute force; and no attack that works is missed."""

import polars as pl
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

import kohort
from kohort.audit import examine, verify
from kohort.audit.ledger import Entry, Ledger
from kohort.policy import Policy
from oracles.intersections import disclosed, figures
from property.strategies import cases

LEAVES = {"n1": {1}, "n2": {2}, "s1": {3}, "s2": {4}, "north": {1, 2}, "south": {3, 4}}
TREE = {"north": ["n1", "n2"], "south": ["s1", "s2"]}
MISSING = 9
ANYTHING = frozenset(range(10))


@st.composite
def cells(draw):
    """Published cells of a number, a label and a text, and the points that each covers."""
    low, high = sorted(draw(st.tuples(st.integers(0, 5), st.integers(0, 5))))
    number = (str(low) if low == high else f"[{low} - {high}]", frozenset(range(low, high + 1)))
    label = draw(st.sampled_from(sorted(LEAVES)))
    text = draw(st.sampled_from("FM"))
    found = [number, (label, frozenset(LEAVES[label])), (text, frozenset("FM".index(letter) for letter in text))]
    blank = [("*", ANYTHING), (None, frozenset({MISSING}))]
    return tuple(draw(st.sampled_from([cell, cell, cell, *blank])) for cell in found)


@st.composite
def releases(draw):
    """Classes with different descriptions: (texts, box, records)."""
    descriptions = draw(st.lists(cells(), min_size=1, max_size=6, unique_by=lambda some: tuple(t for t, _ in some)))
    record = st.tuples(st.sampled_from(["flu", "gout", None, "acne"]), st.sampled_from(["1", "2", "3"]))
    return [
        (
            tuple(text for text, _ in some),
            tuple(points for _, points in some),
            draw(st.lists(record, min_size=1, max_size=5)),
        )
        for some in descriptions
    ]


def frame(release):
    rows = [(*texts, *record) for texts, _, records in release for record in records]
    names = ("age", "town", "sex", "ill", "pay")
    return pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")


def recorded(shown, *, before=None):
    before = before or Ledger()
    return before.with_last(Entry.sealed(before.last_seal, shown, None, date="", release="a" * 64, policy="b" * 64))


@given(old=releases(), new=releases(), k=st.integers(2, 4), least=st.integers(2, 3))
def test_pairs_are_those_of_brute_force(old, new, k, least):
    models = [{"model": "frequency-l-diversity", "column": "ill", "l": least}]
    policy = Policy(
        privacy={"k": k, "models": models},
        columns={
            "age": {"role": "quasi", "type": "integer"},
            "town": {"role": "quasi", "hierarchy": {"tree": TREE}},
            "sex": {"role": "quasi", "type": "string"},
            "ill": "sensitive",
            "pay": "sensitive",
        },
    )
    shown = examine(frame(old), policy, ledger=Ledger()).shown
    examined = examine(frame(new), policy, ledger=recorded(shown))
    found = examined.verdict.check("intersection").figures
    if examined.shown.classes == shown.classes:
        assert found["alike"] == 1
        return
    wanted = figures([one[1:] for one in new], [one[1:] for one in old], [least, 2], k)
    of = wanted.pop("pairs_short_of")
    wanted |= {"pairs_short_of.ill": of[0], "pairs_short_of.pay": of[1]}
    assert {name: found[name] for name in wanted} == wanted


@pytest.mark.slow
@given(case=cases(max_rows=30), data=st.data())
@settings(max_examples=25)
def test_an_attack_that_works_is_never_missed(tmp_path_factory, case, data):
    """Two releases of one table, with some people gone: who is really disclosed makes the check fail."""
    table, policy = case
    folder = tmp_path_factory.mktemp("releases")
    people = data.draw(st.lists(st.integers(0, table.height - 1), min_size=policy.privacy.k, unique=True))
    first = kohort.anonymize(table, policy, output=folder / "1.csv", ledger=folder / "ledger.json")
    again = policy.with_changes("algorithm", seed=data.draw(st.integers(100, 199)), name="k-member")
    second = kohort.anonymize(table[people], again, output=folder / "2.csv")
    quasi = list(policy.quasi_identifiers)
    old = dict(zip(first.row_order.tolist(), first.table.select(quasi).rows(), strict=True))
    new = dict(zip([people[row] for row in second.row_order], second.table.select(quasi).rows(), strict=True))
    victims = disclosed(new, old, dict(enumerate(table["ill"])), least=2)
    found = verify(folder / "2.csv", again, against=folder / "ledger.json").check("intersection")
    event("somebody is disclosed" if victims else "nobody is disclosed")
    if victims:
        assert not found.passed
        assert found.figures["records_in_them"] >= len(victims)
