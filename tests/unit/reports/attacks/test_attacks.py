"""All attacks together: what is public, what is said, and the command."""

import json
import re
import tomllib

import numpy as np
import polars as pl
import pytest

import kohort
from helpers.cli import called
from kohort.errors import PolicyError
from kohort.privacy import models_of
from kohort.reports.attacks import ATTACKS

POLICY = kohort.Policy.build(k=3, quasi_identifiers=["age", "town"], sensitive=["ill"], seed=1, algorithm="mondrian")


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(4)
    n = 300
    towns = [f"town-canary-{number}" for number in range(6)]
    ills = [f"ill-canary-{number}" for number in range(5)]
    ages = rng.integers(71_000, 78_000, n)
    return pl.DataFrame({"age": ages, "town": rng.choice(towns, n), "ill": rng.choice(ills, n)})


@pytest.fixture(scope="module")
def release(people):
    return kohort.anonymize(people, POLICY).table


@pytest.fixture(scope="module")
def found(people, release):
    return kohort.attack(release, POLICY, original=people)


def test_every_attack_is_run_or_says_why_not(found):
    assert {one.name for one in (*found.results, *found.not_run)} == set(ATTACKS)
    for one in found.not_run:
        assert one.reason.endswith(".")
    for one in found.results:
        assert one.sentence.endswith(".")
        assert one.mitigation.advice.endswith(".")
        assert 0 <= one.success.low <= one.success.value <= one.success.high <= 1
        assert 0 <= one.control.low <= one.control.value <= one.control.high <= 1
        assert 0 < one.attempts <= one.of


def test_mitigations_can_be_pasted(found):
    for one in found.results:
        pasted = tomllib.loads(one.mitigation.policy)
        data = POLICY.to_dict()
        columns = {name: data["columns"][name] | keys for name, keys in pasted.pop("columns", {}).items()}
        changed = data | {section: data.get(section, {}) | keys for section, keys in pasted.items()}
        policy = kohort.Policy.from_dict(changed | {"columns": data["columns"] | columns})
        assert models_of(policy)
        assert not one.mitigation.policy or policy != POLICY


def test_what_is_public_follows_from_the_release_alone(found, release):
    alone = kohort.attack(release, POLICY)
    assert alone.to_dict(private=True)["attacks"] == found.to_dict(private=False)["attacks"]
    assert not any(one.private for one in alone.results)


def test_no_cell_is_in_anything_that_is_said(found):
    text = json.dumps(found.to_dict(private=True)) + repr(found)
    assert "canary" not in text
    assert not re.search(r"(?<![0-9.])7[0-9]{4}(?![0-9])", text)


def test_the_same_seed_gives_the_same_results(found, people, release):
    assert kohort.attack(release, POLICY, original=people) == found
    some = kohort.attack(release, POLICY, original=people, only=["linkage"]).results
    assert some == tuple(one for one in found.results if one.name == "linkage"), "whatever else is run"


def test_sentences_and_charts(found):
    assert len(found.sentences(private=True)) == len(found.results)
    assert len(found.sentences(private=False)) < len(found.results)
    [chart] = found.charts(private=True)
    assert chart.description.count("by chance") == len(found.results)


def test_strange_names_are_refused(release):
    with pytest.raises(PolicyError, match=r"no attack 'linkag' \(did you mean 'linkage'\?\)"):
        kohort.attack(release, POLICY, only=["linkag"])
    with pytest.raises(PolicyError, match="at least 1"):
        kohort.attack(release, POLICY, attempts=0)
    with pytest.raises(PolicyError, match="seed must be at least 0"):
        kohort.attack(release, POLICY, seed=-1)


def test_the_command(people, release, tmp_path):
    people.write_csv(tmp_path / "people.csv")
    release.write_csv(tmp_path / "out.csv")
    (tmp_path / "policy.toml").write_text(POLICY.to_toml())
    shown = called("attack", "out.csv", "-p", "policy.toml", "--original", "people.csv", folder=tmp_path)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "linkage" in shown.stdout
    assert "keep them as confidential as the original" in shown.stdout
    quick = called("attack", "out.csv", "--qi", "age,town", "--k", "3", "--json", folder=tmp_path)
    facts = json.loads(quick.stdout)
    assert {one["name"] for one in facts["not_run"]} >= {"homogeneity", "linkage"}
    wrong = called("attack", "out.csv", "-p", "policy.toml", "--only", "luck", folder=tmp_path)
    assert wrong.returncode == 2
    assert "there is no attack 'luck'" in wrong.stderr
