"""Pipes, sockets and devices where a file is expected: refused at once, whatever is to be read from them."""

from __future__ import annotations

import os
import socket

import polars as pl
import pytest

import kohort
from kohort.audit.ledger import read_ledger
from kohort.audit.ledger.persons import PersonKey
from kohort.errors import DataError, KohortError, PolicyError
from kohort.table import read_table
from kohort.table.sources import open_source

POLICY = kohort.Policy.build(k=2, quasi_identifiers=["age"])


@pytest.fixture(params=["pipe", "socket", "device"])
def special(request, tmp_path):
    """Something that is no file, under a name of the wanted ending."""

    def make(suffix):
        path = tmp_path / f"strange{suffix}"
        if request.param == "pipe":
            os.mkfifo(path)
        elif request.param == "device":
            path.symlink_to("/dev/zero")
        else:
            with socket.socket(socket.AF_UNIX) as server:
                server.bind(str(path))
        return path

    return make


def refused(action):
    with pytest.raises(KohortError, match="a pipe, socket or device") as caught:
        action()
    assert caught.value.exit_code == 2


@pytest.mark.promise("6.2")
@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet"])
def test_tables(special, suffix, tmp_path):
    path = special(suffix)
    good = pl.DataFrame({"age": [1, 1]})
    good.write_csv(tmp_path / "good.csv")
    refused(lambda: read_table(path))
    refused(lambda: open_source(path))
    refused(lambda: kohort.anonymize(path, POLICY))
    refused(lambda: kohort.verify(path, POLICY))
    refused(lambda: kohort.verify([tmp_path / "good.csv", path], POLICY))
    refused(lambda: kohort.verify(good, POLICY, original=path))
    refused(lambda: kohort.verify(good, POLICY, original=good, row_order=path))


def test_what_a_request_needs_beside_the_table(special):
    path = special(".toml")
    with pytest.raises(PolicyError, match="a pipe, socket or device"):
        kohort.Policy.load(path)
    refused(lambda: read_ledger(path))
    refused(lambda: PersonKey.of("id", path))
    for hierarchy in (path, special(".csv")):
        policy = kohort.Policy.build(k=2, quasi_identifiers=["age"], hierarchies={"age": str(hierarchy)})
        with pytest.raises(DataError, match="a pipe, socket or device"):
            kohort.anonymize(pl.DataFrame({"age": ["a", "b"]}), policy)
