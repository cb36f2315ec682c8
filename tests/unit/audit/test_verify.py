"""Every check, passing and failing, with its exact words and without a single cell value."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from kohort.audit import verify
from kohort.errors import DataError, PolicyError
from kohort.policy import Policy

TREE = {"Lung": ["Asthma", "Flu"], "Skin": ["Acne", "Eczema"]}


def policy(k=2, columns=None, privacy=None, **sections):
    base = {
        "age": {"role": "quasi", "type": "integer"},
        "illness": {"role": "quasi", "hierarchy": {"tree": TREE}},
        "pay": "sensitive",
        "name": "identifier",
    }
    return Policy(privacy={"k": k, **(privacy or {})}, columns={**base, **(columns or {})}, **sections)


ORIGINAL = pl.DataFrame(
    {
        "name": ["n1", "n2", "n3", "n4"],
        "age": [21, 29, 40, 45],
        "illness": ["Asthma", "Flu", "Acne", "Acne"],
        "pay": [1.5, 2.0, 3.0, 3.0],
    }
)
GOOD = pl.DataFrame(
    {
        "age": ["[21 - 29]", "[21 - 29]", "[40 - 45]", "[40 - 45]"],
        "illness": ["Lung", "Lung", "Acne", "Acne"],
        "pay": [1.5, 2.0, 3.0, 3.0],
    }
)


def changed(row, **cells):
    """GOOD with some cells of one row changed."""
    return GOOD.with_columns(
        pl.when(pl.int_range(pl.len()) == row).then(pl.lit(value)).otherwise(pl.col(name)).alias(name)
        for name, value in cells.items()
    )


def sentence(verdict, name):
    return verdict.check(name).sentence


def test_a_good_release_in_the_order_of_the_original():
    verdict = verify(GOOD, policy(), original=ORIGINAL)
    assert verdict.passed
    assert verdict.reason == (
        "every one of 2 classes has at least 2 records (smallest 2); nothing suppressed; "
        "every published value covers the original, row by row."
    )
    assert [check.name for check in verdict.checks] == [
        "columns", "k", "missing", "suppression", "rows", "domain", "coverage", "values",
    ]  # fmt: skip
    facts = verdict.facts
    assert (facts.k, facts.rows_released, facts.rows_original, facts.suppressed) == (2, 4, 4, 0)
    assert (facts.withheld, facts.classes, facts.smallest_class) == (0, 2, 2)


def test_a_good_release_without_the_original():
    verdict = verify(GOOD, policy())
    assert verdict.passed
    assert verdict.reason == (
        "every one of 2 classes has at least 2 records (smallest 2); no row of the file is suppressed; "
        "truth was not checked, as the original was not given."
    )


def test_a_good_release_in_another_order():
    order = [2, 0, 3, 1]
    verdict = verify(GOOD[order], policy(), original=ORIGINAL)
    assert verdict.passed
    assert sentence(verdict, "coverage") == (
        "every published value covers an original of its own, column by column in any order of rows."
    )
    given = verify(GOOD[order], policy(), original=ORIGINAL, row_order=np.array(order))
    assert given.passed
    assert sentence(given, "coverage") == "every published value covers the original, row by row."


def test_a_file_and_a_frame_are_judged_alike(tmp_path):
    GOOD.write_csv(tmp_path / "r.csv", separator=";")
    GOOD.write_parquet(tmp_path / "r.parquet")
    ORIGINAL.write_csv(tmp_path / "o.csv")
    ORIGINAL.write_parquet(tmp_path / "o.parquet")
    for release in ("r.csv", "r.parquet"):
        for original in ("o.csv", "o.parquet"):
            verdict = verify(tmp_path / release, policy(), original=str(tmp_path / original))
            assert verdict.passed, verdict.reason


# -- columns ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("release", "words"),
    [
        (
            GOOD.with_columns(index=pl.lit(1)),
            "column 4 has no role in the policy, so it may identify people; drop it.",
        ),
        (
            GOOD.with_columns(a=pl.lit(1), b=pl.lit(1)),
            "columns 4 and 5 have no role in the policy, so they may identify people; drop them.",
        ),
        (
            GOOD.with_columns(name=pl.lit("x")),
            "column 'name' identifies people by the policy's own word; drop it.",
        ),
        (GOOD.drop("pay"), "column 'pay' of the policy is not in the release."),
        (
            GOOD.with_columns(age_lo=pl.lit(1)),
            "column 4 has no role in the policy, so it may identify people; drop it.",
        ),
    ],
)
def test_columns(release, words):
    verdict = verify(release, policy(), original=ORIGINAL)
    assert not verdict.passed
    assert sentence(verdict, "columns") == words


def test_a_missing_header_is_not_repeated(write):
    verdict = verify(write("21;Flu;s3cret", "22;Flu;s3cret"), policy())
    assert sentence(verdict, "columns") == "the first line names no column of the policy; is the header there?"
    assert "s3cret" not in verdict.to_json()


def test_an_absent_quasi_identifier_makes_other_checks_say_so():
    verdict = verify(GOOD.drop("age"), policy(), original=ORIGINAL)
    assert sentence(verdict, "k") == "k cannot be checked, as column 'age' is not in the release."
    assert verdict.reason == ("column 'age' of the policy is not in the release; also: 1 further check failed (k).")
    assert (verdict.facts.classes, verdict.facts.smallest_class) == (None, None)
    original = verify(GOOD, policy(), original=ORIGINAL.drop("age", "pay"))
    assert sentence(original, "coverage") == "coverage cannot be checked, as column 'age' is not in the original."
    assert sentence(original, "values") == "values cannot be checked, as column 'pay' is not in the original."


# -- k and missing cells ------------------------------------------------------------------------


def test_k():
    verdict = verify(changed(0, illness="Flu"), policy(), original=ORIGINAL)
    assert verdict.reason == "2 rows lie in classes smaller than k = 2 (smallest 1)."
    assert dict(verdict.check("k").figures) == {
        "k": 2, "smallest_class": 1, "classes": 3, "rows_under_k": 2, "suppressed_rows": 0,
    }  # fmt: skip


def test_missing_cells():
    release = changed(0, illness=None)
    own = verify(release, policy())
    assert sentence(own, "k") == (
        "2 rows lie in classes smaller than k = 2 (smallest 1); it would hold only if a missing cell or * matched "
        "anything, which this policy does not allow."
    )
    assert sentence(own, "missing") == "1 quasi-identifier cell is missing, and each is a value of its own."
    wildcard = verify(release, policy(privacy={"missing": "wildcard"}), original=ORIGINAL)
    assert wildcard.passed
    assert sentence(wildcard, "k") == (
        "every row matches at least 2 rows (fewest 2), as a missing cell or * matches anything."
    )
    three = verify(release, policy(k=3, privacy={"missing": "wildcard"}))
    assert sentence(three, "k") == (
        "4 rows match fewer than k = 3 rows (fewest 2), although a missing cell or * matches anything."
    )
    for rule in ("suppress", "refuse"):
        refused = verify(release, policy(privacy={"missing": rule}))
        words = f"1 quasi-identifier cell is missing, which the policy ({rule}) does not allow."
        assert sentence(refused, "missing") == words
        assert not refused.check("missing").passed


def test_missing_by_the_texts_of_the_policy():
    release = pl.DataFrame({"age": ["?", "", "?", ""], "illness": ["Flu"] * 4, "pay": [1, 1, 1, 1]})
    known = policy(k=4, privacy={"missing": "wildcard"}, input={"missing": ["?"]})
    assert verify(release, known).check("k").passed
    # a reader of the file tells the two texts apart, so they are two values
    own = verify(release, policy(k=4, input={"missing": ["?"]}))
    assert sentence(own, "k").startswith("4 rows lie in classes smaller than k = 4 (smallest 2)")
    assert verify(release.with_columns(age=pl.lit("?")), policy(k=4, input={"missing": ["?"]})).passed


# -- suppression and rows -----------------------------------------------------------------------

STARRED = GOOD.with_columns(age=pl.lit("*"), illness=pl.lit("*"))[:1]


def test_suppressed_rows_are_no_class():
    release = pl.concat([GOOD, STARRED])
    verdict = verify(release, policy())
    assert verdict.reason == "1 of 5 records (20 %) is suppressed, more than the limit of 0 %."
    assert verdict.check("k").figures["suppressed_rows"] == verdict.facts.suppressed == 1
    assert verify(release, policy(privacy={"suppression_limit": 0.2})).passed


def test_a_star_that_is_read_as_missing_still_marks_a_suppressed_row():
    release = pl.concat([GOOD, STARRED])
    verdict = verify(release, policy(privacy={"missing": "wildcard"}, input={"missing": ["*"]}))
    assert verdict.facts.suppressed == 1


def test_everything_suppressed():
    release = GOOD.with_columns(age=pl.lit("*"), illness=pl.lit("*"))
    stars = policy(privacy={"suppression_limit": 1}, output={"suppressed": "starred"})
    verdict = verify(release, stars, original=ORIGINAL)
    assert verdict.passed
    assert sentence(verdict, "k") == "every row is suppressed, so there is no class."


def test_stars_are_a_class_where_suppressed_records_are_withheld():
    release = GOOD.with_columns(age=pl.lit("*"), illness=pl.lit("*"))
    verdict = verify(release, policy(), original=ORIGINAL)
    assert verdict.passed
    assert (verdict.facts.classes, verdict.facts.smallest_class, verdict.facts.suppressed) == (1, 4, 0)
    assert "4 records make one class with * in every quasi-identifier" in verdict.reason


def test_withheld_rows_count_against_the_limit():
    verdict = verify(GOOD[:2], policy(), original=ORIGINAL)
    assert sentence(verdict, "suppression") == "2 of 4 records (50 %) are suppressed, more than the limit of 0 %."
    assert (verdict.facts.withheld, verdict.facts.suppressed) == (2, 0)
    half = verify(GOOD[:2], policy(privacy={"suppression_limit": 0.5}), original=ORIGINAL)
    assert half.passed
    assert "2 of 4 records (50 %) are suppressed, within the limit of 50 %" in half.reason


@pytest.mark.parametrize(("limit", "gone"), [(0.1, 1), (0.3, 3), (0.7, 7)])
def test_the_limit_is_exact(limit, gone):
    # in doubles, 0.1 * 30 and its like fall on the wrong side
    original = pl.DataFrame({"q": ["a"] * 10})
    rules = Policy.build(k=2, quasi_identifiers=["q"], types={"q": "string"}, suppression_limit=limit)
    assert verify(original[gone:], rules, original=original).passed
    assert not verify(original[gone + 1 :], rules, original=original).check("suppression").passed


def test_rows():
    verdict = verify(pl.concat([GOOD, GOOD[:1]]), policy(), original=ORIGINAL)
    assert sentence(verdict, "rows") == "the release has 1 row more than the original."
    assert {check.name for check in verdict.checks if not check.passed} == {"rows", "coverage", "values"}


def test_row_order_must_make_sense():
    for order, words in [
        ([0, 1], "one whole number for each"),
        ([0.0, 1.0, 2.0, 3.0], "one whole number for each"),
        ([0, 1, 2, 4], "none of them twice"),
        ([0, 1, 2, 2], "none of them twice"),
        ([-1, 1, 2, 3], "none of them twice"),
    ]:
        with pytest.raises(DataError, match=words):
            verify(GOOD, policy(), original=ORIGINAL, row_order=order)
    with pytest.raises(DataError, match="needs the original"):
        verify(GOOD, policy(), row_order=[0, 1, 2, 3])


def test_nothing_to_check():
    with pytest.raises(DataError, match="it has a header but no rows"):
        verify(GOOD[:0], policy())


# -- domain -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        (
            {"age": "s3cret"},
            "column 'age': 1 row (1 distinct value) holds text that is no number and no interval.",
        ),
        (
            {"age": "[29 - 21]"},
            "column 'age': 1 row (1 distinct value) holds an interval that is empty or upside down.",
        ),
        ({"age": "20"}, "column 'age': 1 row (1 distinct value) holds a value outside the domain."),
        ({"age": "[46 - 99]"}, "column 'age': 1 row (1 distinct value) holds a value outside the domain."),
        (
            {"illness": "s3cret"},
            "column 'illness': 1 row (1 distinct value) holds a label that its hierarchy does not have.",
        ),
    ],
)
def test_domain(cells, words):
    verdict = verify(changed(0, **cells), policy(), original=ORIGINAL)
    assert sentence(verdict, "domain") == words
    assert not verdict.check("coverage").passed
    text = verdict.to_json()
    assert not any(f'"{value}"' in text or f" {value} " in text for value in cells.values())


def test_domain_of_the_policy_goes_before_that_of_the_original():
    wide = {"age": {"role": "quasi", "type": "integer", "domain": [0, 120]}}
    assert verify(changed(0, age="20"), policy(columns=wide), original=ORIGINAL).check("domain").passed
    assert not verify(changed(0, age="121"), policy(columns=wide)).check("domain").passed


def test_domain_counts_rows_and_values():
    release = GOOD.with_columns(age=pl.Series(["x", "x", "y", "[40 - 45]"]))
    verdict = verify(release, policy())
    assert sentence(verdict, "domain") == (
        "column 'age': 3 rows (2 distinct values) hold text that is no number and no interval."
    )


def test_dates_and_texts_and_masks():
    columns = {
        "born": {"role": "quasi", "type": "date", "format": "%d/%m/%Y"},
        "town": {"role": "quasi", "type": "string"},
        "zip": {"role": "quasi", "hierarchy": {"prefix": [5, 3]}},
    }
    rules = Policy(privacy={"k": 2}, columns=columns)
    original = pl.DataFrame({"born": ["15/03/2024", "01/01/2024"], "town": ["Ulm", "Bonn"], "zip": ["13210", "13299"]})
    good = pl.DataFrame({"born": ["2024-Q1"] * 2, "town": ["*"] * 2, "zip": ["132**"] * 2})
    assert verify(good, rules, original=original).passed
    bad = pl.DataFrame({"born": ["2024-02"] * 2, "town": ["Rom"] * 2, "zip": ["132*"] * 2})
    verdict = verify(bad, rules, original=original)
    assert sentence(verdict, "domain") == (
        "column 'town': 2 rows (1 distinct value) hold a value that the original does not have."
    )
    assert sentence(verdict, "coverage") == (
        "column 'born': 2 of 2 published values do not cover the original value; "
        "column 'town': 2 of 2 published values do not cover the original value; "
        "column 'zip': 2 of 2 published values do not cover the original value."
    )


# -- coverage and values ------------------------------------------------------------------------


def test_coverage_in_any_order():
    verdict = verify(changed(3, age="[21 - 29]"), policy(), original=ORIGINAL)
    assert sentence(verdict, "coverage") == ("column 'age': 1 of 4 published values does not cover the original value.")


def test_coverage_row_by_row_sees_what_a_matching_cannot():
    swapped = GOOD.with_columns(age=pl.Series(["[40 - 45]", "[40 - 45]", "[21 - 29]", "[21 - 29]"]))
    assert verify(swapped, policy(), original=ORIGINAL).check("coverage").passed
    given = verify(swapped, policy(), original=ORIGINAL, row_order=range(4))
    assert given.reason == "column 'age': 4 of 4 published values do not cover the original value."


def test_a_plain_file_order_is_judged_row_by_row():
    """Two swapped rows in a file that is otherwise in order are seen; a shuffled file is not accused."""
    n = 200
    original = pl.DataFrame({"q": range(n)})
    rules = Policy.build(k=2, quasi_identifiers=["q"])
    release = pl.DataFrame({"q": [f"[{i // 2 * 2} - {i // 2 * 2 + 1}]" for i in range(n)]})
    swapped = release[[2, 1, 0, *range(3, n)]]
    assert verify(swapped, rules, original=original).reason == (
        "column 'q': 2 of 200 published values do not cover the original value."
    )
    assert verify(release.sample(fraction=1, shuffle=True, seed=1), rules, original=original).passed


def test_a_missing_original_is_covered_by_missing_or_star_only():
    rules = Policy.build(k=2, quasi_identifiers=["q"], types={"q": "integer"}, sensitive=["s"], suppression_limit=1)
    original = pl.DataFrame({"q": [1, None], "s": [1, 2]})
    for texts, uncovered in [(["1", None], 0), (["*", "*"], 0), (["1", "1"], 1), ([None, None], 1)]:
        verdict = verify(pl.DataFrame({"q": texts, "s": [1, 2]}), rules, original=original, row_order=[0, 1])
        assert verdict.check("coverage").figures["not_covered.q"] == uncovered
    anything = rules.with_changes("privacy", missing="wildcard")
    verdict = verify(pl.DataFrame({"q": [None, None], "s": [1, 2]}), anything, original=original)
    assert verdict.check("coverage").passed


@pytest.mark.promise("2.2")
def test_values():
    verdict = verify(changed(0, pay=9.25), policy(), original=ORIGINAL)
    words = "column 'pay': 1 of 4 published values is not one of the original."
    assert verdict.reason == words
    assert verify(changed(0, pay=9.25), policy(), original=ORIGINAL, row_order=range(4)).reason == words
    swapped = GOOD.with_columns(pay=pl.Series([2.0, 1.5, 3.0, 3.0]))
    assert verify(swapped, policy(), original=ORIGINAL).passed
    assert verify(swapped, policy(), original=ORIGINAL, row_order=range(4)).reason == (
        "column 'pay': 2 of 4 published values are not those of the original."
    )
    assert not verify(GOOD[:2], policy(), original=ORIGINAL[2:]).check("values").passed


def test_values_are_compared_as_what_they_are(write):
    release = write(
        "age;illness;pay", "[21 - 29];Lung;1.50", "[21 - 29];Lung;2", "[40 - 45];Acne;3e0", "[40 - 45];Acne;3"
    )
    assert verify(release, policy(), original=ORIGINAL).passed
    assert verify(release, policy(), original=ORIGINAL, row_order=range(4)).passed
    big = pl.DataFrame({"age": ["1", "1"], "illness": ["Flu", "Flu"], "pay": [2**53, 2**53]})
    other = big.with_columns(pay=pl.Series([2**53, 2**53 + 1]))
    assert not verify(big, policy(), original=other).check("values").passed


def test_numbers_of_64_bits_do_not_collapse():
    rules = Policy.build(k=2, quasi_identifiers=["q"], types={"q": "integer"})
    original = pl.DataFrame({"q": [2**53, 2**53 + 1]})
    release = pl.DataFrame({"q": [str(2**53), str(2**53)]})
    assert verify(release, rules, original=original).check("coverage").figures["not_covered.q"] == 1


def test_formulas_that_were_neutralised(write):
    rules = Policy(
        privacy={"k": 2},
        columns={"q": {"role": "quasi", "type": "integer"}, "s": "insensitive"},
        output={"formulas": "neutralised"},
    )
    release = write("q;s", "'-5;'=x", "'-5;'@y")
    original = pl.DataFrame({"q": [-5, -5], "s": ["=x", "@y"]})
    assert verify(release, rules, original=original, row_order=[0, 1]).passed


# -- bounds -------------------------------------------------------------------------------------

BOUNDED = GOOD.with_columns(age_lo=pl.Series([21, 21, 40, 40]), age_hi=pl.Series([29, 29, 45, 45]))


def test_bounds():
    rules = policy(output={"bounds": True})
    verdict = verify(BOUNDED, rules, original=ORIGINAL)
    assert verdict.passed
    assert sentence(verdict, "bounds") == "the typed ends are those of the published intervals."
    finer = BOUNDED.with_columns(age_lo=pl.Series([21, 29, 40, None]))
    assert verify(finer, rules).reason == "column 'age_lo': 2 rows do not hold the lower end of the interval."
    assert not verify(BOUNDED, policy()).check("columns").passed
    labels = BOUNDED.with_columns(illness_lo=pl.lit(1))
    assert sentence(verify(labels, rules), "columns") == (
        "column 6 has no role in the policy, so it may identify people; drop it."
    )


def test_bounds_of_a_star_are_empty_and_of_one_writing():
    rules = policy(output={"bounds": True})
    star = BOUNDED.with_columns(age=pl.lit("*"))
    assert verify(star, rules).check("bounds").figures == {"wrong.age_lo": 4, "wrong.age_hi": 4}
    nothing = star.with_columns(age_lo=pl.lit(None), age_hi=pl.lit(None))
    assert verify(nothing, rules).check("bounds").passed
    written = BOUNDED.with_columns(age_lo=pl.Series(["21", "21.0", "40", "40"]))
    assert verify(written, rules).check("bounds").figures["wrong.age_lo"] == 1


@pytest.mark.parametrize(
    ("shown", "middles", "wrong"),
    [
        (["[21 - 29]", "[40 - 45]"], ["25", "42.5"], 0),
        (["[21 - 29]", "[40 - 45]"], ["25.0", "42.50000001"], 2),
        (["[0.1 - 0.4]", "[-9 - 9007199254740993]"], ["0.25", "4503599627370492.0"], 0),
        (["[0.1 - 0.2]", "[1 - 2]"], ["0.15", ""], 2),
        (["<= 21", "40"], ["", "40"], 0),
        (["<= 21", "40"], ["21", "40"], 2),
        (["[1e9999 - 2e9999]", "[1 - 2]"], ["", "1.5"], 0),
    ],
)
def test_the_middle_of_an_interval_is_the_nearest_double(shown, middles, wrong):
    rules = policy(output={"bounds": True})
    cells = {"age": pl.Series([text for text in shown for _ in "ab"])}
    release = GOOD.with_columns(**cells, age_mid=pl.Series([text or None for text in middles for _ in "ab"]))
    found = verify(release, rules).check("bounds")
    assert found.figures["wrong.age_mid"] == wrong
    assert not wrong or "do not hold the middle of the interval" in found.sentence
    if not wrong and middles[0]:
        told = release.with_columns(age_mid=pl.Series([middles[0], middles[0] + "0", *middles[1:], *middles[1:]]))
        assert not verify(told, rules).check("bounds").passed, "two ways to write one middle tell records apart"


@pytest.mark.promise("6.1")
def test_a_model_that_is_not_there_is_not_promised():
    rules = policy(privacy={"models": [{"model": "no-such-model", "column": "pay"}]})
    with pytest.raises(PolicyError, match="no privacy model 'no-such-model'"):
        verify(GOOD, rules)


def test_a_model_is_checked_in_every_class():
    rules = policy(privacy={"models": [{"model": "frequency-l-diversity", "column": "pay", "l": 2}]})
    assert verify(changed(3, pay=4.0), rules).check("frequency-l-diversity").passed
    check = verify(GOOD, rules).check("frequency-l-diversity")  # one of two classes has one value alone
    assert not check.passed
    assert (check.figures["classes_failing"], check.figures["rows_in_them"]) == (1, 2)


TWO_SENSITIVE = pl.DataFrame(
    {
        "age": ["[21 - 29]"] * 4 + ["[40 - 45]"] * 4,
        "illness": ["Lung"] * 4 + ["Acne"] * 4,
        "pay": [1, 1, 2, 2, 1, 2, 1, 2],
        "job": ["a", "b", "a", "b", "c", "c", "d", "d"],
    }
)


def test_who_knows_the_other_sensitive_columns_may_learn_more():
    """Both classes have two jobs; with the same pay they have two as well, or in the second class one each."""
    rules = policy(
        columns={"job": "sensitive"}, privacy={"models": [{"model": "distinct-l-diversity", "column": "pay", "l": 2}]}
    )
    plain = verify(TWO_SENSITIVE, rules).check("distinct-l-diversity")
    assert plain.passed
    assert plain.sentence == "distinct-l-diversity of column 'pay': kept by every one of 2 classes."
    assert plain.figures == {
        "column": "pay", "l": 2, "classes_failing": 0, "rows_in_them": 0,
        "strict_classes": 4, "strict_classes_failing": 0, "strict_rows_in_them": 0,
    }  # fmt: skip
    told = TWO_SENSITIVE.with_columns(job=pl.Series(["a", "b", "a", "b", "c", "d", "c", "d"]))
    plain, strict = (verify(told, rules, strict=strict) for strict in (False, True))
    assert plain.passed
    assert plain.check("distinct-l-diversity").figures["strict_classes_failing"] == 2
    assert plain.check("distinct-l-diversity").figures["strict_rows_in_them"] == 4
    assert not strict.passed
    assert strict.reason == (
        "distinct-l-diversity of column 'pay': kept by every one of 2 classes; "
        "of 4 classes that also share the other sensitive columns, 2 do not keep it."
    )
    fine = verify(TWO_SENSITIVE, rules, strict=True).check("distinct-l-diversity")
    assert fine.passed
    assert fine.sentence.endswith("of 4 classes that also share the other sensitive columns, all keep it.")


def test_strict_is_the_same_where_nothing_else_is_sensitive():
    rules = policy(privacy={"models": [{"model": "frequency-l-diversity", "column": "pay", "l": 2}]})
    for release in (GOOD, changed(3, pay=4.0)):
        plain, strict = (verify(release, rules, strict=strict) for strict in (False, True))
        assert plain.checks == strict.checks


def test_a_strict_class_that_fails_is_not_hidden_by_a_plain_one():
    rules = policy(
        columns={"job": "sensitive"}, privacy={"models": [{"model": "distinct-l-diversity", "column": "pay", "l": 3}]}
    )
    check = verify(TWO_SENSITIVE, rules, strict=True).check("distinct-l-diversity")
    assert not check.passed
    assert (check.figures["classes_failing"], check.figures["strict_classes_failing"]) == (2, 4)


def test_a_model_of_several_columns_is_checked():
    model = {"model": "dissimilarity-plus", "columns": ["pay", "job"], "epsilon": 0.1, "delta": 1}
    rules = policy(columns={"job": "sensitive"}, privacy={"models": [model]})
    check = verify(TWO_SENSITIVE, rules).check("dissimilarity-plus")
    assert check.passed
    assert check.sentence == "dissimilarity-plus of columns 'pay' and 'job': kept by every one of 2 classes."
    assert check.figures["columns"] == "pay, job"
    twice = TWO_SENSITIVE.with_columns(job=pl.lit("a"))
    assert verify(twice, rules).check("dissimilarity-plus").figures["classes_failing"] == 2


def test_values_that_a_model_lists_are_not_in_the_verdict():
    model = {"model": "alpha-k", "column": "job", "alpha": 0.4, "values": ["a", "zeta"]}
    rules = policy(columns={"job": "sensitive"}, privacy={"models": [model]})
    verdict = verify(TWO_SENSITIVE, rules)
    assert verdict.check("alpha-k").figures["classes_failing"] == 1
    assert "zeta" not in verdict.to_json()


def test_missing_sensitive_values_of_a_file_are_one_value():
    model = {"model": "distinct-l-diversity", "column": "pay", "l": 2}
    rules = policy(privacy={"models": [model]}, input={"missing": ["", "NA"]})
    release = GOOD.with_columns(pay=pl.Series(["NA", "", "1", "NA"]))
    assert verify(release, rules).check("distinct-l-diversity").figures["classes_failing"] == 1


@pytest.mark.promise("4.2")
def test_no_cell_value_in_any_word():
    """A release with every fault at once; its cells are words that occur nowhere else."""
    release = pl.DataFrame(
        {
            "age": ["zeta1", "[zeta2 - 3]", "*", None],
            "illness": ["zeta3", "zeta4", "Lung", "zeta5"],
            "pay": ["zeta6", "zeta7", "zeta8", "zeta9"],
            "name": ["zeta10"] * 4,
            "age_lo": ["zeta11"] * 4,
        }
    )
    rules = policy(output={"bounds": True}, privacy={"missing": "refuse"})
    for order in (None, range(4)):
        verdict = verify(release, rules, original=ORIGINAL, row_order=order)
        failed = {check.name for check in verdict.checks if not check.passed}
        assert failed == {"columns", "k", "missing", "domain", "coverage", "values", "bounds"}
        for text in (verdict.to_json(), repr(verdict), verdict.reason):
            assert "zeta" not in text
            assert "Lung" not in text
            assert "Asthma" not in text
