"""How useful a release still is, in figures that a user knows: one file, one concern."""

from kohort.reports.utility.shown import Shown
from kohort.reports.utility.utility import PrivateUtility, PublicUtility, Utility, utility, utility_of

__all__ = ["PrivateUtility", "PublicUtility", "Shown", "Utility", "utility", "utility_of"]
