"""Projects of ARX become policies that say the same; and what is written for ARX, ARX could have written."""

import zipfile
from pathlib import Path

import polars as pl
import pytest

import kohort
from helpers.cli import called
from kohort.errors import DataError, PolicyError
from kohort.privacy import models_of
from kohort.reports.arx import _criterion, export_layout, import_project

PROJECTS = Path(__file__).parents[4] / "shared" / "data" / "arx_projects"
DEFINITION = """<definition>{}</definition>"""
CONFIG = """<config><relativeMaxOutliers>{limit}</relativeMaxOutliers><metric>{metric}</metric>
<attributeWeights>{weights}</attributeWeights><criteria>{criteria}</criteria></config>"""
PROJECT = '<project><separator>,</separator><quote>"</quote></project>'
TREE = '30,"3,x",*\n31,"3,x",*\n40,4,*\n41,4,*\n'


def attribute(name, kind, ref="", **more):
    inner = f"<name>{name}</name><type>{kind}_ATTRIBUTE</type>" + (f"<ref>{ref}</ref>" if ref else "")
    return f"<assigment>{inner}{''.join(f'<{key}>{value}</{key}>' for key, value in more.items())}</assigment>"


def project(path, *, limit=0.1, metric="Loss (0.5)", criteria=("2-anonymity", "Inclusion"), weights="", **parts):
    """A project with columns of every kind, names with blanks, and another separator."""
    attributes = [
        attribute("who is it", "IDENTIFYING"),
        attribute("age", "QUASI_IDENTIFYING", "hierarchies/age.csv", datatype="Integer"),
        attribute("born", "QUASI_IDENTIFYING", datatype="Date", format="dd.MM.yyyy"),
        attribute("pay &amp; more", "QUASI_IDENTIFYING", datatype="Decimal"),
        attribute("ill", "SENSITIVE", datatype="String"),
        attribute("note", "INSENSITIVE"),
    ]
    data = "who is it,age,born,pay & more,ill,note\n" + "".join(
        f'p{row},{30 + row % 2 + 10 * (row > 3)},0{row + 1}.02.1990,{row}.5,"flu, {row % 2}",n\n' for row in range(8)
    )
    content = {
        "project.xml": PROJECT,
        "input/definition.xml": DEFINITION.format("".join(attributes)),
        "input/config.xml": CONFIG.format(
            limit=limit,
            metric=metric,
            weights=weights,
            criteria="".join(f"<criterion>{c}</criterion>" for c in criteria),
        ),
        "input/hierarchies/age.csv": TREE,
        "data/input.csv": data,
    }
    with zipfile.ZipFile(path, "w") as packed:
        for name, text in (content | parts).items():
            if text is not None:
                packed.writestr(name, text)
    return path


def test_everything_of_a_project(tmp_path):
    weight = "<attributeWeight><attribute>{}</attribute><weight>{}</weight></attributeWeight>"
    found = import_project(
        project(
            tmp_path / "a.deid",
            criteria=["3-anonymity", "distinct-2-diversity for attribute 'ill'"],
            weights=weight.format("age", 0.9) + weight.format("born", 0.5),
            metric="Height",
        ),
        tmp_path / "out",
    )
    policy = kohort.Policy.load(tmp_path / "out" / "policy.toml")
    assert policy == found.policy
    assert (policy.privacy.k, policy.privacy.suppression_limit) == (3, 0.1)
    assert policy.privacy.models == ({"model": "distinct-l-diversity", "l": 2, "column": "ill"},)
    assert policy.having_role("identifier") == ("who is it",)
    assert policy.columns["born"].format == "%d.%m.%Y"
    assert (policy.columns["age"].weight, policy.columns["born"].weight) == (0.9, 0.5)
    assert policy.columns["pay & more"].type == "number"
    assert found.left == ("its measure is 'Height', and here it is ncp; see kohort measures.",)
    tree = (tmp_path / "out" / policy.columns["age"].hierarchy.file).read_text()
    assert '30;"3,x";*' in tree, "in the layout that kohort reads, whatever the separator of the project"
    release = kohort.anonymize(tmp_path / "out" / "data.csv", policy.with_changes("algorithm", seed=1))
    assert release.verdict.passed


@pytest.mark.parametrize(
    ("text", "model"),
    [
        ("5-anonymity", {"k": 5}),
        ("distinct-3-diversity for attribute 'a ''b'", {"model": "distinct-l-diversity", "l": 3, "column": "a ''b"}),
        ("shannon-entropy-2.5-diversity for attribute 'x'", {"model": "entropy-l-diversity", "l": 2.5, "column": "x"}),
        (
            "recursive-(4.0,3)-diversity for attribute 'x'",
            {"model": "recursive-cl-diversity", "c": 4, "l": 3, "column": "x"},
        ),
        (
            "0.2-closeness with ordered distance for attribute 'x'",
            {"model": "t-closeness", "distance": "ordered", "t": 0.2, "column": "x"},
        ),
        (
            "0.2-closeness with hierarchical ground-distance for attribute 'x'",
            {"model": "t-closeness", "distance": "hierarchical", "t": 0.2, "column": "x"},
        ),
        ("1.5-disclosure privacy for attribute 'x'", {"model": "delta-disclosure", "delta": 1.5, "column": "x"}),
        ("(0.05)-avg-reidentification-risk", {"model": "average-risk", "most": 0.05}),
        ("(1.0E-4)-population-uniqueness (dankar)", None),
        ("(2.0, 1.0E-6)-differential privacy", None),
    ],
)
def test_privacy_models_as_arx_writes_them(text, model):
    assert _criterion(text) == model
    if model and "model" in model:
        tree = {"role": "sensitive", "hierarchy": {"tree": {"a": ["b", "c"]}}}
        columns = {"q": "quasi"} | ({model["column"]: tree} if "column" in model else {})
        assert (
            len(models_of(kohort.Policy.from_dict({"privacy": {"k": 2, "models": [model]}, "columns": columns}))) == 2
        )


def test_what_there_is_not_is_never_dropped_silently(tmp_path):
    path = project(tmp_path / "a.deid", criteria=["(1.0E-4)-population-uniqueness (dankar)"])
    with pytest.raises(PolicyError, match="kohort does not have it; give k to import the project without it"):
        import_project(path, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    found = import_project(path, tmp_path / "out", k=4)
    assert found.policy.privacy.k == 4
    assert "population-uniqueness" in found.left[0]
    with pytest.raises(PolicyError, match="has no k-anonymity"):
        import_project(project(tmp_path / "b.deid", criteria=["Inclusion"]), tmp_path / "other")


@pytest.mark.parametrize(
    ("parts", "says"),
    [
        ({"input/definition.xml": None}, "it has no input/definition.xml"),
        ({"data/input.csv": None}, "it has no data/input.csv"),
        ({"input/hierarchies/age.csv": None}, "it has no input/hierarchies/age.csv"),
        ({"input/definition.xml": "<definition"}, "not as ARX writes it"),
        ({"input/definition.xml": "<definition/>"}, "names no attribute"),
        ({"input/config.xml": '<!DOCTYPE a [<!ENTITY b "c">]><config>&b;</config>'}, "not as ARX writes it"),
        ({"input/definition.xml": DEFINITION.format(attribute("a", "OTHER"))}, "a type of attribute that is not known"),
        ({"input/definition.xml": DEFINITION.format(attribute("a", "QUASI_IDENTIFYING", "../x.xml"))}, "it has no"),
    ],
)  # fmt: skip
def test_what_is_no_project(tmp_path, parts, says):
    path = project(tmp_path / "a.deid", **parts)
    with pytest.raises(DataError, match=says):
        import_project(path, tmp_path / "out")
    assert [one.name for one in tmp_path.iterdir()] == ["a.deid"]


def test_on_the_command_line(tmp_path):
    (tmp_path / "no.deid").write_text("no zip")
    assert called("arx", "import", "no.deid", "-o", "out", folder=tmp_path).returncode == 2
    project(tmp_path / "a.deid")
    done = called("arx", "import", "a.deid", "-o", "out", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1].endswith("anonymize out/data.csv -p out/policy.toml -o release.csv")
    assert called("arx", "import", "a.deid", "-o", "out", folder=tmp_path).returncode == 2, "it is there"
    done = called("arx", "export", "out/data.csv", "-p", "out/policy.toml", "-o", "back", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "without a hierarchy, which ARX needs: born, pay & more" in done.stdout
    assert (tmp_path / "back" / "hierarchies" / "age.csv").read_text() == TREE.replace(",*", ";*").replace(
        ",4", ";4"
    ).replace(',"3', ';"3')


def test_what_is_exported_is_the_same_again(tmp_path):
    frame = pl.DataFrame({"zip code": ["13210", "13299", "99001", "99002"] * 2, "ill": ["a;b", 'c"d'] * 4})
    policy = kohort.Policy.build(
        k=2, quasi_identifiers=["zip code"], sensitive=["ill"], hierarchies={"zip code": {"prefix": [5, 3, 1]}}
    )
    assert export_layout(frame, policy, tmp_path / "arx") == []
    assert pl.read_csv(tmp_path / "arx" / "data.csv", separator=";", infer_schema=False).equals(frame)
    tree = {"role": "quasi", "hierarchy": str(tmp_path / "arx/hierarchies/zip code.csv")}
    again = policy.from_dict(policy.to_dict() | {"columns": {"zip code": tree, "ill": "sensitive"}})
    seeded = (each.with_changes("algorithm", seed=1) for each in (policy, again))
    one, other = (kohort.anonymize(frame, each) for each in seeded)
    assert one.table.sort("zip code", "ill").equals(other.table.sort("zip code", "ill"))


@pytest.mark.parametrize(("name", "k"), [("example", None), ("example3", 5)])
def test_projects_that_arx_ships(tmp_path, name, k):
    if not (PROJECTS / f"{name}.deid").exists():
        pytest.skip("the projects of ARX are not in ../shared/data")
    found = import_project(PROJECTS / f"{name}.deid", tmp_path / "out", k=k)
    assert found.policy.privacy.k == 5
    assert len(found.policy.quasi_identifiers) == 9
    checked = kohort.check(
        pl.read_csv(tmp_path / "out" / "data.csv", separator=";", infer_schema=False),
        kohort.Policy.load(tmp_path / "out" / "policy.toml").with_changes("algorithm", budget="1s"),
    )
    assert not checked.faults
    assert checked.forecast.records == 30_162


def test_the_strictest_k_counts_and_levels_that_are_limited_are_named(tmp_path):
    attributes = [
        attribute("age", "QUASI_IDENTIFYING", "hierarchies/age.csv", datatype="Integer", min="0", max="1"),
        attribute("born", "QUASI_IDENTIFYING", datatype="Date", format="dd.MM.yy", min="All", max="All"),
    ]
    found = import_project(
        project(
            tmp_path / "p.deid",
            criteria=("4-anonymity", "2-anonymity"),
            **{
                "input/definition.xml": DEFINITION.format("".join(attributes)),
                "data/input.csv": "age,born\n"
                + "".join(f"{30 + 10 * (row > 3)},0{row + 1}.02.90\n" for row in range(8)),
            },
        ),
        tmp_path / "there",
    )
    assert found.policy.privacy.k == 4
    assert found.left == ("column 'age' is limited to some levels of its hierarchy, and here it may have any.",)
    release = kohort.anonymize(tmp_path / "there" / "data.csv", tmp_path / "there" / "policy.toml")
    assert release.verdict.passed
    assert all("1990-02-0" in text for text in release.table["born"])
