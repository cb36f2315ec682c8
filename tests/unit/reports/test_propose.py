"""What `init` proposes: nothing that tells who somebody is goes out as it is, and most roles are right."""

import datetime as dt
import tomllib
from pathlib import Path
from random import Random

import polars as pl
import pytest

import kohort
from helpers.messy import IDENTIFYING, PEOPLE, ROLES, corpus
from kohort.reports.propose import propose

ADULT = Path(__file__).parents[3].parent / "shared/data/adult"
AS_IT_IS = ("sensitive", "insensitive")


def roles(table):
    return {name: column["role"] for name, column in tomllib.loads(propose(table).text)["columns"].items()}


@pytest.fixture(scope="module")
def proposed():
    return [(name, kinds, tomllib.loads(propose(table).text)) for name, table, kinds in corpus()]


def test_no_dangerous_role_in_messy_tables(proposed):
    assert len(proposed) >= 60
    dangerous = [
        (table, column, kind)
        for table, kinds, policy in proposed
        for column, kind in kinds.items()
        if kind in IDENTIFYING and policy["columns"][column]["role"] in AS_IT_IS
    ]
    assert dangerous == []


def test_most_roles_in_messy_tables_are_right(proposed):
    wrong = [
        (table, column, kind, policy["columns"][column]["role"])
        for table, kinds, policy in proposed
        for column, kind in kinds.items()
        if policy["columns"][column]["role"] != ROLES[kind]
    ]
    columns = sum(len(kinds) for _, kinds, _ in proposed)
    assert len(wrong) <= 0.1 * columns, wrong


def test_repeated_numbers_of_people_become_the_person(proposed):
    for table, kinds, policy in proposed:
        visitors = [column for column, kind in kinds.items() if kind == "visitor"]
        person = policy["privacy"].get("person")
        assert person == visitors[0] if visitors else kinds.get(person) in {None, "email", "iban", "ssn"}, table


def test_dates_get_their_format(proposed):
    for _, kinds, policy in proposed:
        for column, kind in kinds.items():
            found = policy["columns"][column]
            if kind in ("born", "event", "illness date"):
                assert found["type"] == "date"


def test_names_with_a_sensitive_word_are_not_published_for_that():
    r, n = Random(1), 500
    days = [str(dt.date(2020, 1, 1) + dt.timedelta(r.randrange(1500))) for _ in range(n)]
    table = pl.DataFrame(
        {
            "diagnosis_date": days,
            "procedure_date": days[::-1],
            "diagnosis_age": [r.randrange(20, 90) for _ in range(n)],
            "income_zip": [f"{r.randrange(10**5):05}" for _ in range(n)],
            "treatment_doctor": [r.choice(PEOPLE["en"]) for _ in range(n)],
            "treatment_notes": [f"{r.choice(PEOPLE['en'])} feels better than on day {i}" for i in range(n)],
            "diagnosis": [r.choice("abc") for _ in range(n)],
            "result_of_contact": [f"{i}@example.org" if i % 9 == 0 else "none" for i in range(n)],
            "income": [r.randrange(10**6) for _ in range(n)],
            "result_id": [f"R{i // 5}" for i in range(n)],
            "credit_card": [4 * 10**15 + i // 5 for i in range(n)],
            "salary_of_person": [1000 * (i // 5) for i in range(n)],
            "procedure_performed_by": [r.choice(["J. Smith", "A. Jones", "K. O'Neil"]) for _ in range(n)],
            "result_week": [f"2020-W{r.randrange(52):02}" for _ in range(n)],
        }
    )
    found = roles(table)
    assert [name for name, role in found.items() if role in AS_IT_IS] == ["diagnosis"]
    release = kohort.anonymize(table, propose(table).policy)
    assert release.verdict.passed
    shared = release.table.group_by(pl.all()).len()["len"]
    assert (shared == 1).sum() < 0.1 * n


def test_ambiguous_dates_are_not_guessed_silently():
    table = pl.DataFrame({"visit": [f"{m:02}/{d:02}/2020" for m in range(1, 13) for d in range(1, 13)]})
    text = propose(table).text
    assert "UNSURE: dates that could also be read as" in text


def test_dates_in_several_forms_are_dropped():
    table = pl.DataFrame(
        {"age": [1, 2] * 30, "seen": ["2020-01-31", "31.01.2020", "1/31/2020", "January 5, 2020"] * 15}
    )
    assert roles(table)["seen"] == "identifier"


def test_no_cell_is_quoted():
    for _, table, kinds in corpus()[:9]:
        text = propose(table).text
        for column in kinds:
            assert not any(cell in text for cell in table[column].drop_nulls() if len(cell) > 5)


@pytest.mark.slow
@pytest.mark.skipif(not ADULT.exists(), reason="the shared data folder is not on this machine")
def test_adult_loses_no_more_than_with_the_hierarchies_of_arx():
    folder = ADULT
    table = pl.read_csv(folder / "adult.csv", separator=";")
    quasi = [name for name in table.columns if name != "salary-class"]
    files = {name: str(folder / "hierarchies" / f"{name}.csv") for name in quasi if name != "age"}
    theirs = kohort.Policy.build(
        k=10, quasi_identifiers=quasi, sensitive=["salary-class"], hierarchies=files, algorithm="fast", seed=1
    )
    mine = propose(table).policy.with_changes("algorithm", name="fast", seed=1)
    assert mine.quasi_identifiers == theirs.quasi_identifiers
    # one scale: trees over the same leaves, and ages as intervals of the same range in both
    for name, column in mine.columns.items():
        if column.hierarchy is not None:
            leaves = kohort.Taxonomy.from_tree(column.hierarchy.tree, name).leaf_labels
            given = (folder / "hierarchies" / f"{name}.csv").read_text().splitlines()
            assert set(table[name]) <= set(leaves) <= {row.split(";")[0] for row in given}
    assert mine.columns["age"].hierarchy is None
    losses = [kohort.anonymize(table, policy).loss.total for policy in (mine, theirs)]
    assert losses[0] <= 1.1 * losses[1]


def test_hierarchies_are_files_and_the_policy_can_be_used_at_once(tmp_path):
    table = pl.DataFrame({"city": ["Bonn", "Ulm", "Köln", "Trier"] * 9, "sex": ["f", "m", "m"] * 12})
    found = propose(table, k=3, folder="trees")
    assert [*found.files] == ["trees/city.csv"]
    assert str(found) == found.text
    assert "Bonn" not in found.text
    (tmp_path / "trees").mkdir()
    for file, text in found.files.items():
        (tmp_path / file).write_text(text, encoding="utf-8")
    (tmp_path / "policy.toml").write_text(found.text)
    for policy in (found.policy, tmp_path / "policy.toml"):
        assert kohort.anonymize(table, policy).verdict.passed


def test_names_of_hierarchy_files_are_plain_and_different():
    cells = ["a", "b", "c", "d"] * 9
    found = propose(pl.DataFrame({"city/town": cells, "city:town": cells, "City Town": cells}))
    assert [*found.files] == ["hierarchies/city_town.csv", "hierarchies/city_town1.csv", "hierarchies/City_Town2.csv"]


def test_what_cannot_be_a_label_gets_no_tree():
    found = propose(pl.DataFrame({"city": ["*", "a", "b", " "] * 9}))
    assert not found.files
    assert "kept or *" in found.text
