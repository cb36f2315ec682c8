"""What every algorithm of the registry must keep, whoever wrote it."""

import json
import math
import os
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import kohort
from contract.tables import MAY_BE_TOO_LARGE, SENSITIVE, TABLES, Example, example_of, trial_of
from kohort.algorithms import ALGORITHMS, Clusterer
from kohort.errors import InfeasibleError, PolicyError
from kohort.privacy import MODELS
from oracles.files import broken_files, verified_again
from oracles.promises import broken, digest

MODEL_PARAMETERS = {"frequency-l-diversity": {"column": SENSITIVE, "l": 3}}


@pytest.fixture(params=list(ALGORITHMS))
def algorithm(request):
    return request.param


def trial_or_skip(algorithm, example, **changes):
    """An algorithm may refuse a policy before any work; "mixed" is there to be taken by all."""
    try:
        return trial_of(algorithm, example, **changes)
    except PolicyError as error:
        pytest.skip(f"refused: {error}")


def solved(trial, table=""):
    try:
        return trial.algorithm.solve(trial.task)
    except InfeasibleError as error:
        if table not in MAY_BE_TOO_LARGE:
            raise
        pytest.skip(f"refused: {error}")


def faults(trial, solution):
    task = trial.task
    return broken(solution, task.codes, task.k, trial.algorithm.anonymity, task.allowance, trial.sensitive)


def inputs(task):
    """Copies of every array that an algorithm is given."""
    rows = task.codes.distinct
    arrays = [task.codes.array, rows.codes, rows.counts, rows.order, rows.first, *task.costs]
    if task.sensitive is not None:
        arrays.append(task.sensitive.array)
    return [array.copy() for array in arrays]


# -- any table ------------------------------------------------------------------------------------


@pytest.mark.promise("1.1", "2.1")
@pytest.mark.parametrize("table", TABLES)
def test_the_promise_is_kept(algorithm, table):
    trial = trial_or_skip(algorithm, example_of(table))
    before = inputs(trial.task)
    solution = solved(trial, table)
    assert faults(trial, solution) == []
    assert all(map(np.array_equal, before, inputs(trial.task))), "the input was changed"
    assert all(0 <= share <= 1 for share in trial.shares)
    assert trial.shares == sorted(trial.shares), "progress went back"


@pytest.mark.promise("5.1")
@pytest.mark.parametrize("table", TABLES)
def test_the_seed_decides(algorithm, table):
    """The same seed gives the same solution; any other a sound one."""
    trials = [trial_or_skip(algorithm, example_of(table), seed=seed) for seed in (5, 5, 6)]
    one, again, other = (solved(trial, table) for trial in trials)
    assert digest(one) == digest(again)
    assert faults(trials[2], other) == []


@pytest.mark.promise("1.2")
@pytest.mark.parametrize("limit", [0.02, 0.3])
@pytest.mark.parametrize("table", TABLES)
def test_no_more_is_suppressed_than_allowed(algorithm, table, limit):
    trial = trial_or_skip(algorithm, example_of(table), suppression_limit=limit)
    assert trial.task.allowance == math.floor(Fraction(str(limit)) * len(trial.sensitive))
    assert faults(trial, solved(trial, table)) == []


@pytest.mark.parametrize("k", [2, 3, 7, 40, 155, 156, 310])
def test_any_k(algorithm, k):
    trial = trial_of(algorithm, example_of("mixed", k))
    assert faults(trial, solved(trial)) == []


def test_records_without_a_value_are_left_out(algorithm):
    """Those count against the limit first; the algorithm may suppress what is left of it."""
    example = example_of("missing in a tree")
    lacking = example.frame["a"].null_count()
    limit = (lacking + 2) / example.frame.height
    trial = trial_or_skip(algorithm, example, missing="suppress", suppression_limit=round(limit, 6))
    assert (trial.task.allowance, len(trial.sensitive)) == (2, example.frame.height - lacking)
    assert faults(trial, solved(trial)) == []


@pytest.mark.parametrize("measure", ["height", "leaf", "path", "whd"])
def test_any_measure(algorithm, measure):
    example = example_of("mixed")
    example = Example(example.frame, example.policy.with_changes("algorithm", measure=measure))
    trial = trial_of(algorithm, example)
    assert faults(trial, solved(trial)) == []


@pytest.mark.parametrize("name", [name for name, cls in ALGORITHMS.items() if issubclass(cls, Clusterer)])
def test_labels_of_a_clusterer_have_no_gaps(name):
    trial = trial_of(name, example_of("mixed"), suppression_limit=0.1)
    labels = trial.algorithm.cluster(trial.task)
    assert labels.dtype == np.int32
    assert labels.shape == (len(trial.sensitive),)
    assert set(labels.tolist()) - {-1} == set(range(labels.max() + 1))


def test_facts_are_told(algorithm):
    cls = ALGORITHMS[algorithm]
    for fact in ("summary", "paper", "recoding", "guarantee", "complexity"):
        assert getattr(cls, fact)
    assert "k-anonymity" in cls.keeps
    assert cls.keeps <= set(MODELS)
    assert cls.__doc__


# -- sensitive values -----------------------------------------------------------------------------


def test_a_sensitive_column_is_asked_for(algorithm):
    """An algorithm that needs one says so before any work; no other looks at it."""
    example = example_of("mixed")
    columns = {name: column for name, column in example.policy.to_dict()["columns"].items() if name != SENSITIVE}
    bare = Example(example.frame.drop(SENSITIVE), kohort.Policy(privacy={"k": 4}, columns=columns))
    if ALGORITHMS[algorithm].uses_sensitive:
        with pytest.raises(PolicyError, match="sensitive"):
            kohort.anonymize(bare.frame, bare.policy_for(algorithm))
    else:
        assert kohort.anonymize(bare.frame, bare.policy_for(algorithm)).verdict.passed


@pytest.mark.promise("1.4")
@pytest.mark.parametrize(
    ("algorithm", "model"),
    [(name, model) for name in ALGORITHMS for model in sorted(ALGORITHMS[name].keeps - {"k-anonymity"})],
)
@pytest.mark.parametrize("table", ["n = 2k", "one tree", "heavy ties", "missing", "mixed"])
def test_enforced_models_are_kept(algorithm, model, table, tmp_path):
    """The file is judged: by the audit, and by counting."""
    example = example_of(table)
    policy = example.policy_for(algorithm, models=[{"model": model, **MODEL_PARAMETERS[model]}])
    release = kohort.anonymize(example.frame, policy, output=tmp_path / "out.csv")
    assert release.verdict.passed
    assert release.verdict.check(model).passed
    assert broken_files(tmp_path / "out.csv", release, example.frame, policy) == []


# -- whole releases -------------------------------------------------------------------------------


@pytest.mark.promise("1.1", "3.1")
@pytest.mark.parametrize("limit", [0.0, 0.1])
@pytest.mark.parametrize("table", ["mixed", "deep trees", "missing in a tree"])
def test_the_written_file_is_verified_again(algorithm, table, limit, tmp_path):
    example = example_of(table)
    try:
        policy = example.policy_for(algorithm, suppression_limit=limit)
        source, out = tmp_path / "in.csv", tmp_path / "out.csv"
        example.frame.write_csv(source)
        release = kohort.anonymize(source, policy, output=out)
    except PolicyError as error:
        if table == "mixed":
            raise
        pytest.skip(f"refused: {error}")
    assert release.verdict.passed
    for verdict in verified_again(out, release, source, policy):
        assert verdict.passed, verdict.reason
    assert broken_files(out, release, example.frame, policy) == []


# -- threads --------------------------------------------------------------------------------------


@pytest.mark.promise("5.1")
@pytest.mark.slow
def test_the_number_of_threads_does_not_matter():
    """Every algorithm in a process of one core, and in one of two; both begin anew."""
    one, two = (_solutions_with(cores) for cores in (1, 2))
    assert set(one) == set(ALGORITHMS)
    assert one == two


def _solutions_with(cores):
    script = Path(__file__).with_name("solve_all.py")
    paths = {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    threads = {f"{name}_NUM_THREADS": str(cores) for name in ("NUMBA", "OMP", "OPENBLAS", "MKL")}
    threads["POLARS_MAX_THREADS"] = str(cores)
    command = [sys.executable, str(script), str(cores)]
    found = subprocess.run(
        command, env=os.environ | paths | threads, capture_output=True, text=True, check=False, timeout=600
    )
    assert found.returncode == 0, found.stderr
    return json.loads(found.stdout)
