"""Search as part of the pipeline: refine, budget, Ctrl-C, suppression that pays."""

import signal
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

import kohort
from helpers.cli import wait_for_work
from kohort.algorithms import ALGORITHMS

PLAIN = [name for name, cls in ALGORITHMS.items() if cls.anonymity == "classes" and name not in ("auto", "best")]


@pytest.mark.parametrize("name", PLAIN)
def test_refine_improves_what_an_algorithm_found(hospital, policy, name):
    plain = policy.with_changes("algorithm", name=name)
    before = kohort.anonymize(hospital, plain)
    after = kohort.anonymize(hospital, plain.with_changes("algorithm", refine=True))
    assert after.verdict.passed
    assert after.loss.total < before.loss.total
    assert "refine" in after.provenance.seconds


def test_refine_is_the_same_for_a_seed(hospital, policy):
    refined = policy.with_changes("algorithm", name="mondrian", refine=True)
    one, other = (kohort.anonymize(hospital, refined).table for _ in range(2))
    assert one.equals(other)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"name": "nh", "refine": True}, "refine is for releases in classes, and 'nh' makes another kind"),
        ({"name": "gccg", "budget": "5s"}, "a budget is for a search, and 'gccg' is none; set refine = true"),
    ],
)
def test_what_cannot_be_searched_is_refused(hospital, policy, changes, sentence):
    anonymity = ALGORITHMS[changes["name"]].anonymity
    changed = policy.with_changes("algorithm", **changes).with_changes("privacy", anonymity=anonymity)
    with pytest.raises(kohort.PolicyError, match=sentence):
        kohort.anonymize(hospital, changed)


@pytest.mark.slow
def test_refine_keeps_a_model_and_still_improves(hospital, policy):
    model = {"model": "frequency-l-diversity", "column": "diagnosis", "l": 2}
    plain = policy.with_changes("algorithm", name="cb").with_changes("privacy", models=[model])
    before = kohort.anonymize(hospital, plain)
    after = kohort.anonymize(hospital, plain.with_changes("algorithm", refine=True))
    assert after.loss.total < before.loss.total
    quasi = list(policy.quasi_identifiers)
    for _, group in after.table.group_by(quasi):
        assert 2 * group["diagnosis"].value_counts()["count"].max() <= group.height


@pytest.mark.parametrize("budget", ["soon", "5", "-1s", "1 h", ""])
def test_a_budget_is_a_time(policy, budget):
    with pytest.raises(kohort.PolicyError, match=r"'algorithm\.budget' must be a number above 0 with its unit"):
        policy.with_changes("algorithm", name="auto", budget=budget)


@pytest.mark.parametrize(("budget", "seconds"), [("500ms", 0.5), ("2s", 2.0), ("1.5min", 90.0), ("1h", 3600.0)])
def test_units_of_time(policy, budget, seconds):
    assert policy.with_changes("algorithm", name="auto", budget=budget).algorithm.seconds == seconds


def test_a_budget_ends_the_search(hospital, policy):
    notes = set()
    release = kohort.anonymize(
        hospital,
        policy.with_changes("algorithm", name="auto", budget="300ms"),
        progress=lambda step, share: notes.add(step),
    )
    assert release.facts["local search"] == "0.3 s"
    assert any(note.startswith("cluster, loss 0.") for note in notes)


def test_outliers_are_withheld_where_that_pays():
    """Ten heaps of eight, and in three of them a stranger from far away."""
    rng = np.random.default_rng(4)
    heaps = np.repeat(np.arange(10), 8)
    frame = pl.DataFrame({"a": heaps * 20 + rng.integers(0, 3, 80), "b": heaps * 20 + rng.integers(0, 3, 80)})
    strangers = pl.DataFrame({"a": [3, 60, 120], "b": [1000, 1000, 1000]})
    frame = pl.concat([frame, strangers])
    policy = kohort.Policy.build(k=5, quasi_identifiers=["a", "b"], seed=1)
    kept = kohort.anonymize(frame, policy)
    assert kept.verdict.facts.withheld == 0
    allowed = policy.with_changes("privacy", suppression_limit=0.05)
    release = kohort.anonymize(frame, allowed)
    assert 1 <= release.verdict.facts.withheld <= 3
    assert release.loss.total < kept.loss.total
    one = kohort.anonymize(frame, policy.with_changes("privacy", suppression_limit=0.0121))
    assert one.verdict.facts.withheld <= 1


def test_nobody_is_withheld_without_need():
    frame = pl.DataFrame({"a": np.arange(100) // 5})
    policy = kohort.Policy.build(k=5, quasi_identifiers=["a"], seed=1, suppression_limit=0.5)
    assert kohort.anonymize(frame, policy).verdict.facts.withheld == 0


@pytest.mark.slow
def test_ctrl_c_publishes_what_was_found(tmp_path, hospital, policy):
    hospital.write_csv(tmp_path / "in.csv")
    (tmp_path / "policy.toml").write_text(policy.with_changes("algorithm", name="auto", budget="1h").to_toml())
    command = [sys.executable, "-c", "from kohort.cli.main import run; run()", "anonymize", str(tmp_path / "in.csv")]
    command += ["-p", str(tmp_path / "policy.toml"), "-o", str(tmp_path / "out.csv")]
    # A short run first, so that everything is compiled.
    subprocess.run([*command[:-1], str(tmp_path / "first.csv"), "--budget", "1s"], check=True, capture_output=True)
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    # Before the search has begun Ctrl-C ends everything, so wait until it runs for certain.
    wait_for_work(process, 4.0)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert "the search was stopped before its end" in " ".join(out.split())
    assert (tmp_path / "out.csv").exists()
