"""Files that are left out of a folder hold no records, whatever they are called."""

import pytest

from kohort.audit.read.files import listed_files
from kohort.errors import DataError
from kohort.table.files import files_of

ROWS = b"age,ill\n77,flu\n"
MARKERS = {
    "_SUCCESS": b"",
    "_started_12": b"",
    "_committed_12": b'{"added":["part-0-c000.csv"],"removed":[]}',
    ".a.csv.crc": b"crc\0\0\0\2\0" + b"1234",
    ".DS_Store": b"\0\0\0\1Bud1\0\0",
}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"age,ill\n20,flu\n")
    return tmp_path


@pytest.mark.promise("3.1")
@pytest.mark.parametrize("name", MARKERS)
def test_a_marker_is_one_by_its_content(folder, name):
    (folder / name).write_bytes(MARKERS[name])
    assert files_of(folder) == listed_files(folder, "release") == (folder / "a.csv",)
    (folder / name).write_bytes(ROWS)
    for list_files in (files_of, lambda source: listed_files(source, "release")):
        with pytest.raises(DataError, match=name):
            list_files(folder)


@pytest.mark.promise("3.1")
@pytest.mark.parametrize(("name", "data"), [("_metadata", b"PAR1..PAR1"), (".a.csv.kohort-12-0123abcd.csv", ROWS)])
def test_a_release_has_no_summaries_and_no_drafts(folder, name, data):
    """They hold values of the original, or its least and greatest ones."""
    (folder / name).write_bytes(data)
    assert files_of(folder) == listed_files(folder, "original") == (folder / "a.csv",)
    with pytest.raises(DataError, match=name):
        listed_files(folder, "release")
