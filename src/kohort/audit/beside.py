"""What a release was made under, if nobody gives the policy: the verdict that was written beside it says so."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kohort.audit.verdict import Check, Verdict
from kohort.common.regular import regular
from kohort.errors import DataError
from kohort.policy import Policy
from kohort.policy.promise import policy_of_promise


@dataclass(frozen=True)
class Stated:
    """What a verdict says of the release that it is about."""

    policy: Policy
    """Everything that it promises."""
    verdict: Verdict
    name: str
    """Of its file."""

    def compared(self, found: Verdict) -> Verdict:
        """The verdict that was found, with the answer whether it is about the same files as this one."""
        about = ("release", "sensitive_table")
        files = [name for name in (*about, *found.hashes) if name in about or name.startswith("hierarchy:")]
        both = (self.verdict.hashes, found.hashes)
        known, seen = ({name: hashes[name] for name in files if name in hashes} for hashes in both)
        if "release" not in seen:
            return found  # a table in memory is no file
        other = sorted(name for name in known.keys() | seen.keys() if known.get(name) != seen.get(name))
        sentence = f"{self.name} is about these files, byte by byte."
        if other:
            what = ", ".join(name.replace("_", " ").replace("hierarchy:", "hierarchy of ") for name in other)
            sentence = f"{self.name} is about other files ({what}); give the policy to judge these."
        return replace(found, checks=(*found.checks, Check("file", not other, sentence)))


def stated_beside(release: Any, verdict: str | Path | None) -> Stated:
    """What the verdict of a release says; the one beside it if no other is given.

    Raises
    ------
    DataError
        When there is none, or it does not say what was promised.
    """
    from kohort.table.targets import verdict_path

    if verdict is None and not isinstance(release, str | Path):
        raise DataError("verify: nothing says what was promised; give the policy, or the verdict of the release.")
    path = Path(verdict) if verdict is not None else verdict_path(Path(release))
    try:
        text = regular(path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise DataError(f"{path.name}: is no verdict of kohort; give the policy.") from None
    except OSError as error:
        if verdict is None and not Path(release).exists():
            raise DataError(f"{Path(release).name}: there is no such file; check the path.") from None
        reason = (error.strerror or type(error).__name__).lower()
        fault = f"{path.name}: cannot be opened ({reason}), and nothing else says what was promised; give the policy."
        raise DataError(fault) from None
    stated = Verdict.from_json(text)
    return Stated(policy_of_promise(stated.promise, path), stated, path.name)
