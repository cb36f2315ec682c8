"""The vocabulary of the demo table as arrays and wheels to draw from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

import numpy as np
import polars as pl

from kohort.datasets import _vocabulary as people
from kohort.datasets._diseases import AGES, DISEASES, NEWBORN_DAYS, SEASONS, WEEKDAYS
from kohort.datasets._draws import Floats, Ints, Wheels

FIRST_DAY = np.datetime64("2023-01-01")
DAYS = 731  # 2023 and 2024
MAX_AGE = 102
YEAR = 365.25
SEXES = ("F", "M", "X")


@dataclass(frozen=True)
class Model:
    """All that `patients` needs to know; the comments say which wheel a row spins."""

    # One entry per disease.
    women: Floats
    stay: Floats
    base: Floats
    pattern: Ints  # the wheel of `day`
    age_span: Floats  # days over which the age within a year of life spreads
    # One entry per postal code.
    region: Ints

    disease: Wheels
    age: Wheels  # by disease
    day: Wheels  # by season and weekday pattern
    zip_code: Wheels
    ethnicity: Wheels  # by region
    education: Wheels  # by age in years
    style: Wheels  # by ethnicity
    first_name: Wheels
    last_name: Wheels

    labels: dict[str, pl.Series]  # by column: what its codes stand for, the last code for missing

    def column(self, name: str, codes: Ints) -> pl.Series:
        """Spell out the codes of a column; a code beyond the labels is a missing cell."""
        return self.labels[name].gather(codes)


@cache
def model() -> Model:
    """Build the model once per process; it takes some milliseconds."""
    diseases = list(DISEASES.values())
    curves = [AGES[d.ages] for d in diseases]
    patterns = [(season, planned) for season in SEASONS for planned in (False, True)]
    years = np.arange(MAX_AGE + 1)
    education_step = np.searchsorted(list(people.EDUCATION_FROM_AGE), years, side="right") - 1
    return Model(
        women=np.array([d.women for d in diseases]),
        stay=np.array([d.stay for d in diseases]),
        base=np.array([d.base for d in diseases]),
        pattern=np.array([patterns.index((d.season, d.planned)) for d in diseases]),
        age_span=np.array([NEWBORN_DAYS.get(name, YEAR) for name in DISEASES]),
        region=np.repeat(np.arange(len(people.REGIONS)), [r.codes for r in people.REGIONS]),
        disease=Wheels.of([d.admissions for d in diseases]),
        age=Wheels.of([np.interp(years, list(curve), list(curve.values())) for curve in curves]),
        day=Wheels.of([_day_weights(season, planned) for season, planned in patterns]),
        zip_code=Wheels.of(np.concatenate([r.patients * _zipf(r.codes) for r in people.REGIONS])),
        ethnicity=Wheels.of([r.ethnicities for r in people.REGIONS]),
        education=Wheels.of(np.array(list(people.EDUCATION_FROM_AGE.values()))[education_step]),
        style=Wheels.of(people.STYLE_OF_ETHNICITY),
        first_name=Wheels.of(1.0 / np.arange(8, 8 + people.FIRST_NAMES)),
        last_name=Wheels.of(1.0 / np.arange(5, 5 + people.LAST_NAMES)),
        labels={
            "name": _labels(_full_names()),
            "sex": _labels(SEXES),
            "zip_code": _labels(_zip_codes()),
            "ethnicity": _labels(people.ETHNICITIES),
            "education": _labels(people.EDUCATIONS),
            "diagnosis": _labels(DISEASES),
        },
    )


def _labels(values: Iterable[str]) -> pl.Series:
    return pl.Series([*values, None], dtype=pl.String)


def _zipf(size: int) -> Floats:
    """Shares that fall with the rank, and sum to one."""
    weights: Floats = 1.0 / np.arange(1, size + 1)
    shares: Floats = weights / weights.cumsum()[-1]
    return shares


def _zip_codes() -> Iterable[str]:
    # Steps of 37 visit all hundred endings, and keep frequent codes from being neighbours.
    return (f"{r.prefix}{(37 * i + 1) % 100:02}" for r in people.REGIONS for i in range(r.codes))


def _full_names() -> Iterable[str]:
    """Every first name with every last name, so that a drawn name is one number."""
    return (
        f"{first} {last}"
        for style in people.NAMES
        for names in (style.women, style.men)
        for first in names.split()
        for last in style.last.split()
    )


def _day_weights(season: str, planned: bool) -> Floats:
    """How many admissions each day of the two years has."""
    day = np.arange(DAYS)
    mid_months = (np.arange(12) + 0.5) * (YEAR / 12)
    seasonal = np.interp(day % 365, mid_months, SEASONS[season], period=YEAR)
    weekday = (day + 6) % 7  # the first day is a Sunday, and Monday is zero
    weights: Floats = seasonal * np.array(WEEKDAYS[planned])[weekday]
    return weights
