"""A ledger that somebody else could have taken releases out of is not believed."""

import grp
import os
import pwd
from types import SimpleNamespace

import pytest

from helpers.ledgers import ledger
from kohort import anonymize, verify
from kohort.audit.ledger import drop_pending, read_ledger
from kohort.audit.ledger.file import write_ledger
from kohort.common import private
from kohort.errors import DataError

NOBODY, FOREIGN = 65534, 54321
is_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can give files away")
POLICY = "[privacy]\nk = 2\n[columns]\nage = 'quasi'\nill = 'sensitive'\n"


@pytest.fixture
def path(tmp_path):
    folder = tmp_path / "above" / "mine"
    folder.mkdir(parents=True)
    write_ledger(folder / "ledger.json", ledger(2))
    return folder / "ledger.json"


def refused(path, why):
    with pytest.raises(DataError) as caught:
        read_ledger(path)
    [sentence] = caught.value.faults
    assert sentence.startswith(f"ledger ledger.json: cannot be trusted, as {why}; take the right to write from others")


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o640, 0o400])
def test_who_may_read_it_does_not_matter(path, mode):
    path.chmod(mode)
    assert read_ledger(path) == ledger(2)


@pytest.mark.parametrize("mode", [0o602, 0o666, 0o646])
def test_a_file_that_anybody_may_write_to(path, mode):
    path.chmod(mode)
    refused(path, "others may write to it")


@is_root
def test_a_file_that_a_foreign_group_may_write_to(path):
    os.chown(path, -1, FOREIGN)
    path.chmod(0o640)
    assert read_ledger(path) == ledger(2)
    path.chmod(0o660)
    refused(path, "others may write to it")


def test_a_group_of_ones_own_is_nobody_else(path, monkeypatch):
    path.chmod(0o660)
    path.parent.chmod(0o775)
    own = SimpleNamespace(gr_name="me", gr_mem=[])
    monkeypatch.setattr(pwd, "getpwuid", lambda _: SimpleNamespace(pw_name="me"))
    monkeypatch.setattr(grp, "getgrgid", lambda _: own)
    assert read_ledger(path) == ledger(2)
    own.gr_mem.append("other")
    refused(path, "others may write to it")
    own.gr_mem.clear()
    # a list of rights may name others, and shows in the mode as rights of the group
    monkeypatch.setattr(os, "listxattr", lambda _: ["system.posix_acl_access"], raising=False)
    refused(path, "others may write to it")


@is_root
def test_a_file_of_somebody_else(path):
    os.chown(path, NOBODY, NOBODY)
    refused(path, "it belongs to somebody else")
    # in a folder of their own it is theirs to keep
    os.chown(path.parent, NOBODY, NOBODY)
    assert read_ledger(path) == ledger(2)
    os.chown(path, 0, 0)
    refused(path, f"{path.parent} belongs to somebody else")


def test_a_folder_that_others_may_write_to(path):
    for folder in (path.parent, path.parent.parent):
        folder.chmod(0o777)
        refused(path, f"others may change {folder}")
        folder.chmod(0o1777)
        assert read_ledger(path) == ledger(2)
        folder.chmod(0o755)


def test_a_link_counts_as_what_it_leads_to(path, tmp_path):
    link = tmp_path / "ledger.json"
    link.symlink_to(path)
    assert read_ledger(link) == ledger(2)
    path.chmod(0o666)
    refused(link, "others may write to it")


def test_nothing_is_done_with_such_a_ledger(path, tmp_path):
    (tmp_path / "policy.toml").write_text(POLICY)
    (tmp_path / "table.csv").write_text("age,ill\n1,a\n1,b\n")
    path.chmod(0o666)
    before = path.read_bytes()
    table, policy = tmp_path / "table.csv", tmp_path / "policy.toml"
    with pytest.raises(DataError, match="others may write to it"):
        verify(table, policy, against=path)
    with pytest.raises(DataError, match="others may write to it"):
        anonymize(table, policy, output=tmp_path / "out.csv", ledger=path)
    with pytest.raises(DataError, match="others may write to it"):
        drop_pending(path)
    assert path.read_bytes() == before
    assert not (tmp_path / "out.csv").exists()


def test_a_new_ledger_needs_a_safe_place_too(tmp_path):
    (tmp_path / "policy.toml").write_text(POLICY)
    (tmp_path / "table.csv").write_text("age,ill\n1,a\n1,b\n")
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    new = tmp_path / "open" / "ledger.json"
    with pytest.raises(DataError, match="cannot be trusted, as others may change"):
        anonymize(tmp_path / "table.csv", tmp_path / "policy.toml", output=tmp_path / "out.csv", ledger=new)
    assert not (tmp_path / "out.csv").exists()
    assert not list(new.parent.iterdir())


@pytest.mark.parametrize("content", [b" " * 32, b"", b"\n", b"short", b"x" * 15 + b"\n"])
def test_keys_that_could_be_guessed(content):
    assert private.is_guessable(content.removesuffix(b"\n"))


def test_a_key_is_all_but_its_last_line_end(tmp_path, monkeypatch):
    secret = b" \x0b 16 bytes at least \n"
    for end in (b"", b"\n", b"\r\n"):
        (tmp_path / "key").write_bytes(secret + b"!" + end)
        assert private.read_key(tmp_path / "key", "X") == secret + b"!"
    monkeypatch.setenv("X", "from the environment\n")
    assert private.read_key(None, "X") == b"from the environment"
    assert private.read_key(None, "NOT_THERE") == b""
