"""Estimators of population uniqueness: one file, one estimator; and the rule that chooses among them."""

from kohort.reports.risk.uniqueness.base import ESTIMATORS, Estimator, Sample

ESTIMATORS.fill_from(__name__, __path__)

__all__ = ["ESTIMATORS", "Estimator", "Sample"]
