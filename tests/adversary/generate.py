"""Random requests, each from one number: columns, taxonomies, tables, policies and the files that hold them.

A case is plain data. Nothing of kohort is used here, so that a request is what a user would write, not what fits.
"""

from __future__ import annotations

import csv
import datetime as dt
import gzip
import io
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any
from zoneinfo import ZoneInfo

import tomlkit

ENGINES = ("memory", "disk", "spark")
ZONES = ("UTC", "America/New_York", "Europe/Berlin", "Asia/Tokyo", "Pacific/Auckland")
NAMES = (
    *(
        "age",
        "Age",
        "zip",
        "born",
        "sex",
        "[/]",
        "[bold]x",
        "a b",
        'quo"te',
        "semi;colon",
        "com,ma",
        "café",
        "cafe\u0301",
    ),
    *("=1+1", "it's", "select", "a.b", "count", "row", "index", "x_lo", "%s", "{0}", "_part", "code", "ü" * 40),
    *("__class__", "order", "k", "passed", "seed", "\\n", "a/b", "..", "#", "-x", "`tick`", "null", "true", "1", "1.0"),
    *("name", "len", "column", "value", "literal", "bucket", "x_hi", "kept", "hash", "rowid", "file_row_number"),
)
ODD = (
    *(" lead", "trail ", "é", "e\u0301", 'quo"te', '"', '""', "apo'", "com,ma", "semi;", "pipe|", "tab\t", "new\nline"),
    *("cr\r\nlf", "=1+1", "+cmd", "-1", "@x", "[1 - 2]", "<= 3", "2024-03", "1", "1.0", "1.00", "01", "NA", "null"),
    *("true", "\\N", "\\", "ß", "😀", "\u200b", "\u00a0x", "a" * 300, "\x01", "*x", "[/]", "[red]", "%", "{x}", "?"),
)
MODELS_OF_TEXTS = (
    *("distinct-l-diversity", "frequency-l-diversity", "alpha-k", "entropy-l-diversity", "recursive-cl-diversity"),
    *("t-closeness", "beta-likeness", "delta-disclosure"),
)
MODELS_OF_NUMBERS = ("k-e", "variance-control", "epsilon-m", "dissimilarity", "t-closeness", "distinct-l-diversity")
IN_CLASSES = (
    *(
        "auto",
        "best",
        "fast",
        "k-member",
        "mondrian",
        "gccg",
        "gccg-parallel",
        "k-member-parallel",
        "kaca",
        "mdav",
        "oka",
    ),
    *("loukides-shao", "pac", "cb", "sequential", "systematic", "top-down-greedy", "two-level", "incognito", "datafly"),
)
IN_PARTS = ("auto", "fast", "k-member", "mondrian", "gccg", "best", "pac", "cb", "mdav", "sequential")
MEASURES = ("ncp", "iloss", "path", "height", "leaf", "whd")


@dataclass
class Made:
    """A column: its cells as values, what the policy says of it, and how typed files hold it."""

    name: str
    cells: list[Any]
    spec: dict[str, Any]
    arrow: str = "string"
    pool: list[Any] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)


@dataclass
class Case:
    """One request."""

    seed: int
    engine: str
    columns: list[Made]
    policy: dict[str, Any]
    source: dict[str, Any]
    target: str
    options: list[str]
    files: dict[str, str]
    zone: str
    text: str | None = None
    """The table as it is, for a case that was written by hand."""

    @property
    def rows(self) -> int:
        """Records of the table."""
        return len(self.columns[0].cells) if self.columns else 0

    def __str__(self) -> str:
        head = f"seed {self.seed}, engine {self.engine}, source {self.source}, target {self.target}, {self.options}"
        names = [(made.name, made.arrow, made.cells[:12]) for made in self.columns]
        return "\n".join([head, *map(str, names), tomlkit.dumps(self.policy)])


# -- columns -----------------------------------------------------------------------------------------


def _canary(r: Random) -> str:
    return f"zq{r.randrange(16**6):06x}"


def _texts(r: Random, count: int) -> list[str]:
    """Different texts, most of them easy to recognise wherever they turn up, some of them odd."""
    found: dict[str, None] = {}
    while len(found) < count:
        odd = r.random() < 0.3
        text = r.choice(ODD) if odd else _canary(r)
        found.setdefault(text if not odd or r.random() < 0.5 else _canary(r) + text)
    return list(found)


def _numbers(r: Random) -> list[Any]:
    kind = r.choice(["small", "small", "wide", "negative", "decimals", "tiny", "huge"])
    if kind == "decimals":
        return [Decimal(r.randrange(-500, 500)) / 100 for _ in range(r.randint(1, 30))]
    if kind == "tiny":
        return [Decimal(r.randrange(1, 99)).scaleb(-9) for _ in range(8)]
    if kind == "huge":
        return [r.randrange(10**14, 10**15) for _ in range(12)]
    low, high = {"small": (0, 9), "wide": (0, 99999), "negative": (-40, 40)}[kind]
    return [r.randint(low, high) for _ in range(r.randint(1, 40))]


def _days(r: Random) -> list[dt.date]:
    first = r.choice([dt.date(1999, 12, 20), dt.date(1931, 1, 1), dt.date(2024, 2, 1), dt.date(1, 1, 1)])
    spread = r.choice([3, 60, 20000])
    return [first + dt.timedelta(r.randrange(spread)) for _ in range(r.randint(1, 30))]


def _tree(r: Random, leaves: list[str]) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for leaf in leaves:
        tree.setdefault(f"group {r.randrange(4)}", []).append(leaf)
    if r.random() < 0.5 and len(tree) > 1:
        first, *rest = tree
        return {"all but one": {name: tree[name] for name in rest}, first: tree[first]}
    return tree


def _arx(r: Random, leaves: list[str]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, delimiter=";", lineterminator="\n")
    writer.writerows([leaf, f"g{r.randrange(3)}", "*"] for leaf in leaves)
    return out.getvalue()


def _quasi_integer(r: Random, name: str) -> Made:
    pool = [int(x) for x in _numbers(r)]
    spec: dict[str, Any] = {"role": "quasi"} | ({"type": "integer"} if r.random() < 0.6 else {})
    how = r.choice(["plain", "plain", "plain", "precision", "intervals", "cuts", "domain"])
    if how == "precision":
        spec |= _precision(r, pool) | {"type": "integer"}
    elif how == "intervals":
        spec["hierarchy"] = {"intervals": {"width": r.choice([1, 2, 5]), "levels": r.choice([[1], [1, 2], [1, 2, 4]])}}
    elif how == "cuts":
        borders = sorted({r.randint(min(pool) - 1, max(pool) + 2) for _ in range(4)})
        spec["hierarchy"] = {"cuts": [borders, borders[::2]] if len(borders) > 2 else [borders]}
    elif how == "domain":
        spec["domain"] = [min(pool) - r.randint(0, 5), max(pool) + r.randint(1, 5)]
    return Made(name, [], spec, r.choice(["int64", "int64", "int32", "string"]), pool)


def _precision(r: Random, pool: list[int]) -> dict[str, Any]:
    snap = r.choice([None, 1, 2, 5, 10])
    unit = snap or 1
    spec: dict[str, Any] = {"snap": snap} if snap else {}
    low, high = min(pool), max(pool)
    width = r.choice([None, unit, 3 * unit])
    spec |= {"min_width": width} if width else {}
    room = max(unit, width or 0)
    if r.random() < 0.5:
        spec["top"] = (high - r.randint(0, max(1, (high - low) // 2))) // unit * unit
    if r.random() < 0.5:
        spec["bottom"] = (low + r.randint(0, max(1, (high - low) // 4))) // unit * unit
        if "top" in spec and spec["top"] - spec["bottom"] < room:
            spec["bottom"] = spec["top"] - room
    return spec or {"snap": 2}


def _quasi_number(r: Random, name: str) -> Made:
    pool = [Decimal(x) for x in _numbers(r)]
    spec: dict[str, Any] = {"role": "quasi"} | ({"type": "number"} if r.random() < 0.7 else {})
    how = r.choice(["plain", "plain", "snap", "intervals", "decimal", "float32"])
    arrow = "double"
    if how == "snap":
        spec |= {"type": "number", "snap": r.choice([0.5, 2.5, 0.1])}
    elif how == "intervals":
        spec |= {"type": "number", "hierarchy": {"intervals": {"width": r.choice([0.5, 2.5, 10.0])}}}
    elif how == "decimal":
        arrow = "decimal128(30, 9)"
    elif how == "float32":
        arrow = "float"
    return Made(name, [], spec, arrow, pool)


def _quasi_date(r: Random, name: str) -> Made:
    pool: list[Any] = _days(r)
    spec: dict[str, Any] = {"role": "quasi"} | ({"type": "date"} if r.random() < 0.6 else {})
    how = r.choice(["plain", "plain", "dates", "snap", "top", "format", "timestamp", "timestamp"])
    arrow = r.choice(["date32[day]", "string"])
    if how == "dates":
        levels = ["month", "quarter", "year", "decade"]
        spec |= {"type": "date", "hierarchy": {"dates": [one for one in levels if r.random() < 0.6] or ["year"]}}
    elif how == "snap":
        spec |= {"type": "date", "snap": r.choice([7, 30])}
    elif how == "top":
        spec |= {"type": "date", "top": max(pool).isoformat(), "min_width": r.choice([1, 5])}
    elif how == "format":
        spec |= {"type": "date", "format": r.choice(["%d/%m/%Y", "%Y%m%d", "%m-%d-%Y", "%d.%m.%Y"])}
        arrow = "string"
    elif how == "timestamp":
        zone = r.choice([*ZONES, None])
        pool = [_moment(r, max(day, dt.date(1900, 1, 2)), zone) for day in pool]
        arrow = f"timestamp[{r.choice(['us', 'ms', 'ns'])}{', tz=' + zone if zone else ''}]"
    return Made(name, [], spec, arrow, pool)


def _moment(r: Random, day: dt.date, zone: str | None) -> dt.datetime:
    """Midnight where it is, or any other time."""
    time = dt.time() if r.random() < 0.5 else dt.time(r.randrange(24), r.randrange(60))
    return dt.datetime.combine(day, time, ZoneInfo(zone) if zone else None)


def _quasi_text(r: Random, name: str) -> Made:
    how = r.choice(["none", "flat", "tree", "tree", "toml", "arx", "prefix", "bool"])
    spec: dict[str, Any] = {"role": "quasi"} | ({"type": "string"} if r.random() < 0.5 else {})
    if how == "prefix":
        length = r.choice([4, 5])
        pool: list[Any] = [f"{r.randrange(10**length):0{length}d}" for _ in range(r.randint(2, 20))]
        spec["hierarchy"] = {"prefix": r.choice([[length, 2], [length, 3, 1], [2]])}
        return Made(name, [], spec, "string", pool)
    if how == "bool":
        return Made(name, [], spec, "bool", [True, False])
    pool = [text for text in _texts(r, r.randint(2, 9)) if how != "arx" or text.strip() == text]
    pool = pool or ["zq only"]
    made = Made(name, [], spec, r.choice(["string", "string", "large_string", "dictionary"]), pool)
    if how == "flat":
        spec["hierarchy"] = {"flat": True}
    elif how == "tree":
        spec["hierarchy"] = {"tree": _tree(r, pool)}
    elif how in ("toml", "arx"):
        made.files = {f"tree{r.randrange(10**6)}.{'toml' if how == 'toml' else 'csv'}": ""}
        [path] = made.files
        made.files[path] = tomlkit.dumps({"tree": _tree(r, pool)}) if how == "toml" else _arx(r, pool)
        spec["hierarchy"] = path if r.random() < 0.5 else {"file": path}
    return made


def _quasi(r: Random, name: str, n: int) -> Made:
    made = r.choice([_quasi_integer, _quasi_integer, _quasi_number, _quasi_date, _quasi_text, _quasi_text])(r, name)
    if r.random() < 0.3:
        made.spec["weight"] = r.choice([0.5, 2.0, 10.0])
    made.cells = [r.choice(made.pool) for _ in range(n)]
    return made


def _sensitive(r: Random, name: str, n: int) -> Made:
    spec: dict[str, Any] = {"role": "sensitive"}
    kind = r.random()
    if kind < 0.1:
        pool, arrow = r.choice([(sorted({str(day) for day in _days(r)}), "string"), (["true", "false"], "string")])
    elif kind < 0.4:
        pool: list[Any] = sorted({r.randrange(1000, 99999) for _ in range(r.choice([3, 6, 40]))})
        arrow = r.choice(["int64", "double", "string"])
    else:
        pool, arrow = _texts(r, r.choice([3, 5, 8])), "string"
        if r.random() < 0.3:
            spec["hierarchy"] = {"tree": _tree(r, pool)}
        elif r.random() < 0.5:
            pool += [_respelt(r, text) for text in r.sample(pool, 2)]
    cells = [r.choice(pool) for _ in range(n)]
    if r.random() < 0.2:
        cells = [None if r.random() < 0.15 else cell for cell in cells]
    return Made(name, cells, spec, arrow, pool)


def _insensitive(r: Random, name: str, n: int) -> Made:
    """What is published as it is: odd texts, numbers, days and moments, some of them missing."""
    zone = r.choice([*ZONES, None])
    kinds: dict[str, Any] = {
        "string": lambda: _texts(r, 4),
        "int64": lambda: [int(x) for x in _numbers(r)],
        "double": lambda: _numbers(r),
        "decimal128(30, 9)": lambda: [Decimal(x) for x in _numbers(r)],
        "bool": lambda: [True, False],
        "date32[day]": lambda: _days(r),
        f"timestamp[{r.choice(['us', 'ms', 'ns'])}{', tz=' + zone if zone else ''}]": lambda: [
            _moment(r, max(day, dt.date(1900, 1, 2)), zone) for day in _days(r)
        ],
    }
    arrow = r.choice(["string", "string", *kinds])
    pool = kinds[arrow]()
    gone = r.choice([0.0, 0.0, 0.1])
    return Made(name, [None if r.random() < gone else r.choice(pool) for _ in range(n)], {"role": "insensitive"}, arrow)


def _respelt(r: Random, text: str) -> str:
    """The same value in another spelling."""
    return r.choice([" " + text, text + " ", text + "\u0301e", text])


def _names(r: Random, count: int) -> list[str]:
    if r.random() < 0.01:
        return [*(f"c{number}" for number in range(count - 1)), r.choice(["*", "^a.*$", "^.*$", "__kohort_row"])]
    if r.random() < 0.5:
        return [f"c{number}" for number in range(count)]
    found = r.sample(NAMES, count)
    if r.random() < 0.3:
        found[1] = found[0].swapcase() if found[0].swapcase() not in found else found[1]
    return found


# -- policies ----------------------------------------------------------------------------------------


def _model(r: Random, made: Made) -> dict[str, Any]:
    numeric = not isinstance(made.pool[0], str)
    name = r.choice(MODELS_OF_NUMBERS if numeric else MODELS_OF_TEXTS)
    spread = (max(made.pool) - min(made.pool)) if numeric else 0
    parameters: dict[str, Any] = {
        "distinct-l-diversity": lambda: {"l": 2},
        "frequency-l-diversity": lambda: {"l": 2},
        "alpha-k": lambda: (
            {"alpha": r.choice([0.5, 0.7])}
            | ({"values": [made.cells[0]]} if made.cells[0] is not None and r.random() < 0.5 else {})
        ),
        "entropy-l-diversity": lambda: {"l": r.choice([1.5, 2.0])},
        "recursive-cl-diversity": lambda: {"c": r.choice([1.5, 3.0]), "l": 2},
        "t-closeness": lambda: {"t": r.choice([0.2, 0.4, 0.6]), "distance": "ordered" if numeric else "equal"},
        "beta-likeness": lambda: {"beta": r.choice([0.8, 2.0]), "enhanced": r.random() < 0.5},
        "delta-disclosure": lambda: {"delta": r.choice([1.5, 3.0]), "zeros": r.choice(["count", "skip"])},
        "k-e": lambda: {"k": 2, "e": spread // 10},
        "variance-control": lambda: {"variance": max(1, spread)},
        "epsilon-m": lambda: {"epsilon": max(1, spread // 20), "m": 2},
        "dissimilarity": lambda: {"epsilon": max(1, spread // 20), "delta": r.choice([0.3, 0.5])},
    }[name]()
    if name == "t-closeness" and "hierarchy" in made.spec and r.random() < 0.5:
        parameters["distance"] = "hierarchical"
    return {"model": name, "column": made.name, **parameters}


def _dialect(r: Random, columns: list[Made]) -> dict[str, Any]:
    """How a CSV file is written; what the policy must say of it is under `input`."""
    delimiter = r.choice([",", ",", ";", "\t", "|"])
    given: dict[str, Any] = {"delimiter": delimiter} if r.random() < 0.3 else {}
    if r.random() < 0.05:
        delimiter = r.choice(["^", "~", ":"])
        given["delimiter"] = delimiter
    quote = '"'
    if r.random() < 0.08:
        quote = "'"
        given["quote"] = quote
    encoding = r.choice(["utf-8"] * 6 + ["utf-8-sig", "utf-16", "cp1252"])
    everything = "".join(str(cell) for made in columns for cell in [made.name, *made.cells])
    if encoding == "cp1252":
        try:
            everything.encode("cp1252")
        except UnicodeEncodeError:
            encoding = "utf-8"
        else:
            given["encoding"] = "cp1252"
    return {
        "kind": "csv",
        "delimiter": delimiter,
        "quote": quote,
        "encoding": encoding,
        "all": r.random() < 0.2,
        "newline": r.choice(["\n", "\n", "\r\n"]),
        "end": r.random() < 0.9,
        "gzip": r.random() < 0.1,
        "spellings": r.random() < 0.2,
        "input": given,
    }


def case_of(seed: int, engine: str = "memory") -> Case:
    """The case of a number."""
    r = Random(f"{engine} {seed}")
    n = {"memory": r.choice([r.randint(4, 9), r.randint(6, 40), r.randint(20, 70)]), "disk": r.randint(60, 160)}.get(
        engine, r.randint(40, 120)
    )
    names = _names(r, 12)
    columns = [_quasi(r, names.pop(), n) for _ in range(r.randint(1, 4))]
    quasi = list(columns)
    sensitive = [_sensitive(r, names.pop(), n) for _ in range(r.choice([0, 1, 1, 1, 2]))]
    columns += sensitive
    who = Made(names.pop(), [f"{_canary(r)}" for _ in range(n)], {"role": "identifier"})
    columns.append(who)
    if r.random() < 0.5:
        columns.append(Made(names.pop(), [f"tag {row} {_canary(r)}" for row in range(n)], {"role": "insensitive"}))
    if r.random() < 0.4:
        columns.append(_insensitive(r, names.pop(), n))
    r.shuffle(columns)
    policy, missing = _policy(r, engine, n, quasi, sensitive, who)
    for made in quasi:
        if missing and r.random() < 0.6:
            made.cells = [None if r.random() < missing else cell for cell in made.cells]
    files = {path: text for made in columns for path, text in made.files.items()}
    if engine == "spark" and seed % 8:
        _without_odd_moments(columns)
    source = _source(r, engine, columns)
    if engine != "memory" and r.random() < 0.9:
        source |= {"encoding": "utf-8", "input": {k: v for k, v in source.get("input", {}).items() if k != "encoding"}}
    policy["input"] |= source.pop("input", {})
    policy["columns"] = {made.name: made.spec for made in columns}
    target = r.choice(["csv", "csv", "csv", "parquet", "csv.gz"]) if engine != "spark" else r.choice(["csv", "parquet"])
    if engine == "memory" and r.random() < 0.15:
        target = r.choice(["jsonl", "feather"])
    options = _population(r, engine, policy, quasi, files)
    policy = {section: keys for section, keys in policy.items() if keys}
    return Case(seed, engine, columns, policy, source, target, options, files, r.choice(ZONES))


def _policy(
    r: Random, engine: str, n: int, quasi: list[Made], sensitive: list[Made], who: Made
) -> tuple[dict[str, Any], float]:
    """A policy without its columns, and the share of quasi-identifiers that are missing."""
    k = r.randint(2, max(2, min(5, n // 3)))
    privacy: dict[str, Any] = {"k": k}
    algorithm: dict[str, Any] = {"bound_effort": 0.0}
    output: dict[str, Any] = {}
    given: dict[str, Any] = {}
    algorithm["name"] = r.choice(["auto", "auto", r.choice(IN_CLASSES if engine == "memory" else IN_PARTS)])
    if r.random() < 0.8:
        algorithm["seed"] = r.randrange(10**8, 10**9)
    if r.random() < 0.3:
        algorithm["measure"] = r.choice(MEASURES)
    if engine == "memory" and r.random() < 0.1:
        algorithm["refine"] = True
    if r.random() < 0.4:
        privacy["suppression_limit"] = r.choice([0.05, 0.1, 0.3, 0.5])
    missing = r.choice([0.0, 0.0, 0.05, 0.2])
    if missing:
        privacy["missing"] = r.choice(["own-value"] * 5 + ["suppress"] * 3 + ["wildcard"] * 3 + ["refuse"])
        if privacy["missing"] == "suppress":
            privacy["suppression_limit"] = 0.6
        given["missing"] = r.choice([[""], ["", "NA"], ["?"], ["", "-", "null"]])
    if sensitive and r.random() < 0.5:
        privacy["models"] = [_model(r, r.choice(sensitive)) for _ in range(r.choice([1, 1, 2]))]
    if r.random() < 0.1:
        size = {"model": "average-risk", "most": r.choice([0.5, 0.2])}
        privacy["models"] = [*privacy.get("models", []), r.choice([size, {"model": "sample-uniqueness", "most": 0.0}])]
    if r.random() < (0.2 if engine == "memory" else 0.02):
        who.cells = [f"zq person {r.randrange(max(k + 1, n // 2))}" for _ in range(n)]
        privacy["person"] = who.name
    if engine == "memory" and r.random() < 0.15:
        who.spec["pseudonym"] = True
        output["pseudonym_key"] = r.choice([{"env": "ADVERSARY_KEY"}, {"file": "key.bin"}])
    output |= r.choice([{}, {"order": "kept"}, {"order": "kept"}, {"shuffle_seed": r.randrange(10**8, 10**9)}])
    if r.random() < 0.2:
        output["suppressed"] = "starred"
    if r.random() < 0.15:
        output["formulas"] = "neutralised"
    if r.random() < 0.1:
        output["bounds"] = True
    if engine == "memory" and r.random() < 0.06:
        _another_kind(r, n, k, privacy, algorithm, output, sensitive, who)
    if engine == "spark" and r.random() < 0.95:
        _leave_to_others(privacy, algorithm, output)
    return {"input": given, "privacy": privacy, "algorithm": algorithm, "output": output}, missing


def _another_kind(
    r: Random,
    n: int,
    k: int,
    privacy: dict[str, Any],
    algorithm: dict[str, Any],
    output: dict[str, Any],
    sensitive: list[Made],
    who: Made,
) -> None:
    """A release in matchings, or in buckets if there is one sensitive column."""
    for section, key in ((privacy, "models"), (privacy, "person"), (output, "suppressed"), (algorithm, "refine")):
        section.pop(key, None)
    if len(sensitive) != 1 or r.random() < 0.5:
        algorithm["name"], privacy["anonymity"] = "nh", "matchings"
        return
    algorithm["name"], privacy["anonymity"] = "anatomy", "buckets"
    output.pop("bounds", None)
    if output.pop("pseudonym_key", None):
        who.spec.pop("pseudonym")
    [made] = sensitive
    made.arrow, made.spec = "string", {"role": "sensitive"}
    values = [f"zq value {number // max(1, n // k - 1)}" for number in range(n)]
    made.cells = [value + r.choice(["", "", "", " "]) for value in r.sample(values, n)]


def _leave_to_others(privacy: dict[str, Any], algorithm: dict[str, Any], output: dict[str, Any]) -> None:
    """Take out what Spark refuses before any work."""
    del algorithm
    for key in ("order", "formulas", "bounds", "shuffle_seed"):
        output.pop(key, None)
    if privacy.get("missing") == "wildcard":
        privacy["missing"] = "own-value"


def _without_odd_moments(columns: list[Made]) -> None:
    """Moments as Spark reads them: no nanoseconds, and of quasi-identifiers no zones."""
    for made in columns:
        if made.arrow.startswith("timestamp"):
            made.arrow = made.arrow.replace("[ns", "[us")
            made.arrow = "timestamp[us]" if made.spec["role"] == "quasi" else made.arrow


def _source(r: Random, engine: str, columns: list[Made]) -> dict[str, Any]:
    typed_only = any(made.arrow.startswith("timestamp") for made in columns)
    kinds = ["csv", "csv", "parquet", "folder", "parquet folder"]
    kind = r.choice(kinds + (["polars", "pandas", "arrow"] if engine == "memory" else ["csv"]))
    if typed_only and kind in ("csv", "folder"):
        kind = "parquet"
    if kind in ("csv", "folder"):
        return _dialect(r, columns) | {"kind": kind}
    return {"kind": kind}


def _population(r: Random, engine: str, policy: dict[str, Any], quasi: list[Made], files: dict[str, str]) -> list[str]:
    """Sometimes, a population that holds the table and others like it."""
    plain = all(made.arrow in ("int64", "int32", "string") and not made.files for made in quasi)
    if not plain or r.random() > (0.15 if engine == "memory" else 0.02) or policy["privacy"].get("anonymity"):
        return []
    if any("\n" in str(x) or "\r" in str(x) for made in quasi for x in made.pool) or policy["input"].get("delimiter"):
        return []
    n = len(quasi[0].cells)
    people = [[made.cells[row] for made in quasi] for row in range(n)]
    people += [[r.choice(made.pool) for made in quasi] for _ in range(2 * n)]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n", quotechar=policy["input"].get("quote", '"'))
    writer.writerow([made.name for made in quasi])
    absent = policy["input"].get("missing", [""])[0]
    formats = [made.spec.get("format") for made in quasi]
    writer.writerows(
        [absent if cell is None else _as_text(cell, form) for cell, form in zip(person, formats, strict=True)]
        for person in people
    )
    files["population.csv"] = out.getvalue()
    model = r.choice(
        [
            {"model": "k-map", "k": r.randint(2, 6), "population": "population.csv"},
            {"model": "delta-presence", "least": 0.0, "most": r.choice([0.6, 0.9]), "population": "population.csv"},
        ]
    )
    policy["privacy"]["models"] = [*policy["privacy"].get("models", []), model]
    return []


def by_hand(engine: str, policy: str, table: str, **source: Any) -> Case:
    """A case that was written by hand: a policy and a CSV file as texts."""
    dialect = {"kind": "csv", "delimiter": ",", "quote": '"', "encoding": "utf-8", "gzip": False} | source
    return Case(0, engine, [], tomlkit.parse(policy).unwrap(), dialect, "csv", [], {}, "UTC", table)


def twin_of(case: Case) -> Case | None:
    """The same request about a table that differs in what no release may show; None if nothing is hidden."""
    twin = case_of(case.seed, case.engine)
    changed = False
    for made in twin.columns:
        if (
            made.spec["role"] == "identifier"
            and "person" not in twin.policy["privacy"]
            and not made.spec.get("pseudonym")
        ):
            made.cells = [f"{cell}x" for cell in made.cells]
            changed = True
        top = made.spec.get("top")
        if made.spec.get("type") == "integer" and top is not None and "domain" not in made.spec:
            made.cells = [cell if cell is None or cell < top else cell + 1000 for cell in made.cells]
            changed = True
    return twin if changed else None


# -- files -------------------------------------------------------------------------------------------


def write_files(case: Case, folder: Path) -> Path | None:
    """Write everything that a request names; the path of the table, if it is in files."""
    (folder / "policy.toml").write_text(tomlkit.dumps(case.policy), encoding="utf-8")
    (folder / "key.bin").write_bytes(b"a key of the adversary, 32 bytes")
    for path, text in case.files.items():
        (folder / path).write_bytes(text.encode())
    kind = case.source["kind"]
    if kind.startswith("parquet"):
        import pyarrow.parquet as pq
    if kind == "parquet":
        pq.write_table(arrow_table(case), folder / "in.parquet")
        return folder / "in.parquet"
    if kind.endswith("folder"):
        (folder / "in").mkdir()
        cut = max(1, case.rows // 3)
        for number in range(3):
            rows = range(number * cut, case.rows if number == 2 else (number + 1) * cut)
            path = folder / "in" / f"part{number}.{'csv' if kind == 'folder' else 'parquet'}"
            if kind == "folder":
                path.write_bytes(csv_bytes(case, rows))
            else:
                pq.write_table(arrow_table(case).slice(rows.start, len(rows)), path)
        return folder / "in"
    if kind == "csv":
        path = folder / ("in.csv.gz" if case.source["gzip"] else "in.csv")
        data = csv_bytes(case, range(case.rows))
        path.write_bytes(gzip.compress(data, mtime=0) if case.source["gzip"] else data)
        return path
    return None


def csv_bytes(case: Case, rows: range) -> bytes:
    """Some rows as a CSV file in the dialect of the case."""
    source = case.source
    if case.text is not None:
        return case.text.encode(source["encoding"])
    out = io.StringIO()
    writer = csv.writer(
        out,
        delimiter=source["delimiter"],
        quotechar=source["quote"],
        lineterminator=source["newline"],
        quoting=csv.QUOTE_ALL if source["all"] else csv.QUOTE_MINIMAL,
    )
    r = Random(case.seed)
    absent = case.policy.get("input", {}).get("missing", [""])
    writer.writerow([made.name for made in case.columns])
    for row in rows:
        cells = []
        for made in case.columns:
            cell = made.cells[row]
            text = r.choice(absent) if cell is None else _as_text(cell, made.spec.get("format"))
            respell = (
                source["spellings"] and made.spec["role"] == "quasi" and made.spec.get("type") in ("integer", "number")
            )
            cells.append(_spelling(r, text) if respell and cell is not None else text)
        writer.writerow(cells)
    text = out.getvalue()
    text = text if source["end"] else text.removesuffix(source["newline"])
    return text.encode(source["encoding"])


def _as_text(cell: Any, form: str | None) -> str:
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, dt.date):
        return _written_day(cell, form) if form else cell.isoformat()
    return f"{cell:f}" if isinstance(cell, Decimal) else str(cell)


def _written_day(day: dt.date, form: str) -> str:
    """strftime with a year of four digits."""
    return day.strftime(form.replace("%Y", f"{day.year:04d}"))


def _spelling(r: Random, text: str) -> str:
    plus = text if text.startswith("-") else "+" + text
    return r.choice([text, f" {text}", f"{text} ", plus])


def arrow_table(case: Case) -> Any:
    """The table in Arrow's types."""
    import pyarrow as pa

    columns = [_arrow_column(pa, made) for made in case.columns]
    return pa.table(columns, names=[made.name for made in case.columns])


def _arrow_column(pa: Any, made: Made) -> Any:
    kind = made.arrow
    if kind == "dictionary":
        return pa.array(made.cells, pa.string()).dictionary_encode()
    if kind in ("string", "large_string"):
        form = made.spec.get("format")
        texts = [None if cell is None else _as_text(cell, form) for cell in made.cells]
        return pa.array(texts, pa.large_string() if kind == "large_string" else pa.string())
    if kind.startswith("timestamp"):
        unit, _, zone = kind[len("timestamp[") : -1].partition(", tz=")
        return pa.array(made.cells, pa.timestamp("us", zone or None)).cast(pa.timestamp(unit, zone or None))
    if kind.startswith("decimal"):
        return pa.array([None if c is None else Decimal(c) for c in made.cells], pa.decimal128(30, 9))
    types = {
        "int64": pa.int64(),
        "int32": pa.int32(),
        "double": pa.float64(),
        "float": pa.float32(),
        "bool": pa.bool_(),
    }
    if kind == "date32[day]":
        return pa.array(made.cells, pa.date32())
    cells = [None if c is None else float(c) for c in made.cells] if kind in ("double", "float") else made.cells
    if kind == "int32" and any(abs(c) > 2**31 - 1 for c in made.cells if c is not None):
        kind = "int64"
    return pa.array(cells, types[kind])
