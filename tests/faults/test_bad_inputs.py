"""A hundred more requests that cannot be met as they are: each is refused in sentences, and nothing is written.

They are kept in one table, request by request, with the words that must be in what is said. All run in this process.
"""

# ruff: noqa: E501 (a table: one request, one line)

import gzip
from contextlib import chdir
from dataclasses import dataclass, field

import polars as pl
import pytest

from faults.harness import (
    CANARY,
    DATA,
    HEADER,
    JARGON,
    POLICY,
    ROWS,
    Content,
    age,
    ages,
    algorithm,
    assert_nothing_told,
    changed,
    command,
    contents,
    frame,
    parquet,
    place,
    plain_faults,
    privacy,
    section,
    town,
    zip_code,
)

ASKED = "anonymize people.csv -p policy.toml -o out.csv"
TREE = "77031;770;*\n77032;770;*\n77153;771;*\n77154;771;*\n"


@dataclass(frozen=True)
class Bad:
    """A request, and a part of what is said of it."""

    says: str
    asked: str = ASKED
    policy: Content = POLICY
    data: Content = DATA
    files: dict[str, Content] = field(default_factory=dict)
    code: int = 2


def sensitive(keys: str) -> str:
    """The policy with more keys for the sensitive column, at its end."""
    return POLICY + keys + "\n"


def name(keys: str) -> str:
    """The policy with more keys for the identifier."""
    return changed('role = "identifier"\n', f'role = "identifier"\n{keys}\n')


def models(text: str) -> str:
    return privacy(f"models = [{text}]")


def rows(*lines: str) -> str:
    return HEADER + "".join(f"{line}\n" for line in lines)


def without(column: str) -> bytes:
    return parquet(frame().drop(column))


def zips(content: Content, file: str = "zip.csv") -> dict:
    """A hierarchy in a file for the zip codes."""
    return {"policy": zip_code(f'"{file}"'), "files": {file: content}}


BAD = {
    # -- the policy: sections and types of values
    "k-is-a-text": Bad("'privacy.k' must be a valid integer", policy=changed("k = 2", 'k = "two"')),
    "k-is-a-half": Bad("'privacy.k' must be", policy=changed("k = 2", "k = 2.5")),
    "k-is-a-list": Bad("'privacy.k' must be", policy=changed("k = 2", "k = [2]")),
    "k-is-true": Bad("'privacy.k' must be", policy=changed("k = 2", "k = true")),
    "k-beyond-64-bits": Bad("k = ", policy=changed("k = 2", "k = 99999999999999999999")),
    "privacy-is-a-list": Bad("line 1", policy=changed("[privacy]", "[[privacy]]")),
    "no-privacy": Bad("'privacy' is missing", policy=changed("[privacy]\nk = 2\n", "")),
    "columns-is-a-number": Bad("'columns' must be", policy="columns = 3\n[privacy]\nk = 2\n"),
    "role-is-a-list": Bad("columns.town", policy=changed('[columns.town]\nrole = "quasi"', "[columns.town]\nrole = []")),
    "role-in-capitals": Bad("columns.town.role", policy=changed('town]\nrole = "quasi"', 'town]\nrole = "QUASI"')),
    "role-misspelt": Bad("'columns.town.role' must be", policy=changed('town]\nrole = "quasi"', 'town]\nrole = "qasi"')),
    "column-is-a-number": Bad("columns.town", policy=POLICY.replace('[columns.town]\nrole = "quasi"\n', "[columns]\ntown = 3\n")),
    "weight-is-infinite": Bad("columns.town.weight", policy=town("weight = inf")),
    "weight-is-nan": Bad("columns.town.weight", policy=town("weight = nan")),
    "weight-is-a-text": Bad("columns.town.weight", policy=town('weight = "heavy"')),
    "limit-in-percent": Bad("suppression_limit", policy=privacy("suppression_limit = 5")),
    "limit-is-nan": Bad("suppression_limit", policy=privacy("suppression_limit = nan")),
    "limit-is-a-text": Bad("suppression_limit", policy=privacy('suppression_limit = "5%"')),
    "missing-rule-unknown": Bad("'privacy.missing' must be", policy=privacy('missing = "drop"')),
    "missing-is-a-text": Bad("'input.missing' must be a list", policy=section("input", 'missing = "NA"')),
    "missing-holds-a-number": Bad("input.missing", policy=section("input", "missing = [-99]")),
    "person-is-nobody": Bad("'privacy.person' must name a column", policy=privacy('person = "nmae"')),
    "person-is-quasi": Bad("'privacy.person' must name a column", policy=privacy('person = "age"')),
    "person-is-a-list": Bad("privacy.person", policy=privacy('person = ["name"]')),
    "seed-is-negative": Bad("algorithm.seed", policy=changed("seed = 1", "seed = -1")),
    "seed-is-a-text": Bad("algorithm.seed", policy=changed("seed = 1", 'seed = "lucky"')),
    "budget-without-a-unit": Bad("algorithm.budget", policy=algorithm('budget = "30"')),
    "budget-is-a-number": Bad("algorithm.budget", policy=algorithm("budget = 30")),
    "budget-of-nothing": Bad("algorithm.budget", policy=algorithm('budget = "0.0s"')),
    "budget-in-other-digits": Bad("algorithm.budget", policy=algorithm('budget = "\u0663s"')),
    "budget-without-an-end": Bad("algorithm.budget", policy=algorithm(f'budget = "{"9" * 400}s"')),
    "budget-of-days": Bad("algorithm.budget", policy=algorithm('budget = "2d"')),
    "bound-effort-negative": Bad("algorithm.bound_effort", policy=algorithm("bound_effort = -1")),
    "measure-unknown": Bad("there is no measure 'ncpp'", policy=algorithm('measure = "ncpp"')),
    "measure-with-a-strange-key": Bad("ncp", policy=algorithm('measure = { name = "ncp", beta = 2 }')),
    "measure-without-a-name": Bad("algorithm.measure", policy=algorithm("measure = { beta = 2 }")),
    "algorithm-is-a-number": Bad("algorithm.name", policy=algorithm("name = 3")),
    "algorithm-misspelt": Bad("did you mean 'k-member'", policy=algorithm('name = "kmember"')),
    "parameters-are-a-list": Bad("algorithm.parameters", policy=algorithm("parameters = []")),
    "parameter-unknown": Bad("speed", policy=algorithm('name = "k-member"\nparameters = { speed = 9 }')),
    "order-unknown": Bad("output.order", policy=section("output", 'order = "sorted"')),
    "shuffle-seed-too-large": Bad("output.shuffle_seed", policy=section("output", "shuffle_seed = 9223372036854775808")),
    "bounds-is-a-text": Bad("output.bounds", policy=section("output", 'bounds = "yes"')),
    "formulas-unknown": Bad("output.formulas", policy=section("output", 'formulas = "escaped"')),
    "key-without-pseudonym": Bad("pseudonym", policy=section("output", 'pseudonym_key = { env = "K" }')),
    "pseudonym-without-key": Bad("pseudonym_key", policy=name("pseudonym = true")),
    "pseudonym-of-a-quasi": Bad("'pseudonym' is for identifiers only", policy=town("pseudonym = true")),
    "domain-of-three": Bad("columns.age", policy=age('type = "integer"\ndomain = [0, 50, 99]')),
    "domain-upside-down": Bad("smallest < largest", policy=age('type = "integer"\ndomain = [99, 0]')),
    "domain-of-a-text": Bad("'domain' is for numeric columns only", policy=town('type = "string"\ndomain = [0, 9]')),
    "snap-of-nothing": Bad("columns.age.snap", policy=age('type = "integer"\nsnap = 0')),
    "top-below-bottom": Bad("'top' must be above 'bottom'", policy=age('type = "integer"\nbottom = 60\ntop = 30')),
    "top-no-date": Bad("must be a number, or a date", policy=age('type = "date"\ntop = "soon"')),
    "format-without-date": Bad("'format' needs type", policy=age('type = "integer"\nformat = "%Y"')),
    "format-without-a-year": Bad("columns.age", policy=age('type = "date"\nformat = "%d.%m."')),
    "type-unknown": Bad("columns.age.type", policy=age('type = "float"')),
    "sensitive-of-no-weight": Bad("needs a weight above 0", policy=sensitive("weight = 0")),
    "hierarchy-is-a-number": Bad("columns.zip.hierarchy", policy=zip_code("3")),
    "hierarchy-of-nothing": Bad("must have exactly one of", policy=zip_code("{ }")),
    "hierarchy-of-two-kinds": Bad("must have exactly one of", policy=zip_code("{ prefix = [5], flat = true }")),
    "prefix-of-nothing": Bad("columns.zip.hierarchy.prefix", policy=zip_code("{ prefix = [] }")),
    "prefix-negative": Bad("zip", policy=zip_code("{ prefix = [5, -1] }")),
    "prefix-growing": Bad("zip", policy=zip_code("{ prefix = [3, 5] }")),
    "intervals-of-no-width": Bad("columns.zip.hierarchy.intervals", policy=zip_code("{ intervals = { width = 0 } }")),
    "cuts-of-nothing": Bad("columns.zip.hierarchy.cuts", policy=zip_code("{ cuts = [] }")),
    "cuts-not-ascending": Bad("zip", policy=zip_code("{ cuts = [[5, 3]] }")),
    "dates-of-weeks": Bad("columns.zip.hierarchy.dates", policy=zip_code('{ dates = ["week"] }')),
    "flat-is-false": Bad("columns.zip.hierarchy.flat", policy=zip_code("{ flat = false }")),
    "tree-of-numbers": Bad("zip", policy=zip_code("{ tree = { a = 3 } }")),
    # -- privacy models
    "model-without-a-name": Bad("model", policy=models('{ column = "disease", l = 2 }')),
    "model-unknown": Bad("there is no privacy model", policy=models('{ model = "l-diversity", column = "disease" }')),
    "model-without-its-column": Bad("column", policy=models('{ model = "distinct-l-diversity", l = 2 }')),
    "model-of-another-column": Bad("'illness'", policy=models('{ model = "distinct-l-diversity", column = "illness", l = 2 }')),
    "model-of-a-quasi": Bad("'age'", policy=models('{ model = "distinct-l-diversity", column = "age", l = 2 }')),
    "model-of-a-half": Bad("'l'", policy=models('{ model = "distinct-l-diversity", column = "disease", l = 2.5 }')),
    "closeness-above-one": Bad("'t'", policy=models('{ model = "t-closeness", column = "disease", t = 3 }')),
    "risk-of-nothing": Bad("most", policy=models('{ model = "average-risk", most = 0 }')),
    "models-are-a-table": Bad("'privacy.models' must be a list", policy=privacy("models = { a = 1 }")),
    "too-much-diversity": Bad(
        "disease", policy=models('{ model = "distinct-l-diversity", column = "disease", l = 4 }'), code=3
    ),
    # -- tables
    "only-a-header": Bad("has no rows", data=HEADER),
    "one-record": Bad("k", data=rows("a,30,77031,X,flu")),
    "no-header": Bad("the first line names no column of the policy", data=ROWS),
    "header-with-blanks": Bad("column 'age' is not in the table", data=DATA.replace("age,", " age ,")),
    "header-in-capitals": Bad("names no column of the policy", data=DATA.replace(HEADER, HEADER.upper())),
    "a-column-too-many": Bad("column 6 of people.csv has no role", data=DATA.replace("\n", ",\n").replace("disease,", "disease,x")),
    "a-column-too-few": Bad("column 'disease' is not in the table", data="\n".join(line.rpartition(",")[0] for line in DATA.splitlines()) + "\n"),
    "a-line-too-short": Bad("people.csv", data=f"{DATA}{CANARY}-e,44\n"),
    "a-line-too-long": Bad("people.csv", data=f"{DATA}{CANARY}-e,44,77031,X,flu,more\n"),
    "an-open-quote": Bad("people.csv", data=f'{DATA}"{CANARY}-e,44,77031,X,flu\n'),
    "text-after-a-quote": Bad("people.csv", data=f'{DATA}"{CANARY}"-e,44,77031,X,flu\n'),
    "years-for-ages": Bad("column 'age'", data=ages("31 years", "41")),
    "ages-with-a-comma": Bad("column 'age'", data=ages('"31,5"', "41")),
    "ages-with-blanks-inside": Bad("column 'age'", data=ages("3 1", "41")),
    "ages-in-hex": Bad("column 'age'", data=ages("0x1F", "41")),
    "ages-too-large": Bad("64-bit integer", data=ages("99999999999999999999", "41")),
    "ages-with-underscores": Bad("column 'age'", data=ages("3_1", "41")),
    "ages-of-other-digits": Bad("column 'age'", data=ages("\u0663\u0661", "41")),
    "a-pdf": Bad("people.csv", data=b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n"),
    "a-page-of-the-web": Bad("people.csv", data="<html><body><table><tr><td>1</td></tr></table></body></html>\n"),
    "json-for-csv": Bad("people.csv", data='[{"name": "a", "age": 30}]\n'),
    "half-a-gzip": Bad("people.csv.gz", asked="anonymize people.csv.gz -p policy.toml -o out.csv", files={"people.csv.gz": gzip.compress(DATA.encode())[:-9]}),
    "csv-called-parquet": Bad("no readable Parquet", asked="anonymize people.parquet -p policy.toml -o out.csv", files={"people.parquet": DATA}),
    "parquet-without-a-column": Bad("column 'town' is not in the table", asked="anonymize people.parquet -p policy.toml -o out.csv", files={"people.parquet": without("town")}),
    "parquet-with-lists": Bad("lists", asked="anonymize people.parquet -p policy.toml -o out.csv", files={"people.parquet": parquet(frame().with_columns(town=pl.lit([1, 2])))}),
    "parquet-of-nothing": Bad("no rows", asked="anonymize people.parquet -p policy.toml -o out.csv", files={"people.parquet": parquet(frame().head(0))}),
    # -- hierarchies in files
    "hierarchy-is-empty": Bad("zip.csv", **zips("")),
    "hierarchy-lacks-values": Bad("zip", **zips("77031;770;*\n")),
    "hierarchy-with-two-roots": Bad("zip", **zips(TREE.replace("771;*", "771;+"))),
    "hierarchy-with-a-value-twice": Bad("zip", **zips(TREE + "77031;771;*\n")),
    "hierarchy-with-a-loop": Bad("zip", **zips("77031;770;771;*\n77032;771;770;*\n77153;770;771;*\n77154;770;771;*\n")),
    "hierarchy-of-bytes": Bad("zip.csv", **zips(b"\xff\xfe\x00\xd8")),
    "hierarchy-is-toml-and-broken": Bad("zip.toml", **zips("a = [", "zip.toml")),
    "hierarchy-of-another-kind": Bad("zip", **zips(b"PK\x03\x04", "zip.xlsx")),
    # -- the command line
    "k-of-one": Bad("privacy.k", asked=f"{ASKED} --k 1"),
    "k-of-too-many": Bad("k = 5", asked=f"{ASKED} --k 5"),
    "no-such-algorithm": Bad("there is no algorithm 'fastest'", asked=f"{ASKED} --algorithm fastest"),
    "no-such-measure": Bad("there is no measure 'gcp'", asked=f"{ASKED} --measure gcp"),
    "budget-for-no-search": Bad("a budget is for a search", asked=f"{ASKED} --algorithm k-member --budget 3s"),
    "memory-in-words": Bad("memory", asked=f"{ASKED} --memory plenty"),
    "memory-of-nothing": Bad("memory", asked=f"{ASKED} --memory 0GB"),
    "output-of-another-kind": Bad("out.docx", asked=ASKED.replace("out.csv", "out.docx")),
    "output-without-a-kind": Bad("its kind is not known", asked=ASKED.replace("out.csv", "out")),
    "output-over-the-input": Bad("is the input itself", asked=ASKED.replace("out.csv", "people.csv")),
    "output-over-the-policy": Bad("policy.toml", asked=ASKED.replace("out.csv", "policy.toml")),
    "output-in-no-folder": Bad("make the folder first", asked=ASKED.replace("out.csv", "there/out.csv")),
    "verdict-over-the-output": Bad("out.csv", asked=f"{ASKED} --verdict out.csv"),
    "private-over-the-verdict": Bad("private verdict", asked=f"{ASKED} --private out.csv.verdict.json"),
    "person-without-a-ledger": Bad("ledger", asked=f"{ASKED} --person name"),
    "key-without-a-person": Bad("ledger", asked=f"{ASKED} --ledger-key key"),
    "master-without-spark": Bad("master", asked=f"{ASKED} --master local"),
    "verify-nothing": Bad("nothing.csv", asked="verify nothing.csv -p policy.toml"),
    "verify-the-policy": Bad("policy.toml", asked="verify policy.toml -p policy.toml"),
    "verify-without-a-promise": Bad("people.csv.verdict.json", asked="verify people.csv"),
    "verify-with-two-promises": Bad("give one of them", asked="verify people.csv -p policy.toml --verdict v.json"),
    "verify-by-another-verdict": Bad("is not a verdict of kohort", asked="verify people.csv --verdict v.json", files={"v.json": "{}"}),
    "verify-a-column-that-is-not-there": Bad("'ages' is not in the file", asked="verify people.csv --qi ages --k 2"),
    "verify-with-no-original": Bad("nothing.csv", asked="verify people.csv -p policy.toml --original nothing.csv"),
    "measure-nothing": Bad("nothing.csv", asked="measure nothing.csv -p policy.toml"),
    "measure-by-no-measure": Bad("there is no measure", asked="measure people.csv -p policy.toml --measure x"),
    "compare-by-no-algorithm": Bad("there is no algorithm", asked="compare people.csv -p policy.toml --algorithms x"),
    "compare-by-half-a-parameter": Bad("is no parameter", asked="compare people.csv -p policy.toml --algorithms cb:x"),
    "why-without-a-table": Bad("nothing.csv", asked="why nothing.csv -p policy.toml"),
    "init-of-nothing": Bad("nothing.csv", asked="init nothing.csv -o new.toml"),
    "init-of-one-record": Bad("1 record", asked="init people.csv -o new.toml", data=rows("a,30,77031,X,flu")),
    "demo-for-too-few": Bad("k = 10", asked="demo --rows 5 --folder there"),
}  # fmt: skip


@pytest.mark.promise("6.2", "4.2")
@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
def test_it_is_refused_in_sentences_and_nothing_is_written(bad, tmp_path, capfd):
    place(tmp_path, {"policy.toml": bad.policy, "people.csv": bad.data, **bad.files})
    before = contents(tmp_path)
    with chdir(tmp_path):
        ended = command(capfd, *bad.asked.split())
    assert ended.code == bad.code, ended
    assert contents(tmp_path) == before
    assert_nothing_told(ended)
    said = plain_faults(ended)
    assert any(bad.says in sentence for sentence in said), said
    for sentence in said:
        assert sentence.endswith(".")
        assert not JARGON.search(sentence), sentence


def test_they_are_more_than_a_hundred():
    assert len(BAD) > 100
