"""A small hospital table with its policy, on disk and in memory; and the data that other tools made."""

from pathlib import Path

import pytest

import kohort
from kohort.datasets import patients, patients_hierarchies

DATA = Path(__file__).parents[2].parent / "shared/data"


@pytest.fixture(scope="session")
def shared():
    if not DATA.is_dir():
        pytest.skip("the shared data folder is not on this machine")
    return DATA


@pytest.fixture(scope="session")
def hospital():
    return patients(400, seed=11)


@pytest.fixture
def policy():
    trees = patients_hierarchies()
    return kohort.Policy.build(
        k=5,
        identifiers=["name"],
        quasi_identifiers=["birth_date", "sex", "zip_code", "ethnicity", "education", "length_of_stay"],
        sensitive=["diagnosis"],
        insensitive=["admission_date", "cost"],
        hierarchies={"zip_code": {"prefix": [5, 3]}, "education": {"tree": trees["education"]}},
        algorithm="k-member",
        seed=3,
        output={"shuffle_seed": 9},
    )
