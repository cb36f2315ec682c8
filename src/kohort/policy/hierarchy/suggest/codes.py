"""Codes of any shape, such as ``E11.9`` and ``SW1A 2AA``: those that begin alike are put together."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kohort.policy.hierarchy.suggest.groups import Branch, Node

_CODE = re.compile(r"^[A-Z]{0,6}[-_ ./]?\d[\dA-Z]*([-_ ./][\dA-Z]+)*$|^[A-Z]{1,3}$")
_MASK = "*"


def are_codes(texts: Sequence[str]) -> bool:
    """Whether texts are made of digits, capitals and separators, of one length or with a digit in most of them."""
    if len(texts) < 3 or any(_MASK in text for text in texts):
        return False
    fitting = sum(_CODE.match(text) is not None for text in texts)
    digits = sum(any(letter.isdigit() for letter in text) for text in texts)
    return fitting > 0.95 * len(texts) and digits > 0.8 * len(texts) and max(map(len, texts)) > 1


def trie(texts: Sequence[str]) -> list[Node]:
    """A tree of common beginnings, each written with a ``*`` after it; one with a single branch is left out.

    Examples
    --------
    >>> [node.label for node in trie(["A1", "A2", "B1", "B20", "B21"])]
    ['A*', 'B*']
    """
    return _under(sorted(set(texts)), "", frozenset(texts))


def _under(texts: Sequence[str], beginning: str, leaves: frozenset[str]) -> list[Node]:
    """The branches of texts that begin alike."""
    size = len(beginning)
    branches: dict[str, list[str]] = {}
    for text in texts:
        branches.setdefault(text[size : size + 1], []).append(text)
    found: list[Node] = []
    for some in branches.values():
        if len(some) == 1:
            found.append(some[0])
            continue
        common = _beginning(some[0], some[-1])
        inner = _under(some, common, leaves)
        label = f"{common}{_MASK}"
        while label in leaves:
            label += _MASK
        # the whole table may begin alike; that is the root
        found += inner if len(some) == len(texts) else [Branch(label, inner)]
    return found


def _beginning(first: str, last: str) -> str:
    """What two texts begin with; all texts between them begin so, too."""
    size = next((place for place, (one, other) in enumerate(zip(first, last, strict=False)) if one != other), None)
    return first[: min(len(first), len(last)) if size is None else size]
