"""What `init` proposes: nothing that tells who somebody is goes out as it is, and most roles are right."""

import datetime as dt
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from random import Random

import polars as pl
import pytest

import kohort
from helpers.cli import called
from helpers.messy import IDENTIFYING, PEOPLE, ROLES, corpus
from helpers.messy_aside import ALLOWED, DANGEROUS, aside
from kohort.reports.propose import propose

ADULT = Path(__file__).parents[3].parent / "shared/data/adult"
AS_IT_IS = ("sensitive", "insensitive")


def roles(table):
    return {name: column["role"] for name, column in tomllib.loads(propose(table).text)["columns"].items()}


@pytest.fixture(scope="module")
def proposed():
    return [(name, kinds, tomllib.loads(propose(table).text)) for name, table, kinds in corpus()]


@pytest.mark.slow
def test_no_dangerous_role_in_messy_tables(proposed):
    assert len(proposed) >= 60
    dangerous = [
        (table, column, kind)
        for table, kinds, policy in proposed
        for column, kind in kinds.items()
        if kind in IDENTIFYING and policy["columns"][column]["role"] in AS_IT_IS
    ]
    assert dangerous == []


@pytest.mark.slow
def test_most_roles_in_messy_tables_are_right(proposed):
    wrong = [
        (table, column, kind, policy["columns"][column]["role"])
        for table, kinds, policy in proposed
        for column, kind in kinds.items()
        if policy["columns"][column]["role"] != ROLES[kind]
    ]
    columns = sum(len(kinds) for _, kinds, _ in proposed)
    assert len(wrong) <= 0.1 * columns, wrong


@pytest.mark.slow
def test_repeated_numbers_of_people_become_the_person(proposed):
    for table, kinds, policy in proposed:
        visitors = [column for column, kind in kinds.items() if kind == "visitor"]
        person = policy["privacy"].get("person")
        assert person == visitors[0] if visitors else kinds.get(person) in {None, "email", "iban", "ssn"}, table


@pytest.mark.slow
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


@pytest.mark.slow
def test_tables_that_were_kept_aside():
    """Names and cells that no rule was made for: nothing dangerous, and nine of ten roles are right."""
    tables = aside()
    assert len(tables) >= 60
    proposed = [(kinds, tomllib.loads(propose(table).text)["columns"]) for _, table, kinds in tables]
    given = [(kind, columns[name]["role"]) for kinds, columns in proposed for name, kind in kinds.items()]
    assert [kind for kind, role in given if role in AS_IT_IS and kind in DANGEROUS] == []
    assert sum(role in ALLOWED[kind] for kind, role in given) >= 0.9 * len(given)


R = Random(5)
PEOPLE_AGED = [str(R.randrange(18, 90)) for _ in range(60)]


def columns_of(**columns):
    return tomllib.loads(propose(pl.DataFrame({"alter": PEOPLE_AGED} | columns)).text)["columns"]


def test_decimal_commas_are_found_with_their_evidence():
    table = pl.DataFrame({"alter": PEOPLE_AGED, "gehalt": [f"{n}.{n % 900 + 100},5{n % 7}" for n in range(1, 61)]})
    text = propose(table).text
    found = tomllib.loads(text)["columns"]["gehalt"]
    assert (found["role"], found["type"], found["decimal"], found["thousands"]) == ("quasi", "number", ",", ".")
    assert "# numbers with a decimal comma and a point between thousands: 60 values have marks, and all fit" in text
    assert kohort.anonymize(table, propose(table, k=3).policy).verdict.passed


def test_numbers_that_can_be_read_in_two_ways_are_dropped_and_marked():
    table = pl.DataFrame({"alter": PEOPLE_AGED, "height": [f"{n}.{n % 900 + 100}" for n in range(1, 61)]})
    text = propose(table).text
    assert tomllib.loads(text)["columns"]["height"]["role"] == "identifier"
    assert "UNSURE: its numbers can be read in two ways" in text


@pytest.mark.parametrize(("other", "decimal"), [("1,5", ","), ("1.5", ".")])
def test_other_columns_decide_and_it_is_marked_all_the_same(other, decimal):
    cells = [f"{n}.{n % 900 + 100}" for n in range(1, 61)]
    table = pl.DataFrame({"height": cells, "weight": [other, other.replace("5", "25")] * 30, "alter": PEOPLE_AGED})
    text = propose(table).text
    found = tomllib.loads(text)["columns"]["height"]
    assert found["role"] == "quasi"
    assert found["decimal"] == decimal
    assert "read as those of the other columns: say whether that is right" in text


def test_numbers_far_from_all_others_are_missing():
    ages = [*PEOPLE_AGED[:50], *["999", "-99"] * 5]
    text = propose(pl.DataFrame({"alter": ages, "sex": ["m", "w"] * 30})).text
    policy = tomllib.loads(text)
    assert policy["input"]["missing"] == ["", "-99", "999"]
    assert "UNSURE: numbers far from all others" in text
    assert policy["columns"]["alter"]["type"] == "integer"


def test_a_number_that_another_column_has_as_a_value_is_not_missing():
    ages = [*PEOPLE_AGED[:50], *["999"] * 10]
    table = pl.DataFrame({"alter": ages, "patient_id": [str(n // 2 + 980) for n in range(60)]})
    assert tomllib.loads(propose(table).text)["input"]["missing"] == [""]


@pytest.mark.parametrize("typed", [False, True])
def test_codes_of_digits_are_no_numbers(typed):
    codes = [20_000 + 37 * n for n in range(60)]
    found = columns_of(plz=codes if typed else [str(code) for code in codes])["plz"]
    assert found["type"] == "string"
    assert found["hierarchy"] == {"prefix": [5, 4, 3, 2, 1]}


def test_weights_of_records_are_dropped_and_weights_of_bodies_are_not():
    of_records = [f"{R.uniform(0.2, 4):.3f}" for _ in range(60)]
    of_bodies = [f"{R.gauss(75, 12):.1f}" for _ in range(60)]
    assert columns_of(gewicht=of_records)["gewicht"]["role"] == "identifier"
    assert columns_of(gewicht=of_bodies)["gewicht"]["role"] == "quasi"


def test_columns_that_follow_from_each_other_are_named():
    cities = ["Bonn", "Ulm", "Trier"] * 20
    years = [str(2020 - int(age)) for age in PEOPLE_AGED]
    text = propose(
        pl.DataFrame({"city": cities, "city_code": [c[0] for c in cities], "alter": PEOPLE_AGED, "geburtsjahr": years})
    ).text
    assert "follows from column 'city'" in text
    assert "follows from column 'alter'" in text


def test_what_singles_out_is_said_at_the_head():
    text = propose(pl.DataFrame({"alter": PEOPLE_AGED, "plz": [f"{n % 20:05}" for n in range(60)]})).text
    assert re.search(r"^# As they are, \d+% of the records are alone", text, re.MULTILINE)
    assert "Together, 'alter' and 'plz' single out" in text or "Alone, 'alter' single out" in text


def test_decided_roles_are_kept():
    table = pl.DataFrame({"alter": PEOPLE_AGED, "q7": ["a", "b"] * 30})
    assert tomllib.loads(propose(table, roles={"q7": "insensitive"}).text)["columns"]["q7"]["role"] == "insensitive"


def test_numbers_with_check_digits_are_dropped_and_may_be_the_person():
    pytest.importorskip("stdnum")
    from stdnum import luhn

    cards = [text for n in range(10**7, 10**8, 7919) if luhn.is_valid(text := str(n))][:40]
    table = pl.DataFrame({"age": PEOPLE_AGED * 2, "diagnosis_group": cards * 3})
    found = propose(table)
    assert found.policy.columns["diagnosis_group"].role == "identifier"


def test_telephones_without_signs_are_recognised_by_their_plans_of_numbers():
    pytest.importorskip("phonenumbers")
    phones = [f"91 {R.randrange(200, 999)} {R.randrange(1000, 9999)}" for _ in range(60)]
    assert columns_of(resultado=phones)["resultado"]["role"] == "identifier"


def test_questions_change_roles(tmp_path):
    pl.DataFrame({"alter": PEOPLE_AGED, "q7": ["a", "b"] * 30, "q8": ["c", "d"] * 30}).write_csv(tmp_path / "in.csv")
    answers = subprocess.run(
        [sys.executable, "-c", "from kohort.cli.main import main; main()", "init", "in.csv", "-i"],
        cwd=tmp_path,
        input="5\ninsensitive\n\n",
        capture_output=True,
        text=True,
        check=True,
    )
    assert "column 'q7'" in answers.stdout
    policy = kohort.Policy.load(tmp_path / "policy.toml")
    assert policy.privacy.k == 5
    assert policy.columns["q7"].role == "insensitive"
    assert policy.columns["q8"].role == "identifier"


def test_one_value_that_resembles_a_name_drops_no_column_of_few_values():
    levels = ["Prof school degree", "Bachelors", "High school", "Masters", "10th", "Primary"] * 10
    assert columns_of(education=levels)["education"]["role"] == "quasi"
    found = columns_of(diagnosis=["Prof Smith", "flu", "cold", "cough", "asthma", "cut"] * 10)
    assert found["diagnosis"]["role"] == "identifier"


def test_fine_weights_of_records_are_dropped():
    table = pl.DataFrame({"age": PEOPLE_AGED * 20, "instance_weight": [R.uniform(500, 9000) for _ in range(1200)]})
    assert propose(table).policy.columns["instance_weight"].role == "identifier"


def wide(**columns):
    """A survey of many questions, and some columns that are named alike and are something else."""
    people = {"alter": PEOPLE_AGED, "geschlecht": ["m", "w"] * (len(PEOPLE_AGED) // 2)}
    n = len(PEOPLE_AGED)
    questions = {f"q{place}": [(row * place) % 5 for row in range(n)] for place in range(1, 41)}
    return pl.DataFrame(people | questions | columns)


def test_many_columns_that_are_alike_get_one_entry_and_the_others_their_own():
    n = len(PEOPLE_AGED)
    mails = [f"p{row}@example.org" for row in range(n)]
    table = wide(
        q41=mails, q_note=["see the file of Mr Smith, who called us about his wife"] * n, ward=["a", "b"] * (n // 2)
    )
    found = propose(table)
    data = tomllib.loads(found.text)["columns"]
    assert set(data) == {"alter", "geschlecht", "q*", "q41", "q_note", "ward"}
    assert data["q*"]["role"] == data["q41"]["role"] == data["q_note"]["role"] == "identifier"
    assert found.text.count("40 columns that look alike") == 1
    assert found.policy.columns.keys() == set(table.columns), "resolved for the table"
    assert kohort.anonymize(table, found.policy).verdict.passed
    decided = propose(table, roles={"q7": "insensitive", **{f"q{n}": "sensitive" for n in (8, 9)}})
    data = tomllib.loads(decided.text)["columns"]
    assert {data[name]["role"] for name in ("q8", "q9")} == {"sensitive"}
    assert data["q7"]["role"] == "insensitive"


def test_no_pattern_publishes_columns_as_they_are():
    n = len(PEOPLE_AGED)
    table = pl.DataFrame(
        {"alter": PEOPLE_AGED} | {f"diagnosis{place}": ["flu", "cold"] * (n // 2) for place in range(1, 13)}
    )
    data = tomllib.loads(propose(table).text)["columns"]
    assert data["diagnosis12"]["role"] == "sensitive"
    assert not [name for name in data if "*" in name]


def test_what_is_given_of_the_file_goes_into_the_policy(tmp_path):
    n = len(PEOPLE_AGED)
    lines = ["Bericht vom 1. Mai", "", "alter;größe", *(f"{age};1{age}" for age in PEOPLE_AGED)]
    (tmp_path / "t.csv").write_bytes("\n".join(lines).encode("cp850"))
    done = called(
        *["init", "t.csv", "--skip-rows", "2", "--encoding", "cp850", "--delimiter", ";", "-o", "p.toml"],
        folder=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    data = tomllib.loads((tmp_path / "p.toml").read_text(encoding="utf-8"))
    assert data["input"] == {"missing": [""], "skip_rows": 2, "encoding": "cp850", "delimiter": ";"}
    assert set(data["columns"]) == {"alter", "größe"}
    assert called(*["anonymize", "t.csv", "-p", "p.toml", "-o", "r.csv", "--k", "3"], folder=tmp_path).returncode == 0
    rows = pl.read_csv(tmp_path / "r.csv", separator=";")
    assert rows.height == n


def test_init_takes_the_sheet_of_a_workbook_and_the_lines_before_its_header(tmp_path):
    xlsxwriter = pytest.importorskip("xlsxwriter")
    with xlsxwriter.Workbook(tmp_path / "t.xlsx") as book:
        book.add_worksheet("Notizen").write_string(0, 0, "nichts")
        sheet = book.add_worksheet("Patienten 2024")
        sheet.write_string(0, 0, "Export")
        sheet.write_row(2, 0, ["alter", "geschlecht"])
        for row, age in enumerate(PEOPLE_AGED, 3):
            sheet.write_row(row, 0, [age, "mw"[row % 2]])
    refused = called(*["init", "t.xlsx", "-o", "p.toml"], folder=tmp_path)
    assert refused.returncode == 2
    assert "--sheet" in refused.stderr
    done = called("init", "t.xlsx", "--sheet", "Patienten 2024", "--skip-rows", "2", "-o", "p.toml", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert called(*["anonymize", "t.xlsx", "-p", "p.toml", "-o", "r.xlsx", "--k", "3"], folder=tmp_path).returncode == 0
    assert not (tmp_path / "q.toml").exists()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ("--encoding klingon", "'input.encoding' must be an encoding"),
        ("--delimiter ab", "'input.delimiter' must be a text of at most 1 character"),
        ("--delimiter x", "'input.delimiter' must be no letter"),
        ("--skip-rows -1", "--skip-rows"),
        ("--skip-rows 99999", "'input.skip_rows' must be less than or equal to 10000"),
        ("--quote ''''", "'input.quote' must be"),
        ("--skip-rows 99", "is empty"),
    ],
)
def test_what_is_given_wrongly_of_the_file_is_refused(tmp_path, options, says):
    (tmp_path / "t.csv").write_text("alter\n" + "\n".join(map(str, PEOPLE_AGED[:20])))
    done = called("init", "t.csv", *options.split(), folder=tmp_path)
    assert done.returncode == 2
    assert says in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]
