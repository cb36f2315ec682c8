"""The check that needs a population: how many of its records each published description covers.

The values of the population are laid out on the same lines as those of an original (see
`kohort.audit.checks.coverage`), so "covers" is a comparison of whole numbers, and the database counts.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kohort.audit.case import LoadedCase
from kohort.audit.checks.coverage import Line
from kohort.audit.read.load import load
from kohort.audit.read.table import Table
from kohort.audit.verdict import Check
from kohort.audit.words import are, count, listed
from kohort.errors import DataError
from kohort.privacy import PopulationModel


def population(case: LoadedCase, model: PopulationModel, number: int) -> Check:
    """Ask whether every class keeps what a model promises about a population.

    Parameters
    ----------
    number : int
        Of the model, for each has a table of its own.

    Raises
    ------
    DataError
        When the population cannot be read, or lacks a quasi-identifier.
    """
    if case.classes is None:
        return Check(model.name, False, f"{model.name} cannot be checked, as the release has no classes.")
    path = case.policy.folder / model.population
    people = load(case.release.database, f"population{number}", path, case.policy, case.policy.quasi_identifiers)
    absent = [name for name in case.columns if name not in people.columns]
    if absent:
        raise DataError(f"population {Path(path).name}: {listed(absent)} of the policy {are(len(absent))} not in it.")
    sizes, covered, times = _counted(case, people)
    wrong = ~model.keeps(sizes, covered)
    failing, classes = int(times[wrong].sum()), count(int(times.sum()), "class", "classes")
    figures = {
        "classes_failing": failing,
        "rows_in_them": int((sizes * times)[wrong].sum()),
        "fewest_covered": int(covered.min(initial=people.rows)),
        "population": people.rows,
    }
    if failing:
        sentence = f"{model.name}: {failing:,} of {classes} {'does' if failing == 1 else 'do'} not keep it."
        return Check(model.name, False, sentence, figures)
    fewest = f"the fewest that one covers are {figures['fewest_covered']:,} of {count(people.rows, 'record')}"
    return Check(model.name, True, f"{model.name}: kept by every one of {classes}; {fewest}.", figures)


def _counted(case: LoadedCase, people: Table) -> tuple[np.ndarray[tuple[int], np.dtype[np.int64]], ...]:
    """Rows of a class, the records of the population that it covers, and how many classes are so.

    A missing cell covers missing ones.
    """
    import polars as pl

    release, database = case.release, case.release.database
    for j, (name, column) in enumerate(case.columns.items()):
        there, released = people.dictionary(name).values, release.dictionary(name).values
        line = Line(column, there)
        first, last = line.stretches(released, missing_is_any=False)
        # several texts may mean that a value is missing; they have the same place
        places = pl.DataFrame({"text": list(there), "place": line.places}, schema_overrides={"text": pl.String})
        spans = pl.DataFrame(
            {"text": list(released), "first": first, "last": last}, schema_overrides={"text": pl.String}
        )
        database.register(f"places{j}", places.unique("text"))
        database.register(f"spans{j}", spans.unique("text"))
    columns = list(enumerate(case.columns))
    joined = " ".join(
        f"JOIN places{j} ON places{j}.text IS NOT DISTINCT FROM {people.name}.{people.columns[name]}"
        for j, name in columns
    )
    placed = ", ".join(f"places{j}.place AS p{j}" for j, _ in columns)
    database.rows(
        f"CREATE OR REPLACE TEMP TABLE placed AS SELECT {placed}, count(*) AS times FROM {people.name} {joined} "
        "GROUP BY ALL"
    )
    # classes are distinguished as they are written, and read as what the texts mean
    grouped = ", ".join([*map(release.literal, case.columns), *(release.columns[name] for name in case.columns)])
    where = "" if case.starred_class else "WHERE NOT starred"
    joined = " ".join(
        f"JOIN spans{j} ON spans{j}.text IS NOT DISTINCT FROM described.{release.columns[name]}" for j, name in columns
    )
    ends = ", ".join(f"spans{j}.first AS f{j}, spans{j}.last AS l{j}" for j, _ in columns)
    database.rows(
        f"CREATE OR REPLACE TEMP TABLE described AS SELECT row_number() OVER () AS class, size, {ends} FROM "
        f"(SELECT {grouped}, count(*) AS size FROM release {where} GROUP BY ALL) AS described {joined}"
    )
    inside = " AND ".join(f"p{j} BETWEEN f{j} AND l{j}" for j, _ in columns)
    found = database.arrays(
        "SELECT size, covered, count(*) AS times FROM ("
        "SELECT any_value(size) AS size, CAST(coalesce(sum(times), 0) AS BIGINT) AS covered "
        f"FROM described LEFT JOIN placed ON {inside} GROUP BY class) AS classes GROUP BY size, covered"
    )
    return tuple(np.asarray(found[name], np.int64) for name in ("size", "covered", "times"))
