"""A file is judged by its k without a policy: `kohort verify FILE --qi age,sex --k 5`."""

import polars as pl
import pytest

import kohort
from helpers.cli import called
from kohort.audit.quick import quick_policy


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("quick")
    frame = pl.DataFrame(
        {
            "age": ["20-29"] * 3 + ["30-39"] * 3 + ["*"],
            "sex, at birth": ["F"] * 3 + ["M"] * 3 + ["*"],
            "ill": ["a", "b", "a", "c", "c", "c", "d"],
            "cost": range(7),
        }
    )
    frame.write_csv(folder / "out.csv", separator=";")
    frame.write_parquet(folder / "out.parquet")
    return folder


@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
def test_k_and_l(folder, name):
    ok = called("verify", name, "--qi", "age", "--qi", "sex, at birth", "--k", "3", folder=folder)
    assert ok.returncode == 0, ok.stdout + ok.stderr
    assert "every one of 2 classes has at least 3 records" in ok.stdout
    assert "published as it is: ill (4 values), cost (7 values)" in ok.stdout
    bad = called("verify", name, "--qi", "age,ill", "--k", "3", folder=folder)
    assert bad.returncode == 1
    diverse = called("verify", name, "--qi", "age", "--k", "2", "--sensitive", "ill", "--l", "2", folder=folder)
    assert diverse.returncode == 1
    assert "distinct-l-diversity of column 'ill': 1 of 2 classes does not keep it" in diverse.stdout


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--qi", "age"], "give --k"),
        (["--qi", "agee", "--k", "2"], "column 'agee' is not in the file (column 1 has a similar name)"),
        (["--qi", "age", "--k", "1"], "'privacy.k' must be greater than or equal to 2"),
        (["--qi", "age", "--k", "2", "--l", "2"], "name them with --sensitive"),
        (["--qi", "age", "--k", "2", "--sensitive", "ill"], "say which with --l"),
        (["--qi", "age", "--k", "2", "--sensitive", "age", "--l", "2"], "'age' has two roles"),
        (["--k", "2"], "these options change a policy"),
        (["--bounds"], "these options change a policy"),
        ([], "out.csv.verdict.json: cannot be opened"),
        (["-p", "p.toml", "--qi", "age"], "the policy says which columns are which"),
    ],
)
def test_what_is_not_said_is_refused(folder, options, says):
    done = called("verify", "out.csv", *options, folder=folder)
    assert done.returncode == 2
    assert says in done.stderr
    assert len(done.stderr.splitlines()) == 2, "a sentence, and where more is said"


def test_in_python(folder):
    policy = quick_policy(folder / "out.csv", k=3, quasi_identifiers=["age"])
    assert policy.having_role("insensitive") == ("sex, at birth", "ill", "cost")
    assert kohort.verify(folder / "out.csv", policy).passed
