"""One list of checks for tables of every kind, and what each needs."""

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from kohort import Policy, verify
from kohort.audit.asked import AuditTable, texts_of
from kohort.audit.case import Case
from kohort.audit.checklist import Need, answers, checklist, unanswerable
from kohort.audit.checks.classes import ClassSizes
from kohort.audit.checks.histograms import Judged
from kohort.audit.meaning.published import STAR, published_column
from kohort.audit.read.dictionary import Dictionary
from kohort.audit.read.texts import Texts
from kohort.privacy import Histogram, reference_of

PAGE = Path(__file__).parents[3] / "docs" / "verify.md"
RULES = Policy.build(k=2, quasi_identifiers=["age"], sensitive=["ill"], identifiers=["id"])
MODELS = ({"model": "distinct-l-diversity", "l": 2, "column": "ill"},)


@dataclass(frozen=True)
class PlainTable:
    """The plainest table that checks can be asked of: a frame of texts."""

    frame: pl.DataFrame

    @property
    def header(self):
        return tuple(self.frame.columns)

    @property
    def columns(self):
        return {name: name for name in self.frame.columns}

    @property
    def rows(self):
        return self.frame.height

    def dictionary(self, column):
        found = Counter(self.frame[column])
        times, missing = np.array(list(found.values())), np.array([text is None for text in found])
        return Dictionary("", "", Texts.of(found), times, missing, list(found).index(STAR) if STAR in found else None)

    def repeats(self, columns):
        return {name: (self.frame[name].n_unique(), self.frame.height) for name in columns}

    def differences(self, other, columns):
        for name in columns:
            more = Counter(self.frame[name])
            more.subtract(Counter(other.frame[name]))
            yield from ((name, text, times) for text, times in more.items() if times)


class PlainCase(Case):
    """Classes judged by hand."""

    def judged(self, model, known=()):
        [column] = model.columns
        values = self.release.frame[column].to_list()
        reference, numbers = reference_of(self.policy, {column: values}, [1] * len(values), str)
        groups = np.unique(self.release.frame["age"].to_list(), return_inverse=True)[1]
        found = Histogram.of_pairs(groups, numbers, np.ones(len(groups), np.int64))
        keeps = model.keeps(found, reference)
        return Judged(len(keeps), int((~keeps).sum()), int(found.sizes[~keeps].sum()))


def plain_case(policy, release, original):
    table, source = PlainTable(release), None if original is None else PlainTable(original)
    column = published_column("age", policy, texts_of(table, "age"), texts_of(source, "age"))
    sizes, times = np.unique(list(Counter(release["age"]).values()), return_counts=True)
    return PlainCase(policy, table, source, {"age": column}, ClassSizes(sizes, times), 0)


ORIGINAL = pl.DataFrame({"age": ["1", "2", "3", "4"], "ill": ["a", "b", "a", "a"]})
RELEASES = {
    "fine": {"age": ["[1 - 2]"] * 2 + ["[3 - 4]"] * 2, "ill": ["a", "b", "a", "a"]},
    "false": {"age": ["[1 - 2]"] * 2 + ["[5 - 6]"] * 2, "ill": ["a", "c", "a", "a"]},
    "small": {"age": ["1", "[2 - 4]", "[2 - 4]", "[2 - 4]"], "ill": ["a", "b", "a", "a"]},
}


@pytest.mark.parametrize("given", [None, ORIGINAL], ids=["alone", "with the original"])
@pytest.mark.parametrize("release", RELEASES)
def test_a_table_of_any_kind_is_asked_the_same(release, given):
    policy = RULES.with_changes("privacy", models=MODELS)
    # another order: the database would else compare row by row
    there = pl.DataFrame(RELEASES[release])
    source = None if given is None else given.reverse()
    asked = answers(plain_case(policy, there, source), strict=False)
    expected = verify(there, policy, original=source).checks
    assert [(check.name, check.passed) for check in asked] == [(check.name, check.passed) for check in expected]
    alike = [check for check in zip(asked, expected, strict=True) if check[0].name not in ("coverage", "values")]
    assert all(one.sentence == other.sentence for one, other in alike)


def test_the_tables_fit_the_protocol():
    from kohort.audit.read.table import Table

    wanted = {name for name in vars(AuditTable) if not name.startswith("_")}
    assert wanted == {"header", "columns", "rows", "dictionary", "differences", "repeats", "combinations"}
    assert wanted <= {*vars(Table), *Table.__annotations__}


POLICIES = {
    "classes": RULES,
    "matchings": RULES.with_changes("privacy", anonymity="matchings"),
    "buckets": RULES.with_changes("privacy", anonymity="buckets"),
    "wildcard": RULES.with_changes("privacy", missing="wildcard"),
    "person": RULES.with_changes("privacy", person="id"),
    "pseudonyms": Policy(
        privacy={"k": 2},
        columns={"id": {"role": "identifier", "pseudonym": True}, "age": {"role": "quasi"}},
        output={"pseudonym_key": {"env": "KEY"}},
    ),
    "kept": RULES.with_changes("output", order="kept"),
    "bounds": RULES.with_changes("output", bounds=True),
    "population": RULES.with_changes("privacy", models=({"model": "k-map", "k": 2, "population": "all.csv"},)),
    "models": RULES.with_changes("privacy", models=MODELS),
}
PROMISED = {"pseudonyms", "matchings", "buckets", "wildcard", "person", "kept", "bounds", "population"}


@pytest.mark.parametrize("name", POLICIES)
def test_what_counts_cannot_answer_is_refused_where_there_is_nothing_else(name):
    assert bool(unanswerable(POLICIES[name], ~Need.ORIGINAL)) == (name in PROMISED)
    assert bool(unanswerable(POLICIES[name], Need.WHOLE)) == (name == "matchings")


@pytest.mark.parametrize("name", POLICIES)
def test_the_page_has_every_check_and_says_which_need_the_original(name):
    described = {found[1]: bool(found[2]) for found in re.finditer(r"^\*\*([a-z-]+)\.(°?)\*\*", PAGE.read_text(), re.M)}
    models = {one["model"] for one in POLICIES[name].privacy.models}
    for question in checklist(POLICIES[name]):
        described_as = "models" if question.name in models else question.name
        if question.name != "m-invariance":
            assert described[described_as] == (Need.ORIGINAL in question.needs)
