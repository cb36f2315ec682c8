"""The demo table: patients of a hospital group who do not exist.

A row is drawn in the order in which one thing leads to another: the disease decides age, sex,
season and stay; the home decides ethnicity, and that the style of the name; age decides education.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from kohort.datasets._diseases import CHAPTERS
from kohort.datasets._draws import Floats, Ints, spread
from kohort.datasets._model import FIRST_DAY, SEXES, YEAR, Model, model
from kohort.datasets._vocabulary import (
    EDUCATION_TREE,
    EDUCATIONS,
    ETHNICITIES,
    ETHNICITY_TREE,
    FIRST_NAMES,
    LAST_NAMES,
    MISSING,
    Tree,
)
from kohort.errors import DataError

__all__ = ["patients", "patients_hierarchies"]

_BATCH = 1 << 17  # rows at a time: bounds the memory for intermediate columns
_SHARE_X = 0.0008
_LONGEST_STAY = 180
_COST_PER_DAY = 1850.0


def patients(n: int = 10_000, seed: int = 7) -> pl.DataFrame:
    """Make a hospital table of `n` admissions, one per patient.

    Parameters
    ----------
    n : int
        Number of rows.
    seed : int
        The same `n` and `seed` give the same table on every machine.

    Returns
    -------
    polars.DataFrame
        Columns `name`, `birth_date`, `sex`, `zip_code`, `ethnicity`, `education`,
        `admission_date`, `length_of_stay` (days, at least 1), `diagnosis` and `cost` (dollars).
        Cells of `zip_code`, `ethnicity`, `education` and `cost` may be missing.

    Raises
    ------
    DataError
        If `n` is negative.

    Examples
    --------
    >>> table = patients(1000)
    >>> table.shape
    (1000, 10)
    >>> table.equals(patients(1000, seed=7)), table.equals(patients(1000, seed=8))
    (True, False)
    """
    if n < 0:
        raise DataError(f"The number of patients must not be negative, but it is {n}.")
    return pl.concat(_batches(n, np.random.Generator(np.random.PCG64(seed))), rechunk=False)


def patients_hierarchies() -> dict[str, dict[str, Tree]]:
    """Give the taxonomies of the columns `diagnosis`, `education` and `ethnicity`.

    Returns
    -------
    dict
        For each column a nested mapping from label to subtree; the innermost values are lists of
        leaves. The root `*` is implied. Labels are unique within a tree, and every value that
        `patients` makes is a leaf. Each call gives a fresh copy.

    Examples
    --------
    >>> trees = patients_hierarchies()
    >>> list(trees)
    ['diagnosis', 'education', 'ethnicity']
    >>> trees["diagnosis"]["Respiratory"]["Respiratory infections"]
    ['Influenza', 'Pneumonia', 'Bronchiolitis']
    """
    diagnosis: dict[str, Tree] = {
        chapter: {group: list(diseases) for group, diseases in groups.items()} for chapter, groups in CHAPTERS.items()
    }
    return {
        "diagnosis": diagnosis,
        "education": {label: _copy(tree) for label, tree in EDUCATION_TREE.items()},
        "ethnicity": {label: _copy(tree) for label, tree in ETHNICITY_TREE.items()},
    }


def _copy(tree: Tree) -> Tree:
    return list(tree) if isinstance(tree, list) else {label: _copy(below) for label, below in tree.items()}


def _batches(n: int, rng: np.random.Generator) -> Iterator[pl.DataFrame]:
    """Yield the table in parts; an empty table has one part, which carries the columns."""
    for start in range(0, max(n, 1), _BATCH):
        yield _batch(min(_BATCH, n - start), rng, model())


def _batch(n: int, rng: np.random.Generator, m: Model) -> pl.DataFrame:
    same = np.zeros(n, dtype=np.int64)

    disease = m.disease.spin(rng, same)
    years = m.age.spin(rng, disease)
    sex = _sex(rng, m.women[disease], years)
    admitted = m.day.spin(rng, m.pattern[disease])
    age_in_days = (years * YEAR + rng.random(n) * m.age_span[disease]).astype(np.int64)

    zip_code = m.zip_code.spin(rng, same)
    ethnicity = m.ethnicity.spin(rng, m.region[zip_code])
    education = m.education.spin(rng, years)
    name = _name(rng, m, sex, m.style.spin(rng, ethnicity))

    stay = m.stay[disease] * (0.65 + 0.005 * years) * spread(rng, n, sigma=0.6)
    nights = np.clip(np.rint(stay), 1, _LONGEST_STAY)
    cost = (m.base[disease] + _COST_PER_DAY * nights) * spread(rng, n, sigma=0.3)

    # Only now, for the true value of a missing cell has shaped other cells.
    zip_code[rng.random(n) < MISSING["zip_code"]] = len(m.region)
    ethnicity[rng.random(n) < MISSING["ethnicity"]] = len(ETHNICITIES)
    unasked = np.where(years < 18, MISSING["education of children"], MISSING["education"])
    education[rng.random(n) < unasked] = len(EDUCATIONS)
    cost[rng.random(n) < MISSING["cost"]] = np.nan

    return pl.DataFrame(
        {
            "name": m.column("name", name),
            "birth_date": _dates(admitted - age_in_days),
            "sex": m.column("sex", sex),
            "zip_code": m.column("zip_code", zip_code),
            "ethnicity": m.column("ethnicity", ethnicity),
            "education": m.column("education", education),
            "admission_date": _dates(admitted),
            "length_of_stay": nights.astype(np.int64),
            "diagnosis": m.column("diagnosis", disease),
            "cost": pl.Series(np.round(cost, 2), nan_to_null=True),
        }
    )


def _sex(rng: np.random.Generator, women: Floats, years: Ints) -> Ints:
    """Draw the sex; among the old there are more women, save where a disease knows one sex only."""
    either = (women > 0) & (women < 1)
    share = women + either * 0.004 * np.maximum(years - 70, 0)
    sex = np.where(rng.random(len(years)) < share, SEXES.index("F"), SEXES.index("M"))
    sex[either & (rng.random(len(years)) < _SHARE_X)] = SEXES.index("X")
    return sex


def _name(rng: np.random.Generator, m: Model, sex: Ints, style: Ints) -> Ints:
    """Draw the number of a full name, counted in the order of the model's labels."""
    same = np.zeros(len(sex), dtype=np.int64)
    men = np.where(sex == SEXES.index("X"), rng.random(len(sex)) < 0.5, sex).astype(np.int64)
    first = (style * 2 + men) * FIRST_NAMES + m.first_name.spin(rng, same)
    return first * LAST_NAMES + m.last_name.spin(rng, same)


def _dates(days: Ints) -> pl.Series:
    """Count days from the first day of admission."""
    return pl.Series((FIRST_DAY.astype(np.int64) + days).astype(np.int32)).cast(pl.Date)
