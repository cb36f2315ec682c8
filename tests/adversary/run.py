"""Runs a case as a user would, and has it judged. The only module of the adversary that imports kohort."""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import time
import tomllib
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any
from unittest import mock

from typer import Typer
from typer.main import get_command

from .feasible import is_feasible
from .generate import Case, arrow_table, twin_of, write_files
from .judge import Fault, Release, judge, judge_verdict, leaks
from .judge_buckets import judge_buckets
from .judge_files import Malformed, Table, in_utc, of_arrow, read
from .mutate import Subject, csv_text, mutant_of, mutant_pair_of, write_mutant

OLD = b"an old release\n"
PARTS = 4


@cache
def _built(app: Typer) -> Any:
    """The command line with all commands, of which this process has one: to build it takes as long as a case."""
    from kohort.cli.main import COMMANDS

    for module in COMMANDS:
        import_module(f"kohort.cli.{module}")
    return get_command(app)


@dataclass
class Outcome:
    """How a run ended: exit code, what was printed, and what lies in its folder."""

    code: int
    out: str
    err: str
    folder: Path
    target: Path
    source: Path | None
    before: set[str]
    verdict: dict[str, Any] | None = None
    notes: list[str] = field(default_factory=list)


def attack(
    case: Case, folder: Path, spark: Any = None, mutants: int = 2
) -> tuple[Outcome, list[Fault], dict[str, int]]:
    """Run a case, have it judged, run it again, and tamper with it: how it ended, what was found, what mutants met."""
    (folder / "first").mkdir()
    outcome = run_case(case, folder / "first", spark)
    faults = findings(case, outcome)
    if outcome.code or faults:
        return outcome, faults, {}
    if len(tables_of(case, outcome.target)) == 1:
        faults += repeated(case, outcome, folder, spark)
    more, tally = tampered(case, outcome, mutants)
    return outcome, faults + more, tally


# -- running -----------------------------------------------------------------------------------------


@contextlib.contextmanager
def small_parts() -> Iterator[None]:
    """As many partitions as are asked for, however small the table."""
    from kohort.release.engines import sample

    with mock.patch.object(sample, "CLASSES", 1), mock.patch.object(sample, "FEWEST_CLASSES", 3):
        yield


@contextlib.contextmanager
def shared_session(spark: Any) -> Iterator[None]:
    """The command line with a session that is already there."""

    with mock.patch("kohort.release.engines.spark.run.session", return_value=contextlib.nullcontext(spark)):
        yield


@contextlib.contextmanager
def in_zone(zone: str) -> Iterator[None]:
    """A machine somewhere else."""
    before = os.environ.get("TZ")
    os.environ["TZ"] = zone
    time.tzset()
    try:
        yield
    finally:
        os.environ.pop("TZ") if before is None else os.environ.__setitem__("TZ", before)
        time.tzset()


def run_case(case: Case, folder: Path, spark: Any = None) -> Outcome:
    """Run a case in an empty folder."""
    source = write_files(case, folder)
    target = folder / f"out.{case.target}"
    if case.engine != "spark":
        tables_of(case, target)[0].write_bytes(OLD)
    outcome = Outcome(0, "", "", folder, target, source, {path.name for path in folder.iterdir()})
    with contextlib.ExitStack() as stack:
        stack.enter_context(mock.patch.dict(os.environ, {"ADVERSARY_KEY": "a key of the adversary"}))
        stack.enter_context(in_zone(case.zone))
        if case.engine != "memory":
            stack.enter_context(small_parts())
        if case.engine == "spark":
            stack.enter_context(shared_session(spark))
        if source is None:
            _run_frame(case, outcome)
        else:
            outcome.code, outcome.out, outcome.err = command(*_arguments(case, outcome))
    verdict = target.with_name(target.name + ".verdict.json")
    if outcome.code == 0 and outcome.verdict is None and verdict.exists():
        outcome.verdict = json.loads(verdict.read_text())
    return outcome


def tables_of(case: Case, target: Path) -> list[Path]:
    """The files of a release: one, or two in buckets."""
    if case.policy["privacy"].get("anonymity") != "buckets":
        return [target]
    stem, _, suffix = target.name.partition(".")
    return [target.with_name(f"{stem}.{name}.{suffix}") for name in ("quasi", "sensitive")]


def _arguments(case: Case, outcome: Outcome) -> list[str]:
    more = {
        "memory": [],
        "disk": ["--memory", "300MB", "--partitions", str(PARTS)],
        "spark": ["--engine", "spark", "--partitions", str(PARTS)],
    }[case.engine]
    fixed = ["anonymize", str(outcome.source), "-p", str(outcome.folder / "policy.toml"), "-o", str(outcome.target)]
    fixed.append("--force")  # an old release is there
    return [*fixed, *more, *case.options]


def command(*arguments: str) -> tuple[int, str, str]:
    """Run the command line in this process: exit code, stdout, stderr."""
    from kohort.cli.main import run

    out, err = io.StringIO(), io.StringIO()
    with (
        mock.patch.object(sys, "argv", ["kohort", *arguments]),
        mock.patch("typer.main.get_command", _built),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            run()
        except SystemExit as end:
            code = int(end.code or 0)
        except BaseException:
            code = -1
            traceback.print_exc()
    return code, out.getvalue(), err.getvalue()


def _run_frame(case: Case, outcome: Outcome) -> None:
    import polars as pl

    import kohort

    table = arrow_table(case)
    kind = case.source["kind"]
    frame = {"arrow": lambda: table, "polars": lambda: pl.from_arrow(table), "pandas": table.to_pandas}[kind]()
    try:
        release = kohort.anonymize(frame, outcome.folder / "policy.toml", output=outcome.target, overwrite=True)
    except kohort.KohortError as error:
        said = [f"error: {fault}\n" for fault in error.faults]
        outcome.code, outcome.err = error.exit_code, "".join([*said, f"see docs/errors.md#{error.anchor}\n"])
    except Exception:
        outcome.code, outcome.err = 70, traceback.format_exc()
    else:
        outcome.verdict = json.loads(release.public_json())


# -- judging -----------------------------------------------------------------------------------------


def findings(case: Case, outcome: Outcome) -> list[Fault]:
    """What is wrong with how a run ended; nothing if all is as promised."""
    faults = list(_remains(case, outcome)) + leaks(
        [outcome.out, outcome.err, json.dumps(outcome.verdict)], secrets_of(case)
    )
    if outcome.code == 0:
        return faults + _release_faults(case, outcome)
    if outcome.code not in (2, 3):
        return [*faults, Fault("exit code", f"{outcome.code}: {outcome.err.strip()[-1500:]}")]
    lines = outcome.err.splitlines()
    more = lines.pop() if lines else ""
    if not more.startswith("see docs/errors.md#"):
        faults.append(Fault("sentence", f"an error does not say where to read more: {outcome.err[-500:]!r}"))
    if not lines or not all(line.startswith("error: ") and line.rstrip().endswith((".", "?", "!")) for line in lines):
        faults.append(Fault("sentence", f"an error is no sentence: {outcome.err[-500:]!r}"))
    if outcome.code == 3 and is_feasible(_policy(outcome), outcome.folder, original_of(case, outcome)):
        faults.append(Fault("feasible", f"a request that can be met is refused: {outcome.err.strip()}"))
    return faults


def _remains(case: Case, outcome: Outcome) -> Iterator[Fault]:
    tables = tables_of(case, outcome.target)
    made = {path.name for path in tables} | {outcome.target.name + ".verdict.json"}
    here = {path.name for path in outcome.folder.iterdir()}
    if extra := here - outcome.before - (made if not outcome.code else set()):
        yield Fault("remains", f"{len(extra)} files were left behind: {sorted(extra)}")
    if outcome.before - here:
        yield Fault("remains", "a file is gone")
    if outcome.code and tables[0].name in outcome.before and tables[0].read_bytes() != OLD:
        yield Fault("remains", "the old release was changed by a run that failed")


def _release_faults(case: Case, outcome: Outcome) -> list[Fault]:
    tables = tables_of(case, outcome.target)
    try:
        release = release_of(case, outcome, path=tables[0])
        values = read(tables[1], delimiter=case.source.get("delimiter", ",")) if len(tables) > 1 else None
    except Malformed as error:
        return [Fault("file", f"the release cannot be read: {error}")]
    faults = judge(release) if values is None else judge_buckets(release, values)
    if outcome.verdict is None:
        return [*faults, Fault("verdict", "there is none")]
    identifiers = {str(cell) for made in case.columns if made.spec["role"] == "identifier" for cell in made.cells}
    if identifiers & {cell.text for row in release.table.rows for cell in row}:
        faults.append(Fault("identifier", "an identifier is published"))
    return faults + judge_verdict(release, outcome.verdict, tables[0])


# -- the same again --------------------------------------------------------------------------------------


def repeated(case: Case, outcome: Outcome, folder: Path, spark: Any = None) -> list[Fault]:
    """Run it again: the same seeds give the same file, and a twin that differs in what is hidden the same verdict.

    Where the twin's file is the same, the seeds have shown it: the request itself is made again only where it is not.
    """
    seeds = "seed" in case.policy["algorithm"] and {"shuffle_seed", "order"} & case.policy.get("output", {}).keys()
    if not seeds or case.engine == "spark":
        return []
    twin = twin_of(case)
    if twin is not None:
        (folder / "twin").mkdir()
        other = run_case(twin, folder / "twin", spark)
        if other.code == 0 and other.target.read_bytes() == outcome.target.read_bytes():
            here, there = _told(outcome.verdict), _told(other.verdict)
            different = sorted(key for key in {*here, *there} if here.get(key) != there.get(key))
            said = f"two tables with the same release have other figures: {different}"
            return [Fault("figures", said)] if different else []
    (folder / "again").mkdir()
    again = run_case(case, folder / "again", spark)
    if again.code != outcome.code or again.target.read_bytes() != outcome.target.read_bytes():
        return [Fault("the same again", "the same seeds give another release")]
    return []


def _told(document: Any, path: str = "") -> dict[str, Any]:
    """The leaves of a public verdict, but the keyed hash of the input."""
    if isinstance(document, dict):
        return {
            k: v
            for key, one in document.items()
            for k, v in _told(one, f"{path}.{key}").items()
            if key != "input_keyed"
        }
    if isinstance(document, list):
        return {k: v for number, one in enumerate(document) for k, v in _told(one, f"{path}.{number}").items()}
    return {path: document}


# -- tampering -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Published:
    """A published table, or the two of a release in buckets, that is tampered with.

    Attributes
    ----------
    policy, original : Path
        What `verify` is given.
    judged : callable
        Has the files of a mutant judged.
    second : Table, optional
        The sensitive values of buckets.
    sensitive : str
        Their column.
    """

    subject: Subject
    policy: Path
    original: Path
    judged: Callable[[Sequence[Path]], list[Fault]]
    second: Table | None = None
    sensitive: str = ""

    def mutant(self, r: Random) -> tuple[str, list[Table | str]] | None:
        """A random mutant: its name, and one table or two."""
        if self.second is None:
            made = mutant_of(self.subject, r)
            return None if made is None else (made[0], [made[1]])
        pair = mutant_pair_of(self.subject, self.second, self.sensitive, r)
        return None if pair is None else (pair[0], list(pair[1:]))


def tampered(case: Case, outcome: Outcome, count: int) -> tuple[list[Fault], dict[str, int]]:
    """Mutants of a good release that pass `verify` though they break a promise; and how many were caught."""
    tally = {"passed": 0, "caught": 0, "refused": 0}
    r = Random(f"mutants of {case.engine} {case.seed}")
    targets = _vertical(case, outcome) if _is_vertical(case) else [_published(case, outcome)]
    return [fault for target in targets for fault in _attempts(case, outcome, target, count, r, tally)], tally


def _attempts(
    case: Case, outcome: Outcome, target: Published, count: int, r: Random, tally: dict[str, int]
) -> Iterator[Fault]:
    for _ in range(count):
        made = target.mutant(r)
        if made is None:
            continue
        name, tables = made
        paths = [outcome.folder / f"mutant{number}.{case.target}" for number in range(len(tables))]
        for table, path in zip(tables, paths, strict=True):
            write_mutant(table, path, target.subject.delimiter)
        second = ["--sensitive-table", str(paths[1])] if len(paths) > 1 else []
        given = ["-p", str(target.policy), "--original", str(target.original), *second]
        code, out, err = command("verify", str(paths[0]), *given)
        broken = target.judged(paths)
        yield from (Fault(f"mutant ({name})", str(fault)) for fault in leaks([out, err], secrets_of(case)))
        if code not in (0, 1, 2):
            yield Fault(f"mutant ({name})", f"verify ends with {code}: {err.strip()[-600:]}")
        elif code == 0 and broken:
            yield Fault(f"mutant ({name})", f"verify passes, but {broken[0]}")
        tally["refused" if code == 2 else "caught" if code else "passed"] += 1
        for path in paths:
            path.unlink()


def _published(case: Case, outcome: Outcome) -> Published:
    first, *more = tables_of(case, outcome.target)
    release = release_of(case, outcome, path=first)
    delimiter = case.source.get("delimiter", ",")
    quasi, [sensitive] = [column.name for column in release.quasi], release.having("sensitive") if more else [""]
    beside = [name for name in release.beside if name != sensitive]
    subject = Subject(release.table, quasi, beside, release.original, delimiter)
    second = read(more[0], delimiter=delimiter) if more else None

    def judged(paths: Sequence[Path]) -> list[Fault]:
        made = release_of(case, outcome, strict=False, path=paths[0])
        return judge(made) if second is None else judge_buckets(made, read(paths[1], delimiter=delimiter))

    original = _stored_original(case, outcome)
    return Published(subject, outcome.folder / "policy.toml", original, _careful(judged), second, sensitive)


def _is_vertical(case: Case) -> bool:
    return case.policy["algorithm"].get("parameters", {}).get("form") == "vertical"


def _vertical(case: Case, outcome: Outcome) -> list[Published]:
    """The tables of the vertical form, each a release by itself with columns and a promise of its own."""
    import kohort

    found, original = [], original_of(case, outcome)
    policy = kohort.Policy.load(outcome.folder / "policy.toml")
    for number, path in enumerate(sorted(outcome.folder.glob(f"out.*.{case.target}"))):
        table = read(path)
        at = [original.names.index(name) for name in table.names]
        rows = tuple(tuple(row[place] for place in at) for row in original.rows)
        whole = Table(table.names, rows)
        (outcome.folder / f"original{number}.csv").write_text(csv_text(whole, ","))
        (outcome.folder / f"policy{number}.toml").write_text(
            policy.of_columns(table.names, k=max(2, policy.privacy.k // 2)).to_toml()
        )
        promised = tomllib.loads((outcome.folder / f"policy{number}.toml").read_text())

        def judged(paths: Sequence[Path], promised: Any = promised, whole: Table = whole) -> list[Fault]:
            return judge(Release(promised, outcome.folder, whole, read(paths[0], encoding="utf-8-sig"), strict=False))

        quasi = [name for name in table.names if name in policy.quasi_identifiers]
        subject = Subject(table, quasi, [name for name in table.names if name not in quasi], whole)
        files = (outcome.folder / f"policy{number}.toml", outcome.folder / f"original{number}.csv")
        found.append(Published(subject, *files, _careful(judged)))
    return found


def _careful(judged: Callable[[Sequence[Path]], list[Fault]]) -> Callable[[Sequence[Path]], list[Fault]]:
    """A file that cannot be read keeps no promise."""

    def careful(paths: Sequence[Path]) -> list[Fault]:
        try:
            return judged(paths)
        except (Malformed, UnicodeDecodeError) as error:
            return [Fault("file", str(error))]

    return careful


def _stored_original(case: Case, outcome: Outcome) -> Path:
    if outcome.source is not None:
        return outcome.source
    import pyarrow.parquet as pq

    pq.write_table(arrow_table(case), outcome.folder / "original.parquet")
    return outcome.folder / "original.parquet"


def release_of(case: Case, outcome: Outcome, *, strict: bool = True, path: Path | None = None) -> Release:
    """The release that lies there, beside its original."""
    dialect = _dialect(case) if case.source["kind"] in ("csv", "folder") else {}
    written = {"delimiter": dialect.get("delimiter", ","), "encoding": "utf-8" if strict else "utf-8-sig"}
    table = read(path or outcome.target, **written)
    inherited = {key: value for key, value in dialect.items() if key in ("quote", "delimiter") and value}
    population = {"quote": inherited.get("quote", '"')}
    return Release(_policy(outcome), outcome.folder, original_of(case, outcome), table, population, strict)


def original_of(case: Case, outcome: Outcome) -> Table:
    """The table that the request was about."""
    if outcome.source is None:
        table = arrow_table(case)
        # there a column of whole numbers with a missing one is one of floats
        return of_arrow(type(table).from_pandas(table.to_pandas()) if case.source["kind"] == "pandas" else table)
    table = read(outcome.source, **(_dialect(case) if not case.source["kind"].startswith("parquet") else {}))
    return in_utc(table) if case.engine == "spark" else table  # which reads moments, and no zones


def _dialect(case: Case) -> dict[str, Any]:
    return {key: case.source[key] for key in ("delimiter", "quote", "encoding")}


def _policy(outcome: Outcome) -> dict[str, Any]:
    return tomllib.loads((outcome.folder / "policy.toml").read_text(encoding="utf-8"))


def secrets_of(case: Case) -> dict[str, str]:
    """What must not be told beside the release: cells that can be recognised, and seeds."""
    found = {}
    for made in case.columns:
        for cell in made.cells:
            if isinstance(cell, str) and "zq" in cell:
                found[cell.strip()] = f"a cell of a column of role {made.spec['role']}"
    for section, key in (("algorithm", "seed"), ("output", "shuffle_seed")):
        if (seed := case.policy.get(section, {}).get(key)) is not None:
            found[str(seed)] = key
    return found
