"""Attacks on a written release, by whatever tool: those that can be tried, and why the others cannot."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kohort.common import stopping
from kohort.common.registry import closest
from kohort.errors import DataError, PolicyError
from kohort.policy import Policy
from kohort.reports.attacks.base import ATTACKS
from kohort.reports.attacks.result import Attack, Attacks, NotRun
from kohort.reports.attacks.scene import ATTEMPTS, Scene
from kohort.reports.published import (
    Original,
    Published,
    header_of,
    opened,
    original_of,
    policy_for,
    read_beside,
    refuse_other,
)


def attack(
    release: Any,
    policy: Policy | str | Path | None = None,
    *,
    original: Any = None,
    auxiliary: Any = None,
    against: Sequence[Any] = (),
    only: Sequence[str] = (),
    seed: int = 0,
    attempts: int = ATTEMPTS,
    k: int | None = None,
    quasi_identifiers: Sequence[str] = (),
    sensitive: Sequence[str] = (),
) -> Attacks:
    """Try on a release what an attacker would, and compare each success with what chance would bring.

    Parameters
    ----------
    release
        Path, or polars, pandas or pyarrow table; by any tool. A mapping of tables, if it has several.
    policy : Policy or path, optional
        Roles, hierarchies, promises. Without it the quasi-identifiers and k are to be given, or the verdict beside
        the release says them.
    original : optional
        The table that it was made of. What is found with it is private.
    auxiliary : optional
        A table that an outsider may have: some of the quasi-identifiers of some people, perhaps other columns that
        are published as they are. Such people are then looked for, instead of those of the original.
    against : sequence, optional
        Other releases about the same people.
    only : sequence of str, optional
        Names of attacks; all when absent.
    seed : int
        Of samples and controls: the same seed gives the same results.
    attempts : int
        People who are looked for, at most; attacks that can count everybody do.
    k, quasi_identifiers, sensitive : optional
        Instead of the policy.

    Returns
    -------
    Attacks
        With the attacks that could not be tried, and why.

    Raises
    ------
    DataError, PolicyError
        When a table cannot be read or does not fit the policy, or there is no such attack.

    Examples
    --------
    >>> import kohort, polars as pl
    >>> table = pl.DataFrame({"age": ["[30 - 39]"] * 2 + ["[40 - 49]"] * 2, "ill": ["flu", "flu", "cold", "flu"]})
    >>> found = kohort.attack(table, quasi_identifiers=["age"], sensitive=["ill"], k=2, only=["homogeneity"])
    >>> found.results[0].success.value, found.results[0].succeeds
    (0.5, True)
    """
    chosen = _chosen(only)
    _refuse_numbers(attempts, seed)
    tables = _tables(release)
    first = next(iter(tables.values()))
    if isinstance(policy, Policy | str | Path):
        policy = Policy.of(policy)
    promised = policy_for(
        first, policy, k=k, quasi_identifiers=quasi_identifiers, sensitive=sensitive, original=original
    )
    _refuse_buckets(promised)
    given = Given(tables, promised, original, auxiliary, tuple(against))
    with given.scene(seed, attempts) as scene:
        found = [one for name in chosen for one in _tried(name, scene, tables)]
    return Attacks(
        tuple(one for one in found if isinstance(one, Attack)),
        tuple(one for one in found if isinstance(one, NotRun)),
        seed,
    )


def _tried(name: str, scene: Scene, tables: Collection[str]) -> Iterator[Attack | NotRun]:
    """What comes of one attack, on one table of the release after the other unless it joins them."""
    stopping.heed()
    adversary = ATTACKS.make(name, {})
    several = len(scene.tables) > 1 and not adversary.joins
    for table, shown in zip(tables, scene.tables, strict=True) if several else (("", scene.release),):
        here = replace(scene, release=shown)
        reason = adversary.lacks(here)
        try:
            found = tuple(adversary.attack(here)) if reason is None else (NotRun(name, reason),)
        except DataError as error:  # a value without a meaning; attacks that do not ask for it are tried all the same
            found = (NotRun(name, error.faults[0]),)
        yield from (replace(one, table=table) for one in found)


def _chosen(only: Sequence[str]) -> list[str]:
    """The names of the attacks that are asked for, in one order."""
    PolicyError.refuse(
        f"there is no attack {name!r}{closest(name, list(ATTACKS))}; there are {', '.join(ATTACKS)}."
        for name in only
        if name not in ATTACKS
    )
    return [name for name in ATTACKS if not only or name in only]


def _refuse_buckets(policy: Policy) -> None:
    if policy.privacy.anonymity == "buckets":
        raise PolicyError(
            "anonymity = 'buckets' publishes quasi-identifiers as they are, so that everybody is found; attacks are "
            "tried on releases in classes, or of rows that may all differ."
        )


def _refuse_numbers(attempts: int, seed: int) -> None:
    PolicyError.refuse(
        f"{name} must be at least {least}, and it is {number}."
        for name, number, least in (("attempts", attempts, 1), ("seed", seed, 0))
        if number < least
    )


# -- what is there -----------------------------------------------------------------------------------


def _tables(release: Any) -> dict[str, Any]:
    """The tables of a release by their names."""
    if isinstance(release, Mapping):
        if not release:
            raise DataError("release: no table was given.")
        return dict(release)
    return {"": release}


@dataclass(frozen=True)
class Given:
    """What was given to look at."""

    tables: Mapping[str, Any]
    policy: Policy
    original: Any
    auxiliary: Any
    against: tuple[Any, ...]

    @contextmanager
    def scene(self, seed: int, attempts: int) -> Iterator[Scene]:
        """Read it all."""
        policy, original = self.policy, None
        known = None if self.auxiliary is None else _auxiliary(self.auxiliary, policy)
        if self.original is not None:
            original = original_of(read_beside(self.original, policy), policy, precise=True)
        with ExitStack() as stack:
            shown = tuple(
                stack.enter_context(self._opened(one, some=len(self.tables) > 1)) for one in self.tables.values()
            )
            earlier = tuple(stack.enter_context(self._opened(one, some=True)) for one in self.against)
            refuse_other(shown[0].rows, original)
            yield Scene(shown[0], shown, earlier, original, known, seed, attempts)

    @contextmanager
    def _opened(self, table: Any, *, some: bool) -> Iterator[Published]:
        """Open a table, without the original: what is public must not depend on it.

        Parameters
        ----------
        some : bool
            Whether it may have some of the columns only.
        """
        policy = self.policy
        if some:
            policy = _limited(policy, header_of(table, policy))
            if not policy.quasi_identifiers:
                raise DataError("one of the tables has no quasi-identifier of the policy; give tables that have some.")
        with opened(table, policy, as_is=self.auxiliary is not None) as found:
            yield found


def _auxiliary(table: Any, policy: Policy) -> Original:
    """A table of people: its columns that the policy knows."""
    try:
        source = read_beside(table, policy)
        there = _limited(policy, source.frame.columns)
        DataError.refuse(
            ["it has no quasi-identifier of the policy; give one that has."] * (not there.quasi_identifiers)
        )
        return original_of(source, there, precise=True)
    except DataError as error:
        raise DataError(*(f"auxiliary table: {fault}" for fault in error.faults)) from None


def _limited(policy: Policy, columns: Collection[str]) -> Policy:
    """The policy of a table that has some of the columns."""
    return policy.model_copy(
        update={"columns": {name: column for name, column in policy.columns.items() if name in columns}}
    )
