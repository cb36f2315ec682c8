"""What the adversary has found, as small as it can be."""

from dataclasses import replace

import pytest

from .generate import by_hand
from .run import command, findings, run_case, tampered

POLICY = """
[privacy]
k = 2
models = [{{ model = "distinct-l-diversity", column = '{name}', l = 2 }}]
[columns]
age = "quasi"
'{name}' = "sensitive"
"""


@pytest.mark.promise("6.2")
@pytest.mark.parametrize(("name", "code"), [("row", 0), ("index", 0), ("count", 0), ("*", 2), ("^a.*$", 2)])
def test_any_name_of_a_column_is_taken_as_it_is_or_refused(tmp_path, name, code):
    """`row` was a column of kohort's own, and the others are patterns of polars."""
    case = by_hand("memory", POLICY.format(name=name), f"age,{name}\n1,a\n1,b\n2,a\n2,b\n")
    outcome = run_case(case, tmp_path)
    assert findings(case, outcome) == []
    assert outcome.code == code


def test_a_release_without_quasi_identifiers_is_no_crash(tmp_path):
    """No column was left to compare row by row, and the sum of nothing has no type."""
    (tmp_path / "policy.toml").write_text(
        '[privacy]\nk = 2\n[output]\norder = "kept"\n[columns]\nq = "quasi"\ns = "sensitive"'
    )
    (tmp_path / "in.csv").write_text("q,s\n1,a\n2,b\n")
    (tmp_path / "out.csv").write_text("s\na\nb\n")
    original = ["-p", str(tmp_path / "policy.toml"), "--original", str(tmp_path / "in.csv")]
    code, out, _ = command("verify", str(tmp_path / "out.csv"), *original)
    assert code == 1
    assert "FAIL columns" in out


@pytest.mark.promise("2.1")
def test_the_first_decade_has_nine_years(tmp_path):
    """`0000s` was no period for the auditor, as there is no year 0."""
    policy = """
[privacy]
k = 2
[columns]
day = { role = "quasi", type = "date", hierarchy = { dates = ["decade"] } }
"""
    case = by_hand("memory", policy, "day\n0002-03-08\n0009-12-31\n0010-01-01\n0019-01-01\n")
    outcome = run_case(case, tmp_path)
    assert findings(case, outcome) == []
    assert sorted(outcome.target.read_text().split()) == ["0000s", "0000s", "0010s", "0010s", "day"]


# -- several tables ------------------------------------------------------------------------------------

BUCKETS = """
[privacy]
k = 2
anonymity = "buckets"
[algorithm]
name = "anatomy"
seed = 987654321
[output]
order = "{order}"
[columns]
age = "quasi"
sex = "quasi"
ill = "sensitive"
"""
VERTICAL = """
[privacy]
k = 4
[algorithm]
name = "two-level"
seed = 987654321
[algorithm.parameters]
form = "vertical"
accept_broken_guarantee = true
[columns]
age = "quasi"
sex = "quasi"
ill = "sensitive"
"""
PEOPLE = "age,sex,ill\n" + "".join(
    f"{20 + 3 * i},{'FM'[i % 2]},{ill}\n" for i, ill in enumerate(["flu", "cold", "acne", "gout"] * 3)
)


@pytest.mark.slow
@pytest.mark.promise("1.4", "2.1", "2.2")
@pytest.mark.parametrize("order", ["kept", "shuffled"])
@pytest.mark.parametrize("seed", range(2))
def test_buckets_that_were_tampered_with(tmp_path, order, seed):
    case = replace(by_hand("memory", BUCKETS.format(order=order), PEOPLE), seed=seed)
    outcome = run_case(case, tmp_path)
    assert findings(case, outcome) == []
    faults, tally = tampered(case, outcome, 20)
    assert faults == []
    assert tally["caught"] > 5


@pytest.mark.slow
@pytest.mark.promise("1.1", "2.1", "2.2")
def test_vertical_tables_that_were_tampered_with(tmp_path):
    case = by_hand("memory", VERTICAL, PEOPLE)
    outcome = run_case(case, tmp_path)
    assert outcome.code == 0
    faults, tally = tampered(case, outcome, 12)
    assert faults == []
    assert tally["caught"] > 5
