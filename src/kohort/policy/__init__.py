"""The policy file: see :class:`Policy`."""

from kohort.policy.model import Column, ColumnType, Hierarchy, Intervals, Policy, Role

__all__ = ["Column", "ColumnType", "Hierarchy", "Intervals", "Policy", "Role"]
