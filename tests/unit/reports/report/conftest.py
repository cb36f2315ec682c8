"""A table whose rare cells are canaries and whose columns are named like markup, its release, and reports of it."""

from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

import kohort
from helpers.browser import browser as started
from helpers.cli import called

HOSTILE = "</svg><script>alert(1)</script>{{ 7 * 7 }}\u202e\"&'"
"""The name of a column."""
CANARY = "Canary"
RARE = 987_654_321
"""A number that a single person has, and a day."""
RARE_DAY = "1871-03-13"


def people():
    """Every column has a cell of somebody who is alone with it."""
    rng = np.random.default_rng(3)
    rows = 240
    table = pl.DataFrame(
        {
            "name": [f"{CANARY}-name-{row}" for row in range(rows)],
            "income": rng.integers(20, 90, rows) * 1000,
            "born": pl.Series(rng.integers(0, 18000, rows)).cast(pl.Int32).cast(pl.Date).cast(pl.String),
            HOSTILE: rng.choice(["north", "south", "east"], rows),
            "job": rng.choice(["cook", "nurse", "clerk", "driver"], rows),
            "ill": rng.choice(["flu", "cold", "asthma"], rows),
            "visits": rng.integers(0, 5, rows),
            "note": [f"{CANARY}-note-{row}" for row in range(rows)],
        }
    )
    rare = {"income": RARE, "born": RARE_DAY, HOSTILE: f"{CANARY}-place", "job": f"{CANARY}-job"}
    rare |= {"ill": f"{CANARY}-ill", "visits": 74_913_586}
    for row, (column, cell) in enumerate(rare.items()):
        values = table[column].to_list()
        values[row * 7] = cell
        table = table.with_columns(pl.Series(column, values))
    return table


def policy():
    return kohort.Policy.build(
        k=5,
        identifiers=["name"],
        quasi_identifiers=["income", "born", HOSTILE, "job"],
        sensitive=["ill"],
        insensitive=["visits", "note"],
        hierarchies={"job": {"tree": {"care": ["nurse", "cook"], "office": ["clerk", "driver", f"{CANARY}-job"]}}},
        algorithm="k-member",
        seed=3,
    )


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """The table, its policy, its release, its certificate, and its public report, all made by one command."""
    folder = tmp_path_factory.mktemp("report")
    people().write_csv(folder / "people.csv")
    (folder / "policy.toml").write_text(policy().to_toml(), encoding="utf-8")
    return SimpleNamespace(
        path=folder,
        made=called(
            *("anonymize", "people.csv", "-p", "policy.toml", "-o", "out.csv", "--private", "private.json"),
            *("--certificate", "out.cert.json", "--report", "public.html", "--verbose"),
            folder=folder,
        ),
    )


@pytest.fixture(scope="session")
def pages(folder):
    """Both editions, as files."""
    assert folder.made.returncode == 0, folder.made.stderr
    here = folder.path
    about = {"original": here / "people.csv", "private_verdict": here / "private.json", "private": True}
    private = kohort.report(here / "out.csv", here / "policy.toml", **about)
    private.save(here / "private.html")
    private.save(here / "private-report.json")
    kohort.report(here / "out.csv", here / "policy.toml", output=here / "public.json")
    return {"public": here / "public.html", "private": here / "private.html"}


@pytest.fixture(scope="session")
def browser():
    with started() as browser:
        yield browser
