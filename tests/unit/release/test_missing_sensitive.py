"""Missing and single sensitive values mean the same to every model, from the table to the verdict: docs/models.md."""

import math

import polars as pl
import pytest

import kohort
from kohort import Policy
from kohort.privacy import MODELS, SensitiveModel
from unit.privacy.tables import PARAMETERS

ALIKE = {"t-closeness", "beta-likeness", "delta-disclosure"}
"""Those that compare with the table, which is as uniform."""


def test_every_model_takes_part():
    assert set(PARAMETERS) == {name for name, model in MODELS.items() if issubclass(model, SensitiveModel)}


def released(name, cells, path):
    """What is published; the pipeline has verified it."""
    column = {"columns": ["s"]} if name == "dissimilarity-plus" else {"column": "s"}
    policy = Policy.build(k=2, quasi_identifiers=["q"], sensitive=["s"], algorithm="fast", output={"order": "kept"})
    policy = policy.with_changes("privacy", models=[{"model": name, **column, **PARAMETERS[name]}])
    kohort.anonymize(pl.DataFrame({"q": range(len(cells)), "s": cells}), policy, output=path, overwrite=True)
    return pl.read_csv(path, infer_schema=False).fill_null("").rows()


@pytest.mark.parametrize("name", PARAMETERS)
def test_null_nan_and_the_empty_text_are_one_missing_value(name, tmp_path):
    """And texts that are numbers are numbers."""
    numbers = [float(place % 4) for place in range(24)]
    found = {}
    for missing in (math.nan, ""):
        written = numbers if missing else [str(number) for number in numbers]
        # Every second missing value is written so, the others are null.
        cells = [
            text if number else (None if place % 8 else missing)
            for place, (text, number) in enumerate(zip(written, numbers, strict=True))
        ]
        found[missing] = released(name, cells, tmp_path / "out.csv")
    by_nan, by_text = found.values()
    assert by_nan == by_text
    assert [value for _, value in by_nan] == ["", "1.0", "2.0", "3.0"] * 6


@pytest.mark.parametrize("name", PARAMETERS)
@pytest.mark.parametrize("value", [None, math.nan, "", "5"])
def test_a_column_of_one_value_is_like_the_table_and_not_diverse(name, value, tmp_path):
    cells = [value] * 6
    if name in ALIKE:
        shown = "5" if value == "5" else ""
        assert [cell for _, cell in released(name, cells, tmp_path / "out.csv")] == [shown] * 6
        return
    with pytest.raises(kohort.InfeasibleError, match="column 's'"):
        released(name, cells, tmp_path / "out.csv")
    assert not list(tmp_path.iterdir())
