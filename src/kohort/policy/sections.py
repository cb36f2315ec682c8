"""The sections of a policy, each immutable and closed to unknown keys."""

from __future__ import annotations

import codecs
import math
import re
from collections.abc import Mapping
from datetime import date
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from kohort.policy.formats import format_fault
from kohort.policy.notation import DecimalMark, ThousandsMark, marks_fault

Role = Literal["identifier", "quasi", "sensitive", "insensitive"]
ColumnType = Literal["integer", "number", "date", "string", "set"]
Anonymity = Literal["classes", "matchings", "buckets"]
PRECISION = ("snap", "bottom", "top", "min_width")
"""Keys of a column that keep what is published from being too precise."""
_MOST_MISSING = 1000
"""Texts for missing values; every cell is compared with all of them."""
_NO_CELL = re.compile("[\\0\\ud800-\\udfff]")
"""What no cell holds: NUL, and halves of characters."""
_NO_TEXTS = frozenset(
    ("idna", "mbcs", "oem", "palmos", "punycode", "raw-unicode-escape", "undefined", "unicode-escape", "utf-7")
)
"""Encodings of Python in which one text may be written in several ways, or that not every machine has."""


class Section(BaseModel):
    """A part of the policy: immutable, and closed to unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Input(Section):
    """How the table is read."""

    missing: tuple[str, ...] = Field(default=("",), strict=False)
    """Texts that stand for a missing value. Nulls of typed files always do."""
    delimiter: str | None = Field(default=None, min_length=1, max_length=1)
    """Delimiter of a CSV file; sniffed when absent."""
    quote: str | None = Field(default=None, max_length=1)
    """Quote character of a CSV file, empty for none; ``"`` when absent."""
    encoding: str | None = None
    """Encoding of a CSV file; sniffed (UTF-8, UTF-16, else Windows-1252) when absent."""
    decimal: DecimalMark | None = None
    """Decimal mark in texts of columns of type integer or number; a point when absent."""
    thousands: ThousandsMark | None = None
    """Mark between thousands in such texts; none when absent."""
    skip_rows: int = Field(default=0, ge=0, le=10_000)
    """Lines of a CSV file, or rows of an Excel sheet, before the header: titles, dates of export and the like."""
    sheet: str | None = Field(default=None, min_length=1)
    """Sheet of an Excel file; needed where it has several."""
    labels: Literal["labels", "codes"] = "labels"
    """SPSS, Stata and SAS: read a column whose values all have labels as these, or as its codes."""

    @field_validator("delimiter", "quote")
    @classmethod
    def _is_usable(cls, character: str | None) -> str | None:
        if character and not (character == "\t" or " " <= character <= "~"):
            raise ValueError("must be a printable ASCII character or a tab")
        if character and character.isalnum():
            raise ValueError("must be no letter and no digit, as cells hold these")
        return character

    @field_validator("missing")
    @classmethod
    def _are_few(cls, texts: tuple[str, ...]) -> tuple[str, ...]:
        if len(texts) > _MOST_MISSING:
            raise ValueError(f"must list {_MOST_MISSING:,} texts or fewer; make all of these one text in the table")
        if any(_NO_CELL.search(text) for text in texts):
            raise ValueError("must list texts that a file can hold; remove those with NUL or half characters")
        return texts

    @field_validator("encoding")
    @classmethod
    def _is_text(cls, encoding: str | None) -> str | None:
        if encoding is not None:
            _codec(encoding)
        return encoding

    @property
    def codec(self) -> str | None:
        """Python's name of the encoding; with UTF-8, a mark at the beginning is no text."""
        return None if self.encoding is None else _codec(self.encoding)

    @model_validator(mode="after")
    def _characters_differ(self) -> Self:
        if fault := marks_fault(self.decimal, self.thousands):
            raise ValueError(fault)
        if self.delimiter is not None and self.delimiter == self.quote:
            raise ValueError("the delimiter and the quote must be different characters")
        if self.delimiter == '"':
            raise ValueError("the delimiter must be another character than the quote of the release")
        return self


class Privacy(Section):
    """What is promised."""

    k: int = Field(ge=2)
    """Every record is one of at least k that look alike; `anonymity` says in which way."""
    anonymity: Anonymity = "classes"
    """Equal published combinations, perfect matchings, or buckets of sensitive values: see docs/policy.md."""
    person: str | None = None
    """Column that says who a record is about: k then counts different persons, not records."""
    models: tuple[dict[str, Any], ...] = Field(default=(), strict=False)
    """Further privacy models, each ``{ model = NAME, ... }``."""
    suppression_limit: float = Field(default=0.0, ge=0, le=1)
    """Largest share of records that may be suppressed."""
    missing: Literal["own-value", "wildcard", "suppress", "refuse"] = "own-value"
    """What a missing quasi-identifier means: see docs/policy.md."""

    def may_suppress(self, records: int, of: int) -> bool:
        """Whether that many records are within the limit, taken as the decimal that the policy writes."""
        return records <= Fraction(str(self.suppression_limit)) * of


class Named(Section):
    """A choice by name, with its parameters."""

    model_config = ConfigDict(frozen=True, extra="allow", strict=True)

    name: str

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters beside the name."""
        return dict(self.__pydantic_extra__ or {})


class Algorithm(Section):
    """How records are grouped."""

    name: str = "auto"
    """One of ``kohort algorithms``."""
    parameters: dict[str, Any] = {}
    """Parameters of the algorithm."""
    measure: Named = Named(name="ncp")
    """One of ``kohort measures``: a name, or ``{ name = "whd", beta = 2.0 }``."""
    seed: int | None = Field(default=None, ge=0, lt=2**63)
    """Seed of the clustering; drawn afresh, and kept in the private verdict, when absent."""
    refine: bool = False
    """Whether what the algorithm found is improved by local search."""
    budget: str | None = None
    """Time for the local search, such as ``30s`` or ``5min``; by the size of the table when absent."""

    bound_effort: float = Field(default=5.0, ge=0, le=1e6)
    """Effort for the lower bound that the loss is compared with, about seconds; 0 for none."""

    @field_validator("budget")
    @classmethod
    def _is_time(cls, budget: str | None) -> str | None:
        if budget is not None and not re.fullmatch(r"(?=.*[1-9])[0-9]{1,9}(\.[0-9]{1,9})?(ms|s|min|h)", budget):
            raise ValueError("must be a number above 0 with its unit, ms, s, min or h, such as '30s'")
        return budget

    @property
    def seconds(self) -> float | None:
        """The budget in seconds."""
        if self.budget is None:
            return None
        unit = self.budget.lstrip("0123456789.")
        return float(self.budget.removesuffix(unit)) * {"ms": 0.001, "s": 1.0, "min": 60.0, "h": 3600.0}[unit]

    @model_validator(mode="before")
    @classmethod
    def _measure_by_name(cls, data: Any) -> Any:
        if isinstance(data, Mapping) and isinstance(data.get("measure"), str):
            return {**data, "measure": {"name": data["measure"]}}
        return data


class PseudonymKey(Section):
    """Where the secret key of pseudonyms is: exactly one of the keys. The policy never holds it."""

    env: str | None = Field(default=None, min_length=1)
    """Name of an environment variable."""
    file: str | None = Field(default=None, min_length=1)
    """Path of a file."""

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        if len(self.model_fields_set) != 1:
            raise ValueError("must have exactly one of env, file")
        return self


class Output(Section):
    """How the release is written."""

    order: Literal["shuffled", "kept"] = "shuffled"
    """Row order: shuffled with fresh secret entropy, or that of the input."""
    shuffle_seed: int | None = Field(default=None, ge=0, lt=2**63)
    """A fixed seed for the shuffle, where a byte-identical file is wanted."""
    suppressed: Literal["withheld", "starred"] = "withheld"
    """Suppressed records are left out, or published with every quasi-identifier ``*``."""
    formulas: Literal["kept", "neutralised"] = "kept"
    """Whether CSV cells that a spreadsheet would run as a formula get a leading apostrophe."""
    bounds: bool = False
    """Add ``<column>_lo``, ``<column>_hi`` and the middle, ``<column>_mid``, beside interval columns."""
    pseudonym_key: PseudonymKey | None = None
    """Where the key of pseudonyms is: ``{ env = "NAME" }`` or ``{ file = "PATH" }``."""


class Intervals(Section):
    """Equal bins: the width of the finest level and the coarser levels as its multiples."""

    width: float = Field(gt=0)
    levels: tuple[int, ...] = Field(default=(1, 2, 4), strict=False, min_length=1)
    origin: float = 0.0


class Hierarchy(Section):
    """Where a column's taxonomy comes from: exactly one of the keys."""

    file: str | None = None
    prefix: tuple[int, ...] | None = Field(default=None, strict=False, min_length=1)
    intervals: Intervals | None = None
    cuts: tuple[Annotated[tuple[float, ...], Field(strict=False)], ...] | None = Field(
        default=None, strict=False, min_length=1
    )
    dates: tuple[Literal["month", "quarter", "year", "decade"], ...] | None = Field(
        default=None, strict=False, min_length=1
    )
    flat: Literal[True] | None = None
    tree: dict[str, Any] | list[Any] | None = None

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        given = self.model_fields_set
        if len(given) != 1:
            raise ValueError(f"must have exactly one of {', '.join(type(self).model_fields)}")
        return self

    @property
    def is_of_texts(self) -> bool:
        """Whether its leaves are texts as they are written: none of numbers or dates."""
        return bool(self.file or self.tree or self.prefix or self.flat)

    @property
    def kind(self) -> str:
        """The key that is given: where the taxonomy comes from."""
        return next(iter(self.model_fields_set))


class Column(Section):
    """What a column is, and how it may be generalized."""

    role: Role
    type: ColumnType | None = None
    """Inferred when absent; an error when the data disagree."""
    weight: float = Field(default=1.0, ge=0, le=1000)
    """Relative weight of the column in the loss; of a sensitive one, in the distance of sensitive values."""
    hierarchy: Hierarchy | None = None
    """Taxonomy; without one, numbers and dates become intervals, and texts are kept or ``*``."""
    domain: tuple[float, ...] | None = Field(default=None, strict=False)
    """Declared range of a numeric column; the range of the table when absent."""
    format: str | None = None
    """strptime format of a date column; ISO ``YYYY-MM-DD`` when absent."""
    decimal: DecimalMark | None = None
    """Decimal mark in the texts of a column of type integer or number; that of ``[input]`` when absent."""
    thousands: ThousandsMark | None = None
    """Mark between thousands in them. A column that has one of both marks takes none from ``[input]``."""
    pseudonym: bool = False
    """Whether an identifier is published as a keyed pseudonym instead of being dropped."""
    snap: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    """Ends of intervals are multiples of it; days for dates."""
    bottom: float | str | None = None
    """Values up to it are published as one, ``<= bottom``: a number, or a date."""
    top: float | str | None = None
    """Values from it on are published as one, ``>= top``."""
    min_width: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    """No interval is narrower; days for dates."""
    separator: str | None = Field(default=None, min_length=1, max_length=1)
    """What stands between the items of a set in a text; when absent, such texts are JSON arrays."""
    item_suppression_limit: float = Field(default=0.0, ge=0, le=1)
    """Largest share of the items of all sets that may be left out of them."""

    @field_validator("bottom", "top", mode="before")
    @classmethod
    def _date_as_text(cls, border: Any) -> Any:
        return border.isoformat() if type(border) is date else border

    @field_validator("bottom", "top")
    @classmethod
    def _is_border(cls, border: float | str | None) -> float | str | None:
        try:
            if isinstance(border, str):
                date.fromisoformat(border)
        except ValueError:
            border = math.inf
        if isinstance(border, float) and not math.isfinite(border):
            raise ValueError("must be a number, or a date such as 1930-01-01")
        return border

    @field_validator("separator")
    @classmethod
    def _separates(cls, separator: str | None) -> str | None:
        if separator is not None and (not " " < separator <= "~" or separator.isalnum() or separator in "\"'()[]*"):
            raise ValueError("must be a printable ASCII character, and no letter, digit, blank, quote, bracket or star")
        return separator

    @field_validator("domain")
    @classmethod
    def _is_range(cls, domain: tuple[float, ...] | None) -> tuple[float, ...] | None:
        if domain is not None and not (len(domain) == 2 and -math.inf < domain[0] < domain[1] < math.inf):
            raise ValueError("must be [smallest, largest], two numbers with smallest < largest")
        return domain

    @model_validator(mode="before")
    @classmethod
    def _hierarchy_file(cls, data: Any) -> Any:
        if isinstance(data, str):
            data = {"role": data}
        if isinstance(data, Mapping) and isinstance(data.get("hierarchy"), str):
            return {**data, "hierarchy": {"file": data["hierarchy"]}}
        return data

    @model_validator(mode="after")
    def _keys_fit_the_role(self) -> Self:
        faults = []
        if self.role not in ("quasi", "sensitive") and "weight" in self.model_fields_set:
            faults.append("'weight' is for quasi and sensitive columns only; remove it or change the role")
        if self.role == "sensitive" and self.weight == 0:
            faults.append("a sensitive column needs a weight above 0; remove it or change the role")
        if self.role != "quasi":
            faults += [
                f"'{key}' is for quasi columns only; remove it or change the role"
                for key in ("domain", *PRECISION)
                if key in self.model_fields_set
            ]
        if self.role != "identifier" and self.pseudonym:
            faults.append("'pseudonym' is for identifiers only; remove it or change the role")
        if self.role in ("identifier", "insensitive") and self.hierarchy is not None:
            faults.append(f"a column of role '{self.role}' has no use for a hierarchy; remove it")
        faults += self._set_faults()
        if self.domain is not None and self.hierarchy is not None:
            faults.append("'domain' is for columns that become intervals; remove it, or the hierarchy")
        if self.domain is not None and self.type in ("date", "string"):
            faults.append("'domain' is for numeric columns only; remove it")
        faults += self._precision_faults()
        if self.format is not None and self.type != "date":
            faults.append("'format' needs type = \"date\"")
        elif self.format is not None and (fault := format_fault(self.format)):
            faults.append(fault)
        if (self.decimal or self.thousands) and self.type not in ("integer", "number"):
            faults.append("'decimal' and 'thousands' need type = \"integer\" or \"number\"")
        if (self.decimal or self.thousands) and self.hierarchy is not None and self.hierarchy.is_of_texts:
            faults.append("'decimal' and 'thousands' are for numbers, and this hierarchy is one of texts; remove them")
        if fault := marks_fault(self.decimal, self.thousands):
            faults.append(fault)
        if faults:
            raise ValueError("; ".join(faults))
        return self

    @property
    def is_set(self) -> bool:
        """Whether each cell is a set of items."""
        return self.type == "set"

    def _set_faults(self) -> list[str]:
        """What is wrong with a column of sets, or with keys that only such a column has."""
        if not self.is_set:
            given = [key for key in ("separator", "item_suppression_limit") if key in self.model_fields_set]
            return [f"'{key}' needs type = \"set\"" for key in given]
        faults = []
        if self.role != "quasi":
            faults.append(
                "a column of type 'set' must be quasi; give it this role, or drop it as an identifier of no type"
            )
        if self.hierarchy is not None and not self.hierarchy.is_of_texts:
            faults.append("the hierarchy of a set is one of its items: a file, a tree, prefix or flat")
        if self.weight == 0:
            faults.append("a column of type 'set' needs a weight above 0")
        if self.domain is not None:
            faults.append("'domain' is for numeric columns only; remove it")
        return faults

    def _precision_faults(self) -> list[str]:
        """What is wrong with the keys against too much precision, as far as it is known without the table."""
        given = [key for key in PRECISION if getattr(self, key) is not None]
        if not given or self.role != "quasi":
            return []
        names = ", ".join(f"'{key}'" for key in given)
        if self.hierarchy is not None:
            return [f"{names} is for columns that become intervals; remove it, or the hierarchy"]
        if self.type in ("string", "set"):
            return [f"{names} is for numbers and dates; remove it"]
        borders = [border for border in (self.bottom, self.top) if border is not None]
        kinds = {isinstance(border, str) for border in borders}
        if len(kinds) > 1 or (self.type is not None and kinds == {self.type != "date"}):
            return ["'bottom' and 'top' must be of the type of the column: numbers, or dates"]
        with localcontext(prec=1500):  # exact for all that a double holds
            return self._grid_faults(borders)

    def _grid_faults(self, borders: list[float | str]) -> list[str]:
        places = [_place(border) for border in borders]
        faults = []
        if self.snap is not None:
            snap = Decimal(str(self.snap))
            for key, border in (("bottom", self.bottom), ("top", self.top)):
                off = _place(border) % snap if border is not None else 0
                if border is not None and off:
                    # the remainder has the sign of the place
                    below = _place(border) - off - (snap if off < 0 else 0)
                    near = " and ".join(_written(place, border) for place in (below, below + snap))
                    faults.append(f"'{key}' must be a multiple of 'snap'; the nearest are {near}")
            if self.min_width is not None and Decimal(str(self.min_width)) % snap:
                faults.append("'min_width' must be a multiple of 'snap'")
        least = max(Decimal(str(self.min_width or 0)), Decimal(str(self.snap or 0)))
        if len(places) == 2 and not (places[0] < places[1] and places[1] - places[0] >= least):
            faults.append("'top' must be above 'bottom', at least 'snap' and 'min_width' above it")
        return faults


def _codec(encoding: str) -> str:
    """Python's name of an encoding of texts; it has some of bytes, of host names and of its own source, too."""
    try:
        name = codecs.lookup(encoding).name
        "".encode(encoding)
        codecs.getincrementaldecoder(encoding)
    except (LookupError, ValueError):
        name = "undefined"
    if name in _NO_TEXTS:
        raise ValueError("must be an encoding of texts that Python knows, such as utf-8 or cp1252")
    return "utf-8-sig" if name == "utf-8" else name


def _place(border: float | str) -> Decimal:
    """A number as it is, a date as days since Monday, 0001-01-01."""
    return Decimal(date.fromisoformat(border).toordinal() - 1 if isinstance(border, str) else str(border))


def _written(place: Decimal, like: float | str) -> str:
    """A place as the policy would write it."""
    return date.fromordinal(int(place) + 1).isoformat() if isinstance(like, str) else f"{place.normalize():f}"
