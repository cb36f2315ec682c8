"""Runs in processes side by side, kept, resumed, and published."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import kohort
from helpers.bounds import full_effort
from helpers.cli import called
from kohort.errors import DataError, InternalError, PolicyError
from kohort.reports.compare import Comparison
from kohort.reports.compare import workers as work
from kohort.reports.compare.run import Setting

MODEL = "distinct-l-diversity:column=diagnosis:l=2"
GRID = {"algorithms": ["fast", "mondrian", "nh"], "k": [3, 8], "models": ["none", MODEL], "seeds": [1, 2]}


def timeless(outcomes):
    return [replace(one, seconds=0.0) for one in outcomes]


@pytest.fixture(scope="module")
def outcomes(people, rules):
    with full_effort():
        return kohort.compare(people, rules, **GRID, bounds=True)


def test_every_combination_is_compared(outcomes):
    found = [(one.algorithm, one.k, one.models, one.seed) for one in outcomes]
    assert found == [(a, k, m, s) for a in GRID["algorithms"] for k in (3, 8) for m in ("none", MODEL) for s in (1, 2)]
    assert [one.number for one in outcomes] == list(range(1, 25))
    assert {one.refused[:31] for one in outcomes if one.algorithm == "nh" and one.models == MODEL} == {
        "policy: algorithm 'nh' cannot k"
    }


@pytest.mark.slow
@pytest.mark.usefixtures("full_bounds")
def test_processes_side_by_side_make_no_difference(people, rules, outcomes):
    side_by_side = kohort.compare(people, rules, **GRID, bounds=True, workers=2)
    assert timeless(side_by_side) == timeless(outcomes)
    assert side_by_side.bounds == outcomes.bounds
    assert 0 < outcomes.bounds[3] <= outcomes.bounds[8]
    assert side_by_side.to_frame().drop("seconds").equals(outcomes.to_frame().drop("seconds"))


@pytest.mark.slow
def test_figures_are_those_of_the_release(people, rules, outcomes):
    """Each outcome is published by its own policy, and counted again from the published table alone."""
    for one in outcomes[1::3]:
        if one.refused:
            with pytest.raises(kohort.KohortError) as refusal:
                kohort.anonymize(people, one.policy(rules))
            assert refusal.value.faults[0] == one.refused
            continue
        release = kohort.anonymize(people, one.policy(rules))
        assert one.loss == pytest.approx(release.loss.total)
        if one.anonymity != "classes":
            assert (one.highest_risk, one.mean_risk) == (None, None)
            continue
        sizes = release.table.group_by("birth_date", "sex", "town").len()["len"]
        assert one.highest_risk == pytest.approx(1 / sizes.min())
        assert one.mean_risk == pytest.approx(len(sizes) / 240)
        if one.models == MODEL:
            diverse = release.table.group_by("birth_date", "sex", "town").agg(pl.col("diagnosis").n_unique())
            assert one.reached == {"distinct-l-diversity: l of diagnosis": diverse["diagnosis"].min()}


def test_persons_are_counted_where_the_policy_counts_them(people):
    twice = pl.concat([people, people]).with_columns(who=pl.Series([*range(240)] * 2))
    policy = kohort.Policy.build(
        k=3, quasi_identifiers=["birth_date", "sex"], identifiers=["who", "town"], insensitive=["diagnosis"], seed=1,
        person="who", algorithm="fast",
    )  # fmt: skip
    [one] = kohort.compare(twice, policy, algorithms=["fast"])
    release = kohort.anonymize(twice, one.policy(policy))
    persons = twice["who"].gather(release.row_order)
    classes = release.table.with_columns(who=persons).group_by("birth_date", "sex")
    sizes = classes.agg(pl.col("who").n_unique(), pl.len())
    assert one.highest_risk == pytest.approx(1 / sizes["who"].min())
    assert one.mean_risk == pytest.approx((sizes["len"] / sizes["who"]).sum() / 480)


def test_more_stars_than_may_be_suppressed_are_refused_here_too():
    frame = pl.DataFrame({"a": list("pq") * 3, "b": list("xyzuvw")})
    policy = kohort.Policy.build(
        k=6, quasi_identifiers=["a", "b"], seed=1, output={"suppressed": "starred"}, algorithm="mondrian"
    )
    with pytest.raises(kohort.InfeasibleError) as refusal:
        kohort.anonymize(frame, policy)
    [one] = kohort.compare(frame, policy, algorithms=["mondrian"])
    assert one.refused == refusal.value.faults[0]


@pytest.mark.parametrize(
    ("grid", "fault"),
    [
        ({"algorithms": []}, "nothing to compare"),
        ({"k": [1]}, "k"),
        ({"seeds": [-1]}, "seed"),
        ({"models": ["t-closeness:t"]}, "'t' is no parameter"),
        ({"workers": 0}, "workers: give a whole number"),
    ],
)
def test_what_cannot_be_compared_is_refused_before_any_work(people, rules, grid, fault):
    with pytest.raises(PolicyError, match=fault):
        kohort.compare(people, rules, **({"algorithms": ["fast"]} | grid), progress=pytest.fail)


# -- kept and resumed ----------------------------------------------------------------------------


def test_finished_results_are_taken_from_the_folder(people, rules, tmp_path, monkeypatch):
    folder = tmp_path / "kept"
    first = kohort.compare(people, rules, algorithms=["fast"], k=[3], resume=folder)
    assert folder.stat().st_mode & 0o077 == 0
    assert not any(b"canary" in path.read_bytes() for path in folder.iterdir())
    done = []
    monkeypatch.setattr(Setting, "_outcome", lambda self, cell: done.append(cell.k) or first[0])
    again = kohort.compare(people, rules, algorithms=["fast"], k=[3, 4], resume=folder)
    assert done == [4], "a larger comparison adds what is missing"
    assert again[0] == first[0]


def test_a_damaged_result_is_made_again(people, rules, tmp_path):
    [one] = kohort.compare(people, rules, algorithms=["fast"], resume=tmp_path / "kept")
    (tmp_path / "kept" / f"{one.cell.key}.json").write_text("{")
    assert timeless(kohort.compare(people, rules, algorithms=["fast"], resume=tmp_path / "kept")) == timeless([one])


def test_a_seed_that_was_drawn_is_drawn_once(people, rules, tmp_path):
    drawn = rules.with_changes("algorithm", seed=None)
    kohort.compare(people, drawn, algorithms=["fast"], resume=tmp_path / "kept")
    [first] = kohort.compare(people, drawn, algorithms=["fast"], resume=tmp_path / "kept")
    [second] = kohort.compare(people, drawn, resume=tmp_path / "kept")
    assert first == second, "and what was asked for is known"


def test_results_of_something_else_are_refused(files, people, rules, monkeypatch):
    folder = files / "kept"
    kohort.compare(files / "people.csv", rules, algorithms=["fast"], resume=folder)

    def refused(table, policy, what):
        with pytest.raises(DataError, match=f"are of another {what}; name another folder"):
            kohort.compare(table, policy, algorithms=["fast"], resume=folder)

    people.reverse().write_csv(files / "other.csv")
    refused(files / "other.csv", rules, "table")
    changed = rules.with_changes("privacy", suppression_limit=0.1)
    refused(files / "people.csv", changed, "policy")
    refused(files / "other.csv", changed, "table and policy")
    monkeypatch.setattr("kohort.__version__", "99")
    refused(files / "people.csv", rules, "version of kohort")


def test_a_changed_hierarchy_is_another_policy(files):
    tree = files / "town.csv"
    tree.write_text("".join(f"canary{n};{'low' if n < 3 else 'high'};*\n" for n in range(7)))
    (files / "policy.toml").write_text(
        '[privacy]\nk = 3\n[algorithm]\nseed = 1\n[columns]\nbirth_date = "identifier"\nsex = "quasi"\n'
        'diagnosis = "insensitive"\n[columns.town]\nrole = "quasi"\nhierarchy = "town.csv"\n'
    )
    given = (files / "people.csv", files / "policy.toml")
    kohort.compare(*given, algorithms=["fast"], resume=files / "kept")
    tree.write_text(tree.read_text().replace("high", "upper"))
    with pytest.raises(DataError, match="another policy"):
        kohort.compare(*given, algorithms=["fast"], resume=files / "kept")


def test_a_folder_of_something_else_is_not_used(people, rules, tmp_path):
    (tmp_path / "mine").mkdir(mode=0o700)
    (tmp_path / "mine" / "letter.txt").touch()
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o755)
    for folder, fault in (("mine", "holds other files"), ("open", "others may enter it"), ("a/b", "No such file")):
        with pytest.raises(DataError, match=fault):
            kohort.compare(people, rules, algorithms=["fast"], resume=tmp_path / folder)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_killed_and_resumed_it_loses_no_finished_result(files, number):
    """A process is killed as soon as some results are there; all of these are taken, and the others added."""
    asked = ["people.csv", "-p", "policy.toml", "--algorithms", "fast,auto,k-member", "--k", "3,4,5,6,7,8"]
    asked += ["--bound-effort", "0", "--resume", "kept", "--workers", "2"]
    process = subprocess.Popen(
        [sys.executable, "-m", "kohort", "compare", *asked], cwd=files, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    while process.poll() is None and len(list(files.glob("kept/[!.]*.json"))) < 4:
        time.sleep(0.02)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    # a name with a point at its start is that of a draft
    kept = {path: path.read_bytes() for path in files.glob("kept/[!.]*.json") if path.name != "comparison.json"}
    assert kept
    assert all(json.loads(content)["loss"] for content in kept.values()), "each is whole"
    if number == signal.SIGINT and process.returncode:
        assert process.returncode == 130
        assert out.count(b"\n") >= len(kept), "what was finished is shown"
        assert b"stopped; nothing was published" in err
    second = called("compare", *asked, "--json", folder=files)
    assert second.returncode == 0
    assert {path: path.read_bytes() for path in kept} == kept
    facts = json.loads(second.stdout)
    whole = kohort.compare(
        files / "people.csv", files / "policy.toml", algorithms=["fast", "auto", "k-member"], k=[3, 4, 5, 6, 7, 8]
    )
    assert [one["loss"] for one in facts["outcomes"]] == [one.loss for one in whole]


def test_processes_end_with_their_caller(people, rules):
    """Also in the middle of a run: nobody waits for its result."""
    process = work._started()
    setting = Comparison.of(people, rules, algorithms=["fast"]).setting
    work._send(process.stdin, __import__("pickle").dumps(setting))
    process.stdin.close()
    assert process.wait(timeout=30) == 0
    process.stdout.close()


def test_a_process_that_is_killed_is_reported(people, rules, monkeypatch):
    started = work._started

    def killed():
        process = started()
        os.kill(process.pid, signal.SIGKILL)
        return process

    monkeypatch.setattr(work, "_started", killed)
    with pytest.raises(InternalError, match="a process of the comparison has ended"):
        kohort.compare(people, rules, algorithms=["fast", "mondrian"], workers=2)


@pytest.mark.slow
def test_compiling_is_not_counted(tmp_path):
    """In a fresh cache the first run compiles for seconds, and is said to take a fraction of one."""
    code = (
        "import kohort, time, polars as pl\n"
        "frame = pl.DataFrame({'a': list(range(60)), 'b': [1, 2] * 30})\n"
        "policy = kohort.Policy.build(k=3, quasi_identifiers=['a', 'b'], seed=1)\n"
        "begun = time.perf_counter()\n"
        "[one] = kohort.compare(frame, policy, algorithms=['mondrian'])\n"
        "print(one.seconds, time.perf_counter() - begun)"
    )
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    told = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    counted, whole = map(float, told.stdout.split())
    assert whole > 1
    assert counted < whole / 5


# -- the command ---------------------------------------------------------------------------------


def test_a_result_is_published_as_it_was_compared(files):
    asked = ["compare", "people.csv", "-p", "policy.toml", "--resume", "kept"]
    told = called(
        *asked, "--algorithms", "fast,mondrian", "--k", "3,9", "-o", "all.csv", "--workers", "1", folder=files
    )
    assert told.returncode == 0, told.stderr
    assert told.stderr.splitlines()[0].startswith("1 of 6, about ")
    row = pl.read_csv(files / "all.csv").row(3, named=True)
    assert (row["number"], row["algorithm"], row["k"]) == (4, "mondrian", 9)
    assert called(*asked, "--release", "4", "-o", "out.csv", folder=files).returncode == 0
    release = pl.read_csv(files / "out.csv", infer_schema=False)
    sizes = release.group_by("birth_date", "sex", "town").len()["len"]
    assert (len(sizes), sizes.min()) == (row["classes"], row["smallest"])
    verified = called("verify", "out.csv", "-p", "policy.toml", "--original", "people.csv", folder=files)
    assert verified.returncode == 0
    assert json.loads((files / "out.csv.verdict.json").read_text())["passed"]


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        (["--release", "9", "-o", "x.csv"], "there is no result number 9; they are numbered from 1 to 1"),
        (["--release", "1"], "give --output"),
        (["-o", "x.xlsx"], "ends in .csv, .parquet or .json"),
        (["-o", "policy.csv"], "is already there"),
        (["--chart", "x.png"], "charts are written as .svg"),
        (["--seeds", "a"], "--seeds must be whole numbers"),
        (["-o", "people.csv", "--force"], "is the input itself"),
    ],
)
def test_what_cannot_be_written_is_refused_before_any_work(files, options, fault):
    (files / "policy.csv").touch()
    before = sorted(path.name for path in files.iterdir())
    told = called("compare", "people.csv", "-p", "policy.toml", "--algorithms", "fast", *options, folder=files)
    assert told.returncode == 2
    assert fault in told.stderr
    assert sorted(path.name for path in files.iterdir()) == before


@pytest.mark.parametrize("suffix", ["csv", "parquet", "json"])
def test_figures_are_written_by_the_end_of_the_name_and_drawn(files, suffix):
    told = called(
        "compare", "people.csv", "-p", "policy.toml", "--algorithms", "fast,mondrian", "--k", "3,9",
        "-o", f"all.{suffix}", "--chart", "all.svg", "--workers", "1", folder=files,
    )  # fmt: skip
    assert told.returncode == 0, told.stderr
    content = files / f"all.{suffix}"
    read = {"csv": pl.read_csv, "parquet": pl.read_parquet, "json": lambda path: json.loads(path.read_text())}
    found = read[suffix](content)
    numbers = [one["number"] for one in found["outcomes"]] if suffix == "json" else found["number"].to_list()
    assert numbers == [1, 2, 3, 4]
    # losses relative to the original, and seeds
    assert [(files / name).stat().st_mode & 0o077 for name in (content, "all.svg")] == [0, 0]
    picture = (files / "all.svg").read_text()
    assert "canary" not in picture + told.stdout
    assert "recommended" in told.stdout
    [best] = [one for one in told.stdout.splitlines() if one.startswith("recommended: no. ")]
    assert f"{best.removeprefix('recommended: no. ')[0]}: " in picture


def test_a_bound_that_says_nothing_is_said_to(people, rules, files, monkeypatch):
    monkeypatch.setattr(Setting, "_bound", lambda self, run: {"loss": 1e-6})
    told = called("compare", "people.csv", "-p", "policy.toml", "--algorithms", "fast", "--workers", "1", folder=files)
    assert "k = 3: no useful bound for this table." in told.stdout
    assert np.isfinite(kohort.compare(people, rules, algorithms=["fast"], bounds=True).bounds[3])
