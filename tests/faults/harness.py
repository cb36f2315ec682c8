"""What a fault is, and what must be true of every one of them.

A fault is a folder with something wrong in it, a command, and what the command must say. Whatever the
fault, the folder is the same afterwards, byte by byte, and nothing that was said holds a cell value.
"""

import json
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import chdir, contextmanager
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path

import polars as pl
import pytest

from kohort.cli.main import run

CANARY = "SECRETCELL42"
CELLS = re.compile(r"secretcell|sekret|77[01]\d\d|panicked", re.IGNORECASE)
"""What cells hold; none of it may be said."""

POLICY = """\
[privacy]
k = 2
[algorithm]
seed = 1
[columns.name]
role = "identifier"
[columns.age]
role = "quasi"
type = "integer"
[columns.zip]
role = "quasi"
hierarchy = { prefix = [5, 3] }
[columns.town]
role = "quasi"
[columns.disease]
role = "sensitive"
"""
HEADER = "name,age,zip,town,disease\n"
ROWS = f"""\
{CANARY}-a,30,77031,Sekretheim,flu
{CANARY}-b,31,77032,Sekretheim,{CANARY}
{CANARY}-c,40,77153,Sekretdorf,cold
{CANARY}-d,41,77154,Sekretdorf,{CANARY}
"""
DATA = HEADER + ROWS
OLD = b"an old release\n"

JARGON = re.compile(
    r"Traceback|__\w+__|instances? of|positional|should have|Input should|unable to parse|"
    r"This is a bug|\b[Tt]uple|\b[Dd]ictionary"
)
"""Words of Python and its libraries, which mean nothing to a data steward."""

SEE = re.compile(r"see docs/errors\.md#(usage|policy|data|engine|infeasible|verification|internal)")
INFEASIBLE = 3
"""Exit code of a request that is well formed and that nothing can meet: suppression over its limit."""

Content = str | bytes


@dataclass(frozen=True)
class Fault:
    """Something wrong, and what must be said about it.

    The command is `anonymize` unless another is given. `says` holds one sentence per fault: a text is
    meant word for word; a pattern leaves the choice of words where today's could be better.
    """

    name: str
    says: tuple[str | re.Pattern[str], ...]
    exit_code: int = 2
    policy: Content | None = POLICY
    data: Content | None = DATA
    data_name: str = "people.csv"
    output: str | None = "release.csv"
    files: Mapping[str, Content] = field(default_factory=dict)
    options: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    has_json: bool = True

    @property
    def arguments(self) -> list[str]:
        if self.command:
            return [*self.command, *self.options]
        return ["anonymize", self.data_name, "-p", "policy.toml", "-o", str(self.output), "--force", *self.options]

    @property
    def older(self) -> dict[str, Content]:
        """An old release and its verdict, where the output can be one."""
        taken = {"policy.toml", self.data_name, *self.files}
        if self.command or not self.output or Path(self.output).name in taken or "/" in self.output:
            return {}
        return {self.output: OLD, f"{self.output}.verdict.json": OLD}


def says(*sentences: str | re.Pattern[str]) -> tuple[str | re.Pattern[str], ...]:
    return sentences


def like(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def each(faults: Iterable[Fault]) -> pytest.MarkDecorator:
    """One test for every fault."""
    faults = list(faults)
    names = [fault.name for fault in faults]
    twice = {name for name in names if names.count(name) > 1}
    assert not twice, f"named twice: {twice}"
    return pytest.mark.parametrize("fault", faults, ids=names)


# -- policies, data and files with something changed ---------------------------------------------------


def changed(old: str, new: str, text: str = POLICY) -> str:
    assert old in text
    return text.replace(old, new)


def privacy(keys: str) -> str:
    """The policy with more keys in [privacy], from line 3."""
    return changed("k = 2\n", f"k = 2\n{keys}\n")


def algorithm(keys: str) -> str:
    """The policy with more keys in [algorithm], from line 5."""
    return changed("seed = 1\n", f"seed = 1\n{keys}\n")


def age(keys: str) -> str:
    """The policy with other keys for age, from line 9."""
    return changed('type = "integer"', keys)


def zip_code(hierarchy: str) -> str:
    """The policy with another hierarchy for zip, in line 12."""
    return changed("{ prefix = [5, 3] }", hierarchy)


def town(keys: str) -> str:
    """The policy with keys for town, from line 15."""
    return changed('[columns.town]\nrole = "quasi"\n', f'[columns.town]\nrole = "quasi"\n{keys}\n')


def section(name: str, keys: str) -> str:
    """The policy with a section in line 17 and its keys from line 18."""
    return f"{POLICY}[{name}]\n{keys}\n"


def ages(first: str, second: str) -> str:
    """The table with other ages in rows 2 and 4."""
    return changed(",41,", f",{second},", changed(",31,", f",{first},", DATA))


def dated(first: str, second: str) -> str:
    """The table with dates for ages; those of rows 2 and 4 are given."""
    return changed(",40,", ",2021-05-05,", changed(",30,", ",2020-01-01,", ages(first, second)))


def frame() -> pl.DataFrame:
    """The table, every column a text."""
    return pl.read_csv(BytesIO(DATA.encode()), infer_schema=False)


def parquet(table: pl.DataFrame) -> bytes:
    buffer = BytesIO()
    table.write_parquet(buffer)
    return buffer.getvalue()


# -- running a command and judging it -------------------------------------------------------------------


@dataclass(frozen=True)
class Ended:
    code: int
    out: str
    err: str


def place(folder: Path, files: Mapping[str, Content | None]) -> None:
    for name, content in files.items():
        if content is not None:
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)


def contents(folder: Path) -> dict[str, bytes | None]:
    """Everything in a folder: files with their bytes, folders with None."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")
    }


def command(capfd: pytest.CaptureFixture[str], *arguments: str) -> Ended:
    """Run the command line in this process."""
    capfd.readouterr()
    with _command_line(arguments), pytest.raises(SystemExit) as end:
        run()
    out, err = capfd.readouterr()
    assert isinstance(end.value.code, int)
    return Ended(end.value.code, out, err)


@contextmanager
def _command_line(arguments: Iterable[str]) -> Iterator[None]:
    argv = sys.argv
    debug = os.environ.pop("KOHORT_DEBUG", None)
    sys.argv = ["kohort", *arguments]
    try:
        yield
    finally:
        sys.argv = argv
        if debug is not None:
            os.environ["KOHORT_DEBUG"] = debug


def assert_refused(fault: Fault, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Run a faulty command, over an old release and with --json: it must say what it must, and change nothing."""
    _assert_refused(fault, folder / "plain", capfd, older=fault.older)
    if fault.has_json:
        _assert_refused(fault, folder / "json", capfd, older={}, options=("--json",))


def _assert_refused(
    fault: Fault,
    folder: Path,
    capfd: pytest.CaptureFixture[str],
    *,
    older: Mapping[str, Content],
    options: tuple[str, ...] = (),
) -> None:
    place(folder, {"policy.toml": fault.policy, fault.data_name: fault.data, **fault.files, **older})
    folder.mkdir(exist_ok=True)
    before = contents(folder)
    with chdir(folder):
        ended = command(capfd, *fault.arguments, *options)
    assert_nothing_told(ended)
    sentences = json_faults(ended) if options else plain_faults(ended)
    assert_said(sentences, fault.says)
    assert ended.code == fault.exit_code, sentences
    assert contents(folder) == before


def assert_nothing_told(ended: Ended) -> None:
    """No cell value is on either stream."""
    assert not CELLS.search(ended.out + ended.err), ended


def plain_faults(ended: Ended) -> list[str]:
    """The sentences on stderr, one line each, and where more is said about them; nothing is on stdout."""
    assert ended.out == ""
    *lines, see = ended.err.splitlines()
    assert SEE.fullmatch(see), ended.err
    assert all(line.startswith("error: ") for line in lines), ended.err
    return [line.removeprefix("error: ") for line in lines]


def json_faults(ended: Ended) -> list[str]:
    """The sentences of the JSON document on stdout; nothing is on stderr."""
    assert ended.err == ""
    facts = json.loads(ended.out)
    assert set(facts) == {"error", "faults", "exit_code", "see"}
    assert SEE.fullmatch(f"see {facts['see']}")
    assert facts["exit_code"] == ended.code
    return facts["faults"]


def assert_said(sentences: Iterable[str], expected: Iterable[str | re.Pattern[str]]) -> None:
    """The expected sentences, all of them and no others, in words that a steward knows."""
    said, wanted = list(sentences), list(expected)
    fitting = [
        sentence == want if isinstance(want, str) else want.fullmatch(sentence) is not None
        for sentence, want in zip(said, wanted, strict=False)
    ]
    assert len(said) == len(wanted), f"said {said}, wanted {wanted}"
    assert all(fitting), f"said {said}, wanted {wanted}"
    for sentence in said:
        assert not JARGON.search(sentence), sentence
        assert sentence.endswith("."), sentence
        assert sentence.isprintable(), sentence
