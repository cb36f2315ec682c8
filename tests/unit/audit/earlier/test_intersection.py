"""What a release and earlier ones tell together: every sentence, without a single cell value."""

import polars as pl
import pytest

from kohort.audit import examine, verify
from kohort.audit.ledger import Entry, Ledger
from kohort.errors import DataError, PolicyError
from kohort.policy import Policy

TREE = {"north": ["n1", "n2"], "south": ["s1", "s2"]}


def policy(k=2, columns=None, **privacy):
    columns = {"age": {"role": "quasi", "type": "integer"}, "ill": "sensitive"} | (columns or {})
    return Policy(privacy={"k": k, **privacy}, columns=columns)


def release(*rows, names=("age", "ill")):
    return pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")


def recorded(*releases, rules=None, status="published"):
    """A ledger of these releases."""
    ledger = Ledger()
    for frame in releases:
        shown = examine(frame, rules or policy(), ledger=Ledger()).shown
        entry = Entry.sealed(ledger.last_seal, shown, None, date="", release="a" * 64, policy="b" * 64)
        ledger = ledger.with_last(entry.model_copy(update={"status": status}))
    return ledger


def check(frame, ledger, rules=None):
    return verify(frame, rules or policy(), against=ledger).check("intersection")


FIRST = release(("[30 - 39]", "flu"), ("[30 - 39]", "gout"), ("[50 - 59]", "flu"), ("[50 - 59]", "ulcer"))


def test_a_value_that_two_classes_have_in_common_is_disclosed():
    """Who is 38 and in both has the flu."""
    second = release(("[38 - 45]", "flu"), ("[38 - 45]", "acne"))
    found = check(second, recorded(FIRST))
    assert not found.passed
    assert found.sentence == (
        "for 1 of 1 overlapping pair of classes (one here, one in an earlier release) the two together reveal more "
        "than the policy allows: fewer than k = 2 records in 1 pair, fewer than 2 values of column 'ill' in 1 pair; "
        "up to 1 record of this release is affected."
    )
    assert found.figures == {
        "releases": 1,
        "pending": 0,
        "alike": 0,
        "pairs": 1,
        "pairs_failing": 1,
        "records_in_them": 1,
        "pairs_short_of_records": 1,
        "pairs_short_of.ill": 1,
        "pairs_short_alone": 0,
        "columns_not_compared": 0,
    }


def test_the_verdict_fails_and_says_so():
    verdict = verify(release(("38", "flu"), ("38", "acne")), policy(), against=recorded(FIRST))
    assert not verdict.passed
    assert verdict.reason == verdict.check("intersection").sentence


def test_classes_that_do_not_overlap_tell_nothing():
    found = check(release(("[40 - 49]", "flu"), ("[40 - 49]", "acne")), recorded(FIRST))
    assert found.passed
    assert (
        found.sentence == "no class shows a sensitive value in common with an overlapping class of an earlier release."
    )


def test_nobody_is_in_two_classes_without_a_value_in_common():
    assert check(release(("[30 - 39]", "acne"), ("[30 - 39]", "rash")), recorded(FIRST)).passed


def test_enough_values_in_common_pass():
    second = release(("[30 - 35]", "flu"), ("[30 - 35]", "gout"), ("[30 - 35]", "acne"))
    verdict = verify(second, policy(), against=recorded(FIRST))
    assert verdict.passed
    sentence = (
        "for none of 1 overlapping pair of classes (one here, one in an earlier release) the two together reveal more "
        "than the policy allows"
    )
    assert verdict.check("intersection").sentence == f"{sentence}."
    assert sentence in verdict.reason


def test_enough_values_may_be_too_few_records():
    first = release(*[("[30 - 39]", ill) for ill in ("flu", "gout", "flu")])
    second = release(*[("[30 - 39]", ill) for ill in ("flu", "gout", "acne")])
    found = check(second, recorded(first, rules=policy(k=3)), policy(k=3))
    assert found.sentence.split(": ")[1] == (
        "fewer than k = 3 records in 1 pair; up to 2 records of this release are affected."
    )
    assert check(second, recorded(first), policy(k=2)).passed


def test_l_of_a_model_is_promised_of_the_intersection_too():
    model = {"model": "frequency-l-diversity", "column": "ill", "l": 3}
    first = release(*[("[30 - 39]", ill) for ill in ("a", "b", "c", "d")])
    second = release(*[("[30 - 39]", ill) for ill in ("a", "b", "e", "f")])
    assert check(second, recorded(first), policy()).passed
    found = check(second, recorded(first), policy(models=[model]))
    assert "fewer than 3 values of column 'ill' in 1 pair; up to 2 records" in found.sentence


def test_what_one_release_alone_discloses_is_no_fault_of_the_two():
    """Everybody of the first class has the flu, whoever has the second release."""
    alone = release(("[30 - 39]", "flu"), ("[30 - 39]", "flu"))
    both = release(("[30 - 39]", "flu"), ("[30 - 39]", "flu"), ("[30 - 39]", "gout"))
    for one, other in ((alone, both), (both, alone)):
        found = check(one, recorded(other))
        assert found.passed
        assert (found.figures["pairs"], found.figures["pairs_short_alone"]) == (1, 1)


def test_records_of_either_release_may_be_too_few():
    """The second class shows one illness; so one record alone of the first can be the person's."""
    first = release(("[30 - 39]", "flu"), ("[30 - 39]", "gout"))
    second = release(("[30 - 39]", "flu"), ("[30 - 39]", "flu"))
    for new, old, concerned in ((second, first, 2), (first, second, 1)):
        found = check(new, recorded(old))
        assert (found.figures["pairs_short_of_records"], found.figures["pairs_short_of.ill"]) == (1, 0)
        assert found.figures["records_in_them"] == concerned


def test_the_first_release_and_one_like_another():
    assert check(FIRST, Ledger()).sentence == "the ledger has no earlier release."
    found = check(FIRST[::-1], recorded(FIRST, FIRST))
    assert found.passed
    assert found.sentence == "every earlier release in the ledger shows just what this one shows."
    assert (found.figures["releases"], found.figures["alike"]) == (2, 2)


def test_every_earlier_release_counts_also_a_pending_one():
    fine = release(("[30 - 39]", "flu"), ("[30 - 39]", "acne"), ("[30 - 39]", "gout"))
    second = release(("[30 - 39]", "flu"), ("[30 - 39]", "acne"))
    assert check(second, recorded(fine)).passed
    found = check(second, recorded(fine, FIRST, status="pending"))
    assert not found.passed
    assert (found.figures["releases"], found.figures["pending"], found.figures["pairs"]) == (2, 2, 2)


def test_equal_numbers_are_equal_however_they_are_written():
    first = release(("[30 - 39]", "1"), ("[30 - 39]", "2"))
    assert check(release(("[30 - 39]", "1.0"), ("[30 - 39]", "3.0")), recorded(first)).figures["pairs_failing"] == 1


def test_a_missing_value_is_a_value():
    first = release(("[30 - 39]", None), ("[30 - 39]", "2"))
    assert check(release(("[30 - 39]", None), ("[30 - 39]", "3")), recorded(first)).figures["pairs_failing"] == 1


# -- several columns ----------------------------------------------------------------------------


TWO = {"pay": {"role": "sensitive"}}
NAMES = ("age", "ill", "pay")


def test_combinations_tell_more_than_columns():
    """Both illnesses are in both classes, but only one of them with the same pay."""
    first = release(("30", "flu", "10"), ("30", "gout", "20"), names=NAMES)
    second = release(("30", "flu", "10"), ("30", "gout", "30"), ("30", "acne", "20"), names=NAMES)
    rules = policy(columns=TWO)
    found = check(second, recorded(first, rules=rules), rules)
    assert found.figures["pairs_short_of.ill"] == 1
    assert check(second.drop("pay"), recorded(first.drop("pay"))).passed


def test_a_column_tells_although_another_has_changed():
    first = release(("30", "flu", "10"), ("30", "gout", "20"), names=NAMES)
    second = release(("30", "flu", "11"), ("30", "acne", "21"), names=NAMES)
    rules = policy(columns=TWO)
    found = check(second, recorded(first, rules=rules), rules)
    assert (found.figures["pairs_short_of.ill"], found.figures["pairs_short_of.pay"]) == (1, 0)


def test_only_shared_sensitive_columns_are_compared():
    first = release(("30", "10"), ("30", "20"), names=("age", "pay"))
    before = Policy(privacy={"k": 2}, columns={"age": {"role": "quasi", "type": "integer"}, "pay": "sensitive"})
    found = check(release(("30", "flu"), ("30", "gout")), recorded(first, rules=before))
    assert found.passed
    assert found.figures["pairs"] == 0


def test_a_release_without_sensitive_columns():
    rules = Policy(privacy={"k": 2}, columns={"age": {"role": "quasi", "type": "integer"}})
    ledger = recorded(release(("30",), ("30",), names=("age",)), rules=rules)
    assert check(release(("31",), ("31",), names=("age",)), ledger, rules).passed


def test_a_quasi_identifier_of_one_release_alone_keeps_nobody_apart():
    before = policy(columns={"sex": "quasi"})
    first = release(("30", "F", "flu"), ("30", "F", "gout"), names=("age", "sex", "ill"))
    found = check(release(("30", "flu"), ("30", "acne")), recorded(first, rules=before))
    assert found.figures["pairs_failing"] == 1
    assert found.figures["columns_not_compared"] == 0


@pytest.mark.parametrize(
    "changed",
    [
        {"hierarchy": {"tree": TREE | {"west": ["w1"]}}},
        {"hierarchy": {"flat": True}},
        {"type": "string"},
    ],
)
def test_a_column_that_is_read_otherwise_keeps_nobody_apart(changed):
    """The same label may stand for something else."""
    before = policy(columns={"town": {"role": "quasi", "hierarchy": {"tree": TREE}}})
    after = policy(columns={"town": {"role": "quasi", **changed}})
    names = ("age", "town", "ill")
    first = release(("30", "n1", "flu"), ("30", "n1", "gout"), names=names)
    second = release(("30", "s1", "flu"), ("30", "s1", "acne"), names=names)
    assert check(second, recorded(first, rules=before), before).passed
    found = check(second, recorded(first, rules=before), after)
    assert found.sentence.endswith(
        "; 1 quasi-identifier of earlier releases had another hierarchy or type and could not be compared."
    )


def test_missing_quasi_identifiers_are_values_or_anything():
    first = release((None, "flu"), (None, "gout"))
    second = release(("30", "flu"), ("30", "acne"))
    assert check(second, recorded(first)).passed
    wildcard = policy(missing="wildcard")
    assert not check(second, recorded(first, rules=wildcard)).passed
    assert not check(second, recorded(first), wildcard).passed


def test_suppressed_records_that_are_shown_may_be_anybody():
    first = release(("30", "flu"), ("30", "gout"))
    rules = policy(suppression_limit=0.5)
    second = release(("50", "rash"), ("50", "acne"), ("*", "flu"))
    found = check(second, recorded(first), rules)
    assert (found.figures["pairs_failing"], found.figures["records_in_them"]) == (1, 1)


def test_an_apostrophe_before_a_formula_is_no_part_of_the_value(tmp_path):
    plain, neutralised = policy(), policy().with_changes("output", formulas="neutralised")
    first = release(("30", "=1+1"), ("30", "gout"))
    (tmp_path / "second.csv").write_text("age,ill\n30,'=1+1\n30,acne\n")
    ledger = recorded(first)
    assert check(tmp_path / "second.csv", ledger, neutralised).figures["pairs_failing"] == 1
    assert check(tmp_path / "second.csv", ledger, plain).figures["pairs"] == 0


# -- what cannot be compared --------------------------------------------------------------------


def test_a_release_that_lacks_a_column_fails():
    verdict = verify(FIRST.drop("ill"), policy(), against=recorded(FIRST))
    assert verdict.check("intersection").sentence == (
        "earlier releases cannot be compared, as the release lacks a column of the policy."
    )


@pytest.mark.parametrize("anonymity", ["matchings", "buckets"])
def test_releases_that_are_not_in_classes_are_refused(anonymity):
    with pytest.raises(PolicyError, match="a ledger compares releases in classes only"):
        verify(FIRST, policy(anonymity=anonymity), against=Ledger())


def test_a_ledger_is_a_path_too(tmp_path):
    (tmp_path / "ledger.json").write_text(recorded(FIRST).to_json())
    assert verify(FIRST, policy(), against=tmp_path / "ledger.json").passed
    with pytest.raises(DataError, match="cannot be read"):
        verify(FIRST, policy(), against=str(tmp_path / "none.json"))


def test_nothing_is_shown_but_what_was_released():
    shown = examine(FIRST[[3, 0, 2, 1]], policy(), ledger=Ledger()).shown
    assert shown.model_dump(exclude={"quasi"}) == {
        "rows": 4,
        "missing": "own-value",
        "sensitive": ("ill",),
        "classes": (
            {
                "description": ("[30 - 39]",),
                "records": ({"count": 1, "values": ("flu",)}, {"count": 1, "values": ("gout",)}),
            },
            {
                "description": ("[50 - 59]",),
                "records": ({"count": 1, "values": ("flu",)}, {"count": 1, "values": ("ulcer",)}),
            },
        ),
    }
