"""Places where a release, a verdict or a hierarchy cannot or must not be written."""

import errno
import os
import resource
from contextlib import contextmanager

import pytest

import kohort
from faults.harness import (
    CANARY,
    DATA,
    POLICY,
    Fault,
    assert_nothing_told,
    assert_refused,
    changed,
    command,
    contents,
    each,
    like,
    place,
    plain_faults,
    says,
)
from kohort.datasets import patients

ENDS = (
    ".csv, .tsv, .txt, .csv.gz, .tsv.gz, .csv.zst, .tsv.zst, .parquet, .pq, .xlsx, .xlsm, .feather, .arrow, .ipc, "
    ".jsonl, .ndjson, .jsonl.gz, .ndjson.gz, .jsonl.zst, .ndjson.zst, .sas7bdat, .xpt, .sav, .zsav, .dta"
)
KINDS = f"its kind is not known by its name; kohort reads and writes {ENDS}."
NO_FOLDER = r"(nowhere/)?{}: cannot be written \(No such file or directory\); .*folder.*\."

RELEASES = [
    Fault(
        "output-is-the-input",
        says("the output people.csv is the input itself; give another path."),
        output="people.csv",
    ),
    Fault(
        "output-is-the-input-by-another-name",
        says("the output people.csv is the input itself; give another path."),
        output="./people.csv",
    ),
    Fault(
        "output-is-the-policy",
        says("the output policy.toml is the policy itself; give another path."),
        output="policy.toml",
    ),
    Fault("output-in-no-folder", says(like(NO_FOLDER.format(r"release\.csv"))), output="nowhere/release.csv"),
    Fault("output-of-unknown-kind", says(f"release.docx: {KINDS}"), output="release.docx"),
    Fault("output-without-kind", says(f"release: {KINDS}"), output="release"),
    Fault(
        "output-is-a-folder",
        says(like(r"out\.csv: cannot be written \(.*[Ii]s a directory\); .*\.")),
        command=("anonymize", "people.csv", "-p", "policy.toml", "-o", "out.csv"),
        files={"out.csv/x": "1"},
    ),
    Fault(
        "output-is-the-hierarchy",
        says(like(r".*town\.csv.*\.")),
        policy=changed('[columns.town]\nrole = "quasi"\n', '[columns.town]\nrole = "quasi"\nhierarchy = "town.csv"\n'),
        command=("anonymize", "people.csv", "-p", "policy.toml", "-o", "town.csv"),
        files={"town.csv": "Sekretheim;*\nSekretdorf;*\n"},
    ),
]

VERDICTS = [
    Fault("verdict-in-no-folder", says(like(NO_FOLDER.format(r"v\.json"))), options=("--verdict", "nowhere/v.json")),
    Fault("private-in-no-folder", says(like(NO_FOLDER.format(r"p\.json"))), options=("--private", "nowhere/p.json")),
    Fault("verdict-over-the-release", says(like(r".*release\.csv.*\.")), options=("--verdict", "release.csv")),
    Fault("verdict-over-the-input", says(like(r".*people\.csv.*\.")), options=("--verdict", "people.csv")),
    Fault("verdict-over-the-policy", says(like(r".*policy\.toml.*\.")), options=("--verdict", "policy.toml")),
    Fault("private-over-the-release", says(like(r".*release\.csv.*\.")), options=("--private", "release.csv")),
    Fault("private-over-the-input", says(like(r".*people\.csv.*\.")), options=("--private", "people.csv")),
    Fault(
        # One would be lost, and if it were the public one, the secrets would stand in its place.
        "private-over-the-public-verdict",
        says(like(r".*verdict\.json.*\.")),
        options=("--private", "release.csv.verdict.json"),
    ),
]


@pytest.mark.promise("6.2")
@each([*RELEASES, *VERDICTS])
def test_an_output_that_cannot_be_is_refused(fault, folder, capfd):
    assert_refused(fault, folder, capfd)


def test_a_folder_that_may_not_be_written(folder, capfd, monkeypatch):
    """As the system says it; a test that runs as root could write anywhere."""
    place(folder, {"policy.toml": POLICY, "people.csv": DATA})
    before = contents(folder)
    real = os.open

    def refuse(path, flags, *rest, **keys):
        if ".kohort-" in str(path):
            raise PermissionError(errno.EACCES, "Permission denied")
        return real(path, flags, *rest, **keys)

    monkeypatch.setattr("os.open", refuse)
    ended = command(capfd, "anonymize", "people.csv", "-p", "policy.toml", "-o", "release.csv", "--force")
    monkeypatch.undo()
    assert plain_faults(ended) == ["release.csv: cannot be written (Permission denied); check the folder."]
    assert ended.code == 2
    assert contents(folder) == before


EARLY = {
    "output-in-no-folder": (POLICY, "nowhere/release.csv"),
    "output-is-a-folder": (POLICY, "folder.csv"),
    "output-of-unknown-kind": (POLICY, "release.docx"),
    "output-is-the-input": (POLICY, "people.csv"),
    "no-hierarchy-of-a-sensitive-column": (f'{POLICY}hierarchy = "disease.csv"\n', "release.csv"),
    "k-over-n": (changed("k = 2", "k = 5"), "release.csv"),
}


@pytest.mark.parametrize(("policy", "output"), EARLY.values(), ids=EARLY)
def test_what_can_be_known_before_is_said_before_the_work(policy, output, folder):
    """Clustering may take hours; a typing error in a path must not cost them."""
    place(folder, {"policy.toml": policy, "people.csv": DATA, "folder.csv/x": "1"})
    steps = []
    with pytest.raises(kohort.KohortError):
        kohort.anonymize("people.csv", "policy.toml", output=output, progress=lambda step, _: steps.append(step))
    assert "cluster" not in steps


BUILD = ("hierarchy", "build", "people.csv")
INIT = ("init", "people.csv")
OTHERS = [
    Fault(
        "init-over-a-policy",
        says("policy.toml is already there; give another --output, or --force to write over it."),
        command=INIT,
        has_json=False,
    ),
    Fault(
        "init-in-no-folder",
        says(like(NO_FOLDER.format(r"p\.toml"))),
        command=(*INIT, "-o", "nowhere/p.toml"),
        has_json=False,
    ),
    Fault(
        "init-over-a-folder",
        says(like(r"p: cannot be written \(.*[Ii]s a directory\); .*\.")),
        command=(*INIT, "-o", "p", "--force"),
        files={"p/x": "1"},
        has_json=False,
    ),
    Fault(
        "init-over-the-data",
        says(like(r".*people\.csv.*\.")),
        command=(*INIT, "-o", "people.csv", "--force"),
        has_json=False,
    ),
    Fault(
        "build-in-no-folder",
        says(like(NO_FOLDER.format(r"zip\.csv"))),
        command=(*BUILD, "zip", "-o", "nowhere/zip.csv", "--flat"),
        has_json=False,
    ),
    Fault(
        "build-over-a-folder",
        says(like(r"zip\.csv: cannot be written \(.*[Ii]s a directory\); .*\.")),
        command=(*BUILD, "zip", "-o", "zip.csv", "--flat"),
        files={"zip.csv/x": "1"},
        has_json=False,
    ),
    Fault(
        "build-over-the-data",
        says(like(r".*people\.csv.*\.")),
        command=(*BUILD, "zip", "-o", "people.csv", "--flat"),
        has_json=False,
    ),
    Fault(
        "build-of-a-kind-that-cannot-be-read",
        says(like(r".*zip\.xlsx.*\.")),
        command=(*BUILD, "zip", "-o", "zip.xlsx", "--flat"),
        has_json=False,
    ),
]


@each(OTHERS)
def test_a_policy_or_hierarchy_that_cannot_be_written_is_refused(fault, folder, capfd):
    assert_refused(fault, folder, capfd)


@pytest.mark.promise("3.4")
@contextmanager
def room_for(size):
    """Files may not grow beyond so many bytes, which a library sees like a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


FULL = {
    "csv": ("out.csv", {}, 4096, r"^out\.csv: cannot be written"),
    "gzip": ("out.csv.gz", {}, 4096, r"^out\.csv\.gz: cannot be written"),
    "parquet": ("out.parquet", {}, 4096, r"^out\.parquet: cannot be written"),
    "parts": ("out.parquet", {"memory": "1GB"}, 4096, "^the disk is full"),
    "release-of-parts": ("out.csv", {"memory": "1GB", "partitions": 4}, 50_000, r"^out\.csv: cannot be written"),
}


@pytest.mark.parametrize(("output", "how", "size", "said"), FULL.values(), ids=FULL)
def test_a_full_disk_is_said_and_leaves_nothing(output, how, size, said, folder):
    table = patients(1500, seed=1).select("birth_date", "sex", "diagnosis", "cost")
    table.write_parquet("in.parquet")
    policy = kohort.Policy.build(
        k=4,
        quasi_identifiers=["birth_date", "sex"],
        sensitive=["diagnosis"],
        insensitive=["cost"],
        algorithm="mondrian",
        seed=1,
    )
    kohort.anonymize("in.parquet", policy, output=output, **how)  # what is compiled is kept in files, too
    (folder / output).write_bytes(b"old")
    before = contents(folder)
    with room_for(size), pytest.raises(kohort.DataError, match=said):
        kohort.anonymize("in.parquet", policy, output=output, overwrite=True, **how)
    assert contents(folder) == before


@pytest.mark.slow
def test_a_release_that_fails_late_leaves_nothing(folder, capfd, monkeypatch):
    """Whatever happens while the draft is there, the folder is as it was, and no cell is told."""

    def fail(*_, **__):
        raise RuntimeError(CANARY)

    place(folder, {"policy.toml": POLICY, "people.csv": DATA, "release.csv": "old"})
    before = contents(folder)
    monkeypatch.setattr("polars.DataFrame.write_csv", fail)
    ended = command(capfd, "anonymize", "people.csv", "-p", "policy.toml", "-o", "release.csv", "--force")
    assert_nothing_told(ended)
    assert ended.code == 70
    assert contents(folder) == before
