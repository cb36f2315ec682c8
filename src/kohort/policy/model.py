"""The policy: what is promised about a table, column by column.

One frozen, validated type drives the library, the command line and every engine. It is read
from TOML with the line of each fault, written back to TOML, and built in Python with
:meth:`Policy.build`.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, ValidationError, field_validator, model_validator

from kohort.errors import PolicyError
from kohort.policy.faults import KeyPath, Source, closest, located, sentences, syntax_sentence, toml_key

Role = Literal["identifier", "quasi", "sensitive", "insensitive"]
ColumnType = Literal["integer", "number", "date", "string"]
Anonymity = Literal["classes", "matchings", "buckets"]
PRECISION = ("snap", "bottom", "top", "min_width")
"""Keys of a column that keep what is published from being too precise."""


class _Section(BaseModel):
    """A part of the policy: immutable, and closed to unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Input(_Section):
    """How the table is read."""

    missing: tuple[str, ...] = Field(default=("",), strict=False)
    """Texts that stand for a missing value. Nulls of typed files always do."""
    delimiter: str | None = Field(default=None, min_length=1, max_length=1)
    """Delimiter of a CSV file; sniffed when absent."""
    quote: str | None = Field(default=None, max_length=1)
    """Quote character of a CSV file, empty for none; ``"`` when absent."""
    encoding: str | None = None
    """Encoding of a CSV file; sniffed (UTF-8, UTF-16, else Windows-1252) when absent."""

    @field_validator("delimiter", "quote")
    @classmethod
    def _is_usable(cls, character: str | None) -> str | None:
        if character and not (character == "\t" or " " <= character <= "~"):
            raise ValueError("must be a printable ASCII character or a tab")
        return character

    @model_validator(mode="after")
    def _characters_differ(self) -> Self:
        if self.delimiter is not None and self.delimiter == self.quote:
            raise ValueError("the delimiter and the quote must be different characters")
        return self


class Privacy(_Section):
    """What is promised."""

    k: int = Field(ge=2)
    """Every record is one of at least k that cannot be told apart; `anonymity` says in which way."""
    anonymity: Anonymity = "classes"
    """Equal published combinations, perfect matchings, or buckets of sensitive values: see docs/policy.md."""
    person: str | None = None
    """Column that tells who a record is about: k then counts different persons, not records."""
    models: tuple[dict[str, Any], ...] = Field(default=(), strict=False)
    """Further privacy models, each ``{ model = NAME, ... }``."""
    suppression_limit: float = Field(default=0.0, ge=0, le=1)
    """Largest share of records that may be withheld."""
    missing: Literal["own-value", "wildcard", "suppress", "refuse"] = "own-value"
    """What a missing quasi-identifier means: see docs/policy.md."""

    def may_suppress(self, records: int, of: int) -> bool:
        """Whether so many records are within the limit, taken as the decimal that the policy writes."""
        return records <= Fraction(str(self.suppression_limit)) * of


class Named(_Section):
    """A choice by name, with its parameters."""

    model_config = ConfigDict(frozen=True, extra="allow", strict=True)

    name: str

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters beside the name."""
        return dict(self.__pydantic_extra__ or {})


class Algorithm(_Section):
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
        if budget is not None and not re.fullmatch(r"\d+(\.\d+)?(ms|s|min|h)", budget):
            raise ValueError("must be a number with its unit, ms, s, min or h, such as '30s'")
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


class PseudonymKey(_Section):
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


class Output(_Section):
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
    """Parquet and frames: add typed ``<column>_lo`` and ``<column>_hi`` beside interval columns."""
    pseudonym_key: PseudonymKey | None = None
    """Where the key of pseudonyms is: ``{ env = "NAME" }`` or ``{ file = "PATH" }``."""


class Intervals(_Section):
    """Equal bins: the width of the finest level and the coarser levels as its multiples."""

    width: float = Field(gt=0)
    levels: tuple[int, ...] = Field(default=(1, 2, 4), strict=False, min_length=1)
    origin: float = 0.0


class Hierarchy(_Section):
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
    tree: dict[str, Any] | None = None

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        given = self.model_fields_set
        if len(given) != 1:
            msg = f"must have exactly one of {', '.join(type(self).model_fields)}"
            raise ValueError(msg)
        return self


class Column(_Section):
    """What a column is, and how it may be generalized."""

    role: Role
    type: ColumnType | None = None
    """Inferred when absent; an error when the data disagree."""
    weight: float = Field(default=1.0, ge=0, le=1000)
    """Relative weight of the column in the loss."""
    hierarchy: Hierarchy | None = None
    """Taxonomy; without one, numbers and dates become intervals, and texts are kept or ``*``."""
    domain: tuple[float, ...] | None = Field(default=None, strict=False)
    """Declared range of a numeric column; the range of the table when absent."""
    format: str | None = None
    """strptime format of a date column; ISO ``YYYY-MM-DD`` when absent."""
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
        if self.role != "quasi":
            faults += [
                f"'{key}' is for quasi columns only; remove it or change the role"
                for key in ("weight", "domain", *PRECISION)
                if key in self.model_fields_set
            ]
        if self.role != "identifier" and self.pseudonym:
            faults.append("'pseudonym' is for identifiers only; remove it or change the role")
        if self.role in ("identifier", "insensitive") and self.hierarchy is not None:
            faults.append(f"a column of role '{self.role}' has no use for a hierarchy; remove it")
        if self.domain is not None and self.hierarchy is not None:
            faults.append("'domain' is for columns that become intervals; remove it, or the hierarchy")
        if self.domain is not None and self.type in ("date", "string"):
            faults.append("'domain' is for numeric columns only; remove it")
        faults += self._precision_faults()
        if self.format is not None and self.type != "date":
            faults.append("'format' needs type = \"date\"")
        if self.format is not None and "%y" in self.format:
            faults.append("'format' must have a year of four digits, %Y; two digits do not tell the century")
        if faults:
            raise ValueError("; ".join(faults))
        return self

    def _precision_faults(self) -> list[str]:
        """What is wrong with the keys against too much precision, as far as it can be told without the table."""
        given = [key for key in PRECISION if getattr(self, key) is not None]
        if not given or self.role != "quasi":
            return []
        names = ", ".join(f"'{key}'" for key in given)
        if self.hierarchy is not None:
            return [f"{names} is for columns that become intervals; remove it, or the hierarchy"]
        if self.type == "string":
            return [f"{names} is for numbers and dates; remove it"]
        borders = [border for border in (self.bottom, self.top) if border is not None]
        kinds = {isinstance(border, str) for border in borders}
        if len(kinds) > 1 or (self.type is not None and kinds == {self.type != "date"}):
            return ["'bottom' and 'top' must be of the type of the column: numbers, or dates"]
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


def _place(border: float | str) -> Decimal:
    """A number as it is, a date as days since Monday, 0001-01-01."""
    return Decimal(date.fromisoformat(border).toordinal() - 1 if isinstance(border, str) else str(border))


def _written(place: Decimal, like: float | str) -> str:
    """A place as the policy would write it."""
    return date.fromordinal(int(place) + 1).isoformat() if isinstance(like, str) else f"{place.normalize():f}"


class Policy(_Section):
    """Everything that decides a release except the table itself.

    Parameters mirror the tables of the TOML file: ``input``, ``privacy``, ``algorithm``,
    ``output`` and ``columns``. :meth:`build` is the short form for Python.

    Examples
    --------
    >>> policy = Policy.build(k=5, quasi_identifiers=["age", "zip"], sensitive=["disease"],
    ...                       hierarchies={"zip": {"prefix": [5, 3]}})
    >>> policy.privacy.k, policy.quasi_identifiers
    (5, ('age', 'zip'))
    >>> Policy.from_toml(policy.to_toml()) == policy
    True
    """

    input: Input = Input()
    privacy: Privacy
    algorithm: Algorithm = Algorithm()
    output: Output = Output()
    columns: dict[str, Column] = Field(min_length=1)

    _source: Source | None = PrivateAttr(default=None)
    _overridden: frozenset[KeyPath] = PrivateAttr(default=frozenset())

    @model_validator(mode="after")
    def _has_work_to_do(self) -> Self:
        quasi = [column for column in self.columns.values() if column.role == "quasi"]
        if not quasi:
            msg = "no column has role 'quasi'; name the columns that an outsider could know"
            raise ValueError(msg)
        if not any(column.weight > 0 for column in quasi):
            msg = "every quasi column has weight 0; give at least one a weight above 0"
            raise ValueError(msg)
        return self

    @model_validator(mode="after")
    def _knows_the_person(self) -> Self:
        person = self.privacy.person
        if person is not None and (person not in self.columns or self.columns[person].role != "identifier"):
            near = closest(person, self.having_role("identifier"))
            msg = f"'privacy.person' must name a column of role 'identifier', and {person!r} is none{near}"
            raise ValueError(msg)
        return self

    @model_validator(mode="after")
    def _has_a_key_for_pseudonyms(self) -> Self:
        if self.pseudonyms and self.output.pseudonym_key is None:
            msg = f"column {self.pseudonyms[0]!r} is to be a pseudonym, which needs 'pseudonym_key' in [output]"
            raise ValueError(msg)
        if self.output.pseudonym_key is not None and not self.pseudonyms:
            msg = "'output.pseudonym_key' is of no use without a pseudonym; give an identifier pseudonym = true"
            raise ValueError(msg)
        return self

    # -- making one ---------------------------------------------------------------------------

    def __init__(self, /, **sections: Any) -> None:
        try:
            super().__init__(**sections)
        except ValidationError as error:
            raise PolicyError(*sentences(error, _known_keys)) from error

    @classmethod
    def build(
        cls,
        *,
        k: int,
        quasi_identifiers: Iterable[str],
        sensitive: Iterable[str] = (),
        identifiers: Iterable[str] = (),
        pseudonyms: Iterable[str] = (),
        insensitive: Iterable[str] = (),
        hierarchies: Mapping[str, Any] | None = None,
        weights: Mapping[str, float] | None = None,
        types: Mapping[str, ColumnType] | None = None,
        person: str | None = None,
        algorithm: str | Mapping[str, Any] = "auto",
        measure: str | Mapping[str, Any] = "ncp",
        seed: int | None = None,
        suppression_limit: float = 0.0,
        missing: str = "own-value",
        output: Mapping[str, Any] | None = None,
        input: Mapping[str, Any] | None = None,
    ) -> Policy:
        """Build a policy from lists of columns.

        Parameters
        ----------
        k : int
            Smallest class size.
        quasi_identifiers, sensitive, identifiers, insensitive : iterable of str
            Columns of each role.
        pseudonyms : iterable of str
            Further identifiers, which are published as keyed pseudonyms.
        hierarchies : mapping, optional
            Column to hierarchy: a path, or a table such as ``{"prefix": [5, 3]}``.
        weights, types : mapping, optional
            Column to weight, and column to type.
        person : str, optional
            The identifier that tells who a record is about: k then counts persons.
        algorithm, measure : str or mapping
            A name, or a mapping with ``name`` and parameters.
        seed, suppression_limit, missing, output, input
            As in the TOML file.
        """
        roles: list[tuple[str, Role]] = []
        for role, parameter, names in (
            ("identifier", "identifiers", identifiers),
            ("identifier", "pseudonyms", pseudonyms),
            ("quasi", "quasi_identifiers", quasi_identifiers),
            ("sensitive", "sensitive", sensitive),
            ("insensitive", "insensitive", insensitive),
        ):
            if isinstance(names, str):
                raise PolicyError(f"{parameter} must be a list of column names; got the text {names!r}.")
            roles += [(name, role) for name in names]  # type: ignore[misc]
        columns: dict[str, dict[str, Any]] = {}
        faults = []
        for name, role in roles:
            if name in columns:
                faults.append(f"column {name!r} has two roles, {columns[name]['role']} and {role}; give it one.")
            columns[name] = {"role": role}
        for name in pseudonyms:
            columns[name]["pseudonym"] = True
        for key, given in (("hierarchy", hierarchies), ("weight", weights), ("type", types)):
            for name, value in (given or {}).items():
                if name in columns:
                    columns[name][key] = value
                else:
                    faults.append(f"column {name!r} has a {key} but no role; give it a role.")
        if faults:
            raise PolicyError(*faults)
        chosen: dict[str, Any] = {"measure": measure, "seed": seed}
        if isinstance(algorithm, str):
            chosen["name"] = algorithm
        else:
            parameters = dict(algorithm)
            chosen |= {"name": parameters.pop("name", None), "parameters": parameters}
        return cls(
            privacy={"k": k, "suppression_limit": suppression_limit, "missing": missing}
            | ({} if person is None else {"person": person}),
            algorithm=chosen,
            columns=columns,
            output=dict(output or {}),
            input=dict(input or {}),
        )

    @classmethod
    def of(cls, given: Any) -> Policy:
        """A policy as it is, or read from the path of its file."""
        if isinstance(given, Policy):
            return given
        if not isinstance(given, str | Path):
            raise PolicyError(f"the policy must be a Policy, or the path of its file; got a {type(given).__name__}.")
        if "\n" in str(given):
            raise PolicyError("policy: its text was given where its path is expected; use Policy.from_toml.")
        return cls.load(given)

    @classmethod
    def load(cls, path: str | Path) -> Policy:
        """Read a policy file; hierarchy paths in it are relative to its folder."""
        path = Path(path)
        try:
            text = path.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            if isinstance(error, OSError):
                raise PolicyError(f"policy {path.name}: cannot be read ({error.strerror}); check the path.") from None
            raise PolicyError(f"{path.name}: is not UTF-8 text; save it as UTF-8.") from None
        return cls.from_toml(text, path=path)

    @classmethod
    def from_toml(cls, text: str, *, path: Path | None = None) -> Policy:
        """Read a policy from TOML text; all faults are reported together, with their lines."""
        source = Source(path or Path("policy"), text)
        try:
            data = tomllib.loads(text + "\n")
        except tomllib.TOMLDecodeError as error:
            raise PolicyError(f"{source.path.name}, {syntax_sentence(str(error))}") from None
        try:
            policy = cls(**data)
        except PolicyError as error:
            if isinstance(error.__cause__, ValidationError):
                raise PolicyError(*sentences(error.__cause__, _known_keys, source)) from None
            raise
        policy._source = source
        return policy

    # -- reading it ---------------------------------------------------------------------------

    def having_role(self, *roles: Role) -> tuple[str, ...]:
        """Names of the columns of the given roles, in the order of the policy."""
        return tuple(name for name, column in self.columns.items() if column.role in roles)

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        """Names of the quasi-identifiers."""
        return self.having_role("quasi")

    @property
    def pseudonyms(self) -> tuple[str, ...]:
        """Names of the identifiers that are published as pseudonyms."""
        return tuple(name for name, column in self.columns.items() if column.pseudonym)

    @property
    def dropped(self) -> tuple[str, ...]:
        """Names of the columns that are not published: the other identifiers."""
        return tuple(name for name in self.having_role("identifier") if not self.columns[name].pseudonym)

    @property
    def folder(self) -> Path:
        """The folder that hierarchy paths are relative to."""
        return self._source.path.parent if self._source and self._source.path.parent else Path()

    @property
    def files(self) -> dict[str, Path]:
        """The files that the policy is made of: itself, its hierarchies, and the key of its pseudonyms."""
        files = {"policy": self._source.path} if self._source else {}
        key = self.output.pseudonym_key
        if key is not None and key.file is not None:
            files["pseudonym key"] = self.folder / key.file
        for name, column in self.columns.items():
            if column.hierarchy is not None and column.hierarchy.file is not None:
                files[f"hierarchy of column {name!r}"] = self.folder / column.hierarchy.file
        return files

    def located(self, keys: KeyPath, sentence: str) -> str:
        """Put file and line before a sentence about the given keys, where the policy has a file."""
        return located(None if keys[:2] in self._overridden else self._source, keys, sentence)

    def check_columns(self, present: Sequence[str], table: str = "the table") -> None:
        """Refuse a table whose columns and this policy do not name each other one to one."""
        if not any(name in self.columns for name in present):
            # Without a header, the first record would be taken for names: none of them is quoted.
            raise PolicyError(f"{table}: the first line names no column of the policy; check its header and delimiter.")
        faults = []
        for name in self.columns:
            if name not in present:
                hint = closest(name, present)
                faults.append(
                    self.located(("columns", name), f"column {name!r} is not in the table{hint}; remove or rename it.")
                )
        faults += [
            f"column {name!r} of the table has no role in the policy; "
            f"add [columns.{toml_key(name)}] with a role (identifier drops it)."
            for name in present
            if name not in self.columns
        ]
        if faults:
            raise PolicyError(*faults)

    # -- writing it ---------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Plain data with everything that differs from the defaults."""
        data = self.model_dump(mode="json", exclude_unset=True, exclude_none=True)
        measure = data.get("algorithm", {}).get("measure")
        if measure is not None and set(measure) == {"name"}:
            data["algorithm"]["measure"] = measure["name"]
        for column in data["columns"].values():
            hierarchy = column.get("hierarchy", {})
            if "file" in hierarchy:
                column["hierarchy"] = hierarchy["file"]
        return {section: value for section, value in data.items() if value != {}}

    def to_toml(self) -> str:
        """The policy as TOML text."""
        import tomlkit

        document = tomlkit.document()
        for section, content in self.to_dict().items():
            document[section] = _toml_table(content, columns=section == "columns")
        return tomlkit.dumps(document)

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """JSON schema of the policy file, for editors."""
        schema = cls.model_json_schema() | {"$schema": "https://json-schema.org/draft/2020-12/schema"}
        # The short forms, which are turned into long ones before pydantic sees them.
        text = {"type": "string"}
        defined = schema["$defs"]
        defined["Column"]["properties"]["hierarchy"]["anyOf"].append(text)
        measure = defined["Algorithm"]["properties"]["measure"]
        measure["anyOf"] = [{"$ref": measure.pop("$ref")}, text]
        role = defined["Column"]["properties"]["role"]["enum"]
        columns = schema["properties"]["columns"]
        columns["additionalProperties"] = {"anyOf": [columns["additionalProperties"], {"enum": role}]}
        return schema

    def with_changes(self, section: str, **changes: Any) -> Policy:
        """Copy with some keys of one section changed, validated again."""
        data = self.to_dict()
        merged = dict(data.get(section, {})) | changes
        data[section] = {key: value for key, value in merged.items() if value is not None}
        policy = Policy(**data)
        policy._source = self._source
        # What was changed has no line in the file any more.
        policy._overridden = self._overridden | {(section, key) for key in changes}
        return policy

    def of_columns(self, names: Iterable[str], *, k: int) -> Policy:
        """The promise about a table that has some of the columns only, with a k of its own."""
        data = self.to_dict()
        data["columns"] = {name: data["columns"][name] for name in names}
        data["privacy"] = data["privacy"] | {"k": k}
        policy = Policy(**data)
        policy._source = self._source
        policy._overridden = self._overridden | {("privacy", "k")}
        return policy

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Policy) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]


def _known_keys(keys: KeyPath) -> list[str]:
    """The keys that the section at this path may have."""
    if not keys:
        return list(Policy.model_fields)
    if keys[0] == "columns":
        if "intervals" in keys:
            return list(Intervals.model_fields)
        return list((Hierarchy if "hierarchy" in keys else Column).model_fields)
    if "pseudonym_key" in keys:
        return list(PseudonymKey.model_fields)
    sections: dict[str | int, type[BaseModel]] = {
        "input": Input,
        "privacy": Privacy,
        "algorithm": Algorithm,
        "output": Output,
    }
    return list(sections[keys[0]].model_fields)


def _toml_table(content: Mapping[str, Any], *, columns: bool) -> Any:
    """A section as TOML: one table per column, everything deeper inline."""
    import tomlkit

    table = tomlkit.table(is_super_table=columns)
    for key, value in content.items():
        if columns:
            table[key] = _toml_table(value, columns=False)
        elif isinstance(value, Mapping):
            inline = tomlkit.inline_table()
            inline.update(value)
            table[key] = inline
        else:
            table[key] = value
    return table
