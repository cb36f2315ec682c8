"""What was published is in the ledger, whatever happens in between."""

import hashlib
import stat
import threading
from contextlib import suppress

import pytest

from helpers.ledgers import ledger, shown
from kohort.audit.ledger import Ledger, drop_pending, read_ledger, recording
from kohort.audit.ledger.file import write_ledger
from kohort.errors import DataError


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledger.json"


@pytest.fixture
def release(tmp_path):
    return tmp_path / "release.csv"


HASHES = {"release": hashlib.sha256(b"released").hexdigest(), "policy": "b" * 64}


def statuses(path):
    return [entry.status for entry in read_ledger(path).releases]


def test_a_release_is_pending_before_it_appears_and_published_after(path, release):
    with recording(path, release) as record:
        assert record.ledger == Ledger()
        record.announce(shown(), None, HASHES)
        assert statuses(path) == ["pending"]
        release.write_bytes(b"released")
    assert statuses(path) == ["published"]
    with recording(path, release) as record:
        assert len(record.ledger.releases) == 1
        record.announce(shown(), None, HASHES)
        assert statuses(path) == ["published", "pending"]
    [first, second] = read_ledger(path).releases
    assert (first.release, second.policy, second.date[10], second.date[-1]) == (HASHES["release"], "b" * 64, "T", "Z")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def fail(path, release, before_failing=lambda: None):
    with suppress(KeyboardInterrupt), recording(path, release) as record:
        record.announce(shown(), None, HASHES)
        before_failing()
        raise KeyboardInterrupt


def test_what_was_not_published_is_taken_back(path, release, tmp_path):
    fail(path, release)
    assert list(tmp_path.iterdir()) == []
    write_ledger(path, ledger())
    before = path.read_bytes()
    release.write_bytes(b"an older one")
    fail(path, release)
    assert path.read_bytes() == before


def test_what_was_published_is_not_taken_back(path, release):
    """The file may have appeared just before the interrupt."""
    fail(path, release, lambda: release.write_bytes(b"released"))
    assert statuses(path) == ["published"]


def test_without_an_announcement_nothing_is_written(path, release, tmp_path):
    with pytest.raises(KeyError), recording(path, release):
        raise KeyError
    with recording(path, release):
        pass
    assert list(tmp_path.iterdir()) == []


def broken_disk(*_, **__):
    raise DataError("ledger.json: cannot be written (No space left on device); check the disk.")


def test_a_full_disk_before_the_release_appears_stops_it(path, release, monkeypatch, tmp_path):
    monkeypatch.setattr("kohort.audit.ledger.book.write_ledger", broken_disk)
    with pytest.raises(DataError, match="No space left"), recording(path, release) as record:
        record.announce(shown(), None, HASHES)
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_after_the_release_appeared_leaves_it_pending(path, release, monkeypatch):
    with recording(path, release) as record:
        record.announce(shown(), None, HASHES)
        monkeypatch.setattr("kohort.audit.ledger.book.write_ledger", broken_disk)
    assert statuses(path) == ["pending"]
    monkeypatch.undo()
    with recording(path, release) as record:
        assert [entry.status for entry in record.ledger.releases] == ["pending"]


def test_a_full_disk_while_taking_back_leaves_it_pending(path, release, monkeypatch):
    write_ledger(path, ledger(1))
    fail(path, release, lambda: monkeypatch.setattr("kohort.audit.ledger.book.write_ledger", broken_disk))
    assert statuses(path) == ["published", "pending"]


def test_a_link_leads_to_the_ledger_as_before(path, release, tmp_path):
    link = tmp_path / "link.json"
    link.symlink_to(path)
    with recording(link, release) as record:
        record.announce(shown(), None, HASHES)
    assert link.is_symlink()
    assert statuses(path) == ["published"]


def test_two_at_once_are_both_recorded(path, release):
    entered = []

    def second():
        with recording(path, release) as record:
            entered.append(len(record.ledger.releases))
            record.announce(shown(), None, HASHES)

    other = threading.Thread(target=second)
    with recording(path, release) as record:
        other.start()
        record.announce(shown(), None, HASHES)
        other.join(0.2)
        assert entered == []
    other.join()
    assert entered == [1]
    assert statuses(path) == ["published", "published"]
    assert read_ledger(path).broken_seal is None


def test_a_lock_of_a_process_that_died_is_no_hindrance(path, release, tmp_path):
    (tmp_path / ".ledger.json.lock").write_text("")
    with recording(path, release) as record:
        record.announce(shown(), None, HASHES)
    assert [file.name for file in tmp_path.iterdir()] == ["ledger.json"]


def test_a_folder_that_is_not_there(tmp_path, release):
    said = r"^ledger l.json: cannot be written \(No such file or directory\)"
    with pytest.raises(DataError, match=said), recording(tmp_path / "none" / "l.json", release):
        pass


def test_pending_releases_can_be_dropped(path, release, monkeypatch):
    with recording(path, release) as record:
        record.announce(shown(), None, HASHES)
        monkeypatch.setattr("kohort.audit.ledger.book.write_ledger", broken_disk)
    monkeypatch.undo()
    with recording(path, release) as record:
        record.announce(shown("other"), None, HASHES)
    assert statuses(path) == ["pending", "published"]
    assert drop_pending(path) == 1
    [left] = read_ledger(path).releases
    assert left.shown == shown("other")
    assert drop_pending(path) == 0
