"""What a column looks like: how many values, of which shape, and whether they are of a kind that names people."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cache, cached_property
from statistics import mean

import polars as pl

from kohort.policy import Column
from kohort.policy.hierarchy.suggest.periods import period_of
from kohort.policy.notation import Notation
from kohort.policy.sections import ColumnType
from kohort.reports.propose.marks import PLAIN, Marks, marks_of, resolved
from kohort.reports.propose.patterns import (
    CAPITALS,
    PATTERNS,
    share_of,
    share_of_names,
    share_of_numbers,
    share_of_telephones,
)
from kohort.reports.propose.words import is_amount, is_code_name
from kohort.table.dates import read_dates
from kohort.table.numbers import in_points
from kohort.table.types import infer

_FEW_CODES = 60
"""Whole numbers with gaps are taken for codes if they are no more than these."""
SAMPLE = 2_000
"""Distinct texts that are looked at, one by one."""
_FORMS = (
    "%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%d-%m-%Y", "%m-%d-%Y", "%Y.%m.%d", "%Y%m%d",
    "%d %b %Y", "%d %B %Y", "%b %d, %Y", "%B %d, %Y", "%d-%b-%Y", "%d. %B %Y", "%Y%j", "%d %m %Y", "%Y %m %d",
    "%d/%b/%Y", "%d.%b.%Y", "%b %d %Y", "%B %d %Y", "%d-%B-%Y", "%d de %B de %Y", "%d. %b %Y", "%d%b%Y",
)  # fmt: skip
_TIMES = (
    "", " %H:%M", " %H:%M:%S", "T%H:%M", "T%H:%M:%S", "T%H:%M:%SZ", " %H:%M:%S.%f", "T%H:%M:%S.%f", "T%H:%M:%S.%fZ",
    "T%H:%M:%S%z", "T%H:%M:%S.%f%z", " %H:%M:%S%z", " %H:%M:%S %z", ", %H:%M", ", %H:%M:%S", " %Hh%M", " - %H:%M",
    " %H.%M", " %I:%M %p", " %I:%M:%S %p", " %I:%M%p", ", %I:%M %p",
)  # fmt: skip
_DATES = (
    r"^\d{1,4}[-./ ]+(\d{1,2}|[^\W\d_]{3,12}\.?)[-./ ]+\d{1,4}([ T,].*)?$",
    r"^\d{1,2} de [^\W\d_]{3,12} de \d{4}",
    r"^[^\W\d_]{3,9}\.? \d{1,2},? \d{4}$",
    r"^\d{8}$",
    r"^\d{1,2}[^\W\d_]{3}\d{2}(\d{2})?([ T:].*)?$",
)
"""What dates look like, whatever their form."""


@dataclass(frozen=True)
class Dates:
    """How the texts of a column are dates: the formats that fit all of them, or how many fit none."""

    forms: tuple[str, ...]
    unread: int


@dataclass(frozen=True)
class Look:
    """A column of a table, missing values left out."""

    name: str
    values: pl.Series
    rows: int
    marks: Marks | None = None
    """How its texts write numbers, if they have marks."""
    notation: Notation | None = None
    """The reading that was chosen; None for plain numbers, and where none can be."""

    @property
    def missing(self) -> int:
        """Records without a value."""
        return self.rows - len(self.values)

    @cached_property
    def counts(self) -> pl.Series:
        """How many records each distinct value has."""
        return self.values.to_frame("value").group_by("value").len().get_column("len")

    @property
    def distinct(self) -> int:
        """Number of distinct values."""
        return len(self.counts)

    @property
    def alone(self) -> float:
        """Share of records that are the only ones with their value."""
        return float((self.counts == 1).sum() / max(1, len(self.values)))

    @property
    def is_own(self) -> bool:
        """Whether nearly every record has a value of its own."""
        return len(self.values) >= 2 and self.distinct > 0.9 * len(self.values)

    @property
    def singles_out(self) -> bool:
        """Whether more than a tenth of the records are found by this value alone, or persons with few records each."""
        return self.alone > 0.1 or self.is_own or self.distinct > max(50, 0.15 * len(self.values))

    @property
    def is_coarse(self) -> bool:
        """Whether values are shared by many records."""
        return self.distinct <= max(2, min(100, len(self.values) // 5)) and not self.singles_out

    @property
    def is_text(self) -> bool:
        """Whether cells are texts."""
        return self.values.dtype == pl.String

    @cached_property
    def type(self) -> ColumnType | None:
        """The type that all texts have; None for a column that has a type."""
        return infer(self.plain, Column(role="quasi")) if self.is_text else None

    @cached_property
    def plain(self) -> pl.Series:
        """Its values, numbers in a notation of their own as plain ones."""
        return self.values if self.notation is None else in_points(self.values, self.notation)

    @property
    def is_doubtful(self) -> bool:
        """Whether its texts are numbers that can be read in two ways."""
        return self.marks is not None and self.marks.notation is None

    @property
    def is_number(self) -> bool:
        """Whether all values are numbers."""
        return self.values.dtype.is_numeric() or self.type in ("integer", "number")

    @property
    def is_measured(self) -> bool:
        """Whether it holds numbers with decimals."""
        return self.values.dtype.is_float() or self.type == "number"

    @cached_property
    def texts(self) -> list[str]:
        """Some of the distinct texts, without blanks around them."""
        if not self.is_text:
            return []
        return self.values.unique(maintain_order=True).head(SAMPLE).str.strip_chars().to_list()

    @cached_property
    def dates(self) -> Dates | None:
        """How its texts are dates; None if they are none."""
        if not self.texts or (self.is_number and not self._digits_of_dates):
            return None
        if share_of(self.texts, *_DATES) < 0.5:
            return None
        shapes = {_shape(text) for text in self.texts[:100]}
        fitting = [form + time for form in _forms() for time in _TIMES if _shape(form + time) in shapes]
        everything = self.values.unique().str.strip_chars()
        unread = {form: read_dates(everything, form).null_count() for form in fitting}
        whole = tuple(form for form, number in unread.items() if number == 0)
        return Dates(whole, 0 if whole else min(unread.values(), default=len(everything)))

    @property
    def _digits_of_dates(self) -> bool:
        """Whether numbers of eight digits are all dates of the last two centuries."""
        likely = share_of(self.texts, r"^(1[89]|20)\d{6}$") == 1
        return likely and read_dates(pl.Series(self.texts), "%Y%m%d").null_count() == 0

    @cached_property
    def is_of_days(self) -> bool:
        """Whether it holds dates, moments or times."""
        return self.values.dtype in (pl.Date, pl.Datetime, pl.Time) or self.dates is not None

    @cached_property
    def is_of_periods(self) -> bool:
        """Whether its texts are months, quarters or weeks of years."""
        return not self.is_number and len(self.texts) > 1 and all(period_of(text) is not None for text in self.texts)

    @cached_property
    def is_of_years(self) -> bool:
        """Whether it holds years of the last two centuries."""
        numbers = self._whole_numbers
        return numbers is not None and bool(numbers.is_between(1880, 2100).all())

    @property
    def _whole_numbers(self) -> pl.Series | None:
        if self.type == "integer":
            found = self.plain.str.strip_chars().cast(pl.Int64, strict=False).drop_nulls()
        elif self.values.dtype.is_integer():
            found = self.values.cast(pl.Int64, strict=False).drop_nulls()
        else:
            return None
        return found if len(found) else None

    @cached_property
    def is_of_records(self) -> bool:
        """Whether numbers are broken, and most are small or many have no other record: weights of bodies are not so."""
        numbers = self.plain.cast(pl.String).str.strip_chars().cast(pl.Float64, strict=False).drop_nulls()
        median = numbers.median()
        is_fine = len(numbers) > 500 and self.distinct > 0.3 * len(numbers)
        return isinstance(median, float) and (median < 20 or is_fine) and bool((numbers != numbers.round()).any())

    @cached_property
    def is_code_by_name(self) -> bool:
        """Whether whole numbers are digits of a code: its name says so, or they have gaps and equally many digits."""
        numbers = self._whole_numbers
        if numbers is None or self.notation is not None or self.is_of_years or self.is_of_days:
            return False
        if is_code_name(self.name):
            return True
        low, high = int(numbers.min()), int(numbers.max())  # type: ignore[arg-type]
        has_gaps = high - low + 1 > 4 * self.distinct and low >= 100 and len(str(low)) == len(str(high))
        return has_gaps and self.distinct <= _FEW_CODES and not is_amount(self.name)

    @cached_property
    def patterns(self) -> dict[str, float]:
        """Shares of distinct texts of a kind that names people or machines, those that occur."""
        if not self.texts:
            numbers = self._whole_numbers
            long = 0.0 if numbers is None else float((numbers.abs() >= 10**8).sum() / len(numbers))
            return {"long numbers, as of accounts and cards": long} if long else {}
        found = {what: share_of(self.texts, *alternatives) for what, alternatives in PATTERNS.items()}
        is_plain = self.type == "integer" and self.notation is None and share_of(self.texts, r"^[+0]") < 0.5
        found["telephone numbers"] *= not self.is_of_days and not is_plain
        if not self.is_of_days and (not self.is_number or self.notation is not None):
            found["telephone numbers"] = max(found["telephone numbers"], share_of_telephones(self.texts))
        if not self.is_of_days:
            found["numbers with check digits, as of people and accounts"] = share_of_numbers(self.texts)
        found["names of people"] = 0.0 if self.is_number else share_of_names(self.texts)
        return {what: share for what, share in found.items() if share > 0}

    @cached_property
    def is_prose(self) -> bool:
        """Whether it holds free text: sentences, or long texts that are nearly all different."""
        if not self.texts or self.is_number or self.is_of_days:
            return False
        words, letters = (mean(map(size, self.texts)) for size in (lambda text: len(text.split()), len))
        return letters > 60 or words > 8 or (words > 4 and self.distinct > 0.3 * len(self.values))

    @cached_property
    def has_shape_of_names(self) -> bool:
        """Whether nearly all of many texts are two to four words with capitals: people, whom no list of names knows."""
        return len(self.texts) > 20 and not self.is_coarse and share_of(self.texts, CAPITALS, ignore_case=False) >= 0.9

    @cached_property
    def is_code(self) -> bool:
        """Whether it holds texts of digits and letters in one shape, such as A12.3 or 00371."""
        return bool(self.texts) and share_of(self.texts, r"^[A-Z]{0,5}[-_ ]?\d[\dA-Z./_-]*$", ignore_case=False) > 0.9


def look_at(series: pl.Series, missing: Sequence[str]) -> Look:
    """Look at a column; these texts stand for missing values."""
    if series.dtype == pl.String:
        series = series.set(series.is_in(pl.Series(missing).implode()).fill_null(value=False), None)
    elif series.dtype == pl.Boolean:
        series = series.cast(pl.String)
    values = series.drop_nulls()
    marks = marks_of(values) if values.dtype == pl.String else None
    chosen = None if marks is None or marks.notation in (None, PLAIN) else marks.notation
    return Look(series.name, values, len(series), marks, chosen)


def with_marks_of_all(looks: Mapping[str, Look]) -> dict[str, Look]:
    """Looks at all columns, those in doubt about their numbers read as the others write theirs."""
    sure = {look.marks.notation.decimal for look in looks.values() if look.marks and look.marks.notation}
    return {
        name: replace(look, notation=resolved(look.marks, sure)) if look.marks and look.is_doubtful else look
        for name, look in looks.items()
    }


@cache
def _forms() -> tuple[str, ...]:
    """Formats of days that are common; years of two digits are taken to be no later than this one."""
    short = f"%<{date.today().year}y"
    ends = tuple(form.replace("%Y", short) for form in _FORMS if form.endswith(("/%Y", ".%Y", "-%Y", " %Y")))
    return (*_FORMS, *ends, *(form.replace("%Y", short) for form in ("%Y-%m-%d", "%Y/%m/%d", "%d%b%Y")))


@cache
def _shape(text: str) -> str:
    """What stands between the numbers and words of a date, or of a format of dates."""
    form = re.sub("%Y%[mj](%d)?", "9", re.sub("%<[0-9]{4}y", "%Y", text))
    plain = re.sub("%[bBp]", "a", re.sub("%[YmdjHIMSfz]", "9", form))
    return re.sub(r"[^\W\d_]+", "a", re.sub(r"[0-9]+", "9", re.sub(r"(?<=:\d\d)[+-]\d\d:?\d\d$", "9", plain)))
