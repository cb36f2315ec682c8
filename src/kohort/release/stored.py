"""Tables in databases: read once into a private copy; a release appears in one whole and verified, or not at all.

The rows of a verified private file are loaded into a table of another name, in a transaction that nobody else sees. The
auditor reads them back from there as texts, and compares every cell with the file. Then the table gets its name and the
transaction ends, and the verdicts appear.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
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
        with private_folder("kohort-database") as folder, ExitStack() as stack:
            if target is not None:
                _refuse(source, target, how)
            copy = table if source is None else stack.enter_context(copied_table(source, folder))
            if target is None:
                return make(profile, copy, policy, **how)
            return _into(target, folder / "release.parquet", lambda **more: make(profile, copy, policy, **more), how)

    return cast("Made", made)


def _stored(given: Any) -> SqlTable | None:
    return given if isinstance(given, SqlTable) else SqlTable(given) if is_url(given) else None


def _refuse(source: SqlTable | None, target: SqlTable, how: Mapping[str, Any]) -> None:
    """Refuse what cannot be written, before any work."""
    if target.table is None:
        raise DataError("database: a release needs the name of a table, and no query; give one.")
    if how.get("ledger") or how.get("person") or how.get("ledger_key"):
        raise DataError("ledger: it records files that are handed over; write a file, or leave the ledger out.")
    if not how.get("overwrite"):
        refuse_existing(_documents(how).targets.values())
    with opened(target, writes=True) as session:
        there = session.identity()
    if there is not None and source is not None and source.table is not None:
        with opened(source) as session:
            if session.identity() == there:
                raise PolicyError(f"the output {target.name} is the input itself; give another name.")
    if there is not None and not how.get("overwrite"):
        raise DataError(
            f"{target.name}: is already there; give another name, or --force (overwrite=True) to replace it."
        )


def _documents(how: Mapping[str, Any]) -> Documents:
    paths = (Path(how[key]) if how.get(key) is not None else None for key in ("verdict", "private"))
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
