"""Estimators of population uniqueness: one file, one estimator; and the rule that chooses among them."""

from kohort.common.registry import load_modules
from kohort.reports.risk.uniqueness.base import ESTIMATORS, Estimator, Sample

load_modules(__name__, __path__)

__all__ = ["ESTIMATORS", "Estimator", "Sample"]
