"""`kohort.anonymize` with a ledger: checked before, recorded after, and nothing at all when it is refused."""

import json
import subprocess
import sys

import polars as pl
import pytest

import kohort
from kohort.audit.ledger import read_ledger

KEY = "0123456789abcdef0123456789abcdef"


@pytest.fixture
def rules():
    return kohort.Policy.build(
        k=3, identifiers=["who"], quasi_identifiers=["age", "sex"], sensitive=["ill"], insensitive=["day"], seed=1
    )


def table(*rows):
    names = {"who": pl.String, "age": pl.Int64, "sex": pl.String, "ill": pl.String, "day": pl.String}
    return pl.DataFrame([(*row, "2024-01-01") for row in rows], schema=names, orient="row")


WOMEN = [("ann", 31, "F", "asthma"), ("bea", 34, "F", "flu"), ("cat", 38, "F", "ulcer")]
MEN = [("dan", 52, "M", "diabetes"), ("eli", 55, "M", "gout"), ("fox", 59, "M", "flu")]
NEXT = [WOMEN[1], ("gia", 33, "F", "migraine"), ("hel", 36, "F", "gout")]


@pytest.fixture
def ledger(tmp_path):
    return tmp_path / "ledger.json"


@pytest.fixture
def key(tmp_path):
    path = tmp_path / "key"
    path.write_text(KEY)
    return path


def files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_release_is_recorded(tmp_path, rules, ledger):
    release = kohort.anonymize(table(*WOMEN, *MEN), rules, output=tmp_path / "1.csv", ledger=ledger)
    [entry] = read_ledger(ledger).releases
    assert (entry.status, entry.shown.rows, len(entry.shown.classes)) == ("published", 6, 2)
    assert entry.release == release.verdict.hashes["release"]
    assert entry.policy == release.verdict.hashes["policy"]
    assert release.verdict.check("intersection").passed
    kept = ledger.read_text()
    for cell in ("ann", '"31"', "2024-01-01", "who", "day"):
        assert cell not in kept, "only the published description and sensitive values are kept"


def test_an_attack_is_stopped_before_the_file_appears(tmp_path, rules, ledger):
    """Bea is in both, and the flu is all that both of her classes show."""
    kohort.anonymize(table(*WOMEN, *MEN), rules, output=tmp_path / "1.csv", ledger=ledger)
    (tmp_path / "2.csv").write_text("an old release")
    before = files(tmp_path)
    with pytest.raises(kohort.VerificationError) as caught:
        kohort.anonymize(table(*NEXT, *MEN), rules, output=tmp_path / "2.csv", ledger=ledger, overwrite=True)
    assert "fewer than 2 values of column 'ill' in 1 pair" in str(caught.value)
    assert files(tmp_path) == before
    without = kohort.anonymize(table(*NEXT, *MEN), rules, output=tmp_path / "2.csv", overwrite=True)
    assert without.verdict.check("intersection") is None
    assert files(tmp_path)["ledger.json"] == before["ledger.json"]


def test_the_same_people_again(tmp_path, rules, ledger):
    for name in ("1.csv", "2.csv"):
        release = kohort.anonymize(table(*WOMEN, *MEN), rules, output=tmp_path / name, ledger=ledger)
    assert release.verdict.check("intersection").figures["alike"] == 1
    assert [entry.status for entry in read_ledger(ledger).releases] == ["published"] * 2


def test_the_audit_says_the_same_from_the_file_alone(tmp_path, rules, ledger):
    kohort.anonymize(table(*WOMEN, *MEN), rules, output=tmp_path / "1.csv", ledger=ledger)
    kohort.anonymize(table(*NEXT, *MEN), rules, output=tmp_path / "2.csv")
    assert kohort.verify(tmp_path / "1.csv", rules, against=ledger).check("intersection").figures["alike"] == 1
    verdict = kohort.verify(tmp_path / "2.csv", rules, against=str(ledger))
    assert not verdict.passed
    assert [check.name for check in verdict.checks if not check.passed] == ["intersection"]


# -- persons ------------------------------------------------------------------------------------


def test_persons_are_recognised(tmp_path, rules, ledger, key):
    persons = {"ledger": ledger, "person": "who", "ledger_key": key}
    kohort.anonymize(table(*WOMEN), rules, output=tmp_path / "1.csv", **persons)
    before = files(tmp_path)
    with pytest.raises(kohort.VerificationError, match="1 of 3 persons was in 1 earlier release, and 1 is not"):
        kohort.anonymize(table(*NEXT), rules, output=tmp_path / "2.csv", **persons)
    assert files(tmp_path) == before
    release = kohort.anonymize(table(*MEN), rules, output=tmp_path / "2.csv", **persons)
    assert release.verdict.check("m-invariance").sentence == "none of 3 persons was in 1 earlier release."
    release = kohort.anonymize(table(*WOMEN, *MEN), rules, output=tmp_path / "3.csv", **persons)
    assert release.verdict.check("m-invariance").figures["persons_again"] == 6
    kept = ledger.read_text()
    assert len(read_ledger(ledger).releases[2].people.signatures) == 6
    assert all(secret not in kept for secret in (KEY, "ann", "dan"))
    assert KEY not in release.private_json()


def test_only_released_persons_are_kept(tmp_path, rules, ledger, key):
    rules = rules.with_changes("privacy", missing="suppress", suppression_limit=0.5)
    people = [*WOMEN, ("zoe", None, "F", "flu")]
    kohort.anonymize(table(*people), rules, output=tmp_path / "1.csv", ledger=ledger, person="who", ledger_key=key)
    assert len(read_ledger(ledger).releases[0].people.signatures) == 3


def test_with_a_key_the_person_of_the_policy_is_meant(tmp_path, rules, ledger, key):
    counted = rules.with_changes("privacy", person="who")
    kohort.anonymize(table(*WOMEN), counted, output=tmp_path / "1.csv", ledger=ledger)
    kohort.anonymize(table(*MEN), counted, output=tmp_path / "2.csv", ledger=ledger, ledger_key=key)
    first, second = read_ledger(ledger).releases
    assert first.people is None
    assert second.people.column == "who"


# -- refused before any work --------------------------------------------------------------------


def refused(tmp_path, rules, **options):
    steps = []
    before = files(tmp_path)
    with pytest.raises(kohort.KohortError) as caught:
        kohort.anonymize(table(*WOMEN), rules, progress=lambda step, _: steps.append(step), **options)
    assert "cluster" not in steps
    assert files(tmp_path) == before
    [fault] = caught.value.faults
    return fault


def test_what_cannot_be_recorded_is_refused_early(tmp_path, rules, ledger, key, monkeypatch):
    monkeypatch.delenv("KOHORT_LEDGER_KEY", raising=False)
    out = {"output": tmp_path / "out.csv"}
    assert refused(tmp_path, rules, ledger=ledger) == "ledger: it records files that are handed over; give an output."
    assert refused(tmp_path, rules, **out, person="who").startswith(
        "ledger: a person column and a key are for a ledger"
    )
    assert refused(tmp_path, rules, **out, ledger=ledger, ledger_key=key).startswith("ledger key: it is for persons")
    assert refused(tmp_path, rules, **out, ledger=ledger, person="who").startswith("ledger key: persons are hashed")
    for column in ("age", "none"):
        fault = refused(tmp_path, rules, **out, ledger=ledger, person=column, ledger_key=key)
        assert fault == f"person: {column!r} must be a column of role 'identifier', which is never published."
    assert "is the output itself" in refused(tmp_path, rules, **out, ledger=out["output"])
    assert "is the ledger key itself" in refused(tmp_path, rules, **out, ledger=key, person="who", ledger_key=key)
    assert "make the folder first" in refused(tmp_path, rules, **out, ledger=tmp_path / "none" / "l.json")
    assert "is a directory" in refused(tmp_path, rules, **out, ledger=tmp_path)
    ledger.write_text("{}")
    assert refused(tmp_path, rules, **out, ledger=ledger).startswith("ledger ledger.json: is not a whole ledger")


@pytest.mark.parametrize(
    ("algorithm", "anonymity", "said"),
    [
        ({"name": "nh"}, "matchings", "a ledger compares releases in classes only"),
        ({"name": "anatomy"}, "buckets", "a ledger compares releases in classes only"),
        (
            {"name": "two-level", "parameters": {"form": "vertical", "accept_broken_guarantee": True}},
            "classes",
            "a ledger is for releases of one table",
        ),
    ],
)
def test_releases_of_other_kinds_are_refused_early(tmp_path, rules, ledger, algorithm, anonymity, said):
    data = rules.to_dict()
    data["columns"].pop("day")
    data |= {"algorithm": algorithm, "privacy": {"k": 2, "anonymity": anonymity}}
    assert said in refused(tmp_path, kohort.Policy(**data), output=tmp_path / "out.csv", ledger=ledger)


def test_another_key_is_refused_early(tmp_path, rules, ledger, key, monkeypatch):
    kohort.anonymize(table(*WOMEN), rules, output=tmp_path / "1.csv", ledger=ledger, person="who", ledger_key=key)
    monkeypatch.setenv("KOHORT_LEDGER_KEY", "another key, long enough")
    fault = refused(tmp_path, rules, output=tmp_path / "2.csv", ledger=ledger, person="who")
    assert fault == ("ledger: release 1 knows persons under another key; give that key, or begin another ledger.")


# -- a crash at the worst moment ----------------------------------------------------------------

CRASH = """
import os, sys
import polars as pl
import kohort, kohort.table.safe as safe
appear, moment = safe._Target.appear, sys.argv[1]
def crash(target):
    if target.path.name != "1.csv":
        return appear(target)
    if moment == "after":
        appear(target)
    os._exit(9)
safe._Target.appear = crash
table = pl.DataFrame({"age": [1, 1, 1, 1], "ill": list("abcd")})
policy = kohort.Policy.build(k=2, quasi_identifiers=["age"], sensitive=["ill"], seed=1)
kohort.anonymize(table, policy, output="1.csv", ledger="ledger.json")
"""


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_crash_leaves_no_release_that_the_ledger_does_not_know(tmp_path, moment):
    done = subprocess.run(
        [sys.executable, "-c", CRASH, moment], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (9, "")
    assert (tmp_path / "1.csv").exists() == (moment == "after")
    [entry] = json.loads((tmp_path / "ledger.json").read_text())["releases"]
    assert entry["status"] == "pending"
    policy = kohort.Policy.build(k=2, quasi_identifiers=["age"], sensitive=["ill"], seed=1)
    other = pl.DataFrame({"age": [1, 1, 1, 1], "ill": list("wxya")})
    with pytest.raises(kohort.VerificationError, match="1 of 1 overlapping pair of classes"):
        kohort.anonymize(other, policy, output=tmp_path / "2.csv", ledger=tmp_path / "ledger.json")


def test_a_rename_that_fails_takes_the_entry_back(tmp_path, rules, ledger, monkeypatch):
    import kohort.table.safe as safe

    appear = safe._Target.appear

    def refuse(target):
        if target.path.name == "1.csv":
            raise OSError(28, "No space left on device")
        appear(target)

    monkeypatch.setattr(safe._Target, "appear", refuse)
    with pytest.raises(kohort.DataError, match="No space left"):
        kohort.anonymize(table(*WOMEN), rules, output=tmp_path / "1.csv", ledger=ledger)
    assert files(tmp_path) == {}
