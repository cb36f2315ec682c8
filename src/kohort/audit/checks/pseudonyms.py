"""Whether columns of pseudonyms hold pseudonyms, and each stands for one identifier."""

from __future__ import annotations

from kohort.audit.case import LoadedCase
from kohort.audit.meaning.spelling import told_apart
from kohort.audit.verdict import Check
from kohort.audit.words import count

_FORM = "[0-9a-f]{64}"


def pseudonyms(case: LoadedCase) -> Check | None:
    """Ask whether every published pseudonym has the form of one, and whether it is the same for the same identifier."""
    names = [name for name in case.policy.pseudonyms if name in case.release.columns]
    if not case.policy.pseudonyms:
        return None
    sentences: list[str] = []
    figures: dict[str, int | float | str] = {"method": "row by row" if case.order_known else "form alone"}
    if case.keeps_order and not case.order_known:
        sentences.append(f"pseudonyms cannot be compared with identifiers, as {case.order_unknown}")
    for name in names:
        strange, plain = _strange(case, name), _plain(case, name)
        figures[f"not_pseudonyms.{name}"] = strange + plain
        if strange:
            are = "is no pseudonym" if strange == 1 else "are no pseudonyms"
            sentences.append(f"column {name!r}: {count(strange, 'cell')} {are}, so an identifier may be published")
        if plain:
            sentences.append(f"column {name!r}: {count(plain, 'cell')} {'is' if plain == 1 else 'are'} in the original")
        if case.original is None:
            continue
        if name not in case.original.columns:
            sentences.append(f"column {name!r} is not in the original, so pseudonyms cannot be compared with it")
            continue
        if not case.order_known:
            surplus = _surplus(case, name)
            figures[f"surplus.{name}"] = surplus
            if surplus:
                has = "has" if surplus == 1 else "have"
                sentences.append(
                    f"column {name!r}: {count(surplus, 'pseudonym')} {has} no identifier with as many rows"
                )
            continue
        mixed = _mixed(case, name)
        figures[f"inconsistent.{name}"] = mixed
        if mixed:
            lack = f"{count(mixed, 'row')} {'does' if mixed == 1 else 'do'} not have the one pseudonym"
            sentences.append(f"column {name!r}: {lack} of the identifier")
    fine = "every pseudonym has the form of one"
    if case.order_known:
        fine += ", and equal identifiers have equal pseudonyms, different ones different"
    return Check("pseudonyms", not sentences, f"{'; '.join(sentences) or fine}.", figures)


def _strange(case: LoadedCase, name: str) -> int:
    """Count the cells that are neither empty nor 64 hexadecimal digits."""
    sql = case.release.columns[name]
    [(cells,)] = case.release.database.rows(
        f"SELECT count(*) FROM release WHERE {sql} IS NOT NULL AND NOT regexp_full_match({sql}, '{_FORM}')"
    )
    return int(cells)


def _plain(case: LoadedCase, name: str) -> int:
    """Count the cells that look like pseudonyms and are identifiers: those may be hashes, too."""
    if case.original is None or name not in case.original.columns:
        return 0
    sql, there = case.release.columns[name], case.original.columns[name]
    [(cells,)] = case.release.database.rows(
        f"SELECT count(*) FROM release WHERE regexp_full_match({sql}, '{_FORM}') "
        f"AND {sql} IN (SELECT {there} FROM original WHERE {there} IS NOT NULL)"
    )
    return int(cells)


def _surplus(case: LoadedCase, name: str) -> int:
    """Count the pseudonyms that no identifier can have, as none is left with that many rows; in any order of rows.

    A missing one counts, too: it stands for a missing identifier.
    """
    assert case.original is not None
    database = case.release.database
    relation = f"SELECT {case.original.columns[name]} AS who FROM original"
    person = told_apart(database, relation, case.policy)
    ranked = "SELECT *, row_number() OVER (PARTITION BY name IS NULL ORDER BY times DESC) AS place FROM"
    database.rows(
        f"CREATE OR REPLACE TEMP TABLE identifiers AS {ranked} (SELECT {person} AS name, count(*) AS times "
        f"FROM ({relation}) AS written LEFT JOIN people ON people.text = who GROUP BY 1) AS counted"
    )
    [(surplus,)] = database.rows(
        f"SELECT count(*) FROM ({ranked} (SELECT {case.release.columns[name]} AS name, count(*) AS times FROM release "
        "GROUP BY 1) AS counted) AS pseudonyms LEFT JOIN identifiers ON identifiers.place = pseudonyms.place "
        "AND (identifiers.name IS NULL) = (pseudonyms.name IS NULL) "
        "WHERE coalesce(identifiers.times, 0) < pseudonyms.times"
    )
    return int(surplus)


def _mixed(case: LoadedCase, name: str) -> int:
    """Count the rows whose pseudonym another identifier has, too, or whose identifier has another pseudonym, too."""
    assert case.original is not None
    database, pseudonym = case.release.database, f"r_{case.release.columns[name]}"
    relation = f"SELECT {pseudonym} AS pseudonym, o_{case.original.columns[name]} AS who FROM paired"
    person = told_apart(database, relation, case.policy)
    database.rows(
        f"CREATE OR REPLACE TEMP TABLE named AS SELECT pseudonym, {person} AS person, count(*) AS times "
        f"FROM ({relation}) AS written LEFT JOIN people ON people.text = who GROUP BY ALL"
    )
    [(rows,)] = database.rows(
        "SELECT CAST(coalesce(sum(times), 0) AS BIGINT) FROM (SELECT *, count(*) OVER (PARTITION BY pseudonym) AS "
        "people, count(*) OVER (PARTITION BY person) AS pseudonyms FROM named) AS counted WHERE people > 1 OR "
        "pseudonyms > 1 OR (pseudonym IS NULL) <> (person IS NULL)"
    )
    return int(rows)
