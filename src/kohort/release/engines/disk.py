"""Out of core: a table larger than memory, on this machine.

DuckDB reads the files, makes the dictionaries and divides the table into partitions on disk. Each partition is then
read, clustered and recoded by itself, and all are written as one file, which is verified like any other.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import shutil
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar

import polars as pl

from kohort.audit import examine, refuse_misread
from kohort.audit.ledger import Recording
from kohort.common.progress import Clock
from kohort.common.system import cores
from kohort.errors import DataError, InfeasibleError
from kohort.release.engines.duck import DuckScan, connected
from kohort.release.engines.engine import Engine, Examined, Written
from kohort.release.engines.features import DISK, Profile
from kohort.release.engines.gather import gathered
from kohort.release.engines.job import PART, ROW, Job, facts_of
from kohort.release.engines.joining import Stock, joined, settled
from kohort.release.engines.lookups import COUNT
from kohort.release.engines.parallel import side_by_side
from kohort.release.engines.partition import Piece, Tally, release_partition
from kohort.release.engines.sample import dealt, expression, with_cuts
from kohort.release.engines.survey import refuse_own_names, survey, usable
from kohort.release.engines.workspace import Workspace, files_facts, same_run, workspace, write_note
from kohort.release.plan import Plan
from kohort.release.pseudonyms import read_key
from kohort.release.published_loss import Counted
from kohort.release.solve import refuse_solution, refuse_stars
from kohort.table.safe import Drafts
from kohort.table.sizes import memory_of
from kohort.table.sources import Source, copied, open_source
from kohort.table.write import scanned
from kohort.table.zones import refuse_without_zone

BYTES_PER_RECORD = 2500
"""Memory that work on a partition takes for each of its records, about, with what is read and written."""
BYTES_PER_VALUE = 100
"""Memory that a dictionary takes for each distinct value, about."""
DATABASE = 0.4
"""Share of the memory that the database may take."""
MOST_RECORDS = 1_000_000
"""Records of a partition at most: larger ones gain nothing."""
MOST_PARTS = 4096
DISK_SPACE = 8
"""Free disk that is asked for, as a multiple of the table's own size."""


class OnDisk(Engine):
    """Works on the partitions of a table in files, which lie in a private folder beside the output."""

    profile: ClassVar[Profile] = DISK
    limit: int
    """Bytes that the process may take, about."""
    source: Source
    space: Workspace
    job: Job
    records: int
    """All records of the table."""
    scan: DuckScan
    """The records that take part, with their codes."""
    others: pl.DataFrame | None
    """Records that do not take part."""
    tally: Tally
    draft: Path
    order: Path
    """Parquet file with the number of the original row of each row."""

    def open(self, place: ExitStack) -> None:
        """Open the files in a database, and survey them."""
        request, plan, clock = self.request, self.request.plan, self.request.clock
        assert request.path is not None
        assert request.memory is not None
        self.limit = memory_of(request.memory)
        secret = read_key(plan.policy)
        source = open_source(request.table, plan.policy.input, plan.policy.columns)
        size = sum(path.stat().st_size for path in source.files)
        self.space = space = place.enter_context(workspace(request.path, DISK_SPACE * size, resume=request.resume))
        self.source = source = copied(source, plan.policy.input, plan.policy.columns, space.raw)
        refuse_without_zone(source.zones, plan.policy)
        facts = {
            "files": files_facts(source.originals),
            "policy": plan.policy.to_toml(),
            "memory": self.limit,
            "partitions": request.partitions,
            "version": version("kohort"),
        }
        drawn = same_run(space.done, facts, {"seed": plan.seed, "shuffle": secrets.randbits(62)})
        plan = replace(plan, seed=drawn["seed"])
        database = place.enter_context(connected(int(self.limit * DATABASE), space.raw))
        with clock.step("read"):
            scan = DuckScan.of(database, source, space.raw)
            if source.kind == "csv":
                refuse_misread(source.originals, plan.policy, source.columns, scan.records)
        with clock.step("encode"):
            _refuse_dictionaries(scan, plan, self.limit)
            found = usable(plan.policy, scan)
            refuse_own_names(scan.columns)
            self.records = scan.records
            job, self.scan = survey(plan, found, secret)
            self.job = replace(job, zones=source.zones)
            if plan.policy.output.shuffle_seed is None:
                self.job = replace(self.job, shuffle=drawn["shuffle"])

    def work(self) -> None:
        """Divide the table, and work on its partitions."""
        job, coded, clock = self.job, self.scan, self.request.clock
        most = min(MOST_RECORDS, _room(self.limit) / cores())
        parts, most = (MOST_PARTS, most) if self.request.partitions is None else (self.request.partitions, 0.0)
        with clock.step("divide"):
            job = with_cuts(job, lambda condition: coded.counted(job.code_columns, condition), parts=parts, most=most)
            self.others = coded.others(job.carried) if coded.records < self.records else None
        self.job, self.tally = _worked(job, coded, self.space, self.limit, clock)
        coded.database.close()  # rows are sorted in the memory that it has taken
        without, policy = self.records - coded.records, job.policy
        refuse_solution(self.tally.suppressed, coded.records, self.records, policy)
        refuse_stars(without + self.tally.suppressed + self.tally.stars, self.records, policy)

    def write(self, files: Drafts) -> Written:
        """Write all partitions into one file, their rows mixed."""
        request, job = self.request, self.job
        assert request.path is not None
        self.draft = files.file(request.path)
        memory = int(self.limit * DATABASE)
        with request.clock.step("write"):
            self.order = gathered(job, job.cuts.parts, self.space, self.others, self.draft, self.source.dialect, memory)
        return Written(
            plan=job.plan,
            axes=job.axes,
            original=self.source.originals,
            tables={"": scanned(request.path, request.kind, self.source.dialect)},
            facts=facts_of(len(job.cuts.parts)),
            clusters=self.tally.clusters,
        )

    def examine(self, record: Recording | None) -> Examined:
        """Check the file in limited memory, too."""
        with self.request.clock.step("verify"):
            found = examine(
                self.draft,
                self.job.policy,
                original=self.source.originals,
                row_order=self.order,
                memory=self.limit,
                folder=self.space.raw,
                hold=True,
            )
        return Examined(found.verdict, {name: Counted.of(texts) for name, texts in found.published.items()})


def _refuse_dictionaries(scan: DuckScan, plan: Plan, memory: int) -> None:
    """Refuse a table with too many distinct values: they stay in memory, whatever the number of partitions."""
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


def _room(memory: int) -> float:
    """Records that can be worked on at a time."""
    return memory * (1 - DATABASE) / BYTES_PER_RECORD


class _TooLarge(DataError):
    """Partitions that were joined for a promise do not fit into memory any more."""


def _worked(job: Job, scan: DuckScan, space: Workspace, memory: int, clock: Clock) -> tuple[Job, Tally]:
    """Divide the table, and work on its partitions; the job with those there were in the end, and the counts.

    Raises
    ------
    DataError
        When the promises need larger partitions than fit into memory, however the table is divided.
    """
    fault: DataError | None = None
    for way in (job, dealt(job, _room(memory) / cores())):
        try:
            with clock.step("divide"):
                work = _Work.of(way, scan, space, memory, clock.share)
            with clock.step("cluster"):
                done = settled(joined(way, work.stock), work.stock, work.failures)
                return done, work.finished(done)
        except _TooLarge as error:
            fault = error
        finally:
            shutil.rmtree(space.raw / "parts", ignore_errors=True)
    assert fault is not None
    raise fault


@dataclass(frozen=True)
class _Work:
    """Work on partitions that lie on disk."""

    scan: DuckScan
    space: Workspace
    memory: int
    progress: Callable[[float], None]
    files: dict[int, list[Path]]
    """Files of each leaf of the cuts."""
    stock: Stock

    @classmethod
    def of(cls, job: Job, scan: DuckScan, space: Workspace, memory: int, progress: Callable[[float], None]) -> _Work:
        """Write the partitions, and look at them."""
        scan.divide(expression(job), job.carried, space.raw / "parts")
        folders = space.raw.glob(f"parts/{PART}=*")
        files = {int(one.name.removeprefix(f"{PART}=")): sorted(one.glob("*.parquet")) for one in folders}
        return cls(scan, space, memory, progress, files, Stock.of(job, lambda columns: _counted(files, columns)))

    def failures(self, job: Job, parts: list[int]) -> dict[int, InfeasibleError]:
        """Work on some partitions that are not finished yet, several at a time; the faults of those that cannot be."""
        sizes = {part: self.stock.size(leaves) for part, leaves in job.cuts.groups.items()}
        self._refuse_joined(job, sizes)

        def work(part: int, progress: Callable[[float], None], threads: int) -> None:
            if not self._is_done(job, part):
                self._release(job, part, progress, threads)

        return side_by_side(work, parts, sizes, self.progress, _room(self.memory) / cores())

    def finished(self, job: Job) -> Tally:
        """What was counted in all partitions."""
        return Tally.total([self._tally(part) for part in job.cuts.parts])

    def _release(self, job: Job, part: int, progress: Callable[[float], None], threads: int) -> None:
        files = [path for leaf in job.cuts.groups[part] for path in self.files.get(leaf, [])]
        frame = self.scan.named(pl.read_parquet(files, glob=False, hive_partitioning=False))
        piece = release_partition(frame, job, part, progress, threads=threads)
        _write(piece, frame[ROW], self.space, part, _held(job, part))
        if not job.promises:  # else it may have to be joined with another one
            for path in files:
                path.unlink()

    def _is_done(self, job: Job, part: int) -> bool:
        """Whether a partition was finished in a run before, with the records that it has now."""
        return self.space.is_done(part) and self._note(part)["of"] == _held(job, part)

    def _tally(self, part: int) -> Tally:
        content = self._note(part)
        del content["of"]
        return Tally(**content)

    def _note(self, part: int) -> dict[str, Any]:
        content: dict[str, Any] = json.loads(self.space.tally(part).read_text(encoding="utf-8"))
        return content

    def _refuse_joined(self, job: Job, sizes: dict[int, int]) -> None:
        """Refuse to work on partitions that were joined for a promise and do not fit into memory any more."""
        some = [sizes[part] for part, leaves in job.cuts.groups.items() if len(leaves) > 1]
        if job.promises and some and max(some) > _room(self.memory):
            needed = self.memory * max(some) / _room(self.memory)
            raise _TooLarge(
                f"memory: the promises about sensitive values are kept only if {max(some):,} records are worked on "
                f"together, which takes about {needed / 1e9:.1f}GB; give more memory, or choose weaker parameters."
            )


def _counted(files: dict[int, list[Path]], columns: Sequence[str]) -> pl.DataFrame:
    """Records of each leaf, or of each value of some own columns in it."""
    count = pl.len().cast(pl.Int64).alias(COUNT)
    found = []
    for leaf, some in sorted(files.items()):
        rows = pl.scan_parquet(some, glob=False, hive_partitioning=False)
        counted = rows.group_by(columns).agg(count) if columns else rows.select(count)
        found.append(counted.select(pl.lit(leaf).alias(PART), *columns, COUNT).collect())
    return pl.concat(found)


def _held(job: Job, part: int) -> str:
    """What says which records of the table a partition holds."""
    return hashlib.sha256(repr((job.cuts.root, job.cuts.groups[part])).encode()).hexdigest()


def _write(piece: Piece, rows: pl.Series, space: Workspace, part: int, held: str) -> None:
    """Keep what became of a partition; the tally comes last, so that one is finished only when all of it is there."""
    released = piece.released.with_columns(rows.gather(piece.rows))
    space.tally(part).unlink(missing_ok=True)
    released.write_parquet(space.released(part), compression="lz4")
    write_note(space.tally(part), asdict(piece.tally) | {"of": held})
