"""A certificate compared with its file: without the original, and without the policy file.

All that follows from the file is computed again. What needed the original, a hierarchy file that is not here, or values
that a policy keeps to itself, is attested: the certificate says so, and a signature says who says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from kohort.audit.audit import verify
from kohort.audit.certificate.document import Certificate
from kohort.audit.certificate.signature import public_key
from kohort.audit.public import public_check
from kohort.audit.read.files import files_hash
from kohort.audit.verdict import Check, Verdict
from kohort.errors import DataError
from kohort.policy import Policy
from kohort.policy.promise import policy_of_promise

_ABOUT = ("release", "sensitive_table")


def verified_by(
    certificate: str | Path,
    release: Any,
    *,
    signer: str | Path | None = None,
    original: Any = None,
    sensitive_table: Any = None,
    strict: bool = False,
) -> Verdict:
    """Check a file against its certificate.

    Parameters
    ----------
    certificate : path
        Hierarchy files that it names are looked for beside it.
    release, original, sensitive_table, strict
        As in `verify`.
    signer : path, optional
        Public key whose owner must have signed the certificate.

    Returns
    -------
    Verdict
        Checks that were made again; then `file`, `certificate`, `attested` and `signature`.

    Raises
    ------
    DataError
        When something cannot be read.
    """
    path = Path(certificate)
    stated = Certificate.read(path)
    if not stated.verdict.promise:
        raise DataError(f"{path.name}: it does not say what was promised, so nothing can be checked by it.")
    try:
        asked = _asked(stated.verdict, path)
    except (KeyError, TypeError, ValueError, AttributeError):
        raise DataError(f"{path.name}: what was promised is not written as kohort writes it.") from None
    if original is not None and asked.unread:
        what = ", ".join(map(repr, asked.unread))
        fault = f"the hierarchy of {what} is needed to compare with the original, and not beside it"
        raise DataError(f"{path.name}: {fault}; put it there, leave the original out, or verify by the policy.")
    signature = _signature(stated, signer)
    found = verify(release, asked.policy, original=original, sensitive_table=sensitive_table, strict=strict)
    said = _Said(stated.verdict, found, asked)
    own = (said.file(), said.certificate(), *said.attested_check())
    return replace(found, checks=(*said.again, *own, *signature))


# -- what can be asked again -----------------------------------------------------------------------------


@dataclass(frozen=True)
class _Asked:
    """The promise of a certificate, as far as it can be checked with what is here."""

    policy: Policy
    unread: tuple[str, ...] = ()
    """Quasi-identifiers whose hierarchy is not here: their texts are only compared."""
    given_up: frozenset[str] = field(default=frozenset())
    """Checks that cannot be made."""


def _asked(verdict: Verdict, path: Path) -> _Asked:
    promise: dict[str, Any] = {name: dict(section) for name, section in verdict.promise.items()}
    left_out: Mapping[str, Any] = promise.pop("left_out", {})
    privacy, columns = promise["privacy"], promise["columns"]
    given_up: set[str] = set()
    unread = []
    for name, column in columns.items():
        if name in left_out.get("tree", ()) or _is_absent(name, column, verdict, path):
            # texts of a hierarchy that is not here are only compared with each other
            keys = ("hierarchy", "type", "decimal", "thousands", "format")
            columns[name] = {key: value for key, value in column.items() if key not in keys} | {"type": "string"}
            unread.append(name)
    known = {*left_out.get("values", ()), *unread}
    models = []
    for model in privacy.get("models", ()):
        if model.get("column") in known or "population" in model:
            given_up.add(str(model["model"]))
        else:
            models.append(model)
    privacy["models"] = models
    person = privacy.get("person")
    if person is not None and not columns.get(person, {}).get("pseudonym"):
        # the file does not say whose a row is
        given_up.add("persons")
        del privacy["person"]
        columns.pop(person, None)
    if privacy.get("anonymity") == "matchings":
        given_up.add("k")
    labelled = tuple(name for name in unread if columns[name]["role"] == "quasi")
    return _Asked(policy_of_promise(promise, path), labelled, frozenset(given_up))


def _is_absent(name: str, column: Mapping[str, Any], verdict: Verdict, path: Path) -> bool:
    """Whether a column has a hierarchy file that is not beside the certificate; another one in its place is refused."""
    hierarchy = column.get("hierarchy")
    place = hierarchy if isinstance(hierarchy, str) else (hierarchy or {}).get("file")
    if place is None:
        return False
    file = path.parent / place
    if Path(place).is_absolute() or ".." in Path(place).parts or not file.is_file():
        return True  # kohort names no file elsewhere
    if files_hash([file]) != verdict.hashes.get(f"hierarchy:{name}"):
        raise DataError(
            f"{file.name}: is another hierarchy of column {name!r} than the certificate is about; put the right one in "
            "its place, or take it away."
        )
    return False


# -- what is said of it ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Said:
    """A certificate beside what was found now."""

    stated: Verdict
    found: Verdict
    asked: _Asked

    @property
    def again(self) -> list[Check]:
        """The checks that were made again."""
        return [check for check in self.found.checks if check.name not in self.asked.given_up]

    @property
    def attested(self) -> list[str]:
        """The names of those that the certificate alone vouches for."""
        return sorted({check.name for check in self.stated.checks} - {"file"} - {check.name for check in self.again})

    def file(self) -> Check:
        """Whether it is about this file."""
        other = [name for name in _ABOUT if self.stated.hashes.get(name) != self.found.hashes.get(name)]
        what = ", ".join(other).replace("_", " ")
        sentence = "the certificate is about this file, byte by byte."
        if other:
            sentence = f"the certificate is about another {what}."
        return Check("file", not other, sentence)

    def certificate(self) -> Check:
        """Whether all that can be computed again is what the certificate says."""
        other = [check.name for check in self.again if not self._is_same(check)]
        other += [check.name for check in self.stated.checks if check.passed is not True]
        other += ["facts"] if self._facts() else []
        other += ["as_is"] if self._shown(self.stated) != self._shown(self.found) else []
        sentence = "what follows from the file is what the certificate says."
        if other:
            sentence = f"the certificate says something else than the file does ({', '.join(dict.fromkeys(other))})."
        return Check("certificate", not other, sentence)

    def attested_check(self) -> Iterable[Check]:
        """What was not checked again, and why."""
        why = []
        if self.attested:
            what = ", ".join(self.attested)
            why.append(f"not checked again, as it takes more than the file: {what}; the certificate says that it holds")
        if self.asked.unread:
            what = ", ".join(map(repr, self.asked.unread))
            why.append(f"the hierarchy of {what} is not beside the certificate, so its labels were only compared")
        if why:
            yield Check("attested", True, "; ".join(why) + ".")

    def _is_same(self, check: Check) -> bool:
        """Whether the certificate says the same about a check; one that it does not know is new since then."""
        known = next((one for one in self.stated.checks if (one.name, one.table) == (check.name, check.table)), None)
        return known is None or (known.passed, _lasting(known.figures)) == (
            check.passed,
            _lasting(public_check(check)[1]),
        )

    def _facts(self) -> list[str]:
        """Numbers that are not the same; those that need what is not here are left out."""
        stated, found = asdict(self.stated.facts), asdict(self.found.public().facts)
        left_out = {"classes", "smallest_class"} if "k" in self.asked.given_up else set()
        return [name for name in stated if name not in left_out and stated[name] != found[name]]

    @staticmethod
    def _shown(verdict: Verdict) -> tuple[Any, ...]:
        """What is published as it is; the advice on hidden columns depends on their hierarchy."""
        if verdict.as_is is None:
            return ()
        return dict(verdict.as_is.columns), verdict.as_is.combinations, verdict.as_is.unique, set(verdict.as_is.hidden)


def _lasting(figures: Mapping[str, Any]) -> dict[str, Any]:
    """Figures without the way in which they were found: who makes a release knows the order of its rows."""
    return {name: value for name, value in figures.items() if name != "method"}


def _signature(stated: Certificate, signer: str | Path | None) -> list[Check]:
    """Whether every signature is one of this certificate, and whose."""
    if signer is None and not stated.signatures:
        sentence = "nobody has signed the certificate: what it attests is the word of whoever gave it to you."
        return [Check("unsigned", True, sentence)]
    wanted = None if signer is None else public_key(signer)
    wrong = [one for one in stated.signatures if not one.is_of(stated.body)]
    if wrong:
        sentence = "a signature is not one of this certificate: it, or the certificate, was altered."
        return [Check("signature", False, sentence)]
    if wanted is not None and all(one.key != wanted for one in stated.signatures):
        return [Check("signature", False, "the certificate is not signed with the given key.")]
    names = ", ".join(one.fingerprint for one in stated.signatures)
    whose = "" if wanted is not None else " Whether these are keys that you trust, only you know; give one by --signer."
    return [Check("signature", True, f"signed with the key {names}.{whose}")]
