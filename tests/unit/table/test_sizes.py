"""Limits of memory, in words and in bytes."""

import pytest

from kohort.errors import DataError
from kohort.table.sizes import LEAST, memory_of


@pytest.mark.parametrize("given", ["2GB", "2 gb", "2000MB", 2 * 10**9])
def test_words_and_bytes_mean_the_same(given):
    assert memory_of(given) == 2 * 10**9


@pytest.mark.parametrize("given", ["1MB", "2", LEAST - 1, 0])
def test_too_little_is_refused(given):
    with pytest.raises(DataError, match="is too little to work with; give 256MB or more"):
        memory_of(given)


@pytest.mark.parametrize("given", ["much", "-2GB", "1e9", "", float("inf"), -1, None])
def test_what_is_no_size_is_refused(given):
    with pytest.raises(DataError, match=r"is (no size|too little)"):
        memory_of(given)


@pytest.mark.parametrize("given", ["99999999TB", 10**30, "20EB"])
def test_more_memory_than_any_machine_has_is_no_limit(given):
    assert memory_of(given) == 2**60
