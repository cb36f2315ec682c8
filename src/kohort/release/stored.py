"""Tables in databases: read once into a private copy; a release appears in one whole and verified, or not at all.

The rows of a verified private file are loaded into a table of another name, in a transaction that nobody else sees. The
auditor reads them back from there as texts, and compares every cell with the file. Then the table gets its name and the
transaction ends, and the verdicts appear.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar, cast

from kohort.audit import refuse_unequal
from kohort.common import stopping
from kohort.common.private import private_folder
from kohort.errors import DataError, PolicyError
from kohort.release.engines.features import SPARK, Profile, refuse
from kohort.release.finish import Documents
from kohort.release.release import Release
from kohort.table.databases import SqlTable, copied_table, is_url, opened
from kohort.table.databases.base import guarded
from kohort.table.safe import refuse_existing, together
from kohort.table.sizes import memory_of
from kohort.table.targets import input_of, refuse_targets

Made = TypeVar("Made", bound=Callable[..., Release])


def with_databases(make: Made) -> Made:
    """A function that releases files and frames, for tables in databases as well."""

    @wraps(make)
    def made(profile: Profile, table: Any, policy: Any, **how: Any) -> Release:
        source, target = _stored(table), _stored(how.get("output"))
        if source is None and target is None:
            return make(profile, table, policy, **how)
        if profile is SPARK:
            refuse(SPARK, options=["kind"])
        if how.get("resume"):
            raise DataError("resume: a table in a database may have changed since; run without --resume.")
        _refuse_over_databases(source, target, how)
        with private_folder("kohort-database") as folder:
            if target is not None:
                _refuse(source, target, how)
            copy = table if source is None else copied_table(source, folder)
            if target is None:
                return make(profile, copy, policy, **how)
            return _into(target, folder / "release.parquet", lambda **more: make(profile, copy, policy, **more), how)

    return cast("Made", made)


def _stored(given: Any) -> SqlTable | None:
    return given if isinstance(given, SqlTable) else SqlTable(given) if is_url(given) else None


def _refuse_over_databases(source: SqlTable | None, target: SqlTable | None, how: Mapping[str, Any]) -> None:
    """Refuse files that would be written over a database, or over what it keeps beside its file."""
    taken = input_of(source)
    targets = _documents(how).targets
    if target is not None:
        taken |= {"database of the output": target.files}
    elif how.get("output") is not None:
        targets |= {"output": Path(how["output"])}
    refuse_targets(targets, taken)


def _refuse(source: SqlTable | None, target: SqlTable, how: Mapping[str, Any]) -> None:
    """Refuse what cannot be written, before any work."""
    if target.table is None:
        raise DataError("database: a release needs the name of a table, and no query; give one.")
    if how.get("ledger") or how.get("person") or how.get("ledger_key"):
        raise DataError("ledger: it records files that are handed over; write a file, or leave the ledger out.")
    if how.get("certificate"):
        raise DataError("certificate: it is about a file, by its hash; write a file, or leave the certificate out.")
    if how.get("row_order"):
        raise DataError("row order: rows of a table in a database have none; write a file, or leave it out.")
    if not how.get("overwrite"):
        refuse_existing(_documents(how).targets.values())
    with opened(target, writes=True) as session:
        there, database = session.identity(), session.database()
    if there is not None and source is not None:
        _refuse_input(source, target, database, there)
    if there is not None and not how.get("overwrite"):
        raise DataError(
            f"{target.name}: is already there; give another name, or --force (overwrite=True) to replace it."
        )


def _refuse_input(source: SqlTable, target: SqlTable, database: tuple[Any, ...], there: tuple[Any, ...]) -> None:
    """Refuse to replace a table that is the input, or that the input may be made of."""
    with opened(source) as session:
        if session.database() != database:
            return
        if source.query is None and session.identity() == there:
            raise PolicyError(f"the output {target.name} is the input itself; give another name.")
        if source.query is not None or not session.is_plain():
            raise PolicyError(f"the output {target.name} is there, and {source.name} may read it; give another name.")


def _documents(how: Mapping[str, Any]) -> Documents:
    paths = (Path(how[key]) if how.get(key) is not None else None for key in ("verdict", "private", "certificate"))
    return Documents(*paths)


def _into(target: SqlTable, path: Path, make: Callable[..., Release], how: dict[str, Any]) -> Release:
    """Make a release in a private file, and have its rows appear in the database."""
    documents, overwrite = _documents(how), bool(how.get("overwrite"))
    memory = how.get("memory")
    limit = memory_of(memory) if isinstance(memory, str) else memory
    release = make(**how | {"output": path, "verdict": None, "private": None})
    if release.tables and set(release.tables) != {""}:
        raise DataError("database: this algorithm publishes several tables; write them as files.")
    stopping.withdrawn()
    with opened(target, writes=True) as session:
        if not overwrite and session.identity() is not None:
            raise DataError(f"{target.name}: is already there; give another name, or --force (overwrite=True).")
        guarded(target, "written", lambda: session.load(path))
        rows = refuse_unequal(session.texts(session.staged), path, limit)
        verdict = release.verdict.with_hashes(release=rows)
        release = replace(release, path=None, verdict=verdict, table=None if memory else release.table)
        with together(stopping.published, overwrite=overwrite, commit=session.commit) as files:
            documents.write(release, files)
    return release
