"""The policy: what is promised about a table, column by column.

One frozen, validated type drives the library, the command line and every engine. It is read
from TOML with the line of each fault, written back to TOML, and built in Python with
:meth:`Policy.build`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, Field, PrivateAttr, ValidationError, model_validator

from kohort.common.html import html_block, html_table
from kohort.common.registry import closest
from kohort.common.regular import regular
from kohort.errors import PolicyError
from kohort.policy.faults import (
    DEEP,
    KeyPath,
    Source,
    closest_place,
    is_deep,
    located,
    sentences,
    syntax_sentence,
)
from kohort.policy.notation import Notation
from kohort.policy.patterns import expanded, is_everything, is_pattern
from kohort.policy.sections import (
    Algorithm,
    Column,
    ColumnType,
    Hierarchy,
    Input,
    Intervals,
    Output,
    Privacy,
    PseudonymKey,
    Role,
    Section,
)


class Policy(Section):
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
    _entries: Mapping[str, str] = PrivateAttr(default_factory=dict)
    """Columns that an entry of another name stands for, and that entry: a pattern."""

    @model_validator(mode="after")
    def _has_work_to_do(self) -> Self:
        quasi = [column for column in self.columns.values() if column.role == "quasi"]
        if not quasi:
            raise ValueError("no column has role 'quasi'; name the columns that an outsider could know")
        if not any(column.weight > 0 for column in quasi):
            raise ValueError("every quasi column has weight 0; give at least one a weight above 0")
        return self

    @model_validator(mode="after")
    def _names_mean_one_column(self) -> Self:
        for name in self.columns:
            if not name.strip():
                raise ValueError("a column of the policy has no name; name it in the table, and here")
            if name.startswith("^") and name.endswith("$"):
                raise ValueError(f"column {name!r} has a name that stands for several columns; rename it in the table")
        return self

    @model_validator(mode="after")
    def _publishes_by_name(self) -> Self:
        for name, column in self.columns.items():
            if is_everything(name) and (column.role != "identifier" or column.pseudonym):
                raise ValueError(
                    f"{name!r} fits every column, also those that nobody has looked at, so it can only drop them; "
                    "give it the role identifier, or a pattern with more of the names"
                )
        return self

    @model_validator(mode="after")
    def _knows_the_person(self) -> Self:
        person = self.privacy.person
        if person is not None and (person not in self.columns or self.columns[person].role != "identifier"):
            near = closest(person, self.having_role("identifier"))
            raise ValueError(f"'privacy.person' must name a column of role 'identifier', and {person!r} is none{near}")
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
        if is_deep(sections):
            raise PolicyError(f"policy: {DEEP}")
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
        formats: Mapping[str, str] | None = None,
        domains: Mapping[str, Sequence[float]] | None = None,
        columns: Mapping[str, Mapping[str, Any]] | None = None,
        models: Iterable[Mapping[str, Any]] = (),
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
        formats : mapping, optional
            Column to the strptime format of its dates; its type is then ``"date"``.
        domains : mapping, optional
            Column to the declared range of its numbers, ``(smallest, largest)``.
        columns : mapping, optional
            Column to further keys of its table in the TOML file, such as ``{"snap": 5, "top": 90}``.
        models : iterable of mapping
            Further privacy models, such as ``{"model": "distinct-l-diversity", "column": "disease", "l": 3}``.
        person : str, optional
            The identifier that says who a record is about: k then counts persons.
        algorithm, measure : str or mapping
            A name, or a mapping with ``name`` and parameters.
        seed, suppression_limit, missing, output, input
            As in the TOML file.
        """
        names = {"identifiers": identifiers, "pseudonyms": pseudonyms, "quasi_identifiers": quasi_identifiers}
        roles = _roles(names | {"sensitive": sensitive, "insensitive": insensitive})
        given = {"hierarchy": hierarchies, "weight": weights, "format": formats, "domain": domains}
        dated = dict.fromkeys(formats or (), "date") | dict(types or {})
        described = _columns(roles, pseudonyms, given | {"type": dated}, columns or {})
        chosen: dict[str, Any] = {"measure": measure, "seed": seed}
        if isinstance(algorithm, str):
            chosen["name"] = algorithm
        else:
            parameters = dict(algorithm)
            chosen |= {"name": parameters.pop("name", None), "parameters": parameters}
        return cls(
            privacy={"k": k, "suppression_limit": suppression_limit, "missing": missing}
            | ({} if person is None else {"person": person})
            | ({"models": [dict(model) for model in models]} if models else {}),
            algorithm=chosen,
            columns=described,
            output=dict(output or {}),
            input=dict(input or {}),
        )

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Policy:
        """A policy from plain data, as `to_dict` gives it and as a TOML or JSON file holds it.

        Examples
        --------
        >>> policy = Policy.from_dict({"privacy": {"k": 5}, "columns": {"age": "quasi", "name": "identifier"}})
        >>> Policy.from_dict(policy.to_dict()) == policy
        True
        """
        if not isinstance(data, Mapping):
            raise PolicyError(f"the policy must be a mapping of its sections; got a {type(data).__name__}.")
        return cls(**{str(section): content for section, content in data.items()})

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
            text = regular(path).read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            if isinstance(error, OSError):
                where = path.name or path
                raise PolicyError(f"policy {where}: cannot be read ({error.strerror}); check the path.") from None
            raise PolicyError(f"{path.name}: is not UTF-8 text; save it as UTF-8.") from None
        return cls.from_toml(text, path=path)

    @classmethod
    def from_toml(cls, text: str, *, path: Path | None = None) -> Policy:
        """Read a policy from TOML text; all faults are reported together, with their lines."""
        source = Source(path or Path("policy"), text)
        try:
            data = tomllib.loads(text + "\n")
        except RecursionError:
            raise PolicyError(f"{source.path.name}: {DEEP}") from None
        except tomllib.TOMLDecodeError as error:
            raise PolicyError(f"{source.path.name}, {syntax_sentence(str(error))}") from None
        if is_deep(data):
            raise PolicyError(f"{source.path.name}: {DEEP}")
        try:
            policy = cls(**data)
        except PolicyError as error:
            if isinstance(error.__cause__, ValidationError):
                raise PolicyError(*sentences(error.__cause__, _known_keys, source)) from None
            raise
        policy._source = source
        return policy

    # -- patterns -----------------------------------------------------------------------------

    @property
    def patterns(self) -> tuple[str, ...]:
        """Entries that may stand for several columns, such as ``q*``."""
        return tuple(name for name in self.columns if is_pattern(name))

    def for_columns(self, present: Sequence[str]) -> Policy:
        """The policy of a table with these columns: in the place of each pattern are the columns that it stands for.

        An entry with a column's own name comes before every pattern, and of several patterns the one with most
        characters beside its stars. A pattern that fits no column stays, as an entry for a column that is not there;
        one that drops what it fits has then done its work.

        Raises
        ------
        PolicyError
            When two patterns fit a column equally well.

        Examples
        --------
        >>> columns = {"age": "quasi", "q*": "sensitive", "*": "identifier"}
        >>> policy = Policy.from_dict({"privacy": {"k": 5}, "columns": columns})
        >>> {name: column.role for name, column in policy.for_columns(["age", "q1", "q2", "note"]).columns.items()}
        {'age': 'quasi', 'q1': 'sensitive', 'q2': 'sensitive', 'note': 'identifier'}
        """
        if not self.patterns:
            return self
        if "*" in present:
            raise PolicyError("a column of the table is named '*', which stands for all columns; rename it there.")
        entries = expanded(self.columns, present)
        columns = {name: self.columns[entry] for name, entry in entries.items()}
        named = set(entries.values())
        for name, column in self.columns.items():
            if name not in named and not (is_pattern(name) and column.role == "identifier" and not column.pseudonym):
                columns[name] = column
        sections = {section: getattr(self, section) for section in self.model_fields_set if section != "columns"}
        return self._like(Policy(**sections, columns=columns), {name: e for name, e in entries.items() if e != name})

    def _like(self, policy: Policy, entries: Mapping[str, str] | None = None) -> Policy:
        """Another policy that is of the same file."""
        policy._source, policy._overridden = self._source, self._overridden
        policy._entries = {**self._entries, **(entries or {})}
        return policy

    # -- reading it ---------------------------------------------------------------------------

    def having_role(self, *roles: Role) -> tuple[str, ...]:
        """Names of the columns of the given roles, in the order of the policy.

        They are looked for once: to ask for each of thousands of columns must not be to go through all of them each
        time.
        """
        # Kept as a cached property would be, beside the fields; a copy may have other columns.
        columns, known = self.__dict__.get("known_roles", (None, {}))
        if columns is not self.columns:
            known = {}
            self.__dict__["known_roles"] = self.columns, known
        if roles not in known:
            # sets are generalized item by item, so whoever asks for values must not be given them
            known[roles] = tuple(
                name for name, column in self.columns.items() if column.role in roles and not column.is_set
            )
        found: tuple[str, ...] = known[roles]
        return found

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        """Names of the quasi-identifiers that have one value for each record."""
        return self.having_role("quasi")

    @property
    def sets(self) -> tuple[str, ...]:
        """Names of the quasi-identifiers that are sets of items."""
        return tuple(name for name, column in self.columns.items() if column.is_set)

    @property
    def pseudonyms(self) -> tuple[str, ...]:
        """Names of the identifiers that are published as pseudonyms."""
        return tuple(name for name, column in self.columns.items() if column.pseudonym)

    @property
    def dropped(self) -> tuple[str, ...]:
        """Names of the columns that are not published: the other identifiers."""
        return tuple(name for name in self.having_role("identifier") if not self.columns[name].pseudonym)

    def notation(self, name: str) -> Notation | None:
        """How the texts of a column write numbers; None for one that is declared no number, or has plain ones."""
        column = self.columns[name]
        if column.type not in ("integer", "number") or (column.hierarchy is not None and column.hierarchy.is_of_texts):
            return None
        own = Notation.of(column.decimal, column.thousands)
        return own or Notation.of(self.input.decimal, self.input.thousands)

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
        if keys[:1] == ("columns",) and len(keys) > 1:
            keys = ("columns", self._entries.get(str(keys[1]), keys[1]), *keys[2:])
        return located(None if keys[:2] in self._overridden else self._source, keys, sentence)

    def check_columns(self, present: Sequence[str], table: str = "the table") -> None:
        """Refuse a table whose columns and this policy do not name each other one to one."""
        if not any(name in self.columns for name in present):
            # Without a header, the first record would be taken for names: none of them is quoted.
            raise PolicyError(f"{table}: the first line names no column of the policy; check its header and delimiter.")
        faults = []
        for name in self.columns:
            if name not in present:
                hint = closest_place(name, present)
                faults.append(
                    self.located(("columns", name), f"column {name!r} is not in the table{hint}; remove or rename it.")
                )
        # If the end of the header's line is lost, cells are among the names: none of them is quoted.
        if unknown := [str(place) for place, name in enumerate(present, 1) if name not in self.columns]:
            *most, last = unknown
            which = f"columns {', '.join(most)} and {last} of {table} have" if most else f"column {last} of {table} has"
            faults.append(f"{which} no role in the policy; add [columns.NAME] with a role (identifier drops it).")
        PolicyError.refuse(faults)

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
        policy = self._like(Policy(**data))
        # What was changed has no line in the file any more.
        policy._overridden = self._overridden | {(section, key) for key in changes}
        return policy

    def of_columns(self, names: Iterable[str], *, k: int) -> Policy:
        """The promise about a table that has some of the columns only, with a k of its own."""
        data = self.to_dict()
        data["columns"] = {name: data["columns"][name] for name in names}
        data["privacy"] = data["privacy"] | {"k": k}
        policy = self._like(Policy(**data))
        policy._overridden = self._overridden | {("privacy", "k")}
        return policy

    def _repr_html_(self) -> str:
        """For notebooks: the promise, and the columns with their roles."""
        privacy = self.privacy
        models = ", ".join(str(model.get("model")) for model in privacy.models)
        title = f"Policy: k = {privacy.k}" + (f", {models}" if models else "")
        rows = [
            (name, column.role, column.type, column.hierarchy.kind if column.hierarchy else None)
            for name, column in self.columns.items()
        ]
        return html_block(title, html_table(("column", "role", "type", "hierarchy"), rows))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Policy) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]


_ROLE_OF: Mapping[str, Role] = {
    "identifiers": "identifier",
    "pseudonyms": "identifier",
    "quasi_identifiers": "quasi",
    "sensitive": "sensitive",
    "insensitive": "insensitive",
}


def _roles(given: Mapping[str, Iterable[str]]) -> list[tuple[str, Role]]:
    """Every name with the role that its list stands for."""
    PolicyError.refuse(
        f"{parameter} must be a list of column names; got the text {names!r}."
        for parameter, names in given.items()
        if isinstance(names, str)
    )
    return [(name, _ROLE_OF[parameter]) for parameter, names in given.items() for name in names]


def _columns(
    roles: Iterable[tuple[str, Role]],
    pseudonyms: Iterable[str],
    more: Mapping[str, Mapping[str, Any] | None],
    further: Mapping[str, Mapping[str, Any]],
) -> dict[str, dict[str, Any]]:
    """The columns by name, each with its role and whatever else is given of it; every fault is reported."""
    columns: dict[str, dict[str, Any]] = {}
    faults = []
    for name, role in roles:
        if name in columns:
            faults.append(f"column {name!r} has two roles, {columns[name]['role']} and {role}; give it one.")
        columns[name] = {"role": role}
    for name in pseudonyms:
        columns[name]["pseudonym"] = True
    for key, given in more.items():
        for name, value in (given or {}).items():
            if name in columns:
                columns[name][key] = value
            else:
                faults.append(f"column {name!r} has a {key} but no role; give it a role.")
    for name, keys in further.items():
        if name not in columns:
            faults.append(f"column {name!r} has keys but no role; give it a role.")
        elif twice := sorted(columns[name].keys() & keys.keys()):
            faults.append(f"column {name!r} has {twice[0]!r} in 'columns', too; give it once.")
        else:
            columns[name] |= keys
    PolicyError.refuse(faults)
    return columns


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
