"""Several algorithms side by side."""

import json
from collections import defaultdict
from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import kohort
from kohort.algorithms import ALGORITHMS


@pytest.mark.slow
def test_every_algorithm_is_compared(hospital, policy):
    seen = []
    outcomes = kohort.compare(hospital, policy, k=[5, 20], progress=seen.append)
    assert seen == outcomes
    assert [(outcome.algorithm, outcome.k) for outcome in outcomes] == [
        (name, k) for name in ALGORITHMS for k in (5, 20)
    ]
    for outcome in outcomes:
        if outcome.anonymity == "buckets":  # exact values lose nothing, but 20 values must be frequent enough
            assert (outcome.loss == 0) == (outcome.refused == "") == (outcome.k == 5)
            continue
        if outcome.anonymity == "classes":
            assert outcome.smallest >= outcome.k
        assert 0 < outcome.loss <= 1
        assert outcome.refused == ""


def test_a_comparison_tells_what_a_release_will_lose(hospital, policy):
    [outcome] = kohort.compare(hospital, policy, algorithms=["k-member"])
    release = kohort.anonymize(hospital, policy)
    assert outcome.loss == pytest.approx(release.loss.total)
    assert outcome.classes == release.verdict.facts.classes


def test_an_algorithm_that_refuses_does_not_stop_the_others(hospital, policy, monkeypatch):
    def refuse(self, task):
        raise kohort.InfeasibleError("too large for this; use k-member.")

    monkeypatch.setattr(ALGORITHMS["gccg"], "cluster", refuse)
    refused, done = kohort.compare(hospital, policy, algorithms=["gccg", "k-member"])
    assert refused.refused == "too large for this; use k-member."
    assert refused.loss is None
    assert done.loss is not None


@pytest.mark.parametrize(
    ("suppressed", "fault"), [(31, "suppression_limit is 3.00 %"), (1000, "every record would be")]
)
def test_an_algorithm_that_suppresses_too_many_is_refused(hospital, policy, monkeypatch, suppressed, fault):
    def suppress(self, task):
        labels = np.zeros(len(task.codes.array), np.int32)
        labels[:suppressed] = -1
        return labels

    monkeypatch.setattr(ALGORITHMS["gccg"], "cluster", suppress)
    limited = policy.with_changes("privacy", suppression_limit=0.03)
    [outcome] = kohort.compare(hospital, limited, algorithms=["gccg"])
    assert fault in outcome.refused
    assert outcome.loss is None
    with pytest.raises(kohort.InfeasibleError, match=fault):
        kohort.anonymize(hospital, limited.with_changes("algorithm", name="gccg"))


@pytest.mark.slow
def test_command(tmp_path, hospital, policy, capsys, monkeypatch):
    from kohort.cli.main import run

    hospital.write_csv(tmp_path / "patients.csv")
    (tmp_path / "policy.toml").write_text(policy.to_toml())
    given = ["kohort", "compare", str(tmp_path / "patients.csv"), "-p", str(tmp_path / "policy.toml")]
    monkeypatch.setattr("sys.argv", [*given, "--algorithms", "k-member,gccg", "--k", "5,10", "--json"])
    with pytest.raises(SystemExit) as end:
        run()
    assert end.value.code == 0
    assert [entry["k"] for entry in json.loads(capsys.readouterr().out)["outcomes"]] == [5, 10, 5, 10]
    monkeypatch.setattr("sys.argv", [*given, "--k", "five"])
    with pytest.raises(SystemExit) as end:
        run()
    assert end.value.code == 2
    assert "--k must be whole numbers" in capsys.readouterr().err


def test_classes_are_those_that_a_reader_sees():
    """Two clusters may have different boxes on a taxonomy, and the same label."""
    import polars as pl

    tree = {"tree": {"x": ["a", "b", "c"], "y": ["d", "e"]}}
    frame = pl.DataFrame({"letter": list("abbcabbcde")})
    policy = kohort.Policy.build(k=2, quasi_identifiers=["letter"], hierarchies={"letter": tree}, seed=1)
    for name in ("mondrian", "systematic", "oka"):
        changed = policy.with_changes("algorithm", name=name)
        [outcome] = kohort.compare(frame, changed, algorithms=[name])
        facts = kohort.anonymize(frame, changed).verdict.facts
        assert (outcome.classes, outcome.smallest) == (facts.classes, facts.smallest_class)


def test_parameters_of_algorithms(hospital, policy):
    """Text as on the command line, and mappings; both are the algorithm with these parameters."""
    asked = [
        "gccg-parallel:parts=4",
        {"name": "cb", "assign": "centre", "rounds": 2},
        "cb:assign=centre:rounds=2",
        "cb",
    ]
    one, two, three, four = kohort.compare(hospital, policy, algorithms=asked)
    assert [outcome.algorithm for outcome in (one, two, three, four)] == [
        "gccg-parallel:parts=4", "cb:assign=centre:rounds=2", "cb:assign=centre:rounds=2", "cb",
    ]  # fmt: skip
    assert two.loss == three.loss != four.loss
    changed = policy.with_changes("algorithm", name="gccg-parallel", parameters={"parts": 4})
    assert one.loss == pytest.approx(kohort.anonymize(hospital, changed).loss.total)


@pytest.mark.parametrize(
    ("algorithm", "fault"),
    [
        ("gccg-parallel:part=4", "has no parameter 'part'"),
        ("gccg-parallel:parts", "'parts' is no parameter; write NAME:PARAMETER=VALUE"),
        ("gccg-parallel:parts=2:parts=4", "each parameter once"),
        ("gccg-parallel:=4", "'=4' is no parameter"),
        ("cb:rounds=many", "'rounds' must be an integer of at least 1; got 'many'"),
        (":parts=4", "there is no algorithm ''"),
        ({"parts": 4}, "there is no algorithm ''"),
    ],
)
def test_wrong_parameters_end_a_comparison_before_it_begins(hospital, policy, algorithm, fault):
    with pytest.raises(kohort.PolicyError, match=fault):
        kohort.compare(hospital, policy, algorithms=["k-member", algorithm], progress=pytest.fail)


def test_sse_is_the_variance_within_classes():
    """In fractions: on z-scored columns, the mean over columns of SSE / SST; mdav says it, too."""
    frame = pl.DataFrame({"a": [1, 2, 4, 9, 11, 12], "b": [3, 3, 5, 0, 0, 7], "c": [2, 2, 2, 2, 2, 2]})
    policy = kohort.Policy.build(k=3, quasi_identifiers=["a", "b", "c"], seed=1, algorithm="mdav")
    release = kohort.anonymize(frame, policy)
    members = defaultdict(list)
    for row, place in enumerate(release.row_order):
        members[release.table.select("a", "b", "c").row(row)].append(int(place))
    shares = []
    for name in ("a", "b"):
        values = [Fraction(value) for value in frame[name]]
        within = sum(squares([values[place] for place in some]) for some in members.values())
        shares.append(within / squares(values))
    assert len(members) == 2
    assert release.facts["sse_over_sst"] == pytest.approx(float(sum(shares) / 2))
    [outcome] = kohort.compare(frame, policy, algorithms=["mdav"])
    assert outcome.sse == pytest.approx(float(sum(shares) / 2))
    [outcome] = kohort.compare(frame.with_columns(c=pl.lit("x")), policy, algorithms=["mdav"])
    assert outcome.sse is None


def squares(values):
    mean = sum(values) / len(values)
    return sum((value - mean) ** 2 for value in values)


def test_clusters_that_are_published_alike_are_one_class():
    """Two clusters of equal records: the algorithm formed two, a reader sees one; and what it reports is kept."""
    frame = pl.DataFrame({"a": [1, 1, 1, 1, 9, 9], "ill": list("xyxyxy")})
    policy = kohort.Policy.build(k=2, quasi_identifiers=["a"], sensitive=["ill"], seed=1)
    plain, vertical = kohort.compare(
        frame, policy, algorithms=["gccg", {"name": "two-level", "form": "vertical", "accept_broken_guarantee": True}]
    )
    assert (plain.clusters, plain.classes) == (3, 2)
    assert vertical.facts["effective k if the tables are joined row by row"] == 2
    assert kohort.compare(frame, policy, algorithms=["gccg"]).to_frame()["clusters"].to_list() == [3]
