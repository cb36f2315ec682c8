"""What there is by name: algorithms, loss measures and privacy models, each with its paper and its parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields
from typing import Any

ALGORITHM, NAMED = ("summary", "paper", "recoding", "guarantee", "complexity"), ("summary", "paper")


def algorithms() -> dict[str, dict[str, Any]]:
    """The algorithms by name: summary, paper, recoding, guarantee, complexity and parameters with their defaults.

    Examples
    --------
    >>> import kohort
    >>> kohort.algorithms()["mondrian"]["summary"]
    'recursive cuts in the middle of the widest column'
    """
    from kohort.algorithms import ALGORITHMS

    return entries(ALGORITHMS, ALGORITHM)


def measures() -> dict[str, dict[str, Any]]:
    """The loss measures by name: summary, paper and parameters.

    Examples
    --------
    >>> import kohort
    >>> sorted(kohort.measures())
    ['height', 'iloss', 'leaf', 'ncp', 'path', 'whd']
    """
    from kohort.measures import MEASURES

    return entries(MEASURES, NAMED)


def models() -> dict[str, dict[str, Any]]:
    """The privacy models by name: summary, paper and parameters.

    Examples
    --------
    >>> import kohort
    >>> kohort.models()["distinct-l-diversity"]["parameters"]
    {'column': 'required', 'l': 'required'}
    """
    from kohort.privacy import MODELS

    return entries(MODELS, NAMED)


def entries(registry: Mapping[str, Any], facts: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Some facts of everything in a registry, and its parameters with their defaults."""
    return {
        name: {fact: getattr(cls, fact) for fact in facts} | {"parameters": _parameters(cls)}
        for name, cls in registry.items()
    }


def _parameters(cls: Any) -> dict[str, Any]:
    return {field.name: "required" if field.default is MISSING else field.default for field in fields(cls)}
