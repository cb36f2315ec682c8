from __future__ import annotations

from decimal import Decimal

import pytest

from kohort.audit.meaning.intervals import Interval
from kohort.audit.meaning.published import Exact, Mask, Node, Star, published_column
from kohort.errors import DataError
from kohort.policy import Policy

TREE = {"Lung": ["Asthma", "Flu"], "Skin": ["Acne", "Eczema"]}


def column(texts=(), original=None, output=None, **keys):
    policy = Policy(privacy={"k": 2}, columns={"x": {"role": "quasi", **keys}}, output=output or {})
    return published_column("x", policy, texts, original)


@pytest.mark.parametrize(
    ("keys", "kind"),
    [
        ({"type": "integer"}, "number"),
        ({"type": "number"}, "number"),
        ({"type": "date"}, "date"),
        ({"type": "string"}, "text"),
        ({"hierarchy": {"tree": TREE}}, "label"),
        ({"hierarchy": {"prefix": [5, 3]}}, "prefix"),
        ({"hierarchy": {"intervals": {"width": 5}}}, "number"),
        ({"hierarchy": {"cuts": [(18, 65)]}}, "number"),
        ({"hierarchy": {"dates": ["month", "year"]}}, "date"),
        ({"hierarchy": {"flat": True}, "type": "integer"}, "text"),
    ],
)
def test_the_policy_decides_the_kind(keys, kind):
    assert column(["whatever"], **keys).kind == kind


@pytest.mark.parametrize(
    ("texts", "original", "kind"),
    [
        (["*", "20-39", "<= 17"], None, "number"),
        (["*", "2024-03", "2020s"], None, "date"),
        (["2024-03", "2024-12"], None, "date"),
        (["2023", "2024"], None, "number"),
        (["*", "20-39", "Flu"], None, "text"),
        (["*"], None, "text"),
        (["20-39"], ["20", "30"], "number"),
        (["20-39"], ["20", "n/a"], "text"),
        (["2024"], ["2024-01-01"], "date"),
    ],
)
def test_values_decide_where_the_policy_is_silent(texts, original, kind):
    assert column(texts, original).kind == kind


def test_labels():
    reader = column(hierarchy={"tree": TREE})
    assert reader.read("*") == Star()
    assert reader.read("Skin") == Node(4, 2, 3)
    assert reader.read("Skin").leaves == 2
    assert reader.read("Flu") == Node(3, 1, 1)
    assert reader.read("Bone") is None
    assert reader.read("[1 - 2]") is None


def test_an_interval_stands_in_for_the_label_of_a_hierarchy_of_numbers():
    reader = column(hierarchy={"tree": {"low": ["1", "2"], "high": ["3"]}})
    assert reader.read("[1 - 2]") == Interval(Decimal(1), Decimal(2))
    assert reader.read("low") == Node(1, 0, 1)


def test_masks():
    reader = column(hierarchy={"prefix": [5, 3]})
    assert reader.read("132**") == Mask("132", 5)
    assert reader.read("13210") == Exact("13210")
    assert reader.read("*") == Star()
    assert column(original=["13210"], hierarchy={"prefix": [5, 3]}).read("99999") is None


def test_texts_are_those_of_the_original():
    assert column(type="string").read("Flu") == Exact("Flu")
    assert column(original=["Acne"], type="string").read("Flu") is None


def test_domain():
    assert column(type="integer").domain is None
    assert column(original=["17", "90"], type="integer").domain == (17, 90)
    assert column(original=["17", "90"], type="integer", domain=[0, 120]).domain == (0, 120)
    assert column(original=["02/01/1970"], type="date", format="%d/%m/%Y").domain == (1, 1)


def test_spreadsheet_apostrophes_are_stripped_only_where_the_policy_put_them():
    neutralised = column(output={"formulas": "neutralised"}, type="integer")
    assert neutralised.read("'-5") == Interval(Decimal(-5), Decimal(-5))
    assert neutralised.read("'5") is None
    assert column(type="integer").read("'-5") is None


def test_hierarchy_paths_are_relative_to_the_policy(tmp_path):
    (tmp_path / "sex.csv").write_text("Female;*\nMale;*\n")
    text = '[privacy]\nk = 2\n[columns.sex]\nrole = "quasi"\nhierarchy = "sex.csv"\n'
    (tmp_path / "policy.toml").write_text(text)
    policy = Policy.load(tmp_path / "policy.toml")
    assert published_column("sex", policy, []).read("Male") == Node(2, 1, 1)
    (tmp_path / "sex.csv").unlink()
    with pytest.raises(DataError, match="no such file"):
        published_column("sex", policy, [])
