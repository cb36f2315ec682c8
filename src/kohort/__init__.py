"""kohort: turn a table about people into a table that is safe to hand over.

``anonymize(table, policy)`` clusters similar records, publishes each cluster under one
generalized description, and proves the promise by re-reading what it wrote. ``verify`` judges
any tool's output, ``measure`` reports its information loss.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kohort import datasets as datasets
    from kohort.audit import Verdict as Verdict
    from kohort.audit import verify as verify
    from kohort.audit.certificate import Certificate as Certificate
    from kohort.audit.certificate import certify as certify
    from kohort.audit.certificate import verified_by as verified_by
    from kohort.errors import DataError as DataError
    from kohort.errors import InfeasibleError as InfeasibleError
    from kohort.errors import InternalError as InternalError
    from kohort.errors import KohortError as KohortError
    from kohort.errors import PolicyError as PolicyError
    from kohort.errors import VerificationError as VerificationError
    from kohort.policy import Policy as Policy
    from kohort.policy.hierarchy import Taxonomy as Taxonomy
    from kohort.release.release import Release as Release
    from kohort.release.run import anonymize as anonymize
    from kohort.reports.attacks import Attack as Attack
    from kohort.reports.attacks import Attacks as Attacks
    from kohort.reports.attacks import attack as attack
    from kohort.reports.catalogue import algorithms as algorithms
    from kohort.reports.catalogue import measures as measures
    from kohort.reports.catalogue import models as models
    from kohort.reports.check import Checked as Checked
    from kohort.reports.check import check as check
    from kohort.reports.codebook import Codebook as Codebook
    from kohort.reports.codebook import codebook as codebook
    from kohort.reports.compare import compare as compare
    from kohort.reports.explain import Explanation as Explanation
    from kohort.reports.explain import explain as explain
    from kohort.reports.frames import to_pandas as to_pandas
    from kohort.reports.measure import describe as describe
    from kohort.reports.measure import measure as measure
    from kohort.reports.propose import propose as propose
    from kohort.reports.report import Report as Report
    from kohort.reports.report import report as report
    from kohort.reports.risk import Risk as Risk
    from kohort.reports.risk import risk as risk
    from kohort.reports.utility import Utility as Utility
    from kohort.reports.utility import utility as utility
    from kohort.table.databases.base import SqlTable as SqlTable

# Nothing is imported before it is used: the command line and scripts start at once.
_HOMES = {
    "Attack": "kohort.reports.attacks",
    "Attacks": "kohort.reports.attacks",
    "Certificate": "kohort.audit.certificate",
    "Checked": "kohort.reports.check",
    "Codebook": "kohort.reports.codebook",
    "DataError": "kohort.errors",
    "Explanation": "kohort.reports.explain",
    "InfeasibleError": "kohort.errors",
    "InternalError": "kohort.errors",
    "KohortError": "kohort.errors",
    "Policy": "kohort.policy",
    "PolicyError": "kohort.errors",
    "Release": "kohort.release.release",
    "Risk": "kohort.reports.risk",
    "Report": "kohort.reports.report",
    "SqlTable": "kohort.table.databases",
    "Taxonomy": "kohort.policy.hierarchy",
    "Verdict": "kohort.audit",
    "VerificationError": "kohort.errors",
    "algorithms": "kohort.reports.catalogue",
    "anonymize": "kohort.release.run",
    "attack": "kohort.reports.attacks",
    "certify": "kohort.audit.certificate",
    "check": "kohort.reports.check",
    "codebook": "kohort.reports.codebook",
    "compare": "kohort.reports.compare",
    "describe": "kohort.reports.measure",
    "explain": "kohort.reports.explain",
    "measures": "kohort.reports.catalogue",
    "models": "kohort.reports.catalogue",
    "measure": "kohort.reports.measure",
    "Utility": "kohort.reports.utility",
    "propose": "kohort.reports.propose",
    "risk": "kohort.reports.risk",
    "to_pandas": "kohort.reports.frames",
    "utility": "kohort.reports.utility",
    "report": "kohort.reports.report",
    "verified_by": "kohort.audit.certificate",
    "verify": "kohort.audit",
}

__all__ = [*_HOMES, "__version__", "datasets"]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(importlib.import_module(_HOMES[name]), name)
    elif name == "datasets":
        value = importlib.import_module("kohort.datasets")
    elif name == "__version__":
        from importlib.metadata import version

        value = version("kohort")
    else:
        raise AttributeError(f"module 'kohort' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
