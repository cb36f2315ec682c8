"""Verify as a whole process: what it imports, and that it ends in silence."""

from __future__ import annotations

import subprocess
import sys

import pytest

PREPARE = """
import sys
import polars as pl
from pathlib import Path
from kohort.errors import DataError
from kohort.policy import Policy
from kohort.audit import verify
folder = Path(sys.argv[1])
policy = Policy.build(k=2, quasi_identifiers=["q"], types={"q": "string"}, sensitive=["s"])
good = folder / "good.csv"
good.write_text("q;s\\na;1\\na;2\\n")
bad = folder / "bad.csv"
bad.write_text("q;s\\na;1\\na;2;3\\n")
"""

ENDINGS = {
    "passes": "kept = verify(good, policy, original=good)\nassert kept.passed",
    "fails": "kept = verify(pl.DataFrame({'q': ['a', 'b'], 's': [1, 2]}), policy)\nassert not kept.passed",
    "raises": """
try:
    verify(bad, policy)
except DataError as error:
    kept = error
assert 'line 3' in str(kept)
""",
    "raises late": """
try:
    verify(good, policy, original=good, row_order=[0, 0])
except DataError as error:
    kept = error
assert 'twice' in str(kept)
""",
    "twice": "kept = [verify(good, policy, original=pl.read_csv(good, separator=';')) for _ in range(2)]",
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_script_ends_in_silence(tmp_path, ending):
    script = PREPARE + ENDINGS[ending]
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script, str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_importing_it_is_light_and_independent():
    script = """
import sys, kohort.audit
heavy = {"polars", "duckdb", "numba", "pandas", "pyarrow"} & set(sys.modules)
makers = [name for name in sys.modules if name.startswith(
    ("kohort.kernels", "kohort.algorithms", "kohort.codes.publish", "kohort.codes.encode"))]
assert not heavy and not makers, (heavy, makers)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
