"""Which column would gain most by a hierarchy: what is said comes true."""

import tomllib

import numpy as np
import polars as pl
import pytest

import kohort
from helpers.cli import called
from kohort import Policy
from kohort.reports.gain import gains


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(3)
    region = rng.integers(0, 5, 1500)
    return pl.DataFrame(
        {
            "age": 20 + 12 * region + rng.integers(0, 4, 1500),
            "town": [f"place {r}{n}" for r, n in zip("abcde" * 300, rng.integers(0, 8, 1500), strict=True)],
            "job": [f"{'pqrst'[r]} trade {n}" for r, n in zip(region, rng.integers(0, 9, 1500), strict=True)],
            "sex": rng.choice(["f", "m"], 1500),
        }
    )


POLICY = Policy.build(k=10, quasi_identifiers=["age", "town", "job", "sex"], algorithm="fast", seed=1)


def test_the_first_gains_most_and_gains_what_is_said(table):
    found = gains(table, POLICY)
    assert [gain.saved for gain in found] == sorted((gain.saved for gain in found), reverse=True)
    assert {gain.column for gain in found} <= {"town", "job"}
    before = kohort.anonymize(table, POLICY).loss.total
    proposed = kohort.propose(table, roles=dict.fromkeys(table.columns, "quasi")).policy
    tree = proposed.to_dict()["columns"][found[0].column]["hierarchy"]
    changed = POLICY.with_changes("columns", **{found[0].column: {"role": "quasi", "hierarchy": tree}})
    after = kohort.anonymize(table, changed).loss.total
    assert 1 - after / before == pytest.approx(found[0].saved, abs=0.02)


def test_columns_with_hierarchies_are_not_named(table):
    proposed = kohort.propose(table, roles=dict.fromkeys(table.columns, "quasi")).policy
    assert gains(table, proposed) == ()


def test_the_lines_to_paste_work(table, tmp_path):
    table.write_csv(tmp_path / "in.csv")
    (tmp_path / "p.toml").write_text(POLICY.to_toml())
    told = called("why", "in.csv", "-p", "p.toml", folder=tmp_path).stdout.splitlines()
    [command] = [line.split("kohort ")[1] for line in told if "make it:" in line]
    [line] = [line for line in told if "then in [columns." in line]
    assert called(*command.split(), folder=tmp_path).returncode == 0
    name, pasted = line.split("[columns.")[1].split("]:")
    text = POLICY.to_toml().replace(f"[columns.{name}]", f"[columns.{name}]\n{pasted.strip()}")
    assert tomllib.loads(text)["columns"][name]["hierarchy"].endswith(f"{name}.csv")
    (tmp_path / "p.toml").write_text(text)
    assert kohort.anonymize(tmp_path / "in.csv", tmp_path / "p.toml").verdict.passed
