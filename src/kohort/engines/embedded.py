"""Out of core: a table larger than memory, on this machine.

DuckDB reads the files, makes the dictionaries and divides the table into parts on disk. Each part is then read,
clustered and recoded by itself, and all are written as one file, which is verified like any other.
"""

from __future__ import annotations

import json
import secrets
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from threading import Event, Lock

import polars as pl

from kohort.clock import Clock
from kohort.engines.duck import DuckScan, connected
from kohort.engines.gather import gathered
from kohort.engines.job import PART, ROW, Job
from kohort.engines.part import Piece, Tally, release_part
from kohort.engines.sample import with_cuts
from kohort.engines.survey import refuse_parts, survey
from kohort.engines.workspace import Workspace, files_facts, same_run, workspace, write_note
from kohort.errors import DataError, Interrupted
from kohort.planning import Plan
from kohort.preparing import refuse_suppressing
from kohort.search.refine import cores
from kohort.table.sources import Source, open_source

BYTES_PER_RECORD = 2500
"""Memory that work on a part takes for each of its records, about, with what is read and written."""
BYTES_PER_VALUE = 100
"""Memory that a dictionary takes for each distinct value, about."""
DATABASE = 0.4
"""Share of the memory that the database may take."""
MOST_RECORDS = 1_000_000
"""Larger parts gain nothing."""
MOST_PARTS = 4096
LEAST_CLASSES = 5
"""Parts with fewer than so many times k records are joined with their neighbours."""
DISK = 4
"""Free disk that is asked for, as a multiple of the table's own size."""


@dataclass(frozen=True)
class Run:
    """A finished run: what has been written into the draft, and what is known about it."""

    source: Source
    order: Path
    """Parquet file with the number of the original row of each row."""
    tally: Tally
    job: Job
    withheld: int
    """Records that did not take part."""
    facts: dict[str, str]
    folder: Path
    """Private, and guarded; gone at the end."""


@contextmanager
def beyond_memory(
    table: str | Path,
    plan: Plan,
    output: Path,
    draft: Path,
    memory: int,
    clock: Clock,
    *,
    partitions: int | None = None,
    resume: bool = False,
) -> Iterator[Run]:
    """Write a release of a table in files into a draft; its private folder lives until the end of the block.

    Parameters
    ----------
    table : path
        A file, a folder of files, or a pattern.
    memory : int
        Bytes that the process may take, about.
    partitions : int, optional
        How many parts there are; as many as memory asks for when absent.
    resume : bool
        Go on from the parts that a run before has finished.
    """
    refuse_parts(plan)
    source = open_source(table, plan.policy.input)
    size = sum(path.stat().st_size for path in source.files)
    with workspace(output, DISK * size, resume=resume) as space:
        facts = {
            "files": files_facts(source.files),
            "policy": plan.policy.to_toml(),
            "memory": memory,
            "partitions": partitions,
        }
        drawn = same_run(space.done, facts, {"seed": plan.seed, "shuffle": secrets.randbits(62)})
        plan = replace(plan, seed=drawn["seed"])
        workers = cores()
        most = min(MOST_RECORDS, memory * (1 - DATABASE) / workers / BYTES_PER_RECORD)
        parts, most = (MOST_PARTS, most) if partitions is None else (partitions, 0.0)
        with connected(int(memory * DATABASE), space.raw) as database:
            with clock.step("read"):
                scan = DuckScan.of(database, source, space.raw)
            with clock.step("encode"):
                _refuse_dictionaries(scan, plan, memory)
                job, coded = survey(plan, scan)
                if plan.policy.output.shuffle_seed is None:
                    job = replace(job, shuffle=drawn["shuffle"])
            with clock.step("divide"):
                job = with_cuts(
                    job, lambda condition: coded.counted(job.code_columns, condition), parts=parts, most=most
                )
                coded.divide(job.cuts.expression(job.code_columns), job.carried, space.raw / "parts")
                others = coded.others(job.carried) if coded.records < scan.records else None
        files = _files(space.raw / "parts")
        records = _records(files)
        joined = job.cuts.joined(records, LEAST_CLASSES * job.k)
        groups = {
            part: [path for one in some for path in files.get(one, [])]
            for part, some in joined.groups(job.cuts).items()
        }
        job = replace(job, cuts=joined)
        with clock.step("cluster"):
            tally = _worked(job, groups, space, workers, clock.share)
        without = scan.records - coded.records
        refuse_suppressing(without + tally.suppressed, scan.records, plan.policy, "would lie in too small classes")
        if plan.policy.output.suppressed == "starred":
            stars = without + tally.suppressed + tally.stars
            refuse_suppressing(stars, scan.records, plan.policy, "would be * in every quasi-identifier")
        with clock.step("write"):
            order = gathered(job, sorted(groups), space, others, draft, source.dialect, int(memory * DATABASE))
        told = {"parts": f"{len(groups):,}, each of them clustered by itself"}
        yield Run(source, order, tally, job, without, told, space.raw)


def _refuse_dictionaries(scan: DuckScan, plan: Plan, memory: int) -> None:
    """Refuse a table with too many distinct values: they are in memory all the time, however many parts there are."""
    names = [name for name in plan.policy.quasi_identifiers if name in scan.columns]
    if scan.records * len(names) * BYTES_PER_VALUE <= memory * (1 - DATABASE):
        return
    distinct = scan.about_distinct(names)
    needed = BYTES_PER_VALUE * sum(distinct.values()) / (1 - DATABASE)
    if needed > memory:
        most = max(distinct, key=lambda name: distinct[name])
        raise DataError(
            f"memory: the distinct values of quasi-identifiers need about {needed / 1e9:.1f}GB, most of it for column "
            f"{most!r} with about {distinct[most]:,} of them; give more memory, or round the column first."
        )


def _files(folder: Path) -> dict[int, list[Path]]:
    """Files of each part."""
    return {int(one.name.removeprefix(f"{PART}=")): sorted(one.glob("*.parquet")) for one in folder.glob(f"{PART}=*")}


def _records(files: dict[int, list[Path]]) -> dict[int, int]:
    count = pl.len()
    return {
        part: sum(pl.scan_parquet(path).select(count).collect().item() for path in some) for part, some in files.items()
    }


def _worked(
    job: Job, groups: dict[int, list[Path]], space: Workspace, workers: int, progress: Callable[[float], None]
) -> Tally:
    """Work on all parts that are not finished yet; some at a time."""
    stop, lock = Event(), Lock()
    done = dict.fromkeys(groups, 0.0)
    sizes = {part: sum(path.stat().st_size for path in files) for part, files in groups.items()}
    whole = sum(sizes.values()) or 1

    def share(part: int, of_part: float) -> None:
        if stop.is_set():
            raise Interrupted
        with lock:
            done[part] = of_part * sizes[part] / whole
            progress(sum(done.values()))

    def work(part: int) -> Tally:
        if not space.is_done(part):
            share(part, 0.0)
            # One thread for each part: parts share nothing, and so never wait for each other.
            frame = pl.read_parquet(groups[part], glob=False, hive_partitioning=False)
            piece = release_part(frame, job, part, lambda of_part: share(part, of_part), threads=1)
            _write(piece, frame[ROW], space, part)
        for path in groups[part]:
            path.unlink()
        share(part, 1.0)
        content = json.loads(space.tally(part).read_text(encoding="utf-8"))
        return Tally(**content | {"lost": tuple(content["lost"])})

    # Large parts first, so that none is left for the end.
    order = sorted(groups, key=lambda part: -sizes[part])
    with ThreadPoolExecutor(workers) as pool:
        futures = {pool.submit(work, part): part for part in order}
        try:
            for future in as_completed(futures):
                future.result()
        except BaseException:
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)
            raise
    tallies = {part: future.result() for future, part in futures.items()}
    shutil.rmtree(space.raw / "parts")
    return Tally.total([tallies[part] for part in sorted(tallies)])


def _write(piece: Piece, rows: pl.Series, space: Workspace, part: int) -> None:
    """Keep what became of a part; the tally comes last, so that a part is finished only when all of it is there."""
    released = piece.released.with_columns(rows.gather(piece.rows))
    withheld = piece.withheld.with_columns(rows.gather(piece.withheld_rows[: piece.withheld.height]))
    released.write_parquet(space.released(part), compression="lz4")
    withheld.write_parquet(space.withheld(part), compression="lz4")
    write_note(space.tally(part), asdict(piece.tally))
