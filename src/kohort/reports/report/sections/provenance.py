"""By what the report can be checked: hashes, versions, and how the release was made."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kohort.reports.report.document import Block, Command, Table, Text
from kohort.reports.report.evidence import Evidence
from kohort.reports.report.section import SECTIONS, Section


@SECTIONS.register("provenance")
@dataclass(frozen=True)
class Provenance(Section):
    """Hashes that anybody can compute again, and in a private edition the parameters."""

    title = "How to check this"
    place = 120

    def blocks(self, evidence: Evidence) -> Iterator[Block]:
        """Commands that anybody can run, with what they print; then versions and parameters."""
        files = {what: name for what, name in evidence.names.items() if what in evidence.verdict.hashes}
        if files:
            command = f"sha256sum {' '.join(shlex.quote(name) for name in dict.fromkeys(files.values()))}"
            yield Command(text="This prints the hashes below", command=command)
        if "release" in files:
            # what the verdict leaves out of the promise, only the policy says
            more = " -p POLICY" if {"tree", "values"} & {*evidence.verdict.promise.get("left_out", ())} else ""
            command = f"kohort verify {shlex.quote(files['release'])}{more}"
            yield Command(text="This checks the promise again", command=command)
        yield Table(title="Hashes (SHA-256)", header=("of", "hash"), rows=tuple(_hashes(evidence)))
        rows = [*evidence.verdict.versions.items(), *_made(evidence)]
        what = "Versions, and how the release was made" if evidence.made else "Versions"
        yield Table(title=what, header=("what", "value"), rows=tuple(rows))
        if not evidence.private:
            yield Text(
                text="Algorithm, seed and parameters are not in this edition: with them, and the release, somebody "
                "could reason about how classes were made."
            )
        elif not evidence.made:
            yield Text(text="How the release was made stands in its private verdict, which was not given.")

    def figures(self, evidence: Evidence) -> dict[str, Any]:
        """The same as data."""
        verdict = evidence.verdict
        return {"hashes": dict(verdict.hashes), "versions": dict(verdict.versions), "files": dict(evidence.names)} | (
            {"made": {key: value for key, value in evidence.made.items() if key != "bound"}} if evidence.private else {}
        )


def _hashes(evidence: Evidence) -> Iterator[tuple[str, str]]:
    words = {"policy": "the policy, its seeds left out", "input_keyed": "the original, with a secret key"}
    for what, value in evidence.verdict.hashes.items():
        yield evidence.names.get(what, words.get(what, what)), value


def _made(evidence: Evidence) -> Iterator[tuple[str, str]]:
    """Algorithm, parameters, measure and seed, in a private edition."""
    provenance = evidence.made.get("provenance", {})
    for name in ("algorithm", "parameters", "measure", "seed", "clusters"):
        value = provenance.get(name)
        if isinstance(value, Mapping):
            value = ", ".join(f"{key} = {one}" for key, one in value.items())
        if value not in (None, ""):
            yield name, str(value)
    yield from ((f"algorithm: {name}", _in_words(value)) for name, value in evidence.made.get("algorithm", {}).items())


def _in_words(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
