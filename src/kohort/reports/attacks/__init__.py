"""Attacks on a release: one file, one attack, each beside a control that says what chance would bring."""

from kohort.reports.attacks.base import ATTACKS, Adversary
from kohort.reports.attacks.result import Attack, Attacks, Mitigation, NotRun
from kohort.reports.attacks.run import attack

ATTACKS.fill_from(__name__, __path__)

__all__ = ["ATTACKS", "Adversary", "Attack", "Attacks", "Mitigation", "NotRun", "attack"]
