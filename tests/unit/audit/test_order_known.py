"""One notion of a known order: what cannot be decided without it does not pass."""

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kohort.audit import verify
from kohort.audit.audit import examine
from kohort.audit.ledger import Ledger, PersonKey
from kohort.audit.read import database
from kohort.errors import DataError
from kohort.policy import Policy

KEPT = Policy(
    privacy={"k": 2, "suppression_limit": 0.5},
    output={"order": "kept"},
    columns={
        "who": "identifier",
        "age": {"role": "quasi", "type": "integer"},
        "ill": "sensitive",
    },
)
PERSONS = KEPT.with_changes("privacy", person="who")
TABLE = pl.DataFrame({"who": [1, 2, 3, 4], "age": [1, 2, 11, 12], "ill": ["a", "b", "c", "d"]})
ROWS = pl.DataFrame({"age": ["[1 - 2]", "[1 - 2]", "[11 - 12]", "[11 - 12]"], "ill": ["a", "b", "c", "d"]})


def failed(verdict):
    return [check.name for check in verdict.checks if not check.passed]


@pytest.mark.promise("1.3", "3.1")
def test_persons_are_not_paired_by_position_if_the_rows_stand_elsewhere():
    # each class has two rows of one person; by position it would seem to have two persons
    original = pl.DataFrame({"who": [1, 2, 1, 2], "age": [1, 11, 2, 12], "ill": ["a", "b", "a", "b"]})
    release = pl.DataFrame({"age": ["[1 - 2]", "[1 - 2]", "[11 - 12]", "[11 - 12]"], "ill": ["a", "a", "b", "b"]})
    found = verify(release, PERSONS, original=original)
    assert failed(found) == ["persons", "coverage", "values"]
    assert "give row_order" in found.check("persons").sentence
    assert "give row_order" in found.check("coverage").sentence
    told = verify(release, PERSONS, original=original, row_order=[0, 2, 1, 3])
    assert failed(told) == ["persons"]
    assert told.check("persons").figures["fewest_persons"] == 1


def test_a_hundred_classes_of_one_person_do_not_pass():
    n = 100
    original = pl.DataFrame({"who": [*range(n)] * 2, "age": [*range(n)] * 2, "ill": ["a"] * 2 * n})
    release = pl.DataFrame({"age": [str(i // 2) for i in range(2 * n)], "ill": ["a"] * 2 * n})
    found = verify(release, PERSONS, original=original)
    assert not found.check("persons").passed


@pytest.mark.promise("2.2")
@pytest.mark.parametrize("withheld", [0, 1])
def test_swapped_values_are_found(withheld):
    aside = pl.DataFrame({"who": [9], "age": [7], "ill": ["z"]}).head(withheld)
    original = pl.concat([TABLE.head(2), aside, TABLE[2:]])
    assert verify(ROWS, KEPT, original=original).passed
    swapped = ROWS.with_columns(ill=pl.Series(["c", "b", "a", "d"]))
    assert not verify(swapped, KEPT, original=original).passed
    assert "values" in failed(verify(swapped, KEPT, original=original)) or withheld
    # who does not keep the order is not asked for it
    assert verify(swapped, KEPT.with_changes("output", order="shuffled"), original=original).passed


def test_withheld_rows_are_found_if_there_is_one_way():
    table = pl.DataFrame({"who": range(6), "age": [1, 2, 50, 11, 12, 60], "ill": list("abxcdy")})
    found = verify(ROWS, PERSONS, original=table)
    assert found.passed
    assert found.check("persons").figures["method"] == "counted in the original, row by row"
    assert found.check("coverage").figures["method"] == "row by row"


def test_several_ways_are_none():
    table = pl.DataFrame({"who": range(5), "age": [1, 2, 2, 11, 12], "ill": list("abbcd")})
    found = verify(ROWS, PERSONS, original=table)
    assert failed(found) == ["persons"]
    assert "it is not certain which; give row_order" in found.check("persons").sentence
    assert verify(ROWS, PERSONS, original=table, row_order=[0, 2, 3, 4]).passed


def test_an_order_that_there_is_no_room_to_find_does_not_pass(monkeypatch):
    """It was said that the rows stood in another order."""
    table = pl.DataFrame({"who": range(6), "age": [1, 2, 50, 11, 12, 60], "ill": list("abxcdy")})
    monkeypatch.setattr(database, "_ARRAYS", 100)
    found = verify(ROWS, PERSONS, original=table)
    assert failed(found) == ["persons", "coverage"]
    for name in failed(found):
        assert "there is not enough memory to find out which; give row_order, or more" in found.check(name).sentence
    assert verify(ROWS, PERSONS, original=table, row_order=[0, 1, 3, 4]).passed


def test_rows_that_no_order_fits_do_not_pass_although_each_column_would():
    table = pl.DataFrame({"who": range(5), "age": [11, 12, 1, 2, 70], "ill": list("cdabz")})
    found = verify(ROWS, KEPT, original=table)
    assert failed(found) == ["coverage"]
    assert found.check("coverage").sentence == (
        "the rows do not stand in the order of the original, though order = 'kept'; give row_order."
    )
    assert verify(ROWS, KEPT.with_changes("output", order="shuffled"), original=table).passed


def test_pseudonyms_are_not_passed_by_their_form_alone_if_the_order_is_kept():
    policy = Policy(
        privacy={"k": 2},
        output={"order": "kept", "pseudonym_key": {"env": "NONE"}},
        columns={"who": {"role": "identifier", "pseudonym": True}, "age": {"role": "quasi", "type": "integer"}},
    )
    names = pl.Series("who", [f"{i:064x}" for i in (1, 1, 2, 2)])
    release = pl.DataFrame([names, pl.Series("age", ["[1 - 2]", "[1 - 2]", "[11 - 12]", "[11 - 12]"])])
    original = pl.DataFrame({"who": [1, 1, 2, 2], "age": [1, 2, 11, 12]})
    assert verify(release, policy, original=original).passed
    found = verify(release[::-1], policy, original=original)
    assert {"pseudonyms", "coverage"} <= {*failed(found)}


def test_a_person_with_two_pseudonyms_is_found_in_any_order():
    policy = Policy(
        privacy={"k": 2, "person": "who", "suppression_limit": 0.5},
        output={"pseudonym_key": {"env": "NONE"}},
        columns={"who": {"role": "identifier", "pseudonym": True}, "age": {"role": "quasi", "type": "integer"}},
    )
    original = pl.DataFrame({"who": [1, 1, 1, 2], "age": [1, 1, 2, 2]})

    def found(*names):
        cells = pl.Series("who", [None if name is None else f"{name:064x}" for name in names], dtype=pl.String)
        release = pl.DataFrame([cells, pl.Series("age", ["[1 - 2]"] * len(names))])
        return verify(release, policy, original=original).check("pseudonyms").passed

    assert found(8, 9, 8, 8)
    assert found(8, 9, 8)  # one row is withheld
    assert not found(8, 9, 8, 9)
    assert not found(7, 8, 9)
    assert not found(8, 8, 8, None)


def test_buckets_are_compared_by_position_if_the_order_is_kept():
    policy = KEPT.with_changes("privacy", anonymity="buckets")
    first = pl.DataFrame({"age": ["1", "2", "11", "12"], "bucket": [1, 1, 2, 2]})
    right = pl.DataFrame({"bucket": [1, 1, 2, 2], "ill": ["a", "b", "c", "d"], "count": [1] * 4})
    wrong = right.with_columns(ill=pl.Series(["a", "c", "b", "d"]))
    assert verify(first, policy, original=TABLE, sensitive_table=right).passed
    assert failed(verify(first, policy, original=TABLE, sensitive_table=wrong)) == ["sensitive"]
    other = verify(first[::-1], policy, original=TABLE, sensitive_table=right)
    assert failed(other) == ["coverage", "sensitive"]
    shuffled = policy.with_changes("output", order="shuffled")
    assert verify(first, shuffled, original=TABLE, sensitive_table=wrong).passed


def test_matchings_know_who_was_withheld():
    policy = KEPT.with_changes("privacy", anonymity="matchings")
    table = pl.DataFrame({"who": range(5), "age": [1, 2, 70, 11, 12], "ill": list("abzcd")})
    assert verify(ROWS, policy, original=table).passed
    shuffled = verify(ROWS, policy.with_changes("output", order="shuffled"), original=table)
    assert "give row_order" in shuffled.check("k").sentence


def test_persons_of_a_ledger_need_a_known_order():
    key = PersonKey("who", b"0123456789abcdef")
    assert examine(ROWS, KEPT, original=TABLE, ledger=Ledger(), persons=key).people is not None
    with pytest.raises(DataError, match="give row_order"):
        examine(ROWS[::-1], KEPT, original=TABLE, ledger=Ledger(), persons=key)


@given(st.data())
@settings(max_examples=25)
def test_an_order_is_known_if_and_only_if_it_is_the_only_one(data):
    originals = data.draw(st.lists(st.tuples(st.integers(0, 4), st.sampled_from("ab")), min_size=2, max_size=7))
    kept = sorted(data.draw(st.sets(st.integers(0, len(originals) - 1), min_size=1)))
    rows = [(max(0, originals[i][0] - data.draw(st.integers(0, 1))), originals[i][0], originals[i][1]) for i in kept]
    if data.draw(st.booleans()):
        rows = data.draw(st.permutations(rows))

    def fits(row, there):
        low, high, ill = row
        return low <= originals[there][0] <= high and originals[there][1] == ill

    def ways(row, there):
        if row == len(rows):
            return 1
        return sum(ways(row + 1, j + 1) for j in range(there, len(originals)) if fits(rows[row], j))

    ages, ills = zip(*originals, strict=True)
    table = pl.DataFrame({"who": range(len(originals)), "age": ages, "ill": ills})
    release = pl.DataFrame({"age": [f"[{low} - {high}]" for low, high, _ in rows], "ill": [ill for *_, ill in rows]})
    policy = PERSONS.with_changes("privacy", k=2, suppression_limit=0.9)
    found = verify(release, policy, original=table)
    number = ways(0, 0)
    assert (found.check("coverage").passed and found.check("values").passed) == (number > 0)
    assert ("fewest_persons" in found.check("persons").figures) == (number == 1)
