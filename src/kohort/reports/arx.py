"""Projects of ARX as a policy, its hierarchies and a table; and a table with its hierarchies in the layout of ARX.

A project (``.deid``) is a zip of XML, CSV and serialized Java objects. The last are not needed.
"""

from __future__ import annotations

import csv
import io
import re
import shutil
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from kohort.codes.encode import TreeAxis, encode
from kohort.common.regular import regular
from kohort.errors import DataError, KohortError, PolicyError
from kohort.policy import Policy
from kohort.policy.hierarchy import Taxonomy
from kohort.reports.sets import refuse_sets
from kohort.table import read_table, typed_quasi_identifiers
from kohort.table.safe import Drafts, together
from kohort.table.targets import refuse_targets

MOST = 1 << 28
"""Bytes of a part of a project that is no table; a larger one is no project."""
_ROLES = {
    "IDENTIFYING_ATTRIBUTE": "identifier",
    "QUASI_IDENTIFYING_ATTRIBUTE": "quasi",
    "SENSITIVE_ATTRIBUTE": "sensitive",
    "INSENSITIVE_ATTRIBUTE": "insensitive",
}
_TYPES = {"integer": "integer", "decimal": "number", "date": "date"}
_YEARS_AHEAD = 19
"""Java takes years of two digits to be at most 20 years from now."""
_JAVA_DATES = {"yyyy": "%Y", "MMMM": "%B", "MMM": "%b", "MM": "%m", "M": "%-m", "dd": "%d", "d": "%-d"}
_NUMBER = r"\(?([0-9.]+(?:E-?[0-9]+)?)\)?"
_OF = r".*?for attribute '(?P<column>.*)'"
_CRITERIA: tuple[tuple[str, dict[str, Any], tuple[str, ...]], ...] = (
    (rf"{_NUMBER}-anonymity", {}, ("k",)),
    (rf"distinct-{_NUMBER}-diversity{_OF}", {"model": "distinct-l-diversity"}, ("l",)),
    (rf"(?:shannon-)?entropy-{_NUMBER}-diversity{_OF}", {"model": "entropy-l-diversity"}, ("l",)),
    (rf"recursive-\({_NUMBER},\s*{_NUMBER}\)-diversity{_OF}", {"model": "recursive-cl-diversity"}, ("c", "l")),
    (rf"{_NUMBER}-closeness with hierarchical{_OF}", {"model": "t-closeness", "distance": "hierarchical"}, ("t",)),
    (rf"{_NUMBER}-closeness with ordered{_OF}", {"model": "t-closeness", "distance": "ordered"}, ("t",)),
    (rf"{_NUMBER}-closeness with equal{_OF}", {"model": "t-closeness", "distance": "equal"}, ("t",)),
    (rf"{_NUMBER}-disclosure(?: |-)privacy{_OF}", {"model": "delta-disclosure"}, ("delta",)),
    (rf"(?:\({_NUMBER}\)|{_NUMBER})-avg-reidentification-risk", {"model": "average-risk"}, ("most", "most")),
)
"""How ARX writes its privacy models, what they are here, and which parameters the numbers are."""


@dataclass(frozen=True)
class Imported:
    """What became of a project."""

    folder: Path
    policy: Policy
    left: tuple[str, ...]
    """What the project says and kohort does in another way, or leaves to you; one sentence each."""


def import_project(project: str | Path, folder: str | Path, *, k: int | None = None) -> Imported:
    """Write the table, the hierarchies and the policy of a project of ARX into a new folder.

    Parameters
    ----------
    project : path
        The ``.deid`` file.
    folder : path
        A folder that is not there yet: ``policy.toml``, ``data.csv`` and ``hierarchies`` will be in it.
    k : int, optional
        Smallest class size; to be given if the project has no k-anonymity. With it, privacy models that kohort does
        not have are left out, and named.

    Raises
    ------
    DataError
        When the file is no project.
    PolicyError
        When the project asks for what kohort does not have.
    """
    project, folder = Path(project), Path(folder)
    refuse_targets({"folder": folder}, {"project": project})
    if folder.exists():
        raise DataError(f"{folder.name}: is already there; give a folder that is not.")
    try:
        with zipfile.ZipFile(regular(project)) as packed, together() as files:
            return _imported(packed, project.name, folder, files, k)
    except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError):
        raise DataError(f"{project.name}: is no project of ARX (no zip, or damaged); check the path.") from None
    except OSError as error:
        raise DataError(f"{project.name}: cannot be read ({error.strerror or 'it is damaged'}); check it.") from None


def _imported(packed: zipfile.ZipFile, name: str, folder: Path, files: Drafts, k: int | None) -> Imported:
    definition, config = (_xml(packed, f"input/{part}.xml", name) for part in ("definition", "config"))
    settings = _xml(packed, "project.xml", name)
    separator = settings.findtext("separator") or ";"
    draft = files.folder(folder)
    draft.mkdir(exist_ok=True)
    (draft / "hierarchies").mkdir()
    left: list[str] = []
    privacy = _privacy(config, k, left)
    columns: dict[str, Any] = {}
    weights = {one.findtext("attribute"): float(one.findtext("weight") or 1) for one in config.iter("attributeWeight")}
    for number, one in enumerate(definition.iter("assigment"), 1):
        column = one.findtext("name") or ""
        columns[column] = _column(packed, name, one, draft / "hierarchies" / f"{number}.csv", separator)
        weight = weights.get(column, 1.0)
        if columns[column]["role"] == "quasi" and {one.findtext("min"), one.findtext("max")} - {None, "", "All"}:
            left.append(f"column {column!r} is limited to some levels of its hierarchy, and here it may have any.")
        if columns[column]["role"] == "quasi" and len(set(weights.values())) > 1 and weight > 0:
            columns[column]["weight"] = weight
    if not columns:
        raise DataError(f"{name}: is no project of ARX (input/definition.xml names no attribute); check it.")
    with _opened(packed, "data/input.csv", name) as data, (draft / "data.csv").open("wb") as target:
        shutil.copyfileobj(data, target)
    metric = (config.findtext("metric") or "").strip()
    if metric and not metric.startswith("Loss"):
        left.append(f"its measure is {metric.split(' ')[0]!r}, and here it is ncp; see kohort measures.")
    policy = Policy.from_dict(
        {
            "input": {"delimiter": separator, "quote": settings.findtext("quote") or '"'},
            "privacy": privacy,
            "output": {"suppressed": "starred"},
            "columns": columns,
        }
    )
    (draft / "policy.toml").write_text(policy.to_toml(), encoding="utf-8")
    return Imported(folder, policy, tuple(left))


# -- parts of a project --------------------------------------------------------------------------


def _opened(packed: zipfile.ZipFile, part: str, name: str) -> Any:
    """A part of a project, to be read."""
    try:
        return packed.open(part)
    except KeyError:
        raise DataError(f"{name}: is no project of ARX (it has no {part}); check the path.") from None


def _content(packed: zipfile.ZipFile, part: str, name: str) -> bytes:
    with _opened(packed, part, name) as file:
        content: bytes = file.read(MOST + 1)
    if len(content) > MOST:
        raise DataError(f"{name}: its {part} is larger than any of ARX; check where it comes from.")
    return content


def _xml(packed: zipfile.ZipFile, part: str, name: str) -> ElementTree.Element:
    """A document, without what could make it grow: ARX writes no entities."""
    content = _content(packed, part, name)
    fault = f"{name}: its {part} is not as ARX writes it; save the project again."
    if b"<!" in content.replace(b"<!--", b""):
        raise DataError(fault)
    try:
        return ElementTree.fromstring(content)
    except ElementTree.ParseError:
        raise DataError(fault) from None


def _column(packed: zipfile.ZipFile, name: str, one: ElementTree.Element, path: Path, separator: str) -> dict[str, Any]:
    """The keys of a column; its hierarchy is written to a path."""
    role = _ROLES.get(one.findtext("type") or "")
    if role is None:
        raise DataError(f"{name}: its input/definition.xml has a type of attribute that is not known; update kohort.")
    found: dict[str, Any] = {"role": role}
    ref = one.findtext("ref")
    if ref and role in ("quasi", "sensitive"):
        text = _content(packed, f"input/{ref}", name).decode("utf-8-sig", "replace")
        rows = [row for row in csv.reader(io.StringIO(text), delimiter=separator) if row]
        try:
            Taxonomy.from_paths(rows, one.findtext("name") or "").to_csv(path)
        except KohortError:
            # As it is: kohort hierarchy check says what is wrong with it.
            path.write_text("".join(f"{';'.join(row)}\n" for row in rows), encoding="utf-8")
        return found | {"hierarchy": f"hierarchies/{path.name}"}
    return found | (_type(one) if role == "quasi" else {})


def _type(one: ElementTree.Element) -> dict[str, str]:
    """The type of a column that has no hierarchy; one that is not understood is inferred from its values."""
    kind, _, form = (one.findtext("datatype") or "").partition("(")
    known = _TYPES.get(kind.strip().lower())
    form = one.findtext("format") or form.removesuffix(")")
    if known != "date" or not form:
        return {} if known is None else {"type": known}
    pieces = re.findall(r"[a-zA-Z]+|[^a-zA-Z]+", form)
    known_pieces = {**_JAVA_DATES, "yy": f"%<{date.today().year + _YEARS_AHEAD}y"}
    if any(piece.isalpha() and piece not in known_pieces for piece in pieces):
        return {}
    return {"type": "date", "format": "".join(known_pieces.get(piece, piece) for piece in pieces)}


def _privacy(config: ElementTree.Element, k: int | None, left: list[str]) -> dict[str, Any]:
    """The promise: every criterion of the project, or a refusal that names those that there are not."""
    limit = float(config.findtext("relativeMaxOutliers") or 0)
    promised: dict[str, Any] = {"suppression_limit": min(max(limit, 0.0), 1.0)}
    models: list[dict[str, Any]] = []
    unknown = []
    for criterion in (one.text or "" for one in config.iter("criterion")):
        found = _criterion(criterion.strip())
        if found is not None:
            strictest = {"k": max(promised.get("k", 0), found.get("k", 0))}
            promised, models = (promised | strictest, models) if "k" in found else (promised, [*models, found])
        elif criterion.strip() != "Inclusion":  # that all records belong to the subset: no promise
            unknown.append(criterion.strip())
    if unknown and k is None:
        raise PolicyError(
            *(
                f"criterion {one!r}: kohort does not have it; give k to import the project without it."
                for one in unknown
            )
        )
    left += [f"criterion {one!r} was left out: kohort does not have it." for one in unknown]
    if k is not None:
        promised["k"] = k
    if "k" not in promised:
        raise PolicyError("the project has no k-anonymity, which every release of kohort has; give k.")
    return promised | ({"models": models} if models else {})


def _criterion(text: str) -> dict[str, Any] | None:
    """A privacy model as ARX writes it, as one of kohort's; None if there is none."""
    for pattern, model, names in _CRITERIA:
        if match := re.fullmatch(pattern, text):
            groups = match.groupdict()
            values = [one for one in match.groups()[: len(names)] if one is not None]
            numbers = {name: _number(value) for name, value in zip(names, values, strict=False)}
            return dict(model) | numbers | ({"column": groups["column"]} if "column" in groups else {})
    return None


def _number(text: str) -> int | float:
    value = float(text)
    return int(value) if value.is_integer() else value


# -- and back ------------------------------------------------------------------------------------


def export_layout(table: Any, policy: Policy | str | Path, folder: str | Path) -> list[str]:
    """Write a table and all its hierarchies as ARX reads them: semicolons, one row for every value up to the root.

    Parameters
    ----------
    folder : path
        A folder that is not there yet: ``data.csv`` and ``hierarchies`` will be in it. As secret as the table.

    Returns
    -------
    list of str
        The quasi-identifiers that have no hierarchy here: ARX needs one, or microaggregation.
    """
    policy, folder = Policy.of(policy), Path(folder)
    refuse_targets({"folder": folder}, {"policy": list(policy.files.values())})
    if folder.exists():
        raise DataError(f"{folder.name}: is already there; give a folder that is not.")
    source = read_table(table, policy.input, policy.columns)
    policy = policy.for_columns(source.frame.columns)
    policy.check_columns(source.frame.columns, source.name)
    refuse_sets(policy, "the layout of ARX")
    axes = encode(typed_quasi_identifiers(source.frame, policy, source.zones), policy).axes
    with together() as files:
        draft = files.folder(folder)
        draft.mkdir(exist_ok=True)
        (draft / "hierarchies").mkdir()
        source.frame.write_csv(draft / "data.csv", separator=";")
        for name, text in _layout(axes):
            (draft / "hierarchies" / name).write_text(text, encoding="utf-8")
    return [axis.name for axis in axes if not isinstance(axis, TreeAxis)]


def _layout(axes: Any) -> Iterator[tuple[str, str]]:
    """The hierarchies with names for their files; those that no file can have are numbers."""
    for number, axis in enumerate(axes, 1):
        if isinstance(axis, TreeAxis):
            plain = re.fullmatch(r"[\w][\w .-]{0,60}", axis.name)
            yield f"{axis.name if plain else number}.csv", axis.taxonomy.to_text()
