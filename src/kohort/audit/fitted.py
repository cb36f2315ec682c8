"""A policy with patterns, for a release that is to be judged: the columns that each pattern stands for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kohort.audit.meaning.published import bound_names
from kohort.audit.read.database import Database
from kohort.audit.read.load import load
from kohort.policy import Policy


def fitted(policy: Policy, release: Any, original: Any = None) -> Policy:
    """The policy for the columns of the original, if it is given, else for those of the release.

    Parameters
    ----------
    release, original : path, or whatever else `load` takes
        Their headers say which columns there are.
    """
    if not policy.patterns:
        return policy
    name, source = ("release", release) if original is None else ("original", original)
    with Database() as database:
        header = load(database, name, source, policy, ()).header
    return policy.for_columns(header) if original is not None else fitted_to_release(policy, header)


def fitted_to_release(policy: Policy, header: Sequence[str]) -> Policy:
    """The policy for a release: what stands beside an interval as its end or middle is no column of the table."""
    found = policy.for_columns(header)
    if not policy.output.bounds:
        return found
    beside = {end for name in found.quasi_identifiers for end in bound_names(name)} - set(policy.columns)
    return policy.for_columns([name for name in header if name not in beside])
