"""What a report says, of which releases; what is refused; and the command."""

import hashlib
import json
import shlex

import jsonschema
import polars as pl
import pytest

import kohort
from helpers.cli import called
from kohort.errors import DataError, PolicyError
from kohort.reports.plain import promised
from kohort.reports.report.sections import SECTIONS
from kohort.reports.report.sections.classes import records_by_size
from kohort.reports.report.sections.regulators import EMA_CLASS

PEOPLE = pl.DataFrame(
    {
        "age": [31, 35, 33, 44, 41, 46, 52, 58, 93, 30],
        "sex": list("FFMFMMFMFM"),
        "zip": ["13201", "13202", "13203", "13204", "13205", "13206", "13207", "13208", "13209", "13210"],
        "ill": ["flu", "cold"] * 5,
    }
)
POLICY = kohort.Policy.build(
    k=5,
    quasi_identifiers=["age", "sex", "zip"],
    sensitive=["ill"],
    hierarchies={"zip": {"prefix": [5, 3]}},
    seed=1,
    algorithm="k-member",
)
RELEASE = pl.DataFrame(
    {
        "age": ["[30 - 41]"] * 5 + ["[44 - 93]"] * 5,
        "sex": ["*"] * 10,
        "zip": ["132**"] * 10,
        "ill": ["flu", "cold", "flu", "flu", "cold", "cold", "flu", "cold", "cold", "flu"],
    }
)


@pytest.fixture(scope="module")
def found():
    return kohort.report(RELEASE, POLICY)


def section(report, name):
    return next(one for one in report.sections if one.name == name)


def test_every_section_is_there_and_says_something(found):
    assert [one.name for one in found.sections] == sorted(SECTIONS, key=lambda name: SECTIONS[name].place)
    assert all(one.blocks for one in found.sections)
    assert (found.edition, found.passed, found.status) == ("public", True, "verified")
    assert found.headline.startswith("Every record looks like at least 4 others")
    assert [(key.figure, key.means) for key in found.keys][2:4] == [
        ("5", "records in the smallest class"),
        ("20 %", "highest risk of picking the right record"),
    ]


def test_the_document_fits_its_schema_and_can_be_read_back(found):
    data = json.loads(found.to_json())
    jsonschema.validate(data, kohort.Report.json_schema())
    assert kohort.Report.model_validate_json(found.to_json()).to_dict() == found.to_dict()
    assert data["version"] == 1


def test_the_public_edition_depends_on_the_release_alone():
    """Two originals of the same release have the same report, but for what the verdict says of having compared."""
    other = PEOPLE.with_columns(age=pl.Series([30, 36, 34, 45, 41, 47, 51, 57, 93, 41]))
    given = [kohort.report(RELEASE, POLICY, original=one).to_dict() for one in (PEOPLE, other, None)]
    assert [one["edition"] for one in given] == ["public"] * 3
    assert given[0]["sections"][1:] == given[1]["sections"][1:] == given[2]["sections"][1:]
    assert given[0]["keys"] == given[1]["keys"] == given[2]["keys"]


def test_the_private_edition_compares():
    private = kohort.report(RELEASE, POLICY, original=PEOPLE, private=True)
    assert private.edition == "private"
    assert section(private, "risk").figures["private"]["original"] is not None
    assert section(private, "loss").figures["bound"] is not None
    titles = [block.title for block in section(private, "classes").blocks if block.kind == "chart"]
    assert titles == ["Records of the original by the size of their class", "Records by the size of their class"]


def test_regulators_are_answered_with_figures(found):
    regulators = section(found, "regulators")
    figures = regulators.figures
    assert (figures["highest_risk"], figures["ema_threshold_kept"]) == (0.2, False)
    assert figures["inference"] == {"ill": {"largest_share": 0.6, "classes_of_one_value": 0, "rows_in_them": 0}}
    columns = {one["column"]: one["why"] for one in figures["safe_harbor"]}
    assert columns == {
        "age": "ages above 89 are published; make them one category, from 90 on",
        "zip": "areas of three digits may be shown where more than 20,000 people live; nobody counted them here",
    }
    texts = {block.label: block.text for block in regulators.blocks if block.kind == "text"}
    assert "10 of 10 rows (100 %) are in smaller classes" in texts["EMA 0.09"]
    assert {"singling out", "linkability", "inference"} <= set(texts)
    enough = pl.concat([RELEASE] * 3)
    assert enough.group_by("age").len()["len"].min() >= EMA_CLASS
    kept = section(kohort.report(enough, POLICY), "regulators").figures
    assert kept["ema_threshold_kept"]


@pytest.mark.parametrize(
    ("column", "cells", "why"),
    [
        ("admitted", ["2020-01-31", "2020-02-01"], "dates are published more finely"),
        ("contact", ["a@b.org", "c@d.org"], "its cells look like e-mail addresses"),
        ("city", ["here", "there"], "a place smaller than a state"),
        (
            "remark",
            ["he said that he would come again on the day after", "she did not want to stay"],
            "free",
        ),
        ("colour", ["red", "blue"], None),
    ],
)
def test_safe_harbor_by_names_and_cells_of_columns_as_they_are(column, cells, why):
    table = RELEASE.with_columns(pl.Series(column, cells * 5))
    policy = POLICY.with_changes("columns", **{column: {"role": "insensitive"}})
    harbor = section(kohort.report(table, policy), "regulators").figures["safe_harbor"]
    named = [one["why"] for one in harbor if one["column"] == column]
    assert any(why in one for one in named) if why else named == []


def test_a_year_alone_is_allowed():
    policy = kohort.Policy.build(k=5, quasi_identifiers=["born"], hierarchies={"born": {"dates": ["year", "decade"]}})
    policy = policy.with_changes("columns", born=policy.to_dict()["columns"]["born"] | {"type": "date"})
    fine = kohort.report(pl.DataFrame({"born": ["1980s"] * 5 + ["1991"] * 5}), policy)
    assert section(fine, "regulators").figures["safe_harbor"] == []
    too_fine = kohort.report(pl.DataFrame({"born": ["1980s"] * 5 + ["1991-03"] * 5}), policy)
    assert len(section(too_fine, "regulators").figures["safe_harbor"]) == 1


def test_sizes_below_k_are_never_mixed_with_others():
    found = records_by_size({1: 3, 2: 1, 4: 1, 5: 2, 7: 1, 300: 1}, 5)
    assert found == {"1": 3, "2": 2, "3-4": 4, "5": 10, "7": 7, "105-1004": 300}
    assert sum(found.values()) == 3 + 2 + 4 + 10 + 7 + 300


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"private": True}, "the private edition compares with the original, and none is given"),
        ({"private_verdict": "private.json"}, "a private verdict is for the private edition"),
        ({"output": "report.pdf"}, "a report is written as .html or .json"),
    ],
)
def test_what_cannot_be_is_refused(changes, fault):
    with pytest.raises(DataError, match=fault):
        kohort.report(RELEASE, POLICY, **changes)


def test_releases_in_two_tables_are_refused():
    with pytest.raises(PolicyError, match="a release in buckets is two"):
        kohort.report(RELEASE, POLICY.with_changes("privacy", anonymity="buckets"))


def test_a_release_in_matchings_has_no_classes():
    policy = POLICY.with_changes("privacy", anonymity="matchings")
    found = kohort.report(RELEASE, policy, original=PEOPLE, private=True)
    assert "ema_threshold_kept" not in section(found, "regulators").figures
    assert "k counts matchings" in section(found, "classes").blocks[0].text
    assert promised(5, "matchings") in found.headline.lower()


def test_a_verdict_on_another_file_is_refused(folder, tmp_path):
    verdict = kohort.verify(folder.path / "out.csv", folder.path / "policy.toml")
    RELEASE.write_csv(tmp_path / "other.csv")
    with pytest.raises(DataError, match="the verdict is about another file"):
        kohort.report(tmp_path / "other.csv", POLICY, verdict=verdict)


def test_hashes_are_those_that_the_printed_command_prints(folder, pages):
    report = json.loads((folder.path / "public.json").read_text())
    blocks = next(one for one in report["sections"] if one["name"] == "provenance")["blocks"]
    program, *files = shlex.split(blocks[0]["command"])
    assert program == "sha256sum"
    rows = dict(next(one for one in blocks if one["kind"] == "table")["rows"])
    for name in files:
        assert rows[name] == hashlib.sha256((folder.path / name).read_bytes()).hexdigest()


def test_the_command(folder, tmp_path):
    here = folder.path
    about = (here / "out.csv", "-p", here / "policy.toml")
    done = called("report", *about, "-o", "report.html", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("verified: Every record looks like at least 4 others")
    again = called("report", *about, "-o", "report.html", folder=tmp_path)
    assert again.returncode == 2
    assert "already there" in again.stderr
    data = called("report", *about, "--json", folder=tmp_path)
    jsonschema.validate(json.loads(data.stdout), kohort.Report.json_schema())
    failed = called("report", here / "people.csv", "-p", here / "policy.toml", "-o", "no.html", folder=tmp_path)
    assert failed.returncode == 1
    assert failed.stdout.startswith("not verified: This file does not keep its promise")
    assert (tmp_path / "no.html").exists()


def test_a_report_that_could_not_be_written_stops_a_release_before_it_is_made(folder):
    here = folder.path
    request = ("anonymize", "people.csv", "-p", "policy.toml", "-o", "new.csv", "--report")
    for name, fault in {
        "report.pdf": "written as .html or .json",
        "people.csv": "written as .html or .json",
        "public.html": "already there",
    }.items():
        done = called(*request, name, folder=here)
        assert (done.returncode, fault in done.stderr) == (2, True), done.stderr
        assert not (here / "new.csv").exists()
