"""Every field of every public document is in the list of docs/published-form.md, with an answer."""

import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import kohort
from kohort.audit.public import FIGURES, IN_PART, public_check
from kohort.audit.verdict import Check
from kohort.privacy import MODELS, SensitiveModel, SizeModel

PAGE = Path(__file__).parents[3] / "docs" / "published-form.md"
COLUMNS = {"age": "quasi", "zip": "quasi", "ill": "sensitive", "who": "identifier"}


def documented():
    """Names in the first column of the list: fields, and figures of checks."""
    text = PAGE.read_text().split("| Field of the public verdict |")[1].split("\n\n")[0]
    return set(re.findall(r"`([^`]+)`", "\n".join(line.split("|")[1] for line in text.splitlines()[2:])))


def fields_of(public):
    """All fields of a public document, as the list writes them."""
    parts = ("facts", "hashes", "loss", "promise", "as_is")
    found = set(public) - {*parts, "checks"}
    for part in parts:
        found |= {f"{part}.{name}" for name in public[part]}
    found = {re.sub(r"^hashes\.hierarchy:.*", "hashes.hierarchy:column", name) for name in found}
    found = {re.sub(r"^hashes\.release:.*", "hashes.release:1", name) for name in found}
    for check in public["checks"]:
        assert set(check) == {"name", "passed", "sentence", "figures", "table"}
        known = MODELS.get(check["name"])
        names = {name if name.startswith("second.") else re.sub(r"\..*", ".*", name) for name in check["figures"]}
        if known is not None:
            names -= set(getattr(known, "__dataclass_fields__", ()))
        found |= names | ({check["name"]} if known is None else set())
    return found


def table(n=40):
    rng = np.random.default_rng(4)
    return pl.DataFrame(
        {
            "age": rng.integers(1, 99, n),
            "zip": [f"{code:04}" for code in rng.integers(1000, 1300, n)],
            "ill": [f"ill {row % 8}" for row in range(n)],
            "who": [f"person {row % 30}" for row in range(n)],
        }
    )


def rules(columns=None, **sections):
    roles = {name: {"role": role} for name, role in COLUMNS.items()}
    roles["zip"]["hierarchy"] = {"prefix": [3, 2]}
    for name, more in (columns or {}).items():
        roles.setdefault(name, {}).update(more)
    given = {"privacy": {"k": 2}, "algorithm": {"name": "k-member", "seed": 1}}
    return kohort.Policy.model_validate({"columns": roles} | given | sections)


def model(name, **parameters):
    return {"privacy": {"k": 2, "models": [{"model": name, **parameters}]}}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("public")
    table().write_csv(folder / "in.csv")
    pl.concat([table(), table().head(9)]).write_csv(folder / "people.csv")
    return folder


CASES = {
    "classes": {},
    "precision": {"columns": {"age": {"top": 80, "bottom": 10, "snap": 5}}, "output": {"bounds": True}},
    "buckets": {"privacy": {"k": 2, "anonymity": "buckets"}, "algorithm": {"name": "anatomy", "seed": 1}},
    "matchings": {"privacy": {"k": 2, "anonymity": "matchings"}, "algorithm": {"name": "nh", "seed": 1}},
    "persons": {"privacy": {"k": 2, "person": "who"}},
    "tables": {
        "privacy": {"k": 4},
        "algorithm": {
            "name": "two-level",
            "seed": 1,
            "parameters": {"form": "vertical", "accept_broken_guarantee": True},
        },
    },
    "values": model("distinct-l-diversity", column="ill", l=2),
    "sizes": model("average-risk", most=0.5),
    "population": model("k-map", population="people.csv", k=2),
}


@pytest.mark.promise("4.3")
@pytest.mark.parametrize("name", list(CASES))
def test_every_public_field_is_listed(name, folder):
    policy = rules(**CASES[name])
    policy = kohort.Policy.load(_written(folder / f"{name}.toml", policy.to_toml()))
    frame = table()
    release = kohort.anonymize(frame, policy)
    public = release.public()
    assert public["passed"]
    assert fields_of(public) <= documented()
    assert release.private()["loss"]["total"] == release.loss.total
    assert release.loss.total not in (public["loss"]["total"], 0) or name == "buckets", "another figure"
    if name == "population":
        assert "49" in release.verdict.checks[-1].sentence
        assert "49" not in release.public_json()[: release.public_json().index("hashes")]


def _written(path, text):
    path.write_text(text)
    return path


def test_the_same_in_parts_and_with_a_ledger(folder):
    policy = kohort.Policy.load(_written(folder / "plain.toml", rules().to_toml()))
    parts = kohort.anonymize(folder / "in.csv", policy, output=folder / "parts.csv", memory="1GB", partitions=2)
    told = kohort.anonymize(folder / "in.csv", policy, output=folder / "told.csv", ledger=folder / "ledger.json")
    for release, path in ((parts, "parts.csv"), (told, "told.csv")):
        public = release.public()
        assert fields_of(public) <= documented() | {"intersection"}
        assert kohort.measure(folder / path, None, policy) == release.public_loss
        assert kohort.measure(folder / path, folder / "in.csv", policy) == release.loss
    assert not told.public()["checks"][-1]["figures"]


def test_every_figure_that_may_be_public_is_listed():
    listed = {figure for figures in (*FIGURES.values(), *IN_PART.values()) for figure in figures}
    assert listed <= documented()
    assert {*FIGURES, *IN_PART} <= documented()
    assert all(issubclass(MODELS[name], SensitiveModel | SizeModel) or name not in FIGURES for name in MODELS)


def test_a_check_that_nobody_listed_says_only_that_it_passed():
    new = Check("brand-new", True, "17 of 39 records are far away.", {"far": 17})
    assert public_check(new) == ("brand-new: kept.", {})
    more = Check("coverage", True, "every value covers, 17 narrowly.", {"method": "row by row", "narrow": 17})
    assert public_check(more) == ("coverage: kept.", {})
    failed = Check("coverage", False, "3 values do not cover.", {"not_covered.age": 3})
    assert public_check(failed) == ("coverage: not kept.", {})
    small = Check("k", False, "3 rows lie in classes smaller than k = 5 (smallest 3).", {"k": 5, "rows_under_k": 3})
    assert public_check(small) == (small.sentence, small.figures), "whoever has the file can count it"
    more = Check("k", False, "3 records are in too few matchings.", {"k": 5, "records_under_k": 3})
    assert public_check(more) == ("k: not kept.", {})


@pytest.mark.parametrize("missing", ["own-value", "wildcard", "suppress"])
@pytest.mark.parametrize("suppressed", ["withheld", "starred"])
@pytest.mark.parametrize("measure", ["ncp", "iloss", "whd"])
def test_one_loss_for_one_file(missing, suppressed, measure, tmp_path):
    """anonymize, measure, compare and why: also where the ends of a column are those of a record that is left out."""
    frame = table().with_columns(
        age=pl.when(pl.arange(40) == 3).then(500).otherwise("age"),
        zip=pl.when((pl.arange(40) == 3) | (pl.arange(40) == 9)).then(None).otherwise("zip"),
    )
    tree = {"north": ["10", "11"], "south": {"far": ["12"], "near": ["13", "14", "15"]}}
    frame = frame.with_columns(area=pl.Series([("10", "11", "12", "13", "14")[row % 5] for row in range(40)]))
    policy = rules(
        {"age": {"snap": 4, "weight": 2.0}, "area": {"role": "quasi", "hierarchy": {"tree": tree}}},
        privacy={"k": 3, "missing": missing, "suppression_limit": 0.2},
        algorithm={"name": "k-member", "seed": 1, "measure": measure, "bound_effort": 0.01},
        output={"suppressed": suppressed},
    )
    release = kohort.anonymize(frame, policy)
    assert kohort.measure(release.table, frame, policy) == release.loss
    assert kohort.measure(release.table, None, policy) == release.public_loss
    [outcome] = kohort.compare(frame, policy, algorithms=["k-member"])
    assert outcome.loss == pytest.approx(release.loss.total, abs=1e-12)
    assert kohort.explain(frame, policy).loss == pytest.approx(release.loss.total, abs=1e-12)
    assert 0 < release.bound <= release.loss.total
    frame.write_csv(tmp_path / "in.csv")
    if missing != "wildcard":
        parts = kohort.anonymize(tmp_path / "in.csv", policy, output=tmp_path / "out.csv", memory="1GB")
        assert kohort.measure(tmp_path / "out.csv", frame, policy) == parts.loss
        assert kohort.measure(tmp_path / "out.csv", None, policy) == parts.public_loss


@pytest.mark.parametrize(
    "hierarchy",
    [
        {"intervals": {"width": 1e300}},
        {"intervals": {"width": 5, "levels": [1, 10**21]}},
        {"intervals": {"width": 1e308, "levels": [1, 10]}},
        {"cuts": [[-1e300, 50, 1e300]]},
    ],
)
@pytest.mark.parametrize("ages", [[1, 2, 98, 99], [1.5, 2.5, 98.0, 99.5], [-(2**63) + 1, 5, 7, 2**63 - 1]])
def test_bins_that_are_wider_than_any_number(hierarchy, ages):
    frame = pl.DataFrame({"age": ages * 2})
    column = {"role": "quasi", "hierarchy": hierarchy}
    policy = kohort.Policy.model_validate({"columns": {"age": column}, "privacy": {"k": 3}, "algorithm": {"seed": 1}})
    release = kohort.anonymize(frame, policy)
    assert release.verdict.passed
    assert kohort.measure(release.table, None, policy) == release.public_loss


def test_numbers_that_a_hierarchy_cannot_tell_apart_are_named(tmp_path):
    (tmp_path / "in.csv").write_text("age\n" + "0.12345678901234567890\n0.12345678901234567891\n" * 3)
    column = {"role": "quasi", "hierarchy": {"intervals": {"width": 5}}}
    policy = kohort.Policy.model_validate({"columns": {"age": column}, "privacy": {"k": 3}})
    with pytest.raises(kohort.DataError, match="column 'age': some of its numbers differ after the 15th digit alone"):
        kohort.anonymize(tmp_path / "in.csv", policy)
