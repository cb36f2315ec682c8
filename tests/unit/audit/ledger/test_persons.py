"""Persons are hashed under a key that could not be guessed."""

import pytest

from helpers.ledgers import entry
from kohort.audit.ledger import Ledger, People, PersonKey, refuse_other_persons
from kohort.errors import DataError

SECRET = "a secret that is long enough"


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "key"
    path.write_text(SECRET + "\n")
    return path


def test_the_key_comes_from_a_file_or_the_environment(file, monkeypatch):
    monkeypatch.delenv("KOHORT_LEDGER_KEY", raising=False)
    one = PersonKey.of("who", file)
    monkeypatch.setenv("KOHORT_LEDGER_KEY", SECRET)
    assert PersonKey.of("who", None) == one
    assert SECRET not in repr(one)


def test_a_key_that_is_none_is_refused(tmp_path, monkeypatch):
    monkeypatch.delenv("KOHORT_LEDGER_KEY", raising=False)
    with pytest.raises(DataError, match="there is none; give its file, or set KOHORT_LEDGER_KEY"):
        PersonKey.of("who", None)
    with pytest.raises(DataError, match=r"ledger key none: cannot be read \(no such file or directory\)"):
        PersonKey.of("who", tmp_path / "none")
    (tmp_path / "short").write_text("hunter2")
    with pytest.raises(DataError, match="fewer than 16 bytes") as caught:
        PersonKey.of("who", tmp_path / "short")
    assert "hunter2" not in str(caught.value)


def test_tokens_depend_on_key_and_text_and_use():
    one, other = PersonKey("who", b"a" * 16), PersonKey("who", b"b" * 16)
    tokens = [one.name, other.name, one.person("x"), one.person("y"), other.person("x"), one.signature(["x"])]
    assert len(set(tokens)) == len(tokens)
    assert all(len(token) == 32 for token in tokens)
    assert one.signature(["x", "y"]) == one.signature(["y", "x", "x"]) != one.signature(["x"])


def test_persons_that_nobody_would_recognise_are_refused():
    key = PersonKey("who", b"a" * 16)
    nobody = Ledger().with_last(entry())
    known = nobody.with_last(entry(nobody.last_seal, people=People(column="who", key=key.name, signatures={})))
    refuse_other_persons(known.releases, key)
    with pytest.raises(DataError, match=r"^ledger: release 2 knows persons under another key; give that key"):
        refuse_other_persons(known.releases, PersonKey("who", b"b" * 16))
    with pytest.raises(DataError, match=r"release 2 knows persons by column 'who', and not by 'name'"):
        refuse_other_persons(known.releases, PersonKey("name", b"a" * 16))
