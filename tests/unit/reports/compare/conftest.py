import polars as pl
import pytest

import kohort


@pytest.fixture(scope="session")
def people():
    """Towns are canaries: no file but the release may hold one."""
    table = kohort.datasets.patients(240, seed=3).select("birth_date", "sex", "diagnosis")
    towns = pl.Series("town", [f"canary{number % 7}" for number in range(240)])
    return table.with_columns(towns)


@pytest.fixture(scope="session")
def rules():
    policy = kohort.Policy.build(k=3, quasi_identifiers=["birth_date", "sex", "town"], sensitive=["diagnosis"], seed=5)
    return policy.with_changes("algorithm", bound_effort=0.01)


@pytest.fixture
def files(people, rules, tmp_path):
    """The same in a folder."""
    people.write_csv(tmp_path / "people.csv")
    (tmp_path / "policy.toml").write_text(rules.to_toml())
    return tmp_path
