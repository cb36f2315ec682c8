"""How useful a release still is: `kohort.utility`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from kohort.codes.encode import TreeAxis
from kohort.common.progress import Progress, heeding
from kohort.errors import DataError
from kohort.measures import MEASURES, Measure
from kohort.measures.loss import Loss
from kohort.policy import Policy
from kohort.release.published_loss import public_loss
from kohort.reports.charts import Chart
from kohort.reports.learning import refuse_without_sklearn
from kohort.reports.published import Published, opened, policy_for
from kohort.reports.utility.associations import Associations, associations
from kohort.reports.utility.columns import columns_of
from kohort.reports.utility.distributions import Change, change
from kohort.reports.utility.learned import Learned, learned, usual_targets
from kohort.reports.utility.queries import COUNT, Queries, queries
from kohort.reports.utility.shown import Shown, shown

SEED = 1


@dataclass(frozen=True)
class PublicUtility:
    """What everybody can compute who has the release and the policy."""

    rows: int
    suppressed: int
    """Rows of nothing but `*`; they are left out of the distributions."""
    k: int
    measure: str
    """The one that the policy asks for."""
    losses: dict[str, Loss]
    """By each measure, relative to what the policy declares and the release shows."""
    shares: dict[str, float]
    """Share of each quasi-identifier in the loss, by the measure of the policy."""
    distributions: tuple[Shown, ...]


@dataclass(frozen=True)
class PrivateUtility:
    """What takes the original. It may reveal what the release hides: keep it as you keep the original."""

    records: int
    suppressed: int
    """Records that are withheld or nothing but `*`; they are left out of all figures but the losses."""
    losses: dict[str, Loss]
    """By each measure, relative to the original."""
    shares: dict[str, float]
    changes: tuple[Change, ...]
    """Of the distribution of each column."""
    associations: Associations
    queries: Queries
    learned: tuple[Learned, ...]
    distributions: tuple[Shown, ...]
    seed: int
    left_out: tuple[str, ...] = ()
    """What was not computed, in sentences."""


@dataclass(frozen=True)
class Utility:
    """How useful a release still is. Make one with `kohort.utility`."""

    public: PublicUtility
    private: PrivateUtility | None
    """None without the original."""

    def to_dict(self, private: bool = True) -> dict[str, Any]:
        """Plain data, for JSON; with `private=False` only what everybody can compute."""
        from kohort.reports.utility.words import plain

        found = {"public": plain(asdict(self.public))}
        if private and self.private is not None:
            found["private"] = plain(asdict(self.private)) | {
                "mean_association_change": self.private.associations.mean_change,
                "learned": [plain(asdict(one)) | {"kept": one.kept} for one in self.private.learned],
            }
        return found

    def sentences(self, private: bool = True) -> list[str]:
        """The same in plain words."""
        from kohort.reports.utility.words import of_private, of_public

        return of_public(self.public) if self.private is None or not private else of_private(self.private, self.public)

    def charts(self, private: bool = True) -> list[Chart]:
        """Loss by column, distributions, and what is learned."""
        from kohort.reports.utility.pictures import pictures

        return pictures(self.public, self.private if private else None)


def utility(
    release: Any,
    original: Any = None,
    policy: Policy | str | Path | None = None,
    *,
    k: int | None = None,
    quasi_identifiers: Sequence[str] = (),
    sensitive: Sequence[str] = (),
    targets: Sequence[str] = (),
    queries: int = COUNT,
    seed: int = SEED,
    progress: Progress | None = None,
) -> Utility:
    """Report how useful a release still is, whoever made it.

    Parameters
    ----------
    release, original
        Paths, or polars, pandas or pyarrow tables. Without the original (None), only what everybody can compute.
    policy : Policy or path, optional
        Roles, hierarchies and k; by default what the verdict beside the release says.
    k : int, optional
        Smallest size of a class, instead of the policy's; needed with `quasi_identifiers`.
    quasi_identifiers, sensitive : sequence of str, optional
        Without a policy: columns by role.
    targets : sequence of str, optional
        Columns that models learn to predict, which takes scikit-learn; by default sensitive columns, if it is there.
    queries : int
        Number of random counting questions.
    seed : int
        Of questions, samples and held-out records: the same seed gives the same figures.
    progress : callable, optional
        Called with the step and the share of it that is done, 0 to 1.

    Returns
    -------
    Utility
        Public and private figures, apart from each other.

    Examples
    --------
    >>> import kohort, polars as pl
    >>> people = pl.DataFrame({"age": [31, 30, 64, 66, 61], "ill": ["flu", "flu", "cold", "flu", "cold"]})
    >>> policy = kohort.Policy.build(k=2, quasi_identifiers=["age"], sensitive=["ill"], seed=1)
    >>> found = kohort.utility(kohort.anonymize(people, policy).table, people, policy)
    >>> age, ill = found.private.changes
    >>> round(age.recovered.mean_error, 2), ill.shift
    (-0.01, 0.0)
    """
    names = {"quasi_identifiers": quasi_identifiers, "sensitive": sensitive}
    chosen = policy_for(release, policy, k=k, original=original, **names)
    refuse_targets(targets, original)
    with opened(release, chosen, original, as_is=True, lenient=policy is None) as published:
        return utility_of(published, targets=targets, count=queries, seed=seed, progress=progress)


def refuse_targets(targets: Sequence[str], original: Any) -> None:
    """Refuse targets that cannot be learned, before any work."""
    if not targets:
        return
    refuse_without_sklearn()
    if original is None:
        raise DataError("what can be learned is tested by records of the original; give the original, too.")


def utility_of(
    published: Published,
    *,
    targets: Sequence[str] = (),
    count: int = COUNT,
    seed: int = SEED,
    progress: Progress | None = None,
) -> Utility:
    """The same of a release that is open, with all columns that are published as they are."""
    hows = _measures(published.policy)
    public = _public(published, hows)
    if published.original is None:
        return Utility(public, None)
    return Utility(public, _private(published, hows, targets, count, seed, heeding(progress)))


def _measures(policy: Policy) -> dict[str, Measure]:
    """Every measure; that of the policy with its parameters, first."""
    asked = policy.algorithm.measure
    others = {name: MEASURES.make(name, {}) for name in MEASURES if name != asked.name}
    return {asked.name: MEASURES.make(asked.name, asked.parameters)} | others


def _public(published: Published, hows: dict[str, Measure]) -> PublicUtility:
    policy = published.policy
    losses = {name: public_loss(policy, published.counts, how) for name, how in hows.items()}
    k = policy.privacy.k
    columns = columns_of(replace(published, original=None))  # hierarchies as everybody sees them
    found = (shown(column, k, private=False) for column in columns)
    return PublicUtility(
        rows=published.rows,
        suppressed=int(published.suppressed.sum()),
        k=k,
        measure=policy.algorithm.measure.name,
        losses=losses,
        shares=shares_of(next(iter(losses.values())), policy),
        distributions=tuple(one for one in found if one is not None),
    )


def _private(
    published: Published, hows: dict[str, Measure], targets: Sequence[str], count: int, seed: int, report: Progress
) -> PrivateUtility:
    policy, columns = published.policy, columns_of(published)
    losses = {name: published.loss(how) for name, how in hows.items()}
    changes, pictures = [], []
    for place, column in enumerate(columns):
        report("distributions", place / len(columns))
        changes.append(change(column))
        pictures.append(shown(column, policy.privacy.k, private=True))
    report("associations", 0.0)
    pairs = associations(columns, np.random.default_rng([seed, 1]))
    report("questions", 0.0)
    answers = queries(columns, np.random.default_rng([seed, 2]), count=count)
    report("learning", 0.0)
    models, left_out = _learned(published, targets, seed)
    return PrivateUtility(
        records=published.records,
        suppressed=published.records - int(published.kept.sum()),
        losses=losses,
        shares=shares_of(next(iter(losses.values())), policy),
        changes=tuple(changes),
        associations=pairs,
        queries=answers,
        learned=models,
        distributions=tuple(one for one in pictures if one is not None),
        seed=seed,
        left_out=(*_unexplained(published), *left_out),
    )


def _unexplained(published: Published) -> Iterator[str]:
    """Labels of other tools whose hierarchy was not given."""
    for place, axis in enumerate(published.axes):
        ends = published.ends(place)
        rows = int(published.counts[axis.name].times[ends[:, 0] > ends[:, 1]].sum())
        if isinstance(axis, TreeAxis) and rows:
            yield (
                f"Column {axis.name!r}: {rows:,} rows have a label that no hierarchy explains, and count as *; give a "
                "policy with the hierarchy."
            )


def _learned(published: Published, targets: Sequence[str], seed: int) -> tuple[tuple[Learned, ...], tuple[str, ...]]:
    """What is learned, and sentences about what is not."""
    if not published.kept.any():
        return (), ("Every row is suppressed, so nothing can be learned.",)
    if targets:
        return learned(published, targets, seed), ()
    names = usual_targets(published)
    if not names:
        return (), ("No model was trained: name a column to predict with --target.",)
    try:
        refuse_without_sklearn()
    except DataError:
        return (), ('No model was trained: that takes pip install "kohort[sklearn]".',)
    return learned(published, names, seed), ()


def shares_of(loss: Loss, policy: Policy) -> dict[str, float]:
    """Share of each column in a loss, by the weights of the policy; they add up to 1 unless nothing is lost."""
    parts = {name: policy.columns[name].weight * lost for name, lost in loss.by_column.items()}
    total = sum(parts.values())
    return {name: part / total if total > 0 else 0.0 for name, part in parts.items()}
