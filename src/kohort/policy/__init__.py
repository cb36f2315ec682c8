"""The policy file: see :class:`Policy`."""

from kohort.policy.model import Policy
from kohort.policy.sections import Column, ColumnType, Hierarchy, Intervals, Role

__all__ = ["Column", "ColumnType", "Hierarchy", "Intervals", "Policy", "Role"]
