"""Weaknesses that were planted are found, and tables without them raise no alarm; benchmarks/attacks.py has more."""

import pytest

from helpers.weak import alarms
from kohort.reports.attacks import ATTACKS


@pytest.mark.parametrize("name", list(ATTACKS))
def test_planted_weaknesses_are_found(name):
    assert alarms(name, range(2), weak=True) == 2


@pytest.mark.parametrize("name", list(ATTACKS))
def test_without_them_there_is_no_alarm(name):
    assert alarms(name, range(2), weak=False) == 0
