"""A ledger is read whole and unchanged, or refused with one sentence that tells nothing of it."""

import json
import stat

import pytest

from helpers.ledgers import CANARY, entry, ledger
from kohort.audit.ledger import Ledger, People, read_ledger
from kohort.audit.ledger.file import write_ledger
from kohort.errors import DataError


def changed(path, change):
    """Write a ledger whose parsed text was changed."""
    document = json.loads(ledger().to_json())
    change(document)
    path.write_text(json.dumps(document))
    return path


def fault_of(path):
    with pytest.raises(DataError) as caught:
        read_ledger(path)
    assert len(caught.value.faults) == 1
    [fault] = caught.value.faults
    assert CANARY not in fault
    assert CANARY not in repr(caught.value.__cause__)
    assert caught.value.__context__ is None or caught.value.__suppress_context__
    return fault


def test_what_is_written_is_read_back(tmp_path):
    path, people = tmp_path / "ledger.json", People(column="who", key="c" * 32, signatures={"d" * 32: "e" * 32})
    there = ledger().with_last(entry(ledger().last_seal, None, people))
    write_ledger(path, there)
    assert read_ledger(path) == there
    assert read_ledger(path).releases[-1].shown.classes[0].records[0].values == (None,)
    assert [file.name for file in tmp_path.iterdir()] == ["ledger.json"]


def test_only_its_owner_may_read_it(tmp_path):
    path = tmp_path / "ledger.json"
    path.write_text("")
    path.chmod(0o644)
    write_ledger(path, ledger())
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def release_2(change):
    """A change of the second release."""
    return lambda document: change(document["releases"][1])


TAMPERED = {
    "a value": lambda r: r["shown"]["classes"][0]["records"][0].update(values=["other"]),
    "a description": lambda r: r["shown"]["classes"][0].update(description=["other"]),
    "a date": lambda r: r.update(date="2020-01-01T00:00:00Z"),
    "a hash": lambda r: r.update(release="c" * 64),
    "its seal": lambda r: r.update(seal="0" * 64),
    "persons": lambda r: r.update(people={"column": "who", "key": "c" * 32, "signatures": {}}),
}


@pytest.mark.parametrize("change", TAMPERED.values(), ids=TAMPERED)
def test_a_change_breaks_the_seal(tmp_path, change):
    path = changed(tmp_path / "ledger.json", release_2(change))
    assert fault_of(path) == (
        "ledger ledger.json: release 2 was changed after it was written; restore the file from a copy."
    )


def test_a_release_that_is_gone_breaks_the_seal_of_the_next(tmp_path):
    path = changed(tmp_path / "ledger.json", lambda document: document["releases"].pop(0))
    assert fault_of(path).startswith("ledger ledger.json: release 1 was changed")


def test_two_releases_that_changed_places_break_a_seal(tmp_path):
    path = changed(tmp_path / "ledger.json", lambda document: document["releases"].reverse())
    assert fault_of(path).startswith("ledger ledger.json: release 1 was changed")


def test_the_status_is_not_sealed():
    first = Ledger().with_last(entry()).releases[0]
    assert first.published().seal == first.seal == first.model_copy(update={"status": "pending"}).seal


MALFORMED = {
    "no class has records": lambda r: r["shown"]["classes"][0].update(records=[]),
    "a count of nobody": lambda r: r["shown"]["classes"][0]["records"][0].update(count=0),
    "a count that is text": lambda r: r["shown"]["classes"][0]["records"][0].update(count=CANARY),
    "a value that is a number": lambda r: r["shown"]["classes"][0]["records"][0].update(values=[42]),
    "too many values": lambda r: r["shown"]["classes"][0]["records"][0].update(values=["a", "b"]),
    "no description": lambda r: r["shown"]["classes"][0].update(description=[]),
    "other rows than the classes have": lambda r: r["shown"].update(rows=3),
    "no classes": lambda r: r["shown"].update(classes=[]),
    "a column twice": lambda r: r["shown"].update(sensitive=["town"]),
    "an unknown key": lambda r: r.update({CANARY: 1}),
    "a key that is gone": lambda r: r.pop("policy"),
    "a status of another kind": lambda r: r.update(status=CANARY),
    "a hash that is none": lambda r: r.update(release=CANARY),
    "a kind that nobody knows": lambda r: r["shown"]["quasi"][0].update(kind=CANARY),
}


@pytest.mark.parametrize("change", MALFORMED.values(), ids=MALFORMED)
def test_a_malformed_release_is_named_by_its_number(tmp_path, change):
    path = changed(tmp_path / "ledger.json", release_2(change))
    assert fault_of(path) == "ledger ledger.json: release 2 is malformed; restore the file from a copy."


STRANGE = {
    "nothing": b"",
    "half": ledger().to_json().encode()[:-9],
    "not JSON": CANARY.encode(),
    "not UTF-8": b"\xff\xfe\x00",
    "a list": b"[]",
    "a verdict": b'{"schema": 1}',
    "too deep": b"[" * 100_000,
    "a very long number": b'{"format": ' + b"9" * 5000 + b"}",
}


@pytest.mark.parametrize("content", STRANGE.values(), ids=STRANGE)
def test_another_file_is_refused(tmp_path, content):
    path = tmp_path / "ledger.json"
    path.write_bytes(content)
    assert fault_of(path) == (
        "ledger ledger.json: is not a whole ledger of kohort; give another file, or restore the file from a copy."
    )


def test_a_later_version_is_refused(tmp_path):
    path = changed(tmp_path / "ledger.json", lambda document: document.update(version=2))
    assert fault_of(path) == "ledger ledger.json: this version of kohort reads version 1 only; update kohort."


def test_strange_outer_parts_are_refused(tmp_path):
    path = changed(tmp_path / "ledger.json", lambda document: document.update(more=CANARY))
    assert fault_of(path) == "ledger ledger.json: its outer part is malformed; restore the file from a copy."


def test_a_file_that_cannot_be_opened(tmp_path):
    assert fault_of(tmp_path / "none.json") == (
        "ledger none.json: cannot be read (no such file or directory); check the path."
    )
    assert fault_of(tmp_path).endswith("cannot be read (is a directory); check the path.")
