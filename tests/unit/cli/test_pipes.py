"""Lines before the header, packed files, pipes, and files that are there already."""

import gzip
import subprocess
import sys

import pytest
import zstandard

import kohort
from helpers.cli import called
from kohort.errors import DataError

ROWS = "age,ill\n30,flu\n31,cold\n40,flu\n41,cold\n"
POLICY = """\
[privacy]
k = 2
[algorithm]
name = "mondrian"
bound_effort = 0
[input]
skip_rows = {skipped}
[columns]
age = "quasi"
ill = "sensitive"
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "policy.toml").write_text(POLICY.format(skipped=0))
    (tmp_path / "data.csv").write_text(ROWS)
    return tmp_path


@pytest.mark.parametrize(("end", "memory"), [("\n", None), ("\r\n", None), ("\r", None), ("\r\n", "1GB")])
def test_lines_before_the_header_are_skipped_by_both_readers(tmp_path, end, memory):
    path = tmp_path / "report.csv"
    path.write_text(f'Report of "2024{end}a,b;c|d,e{end}' + ROWS.replace("\n", end), newline="")
    (tmp_path / "policy.toml").write_text(POLICY.format(skipped=2))
    release = kohort.anonymize(path, tmp_path / "policy.toml", output=tmp_path / "out.csv", memory=memory)
    assert release.verdict.passed
    assert release.verdict.facts.rows_original == 4
    assert kohort.verify(tmp_path / "out.csv", tmp_path / "policy.toml", original=path).passed


def test_a_fault_after_skipped_lines_has_the_line_of_the_file(tmp_path):
    path = tmp_path / "report.csv"
    path.write_text("title\n\n" + ROWS + "1,2,3\n")
    (tmp_path / "policy.toml").write_text(POLICY.format(skipped=2))
    with pytest.raises(DataError, match=r"report\.csv, line 8: has 3 cells where the header has 2"):
        kohort.anonymize(path, tmp_path / "policy.toml")
    (tmp_path / "release.csv").write_text(ROWS)
    with pytest.raises(DataError, match="line 8 does not have as many cells as the header"):
        kohort.verify(tmp_path / "release.csv", tmp_path / "policy.toml", original=path)


def packed(data, suffix):
    return gzip.compress(data) if suffix == ".gz" else zstandard.ZstdCompressor().compress(data)


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
@pytest.mark.parametrize("memory", [None, "1GB"])
def test_packed_files_are_read_and_written(folder, suffix, memory):
    source = folder / f"data.csv{suffix}"
    source.write_bytes(packed(ROWS.encode(), suffix))
    out = folder / f"out.csv{suffix}"
    release = kohort.anonymize(source, folder / "policy.toml", output=out, memory=memory)
    assert release.verdict.passed
    assert out.read_bytes()[:2] == packed(b"", suffix)[:2]
    assert kohort.verify(out, folder / "policy.toml", original=source).passed


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_a_packed_file_that_is_cut_off_is_refused(folder, suffix):
    """Libraries take a Zstandard file that is cut off for a whole one, and a table would lose its end."""
    whole = packed((ROWS + "".join(f"{30 + row % 9},x{row}\n" for row in range(50_000))).encode(), suffix)
    source = folder / f"data.csv{suffix}"
    source.write_bytes(whole[: len(whole) * 2 // 3])
    for memory in (None, "1GB"):
        with pytest.raises(DataError, match="is cut off"):
            kohort.anonymize(source, folder / "policy.toml", output=folder / "out.csv", memory=memory)
    with pytest.raises(DataError, match="cannot be unpacked"):
        kohort.verify(source, folder / "policy.toml")


def piped(folder, *arguments, given=b""):
    return subprocess.run(
        [sys.executable, "-c", "from kohort.cli.main import run; run()", *arguments],
        cwd=folder,
        input=given,
        capture_output=True,
        check=False,
    )


@pytest.mark.slow
def test_a_table_comes_in_and_goes_out_through_pipes(folder):
    made = piped(folder, "anonymize", "-", "-p", "policy.toml", "-o", "-", given=ROWS.encode())
    assert made.returncode == 0, made.stderr
    assert made.stdout.startswith(b"age,ill\n")
    checked = piped(folder, "verify", "-", "-p", "policy.toml", "--original", "data.csv", given=made.stdout)
    assert checked.returncode == 0, checked.stderr
    assert sorted(path.name for path in folder.iterdir()) == ["data.csv", "policy.toml"]
    refused = piped(folder, "anonymize", "-", "-p", "policy.toml", "-o", "-", given=b"")
    assert refused.returncode == 2
    assert refused.stdout == b""


def test_a_release_that_is_there_is_written_over_with_force_only(folder):
    anonymize = ("anonymize", "data.csv", "-p", "policy.toml", "-o", "out.csv", "--quiet")
    assert called(*anonymize, folder=folder).returncode == 0
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    again = called(*anonymize, folder=folder)
    assert again.returncode == 2
    assert again.stderr.startswith(
        "error: out.csv: is already there; give another path, or --force (overwrite=True) to write over it."
    )
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    (folder / "out.csv").unlink()
    # a verdict alone is not written over, either
    assert called(*anonymize, folder=folder).returncode == 2
    assert called(*anonymize, "--force", folder=folder).returncode == 0
    assert sorted(path.name for path in folder.iterdir()) == sorted(before)


def test_a_release_that_appears_meanwhile_is_not_written_over(folder, monkeypatch):
    from kohort.release import run

    def meanwhile(*arguments, **more):
        (folder / "out.csv").write_text("of somebody else")
        return verified(*arguments, **more)

    verified = run.release_of
    monkeypatch.setattr(run, "release_of", meanwhile)
    with pytest.raises(DataError, match="is already there"):
        kohort.anonymize(folder / "data.csv", folder / "policy.toml", output=folder / "out.csv")
    assert (folder / "out.csv").read_text() == "of somebody else"
