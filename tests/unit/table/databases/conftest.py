"""One table in a database of each kind; the PostgreSQL server is a real one, started once."""

import sqlite3

import duckdb
import pytest

from helpers.postgres import server

ROWS = 400
COLUMNS = (
    "id, 20 + id % 50 AS age, CASE WHEN id % 2 = 0 THEN 'f' ELSE 'm' END AS sex, "
    "CASE WHEN id % 9 = 0 THEN NULL ELSE '0' || (id % 7) END AS ill, CAST(id AS DOUBLE PRECISION) / 8 AS cost"
)
SERIES = "WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < {rows}) "


@pytest.fixture(scope="session")
def socket():
    with server() as folder:
        yield folder


class Base:
    """A database: a URL, and a way to run statements in it that is not kohort's."""

    def __init__(self, url, run, files=()):
        self.url, self.run, self.files = url, run, files

    def at(self, table):
        return f"{self.url}#{table}"

    def fill(self, rows=ROWS):
        self.run("DROP TABLE IF EXISTS patients")
        self.run(f"CREATE TABLE patients AS {SERIES.format(rows=rows)} SELECT {COLUMNS} FROM n")
        return self

    def tables(self):
        return {name for (name,) in self.run(self.listing)}


@pytest.fixture(params=["sqlite", "duckdb", "postgres"])
def base(request, tmp_path):
    if request.param == "postgres":
        made = postgres(request.getfixturevalue("socket"))
    else:
        made = {"sqlite": of_sqlite, "duckdb": of_duckdb}[request.param](tmp_path)
    made.kind = request.param
    yield made.fill()
    if request.param == "postgres":
        made.run("DROP SCHEMA public CASCADE; CREATE SCHEMA public")


def of_sqlite(folder):
    path = folder / "clinic.db"

    def run(sql):
        connection = sqlite3.connect(path)
        try:
            with connection:
                return connection.execute(sql).fetchall()
        finally:
            connection.close()

    made = Base(f"sqlite:///{path}", run)
    made.listing = "SELECT name FROM sqlite_master WHERE type = 'table'"
    return made


def of_duckdb(folder):
    path = folder / "clinic.duckdb"

    def run(sql):
        with duckdb.connect(str(path)) as connection:
            return connection.execute(sql).fetchall()

    made = Base(f"duckdb:///{path}", run)
    made.listing = "SELECT table_name FROM information_schema.tables"
    return made


def postgres(socket):
    import adbc_driver_postgresql.dbapi as dbapi

    url = f"postgresql:///postgres?host={socket}&user=steward"

    def run(sql):
        with dbapi.connect(url, autocommit=True) as connection, connection.cursor() as cursor:
            if not sql.startswith(("SELECT", "TABLE")):
                cursor.executescript(sql)
                return []
            cursor.execute(sql)
            return cursor.fetchall()

    made = Base(url, run)
    made.listing = "SELECT table_name::text FROM information_schema.tables WHERE table_schema = 'public'"
    return made
