"""What a written release lost and what its classes are like, whoever wrote it; with or without its original."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from kohort.common.progress import Progress
from kohort.measures import MEASURES, Measure
from kohort.measures.bounds.table import bound_of_codes
from kohort.measures.figures.base import figures_of
from kohort.measures.figures.epsilon import EPSILON
from kohort.measures.loss import Loss
from kohort.policy import Policy
from kohort.release.engines.frame import FrameScan
from kohort.reports.published import Published, opened
from kohort.reports.sets import set_figures
from kohort.reports.utility.queries import COUNT
from kohort.reports.utility.utility import SEED, Utility, refuse_targets, utility_of
from kohort.table import Table, read_table


def measure(release: Any, original: Any, policy: Policy | str | Path, *, name: str | None = None) -> Loss:
    """Information loss of a release, read from its published values.

    Parameters
    ----------
    release, original
        Paths, or polars, pandas or pyarrow tables. Without the original (None), the loss is relative to what the
        policy declares and the release shows, as in the public verdict: whoever has the release can compute it.
    policy : Policy or path
        Roles, hierarchies, weights, and the measure.
    name : str, optional
        Another measure than the policy's.

    Returns
    -------
    Loss
        A withheld record loses what one does whose quasi-identifiers are all `*`; without the original, nobody knows
        of it and it does not count. With the original, the figure is the one that `anonymize` reports; it may reveal
        what the release hides, so keep it as you keep the original.

    Notes
    -----
    A published label is charged what its node costs; measures that charge a value its own path
    (``path`` and ``whd`` on trees with leaves of different depth) are charged the longest one.
    """
    policy = Policy.of(policy)
    how = _chosen(policy, name)
    with opened(release, policy, original, with_sets=True) as published:
        return published.loss(how)


def bound_of(original: Any, policy: Policy | str | Path, *, name: str | None = None) -> float | None:
    """What no release of a table in classes of k can lose less than, as `measure` counts it.

    Parameters
    ----------
    original
        Path, or polars, pandas or pyarrow table.
    policy : Policy or path
        Roles, hierarchies, weights, k, the measure, and the effort.
    name : str, optional
        Another measure than the policy's.

    Returns
    -------
    float or None
        None where the policy asks for no bound, or for releases of another kind.
    """
    policy = Policy.of(policy)
    source = read_table(original, policy.input, policy.columns)
    policy = policy.for_columns(source.frame.columns)
    policy.check_columns(source.frame.columns, source.name)
    return bound_of_source(source, policy, name)


def bound_of_source(source: Table, policy: Policy, name: str | None = None) -> float | None:
    """The same of a table that has been read, and has the columns of the policy."""
    if policy.sets:
        return None
    axes, scan = FrameScan.of(source).encoded(policy, "quasi")
    return bound_of_codes(scan.codes(axes), _chosen(policy, name), policy, source.frame.height, policy.algorithm.seed)


def describe(
    release: Any, original: Any, policy: Policy | str | Path, *, epsilon: float = EPSILON
) -> dict[str, dict[str, Any]]:
    """Figures about the classes of a release: sizes, diversity, discernibility and others.

    Parameters
    ----------
    release, original
        Paths, or polars, pandas or pyarrow tables. Without the original (None), a class is compared with what the
        policy declares and the release shows.
    policy : Policy or path
        Roles, hierarchies, and k.
    epsilon : float, optional
        Of the figure `epsilon`: the distance of sensitive values, 0 to 1, for which delta is reported.

    Returns
    -------
    dict
        The figures of docs/measures.md by name. Those that need a sensitive column are left out
        where the release has none.

    Examples
    --------
    >>> import kohort, polars as pl
    >>> people = pl.DataFrame({"age": [31, 30, 64, 66, 61], "ill": ["flu", "flu", "cold", "flu", "cold"]})
    >>> policy = kohort.Policy.build(k=2, quasi_identifiers=["age"], sensitive=["ill"], seed=1)
    >>> figures = kohort.describe(kohort.anonymize(people, policy).table, people, policy)
    >>> figures["discernibility"], figures["classification"]
    ({'total': 13, 'least': 13}, {'ill': 0.2})
    """
    policy = Policy.of(policy)
    with opened(release, policy, original, with_sets=True) as published:
        return _figures(published, epsilon)


@dataclass(frozen=True)
class Measured:
    """All that is known about what a file lost."""

    loss: Loss
    figures: dict[str, dict[str, Any]]
    utility: Utility | None
    """None for a table of nothing but sets, whose figures say it."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return asdict(self.loss) | {"figures": self.figures, "utility": self.utility and self.utility.to_dict()}


def measured(
    release: Any,
    original: Any,
    policy: Policy,
    *,
    name: str | None = None,
    epsilon: float = EPSILON,
    targets: Sequence[str] = (),
    queries: int = COUNT,
    seed: int = SEED,
    progress: Progress | None = None,
    lenient: bool = False,
) -> Measured:
    """Report what `measure`, `describe` and `utility` report, with the files read once."""
    how = _chosen(policy, name)
    refuse_targets(targets, original)
    with opened(release, policy, original, as_is=True, lenient=lenient, with_sets=True) as published:
        figures, useful = _figures(published, epsilon), None
        if published.policy.quasi_identifiers:
            useful = utility_of(published, targets=targets, count=queries, seed=seed, progress=progress)
        return Measured(published.loss(how), figures, useful)


def _figures(published: Published, epsilon: float) -> dict[str, dict[str, Any]]:
    """Figures of the classes, where there are quasi-identifiers that make some, and of the sets."""
    policy = published.policy
    found: dict[str, dict[str, Any]] = {}
    if policy.quasi_identifiers:
        found = figures_of(published.partition, {"epsilon": {"epsilon": epsilon}})
    of_sets = set_figures(published, _chosen(policy, None))
    return found | {f"sets of {name}": figures for name, figures in of_sets.items()}


def _chosen(policy: Policy, name: str | None) -> Measure:
    chosen = policy.algorithm.measure
    return MEASURES.make(name, {}) if name else MEASURES.make(chosen.name, chosen.parameters)
