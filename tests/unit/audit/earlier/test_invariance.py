"""Persons who are released again: recognised by the maker alone, and only under the key."""

import polars as pl
import pytest

from kohort.audit import examine
from kohort.audit.ledger import Entry, Ledger, PersonKey
from kohort.errors import DataError
from kohort.policy import Policy

KEY = PersonKey("who", b"0123456789abcdef")
POLICY = Policy(
    privacy={"k": 2},
    columns={"who": "identifier", "age": {"role": "quasi", "type": "integer"}, "ill": "sensitive"},
)


def examined(rows, ledger=None, rules=POLICY, key=KEY):
    """Rows of (person, published age, illness), released in the reverse order."""
    original = pl.DataFrame(rows, schema=dict.fromkeys(("who", "age", "ill"), pl.String), orient="row")
    release, order = original.drop("who")[::-1], list(range(len(rows)))[::-1]
    plain = original.with_columns(pl.col("age").str.extract(r"(\d+)"))
    return examine(release, rules, original=plain, row_order=order, ledger=ledger or Ledger(), persons=key)


def recorded(*releases, people=True):
    ledger = Ledger()
    for rows in releases:
        found = examined(rows)
        entry = Entry.sealed(
            ledger.last_seal, found.shown, found.people if people else None, date="", release="a" * 64, policy="b" * 64
        )
        ledger = ledger.with_last(entry)
    return ledger


def check(rows, ledger):
    found = examined(rows, ledger)
    return found.verdict.check("m-invariance")


A = [("ann", "[30 - 39]", "flu"), ("bob", "[30 - 39]", "gout")]
B = [("cid", "[50 - 59]", "acne"), ("dan", "[50 - 59]", "rash")]


def test_the_same_classes_keep_it():
    found = check(A + B, recorded(A + B))
    assert found.passed
    assert found.sentence == (
        "4 of 4 persons were in 1 earlier release, and each is in a class with the same sensitive values as then."
    )
    assert found.figures == {"releases": 1, "persons": 4, "persons_again": 4, "persons_changed": 0}


def test_who_is_with_others_now_breaks_it():
    """Ann is with Eve instead of Bob."""
    found = check([A[0], ("eve", "[30 - 39]", "rash"), *B], recorded(A + B))
    assert not found.passed
    assert found.sentence == (
        "3 of 4 persons were in 1 earlier release, and 1 is not in a class with the same sensitive values as then; "
        "leave their classes as they were, or release new persons only (invented records could fill the classes up, "
        "and kohort invents none)."
    )


def test_another_person_with_the_same_illness_may_take_a_place():
    assert check([("ann", "[31 - 48]", "flu"), ("eve", "[31 - 48]", "gout")], recorded(A)).passed


def test_a_person_may_move_to_another_description():
    """Age has changed, so the descriptions do not overlap; the values are the same."""
    moved = [("ann", "[60 - 69]", "flu"), ("bob", "[60 - 69]", "gout")]
    assert check(moved, recorded(A)).passed
    changed = [("ann", "[60 - 69]", "flu"), ("bob", "[60 - 69]", "rash")]
    assert not check(changed, recorded(A)).passed


def test_new_persons_only():
    """Their classes overlap with the old ones, and nobody is in both."""
    found = check([("eve", "[30 - 39]", "flu"), ("fay", "[30 - 39]", "rash")], recorded(A))
    assert found.passed
    assert found.sentence == "none of 2 persons was in 1 earlier release."


def test_the_first_release():
    assert check(A, Ledger()).sentence == "the ledger has no earlier release."


def test_every_earlier_release_counts():
    ledger = recorded(A, [("ann", "[30 - 39]", "flu"), ("eve", "[30 - 39]", "rash")])
    assert check(A, ledger).figures["persons_changed"] == 1
    assert check(A, ledger).figures["persons_again"] == 2


def test_a_person_with_several_records():
    twice = [*A, ("ann", "[50 - 59]", "acne"), ("dan", "[50 - 59]", "rash")]
    assert check(twice, recorded(twice)).passed
    assert check(twice, recorded(A)).figures["persons_changed"] == 1


def test_known_persons_take_the_place_of_overlapping_classes():
    """Where persons are known nothing is guessed; where they are not, classes are compared."""
    new = [("eve", "[30 - 39]", "flu"), ("fay", "[30 - 39]", "rash")]
    verdict = examined(new, recorded(A)).verdict
    assert verdict.passed
    assert verdict.check("intersection") is None
    verdict = examined(new, recorded(A, people=False)).verdict
    assert verdict.check("m-invariance").passed
    assert not verdict.check("intersection").passed


def test_other_sensitive_columns_are_compared_by_classes():
    rules = POLICY.with_changes("columns", age={"role": "quasi", "type": "integer"}, ill="sensitive", pay="sensitive")
    original = pl.DataFrame({"who": ["eve", "fay"], "age": ["30", "30"], "ill": ["flu", "rash"], "pay": ["1", "2"]})
    found = examine(
        original.drop("who"), rules, original=original, row_order=[0, 1], ledger=recorded(A), persons=KEY
    ).verdict
    assert found.check("m-invariance").figures["releases"] == 0
    assert found.check("intersection").figures["pairs_failing"] == 1


def test_a_record_without_a_person_is_refused():
    with pytest.raises(DataError, match=r"^original: column 'who' names the person, and some records miss it"):
        examined([*A, (None, "[30 - 39]", "flu")])


def test_another_key_is_refused():
    with pytest.raises(DataError, match="under another key"):
        examined(A, recorded(A), key=PersonKey("who", b"another key, of some length"))


def test_what_is_kept_tells_nothing_without_the_key():
    people = examined(A + B).people
    assert list(people.signatures) == sorted(people.signatures)
    assert len(set(people.signatures.values())) == 2
    kept = people.model_dump_json()
    for cell in ("ann", "bob", "flu", "rash", KEY.secret.decode()):
        assert cell not in kept.replace("column", "")
