"""Frames and Python values that cannot be used: a sentence, never another library's traceback."""

import datetime
import decimal
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import kohort
from faults.harness import CANARY, CELLS, JARGON, POLICY, assert_said, like

GOOD = {"age": [30, 31, 40, 41], "town": ["a", "b", CANARY, "Sekretheim"], "disease": [CANARY, "x", "y", CANARY]}
BUILT = kohort.Policy.build(k=2, quasi_identifiers=["age", "town"], sensitive=["disease"], seed=1)
STRANGE = (
    "mixes kinds of values or time zones, or holds some that are neither text, number nor date; "
    "convert it to one of these."
)
TOO_LONG = "the table: column 'age' holds numbers of too many digits; round it, or make it text."
TWICE = "the table: columns 2 and 3 have the same name; rename all but one."
LAZY = "the table: this lazy frame cannot be collected; collect it yourself to see why."


@dataclass(frozen=True)
class Refusal:
    """A call, and what it must say."""

    name: str
    call: Callable[[], Any]
    says: tuple[str | re.Pattern[str], ...]
    error: type[kohort.KohortError] = kohort.DataError
    exit_code: int = 2


def table(name: str, given: Callable[[], Any], *sentences: str | re.Pattern[str], **more: Any) -> Refusal:
    return Refusal(name, lambda: kohort.anonymize(given(), BUILT), sentences, **more)


def unknown(kind: str) -> str:
    return (
        f"a table of type {kind} is not known; give a path, a polars, pandas or pyarrow table, or a relation of DuckDB."
    )


def no_single(values: str) -> str:
    return f"the table: column 'town' holds {values}, not one value per cell; drop or flatten it."


def pandas(**columns: Any) -> pd.DataFrame:
    return pd.DataFrame(GOOD | columns)


def polars(**columns: Any) -> pl.DataFrame:
    return pl.DataFrame(GOOD | columns)


KINDS = [
    table("none", lambda: None, unknown("builtins.NoneType")),
    table("dict", lambda: GOOD, unknown("builtins.dict")),
    table("list", lambda: [GOOD], unknown("builtins.list")),
    table("bytes", lambda: b"age,town", unknown("builtins.bytes")),
    table("numpy", lambda: np.zeros((4, 3)), unknown("numpy.ndarray")),
    table("polars-series", lambda: pl.Series([1]), unknown("polars.series.series.Series")),
    table("pandas-series", lambda: pd.Series([1]), like(r"a table of type pandas.*Series is not known; .*\.")),
    table("pyarrow-array", lambda: pa.array([1]), like(r"a table of type pyarrow.*Array is not known; .*\.")),
    table("no-columns", pd.DataFrame, like(r"the table: has no (rows|columns); there is nothing to publish\.")),
    table("no-rows", lambda: polars().clear(), "the table: has no rows; there is nothing to publish."),
]

COLUMNS = [
    table("pandas-lists", lambda: pandas(town=[[CANARY]] * 4), no_single("lists")),
    table("pandas-dicts", lambda: pandas(town=[{"x": CANARY}] * 4), no_single("records")),
    table("pandas-bytes", lambda: pandas(town=[CANARY.encode()] * 4), no_single("bytes")),
    table(
        "pandas-text-then-number", lambda: pandas(town=[CANARY, 3, None, 2.5]), f"the table: column 'town' {STRANGE}"
    ),
    table(
        "pandas-number-then-text", lambda: pandas(town=[3, CANARY, None, 2.5]), f"the table: column 'town' {STRANGE}"
    ),
    table("pandas-objects", lambda: pandas(town=[object()] * 4), f"the table: column 'town' {STRANGE}"),
    table("pandas-complex", lambda: pandas(age=[1j] * 4), f"the table: column 'age' {STRANGE}"),
    table(
        "pandas-all-at-once",
        lambda: pandas(age=[1j] * 4, town=[object()] * 4),
        f"the table: column 'age' {STRANGE}",
        f"the table: column 'town' {STRANGE}",
    ),
    table(
        "pandas-periods",
        lambda: pandas(town=pd.period_range("2020", periods=4, freq="M")),
        "the table: column 'town' holds values of an unknown kind; convert it to text.",
    ),
    table("pandas-integers-beyond-64-bits", lambda: pandas(age=[2**70] * 4), TOO_LONG),
    table("pandas-decimals-of-256-bits", lambda: pandas(age=[decimal.Decimal(10) ** 60] * 4), TOO_LONG),
    table(
        "pandas-infinite",
        lambda: pandas(age=[1.0, np.inf, 3.0, -np.inf]),
        "column 'age': 2 values are not finite numbers (first in row 2); "
        "correct them, list them as missing in [input], or change the column's type.",
    ),
    table(
        "pandas-names-twice",
        lambda: pd.DataFrame([[1, CANARY, "x", "y"]] * 4, columns=["age", "town", "town", "disease"]),
        TWICE,
    ),
    table("polars-lists", lambda: polars(town=[[CANARY]] * 4), no_single("lists")),
    table(
        "polars-objects",
        lambda: polars(town=pl.Series([object()] * 4, dtype=pl.Object)),
        no_single("Python objects"),
    ),
    table(
        "polars-times",
        lambda: polars(town=[datetime.time(1)] * 4),
        "column 'town': times of day cannot be a quasi-identifier; convert the column first.",
    ),
    table(
        "polars-128-bits",
        lambda: polars(age=pl.Series([2**70] * 4, dtype=pl.Int128)),
        "the table: column 'age' holds whole numbers of 128 bits; convert it to 64 bits, or to text.",
    ),
    table("lazy-that-fails", lambda: polars().lazy().with_columns(pl.col("town").cast(pl.Int64)), LAZY),
    table("lazy-of-no-column", lambda: polars().lazy().select("nowhere"), LAZY),
    table("pyarrow-lists", lambda: pa.table(GOOD | {"town": [[CANARY]] * 4}), no_single("lists")),
    table(
        "pyarrow-names-twice",
        lambda: pa.Table.from_arrays(
            [pa.array([1, 2]), pa.array([CANARY, "x"]), pa.array(["a", "b"])], ["age", "town", "town"]
        ),
        TWICE,
    ),
    table(
        "pyarrow-decimals-of-256-bits",
        lambda: pa.table(GOOD | {"age": pa.array([decimal.Decimal(10) ** 60] * 4, pa.decimal256(70, 0))}),
        TOO_LONG,
    ),
]

FITTING = [
    table(
        "columns-of-another-table",
        lambda: polars().rename({"town": "twon"}),
        "policy: column 'town' is not in the table (column 2 has a similar name); remove or rename it.",
        "column 2 of the table has no role in the policy; add [columns.NAME] with a role (identifier drops it).",
        error=kohort.PolicyError,
    ),
    Refusal(
        "k-over-n",
        lambda: kohort.anonymize(polars(), BUILT.with_changes("privacy", k=5)),
        ("policy: k = 5 is more than the 4 records of the table; choose a smaller k.",),
        error=kohort.PolicyError,
    ),
    Refusal(
        "no-policy",
        lambda: kohort.anonymize(polars(), None),
        (like(r".*[Pp]olicy.*\."),),
        error=kohort.PolicyError,
    ),
    Refusal(
        "policy-a-dict",
        lambda: kohort.anonymize(polars(), {"k": 2}),
        (like(r".*[Pp]olicy.*\."),),
        error=kohort.PolicyError,
    ),
    Refusal(
        "policy-a-text-for-a-path",
        lambda: kohort.anonymize(polars(), POLICY),
        (like(r"policy.*\."),),
        error=kohort.PolicyError,
    ),
    Refusal(
        "output-in-no-folder",
        lambda: kohort.anonymize(polars(), BUILT, output="nowhere/release.parquet"),
        (like(r".*release\.parquet: cannot be written \(No such file or directory\); .*\."),),
    ),
    Refusal("measure-of-nothing", lambda: kohort.measure(None, polars(), BUILT), (unknown("builtins.NoneType"),)),
    Refusal("verify-of-nothing", lambda: kohort.verify(None, BUILT), (like(r".*(path|table|frame).*\."),)),
]


def built(name: str, *sentences: str | re.Pattern[str], **arguments: Any) -> Refusal:
    given = {"k": 2, "quasi_identifiers": ["age"]} | arguments
    return Refusal(name, lambda: kohort.Policy.build(**given), sentences, error=kohort.PolicyError)


POLICIES = [
    built("two-roles", "column 'age' has two roles, quasi and sensitive; give it one.", sensitive=["age"]),
    built("one-role-twice", like(r"column 'age' .*quasi.*\."), quasi_identifiers=["age", "age"]),
    built(
        "keys-without-role",
        "column 'zip' has a hierarchy but no role; give it a role.",
        "column 'sex' has a weight but no role; give it a role.",
        "column 'born' has a type but no role; give it a role.",
        hierarchies={"zip": {"flat": True}},
        weights={"sex": 1},
        types={"born": "date"},
    ),
    built("k-a-text", "policy: 'privacy.k' must be a valid integer; got '2'.", k="2"),
    built("no-quasi", like(r"policy: .*(quasi|column).*\."), quasi_identifiers=[]),
    built(
        # Read letter by letter it would be three columns.
        "quasi-a-text",
        like(r".*quasi_identifiers.*\."),
        quasi_identifiers="age",
    ),
    built("algorithm-without-name", like(r"policy: 'algorithm\.name' .*\."), algorithm={"far_from": "last"}),
    built("name-a-number", like(r"policy: .*3.*\."), quasi_identifiers=[3]),
    built(
        "hierarchy-an-object", like(r"policy: 'columns\.age\.hierarchy' must be .*\."), hierarchies={"age": object()}
    ),
    built(
        "unknown-rule-for-missing",
        "policy: 'privacy.missing' must be 'own-value', 'wildcard', 'suppress' or 'refuse'; got 'drop'.",
        missing="drop",
    ),
    built(
        "unknown-key-of-output",
        "policy: unknown key 'ordr' in [output] (did you mean 'order'?); "
        "known are order, shuffle_seed, suppressed, formulas, bounds, pseudonym_key.",
        output={"ordr": 1},
    ),
    Refusal(
        "nothing",
        kohort.Policy,
        ("policy: 'privacy' is missing; it must be given.", "policy: 'columns' is missing; it must be given."),
        error=kohort.PolicyError,
    ),
]

TAXONOMIES = [
    Refusal(
        "value-twice",
        lambda: kohort.Taxonomy.flat([CANARY, CANARY], "town"),
        ("hierarchy of column 'town', value 2: repeats value 1; remove one of the two.",),
    ),
    Refusal(
        "values-none",
        lambda: kohort.Taxonomy.flat([], "town"),
        (like(r"hierarchy of column 'town': is empty; .*\."),),
    ),
    Refusal(
        "values-numbers",
        lambda: kohort.Taxonomy.flat([77031], "town"),
        ("hierarchy of column 'town', value 1, label 1: is not text; write it in quotes.",),
    ),
    Refusal(
        "path-without-root",
        lambda: kohort.Taxonomy.from_paths([(CANARY,)], "town"),
        ("hierarchy of column 'town', path 1: has no root; give the value, its coarser labels and the root.",),
    ),
    Refusal(
        "tree-a-text",
        lambda: kohort.Taxonomy.from_tree(CANARY, "town"),
        ("hierarchy of column 'town': 1 branch is neither a list nor a table; list the leaves in brackets.",),
    ),
    Refusal(
        "no-such-level",
        lambda: kohort.Taxonomy.flat(["a"], "town").ancestor_at(0, 7),
        ("hierarchy of column 'town': there is no level 7; choose one from 0 (the values) to 1 (the root).",),
        error=kohort.PolicyError,
    ),
    Refusal(
        "written-in-no-folder",
        lambda: kohort.Taxonomy.flat(["a"], "town").to_csv("nowhere/town.csv"),
        (like(r".*town\.csv: cannot be written \(No such file or directory\); .*\."),),
    ),
]

REFUSALS = [*KINDS, *COLUMNS, *FITTING, *POLICIES, *TAXONOMIES]


@pytest.mark.parametrize("refusal", REFUSALS, ids=[refusal.name for refusal in REFUSALS])
def test_a_call_that_cannot_be_answered_is_refused(refusal, capfd):
    with pytest.raises(kohort.KohortError) as raised:
        refusal.call()
    error = raised.value
    assert_said(error.faults, refusal.says)
    assert isinstance(error, refusal.error)
    assert error.exit_code == refusal.exit_code
    assert not CELLS.search(str(error))
    assert not JARGON.search(str(error))
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("kind", [pl.DataFrame, pd.DataFrame, pa.table])
def test_half_precision_is_published(kind):
    """The audit's database does not know it."""
    given = kind(GOOD | {"age": np.array(GOOD["age"], np.float16)})
    assert kohort.anonymize(given, BUILT).verdict.passed
