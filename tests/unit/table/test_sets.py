"""Cells of sets: what they mean, what is refused, and the form in which they are published."""

import polars as pl
import pytest

import kohort
from kohort import Policy
from kohort.errors import DataError, InfeasibleError, KohortError, PolicyError

TREE = {"x": ["a", "b"], "y": ["c", "d"]}
GOOD = ["a;b", "a;b", "a;b", "c", "c", "c"]


def policy(k=2, *, model=None, quasi=(), separator=";", more=None, **column):
    keys = {"role": "quasi", "type": "set"} | column
    if separator is not None:
        keys["separator"] = separator
    columns = {"bought": {key: value for key, value in keys.items() if value is not None}}
    models = [{"model": "k-m-anonymity", "column": "bought", "m": 2} if model is None else model]
    return Policy.from_dict(
        {"privacy": {"k": k, "models": models}, "algorithm": {"seed": 1}, "output": {"order": "kept"}}
        | {"columns": columns | dict.fromkeys(quasi, "quasi")}
        | (more or {})
    )


def published(cells, rules=None, dtype=None):
    frame = pl.DataFrame({"bought": pl.Series(cells, dtype=dtype)})
    return kohort.anonymize(frame, rules or policy(hierarchy={"tree": TREE})).table["bought"].to_list()


MEANINGS = {
    "an empty cell": ([*GOOD, ""], [*GOOD, ""]),
    "a null": ([*GOOD, None], [*GOOD, ""]),
    "blanks alone": ([*GOOD, "  "], [*GOOD, ""]),
    "an item twice": (["a;b;a", *GOOD], ["a;b", *GOOD]),
    "blanks around items": ([" b ; a", *GOOD], ["a;b", *GOOD]),
    "another order": (["b;a", *GOOD], ["a;b", *GOOD]),
}


@pytest.mark.parametrize("name", MEANINGS)
def test_what_cells_mean(name):
    cells, wanted = MEANINGS[name]
    assert published(cells) == wanted


def test_a_text_for_missing_is_the_empty_set():
    rules = policy(hierarchy={"tree": TREE}, more={"input": {"missing": ["?"]}})
    assert published([*GOOD, "?"], rules) == [*GOOD, ""]


JSON = ['["a","b"]', '["b", "a"]', '["a","b"]', '["c"]', '["c"]', "[]", None]
LISTS = [["a", "b"], ["b", "a", "b"], ["a", "b"], ["c"], ["c"], [], None]


def test_json_arrays_and_lists_keep_their_form():
    rules = policy(separator=None, hierarchy={"tree": TREE})
    assert published(JSON, rules) == ['["a","b"]'] * 3 + ['["c"]'] * 2 + ["[]"] * 2
    assert published(LISTS, rules) == [["a", "b"]] * 3 + [["c"]] * 2 + [[]] * 2


def test_whole_numbers_in_arrays_are_texts():
    rules = policy(separator=None)
    assert published(["[1, 2]", '["2", 1]', "[2, 1]"], rules) == ['["1","2"]'] * 3
    assert published([[1, 2], [2, 1]], rules) == [["1", "2"]] * 2


def test_quotes_and_backslashes_survive_json(tmp_path):
    items = ['5" nail', "back\\slash", "Ünïcode, 日本"]
    rules = policy(separator=None)
    frame = pl.DataFrame({"bought": [items] * 3})
    for kind in ("csv", "parquet", "jsonl"):
        release = kohort.anonymize(frame, rules, output=tmp_path / f"out.{kind}")
        assert release.verdict.passed
        assert kohort.verify(tmp_path / f"out.{kind}", rules, original=frame).passed
    assert kohort.verify(release.table, rules, original=frame).passed


CELLS = {
    "an item of no hierarchy": (["a;z", *GOOD], {}, "1 different items in 1 rows are no leaves"),
    "a label above items": (["x", *GOOD], {}, "no leaves of its hierarchy"),
    "an empty item": ([*GOOD, "a;;b"], {}, "1 row holds an empty item; remove it"),
    "a separator at the end": ([*GOOD, "a;"], {}, "an empty item"),
    "separators alone": ([*GOOD, ";"], {}, "an empty item"),
    "an item that is a star": ([*GOOD, "*"], {}, "the item '*'"),
    "a line break in an item": ([*GOOD, "a\nb"], {}, "control character"),
    "a NUL in an item": ([*GOOD, "a\0"], {}, "control character"),
    "a quoted item with the separator": ([*GOOD, '"a;b"'], {}, "begins with a quote"),
    "another separator": (["a|b", *GOOD], {}, "no leaves of its hierarchy"),
    "no JSON": (["a;b", '["a"]'], {"separator": None}, "1 row holds no JSON array of texts (first in row 1)"),
    "JSON that is no array": (['{"a": 1}', '["a"]'], {"separator": None}, "no JSON array"),
    "JSON in JSON": (['[["a"]]', '["a"]'], {"separator": None}, "no JSON array"),
    "a fraction in JSON": (["[1.5]", '["a"]'], {"separator": None}, "no JSON array"),
    "a truth value in JSON": (["[true]", '["a"]'], {"separator": None}, "no JSON array"),
    "null in JSON": (["[null]", '["a"]'], {"separator": None}, "an empty item"),
    "deep JSON": (["[" * 100_000, '["a"]'], {"separator": None}, "no JSON array"),
    "null in a list": ([["a", None], ["a"]], {"separator": None}, "an empty item"),
    "lists in lists": ([[["a"]], [["b"]]], {"separator": None}, "its lists hold no texts"),
    "lists of fractions": ([[0.5], [1.5]], {"separator": None}, "its lists hold no texts"),
    "numbers": ([1, 2, 3], {}, "holds whole numbers, and a set is a text or a list"),
    "truth values": ([True, False], {}, "holds truth values"),
}  # fmt: skip


@pytest.mark.parametrize("name", CELLS)
def test_cells_that_are_no_sets_are_refused(name):
    cells, column, sentence = CELLS[name]
    tree = {} if name.startswith(("a truth value in", "a fraction in")) else {"hierarchy": {"tree": TREE}}
    with pytest.raises(DataError) as refused:
        published(cells, policy(**tree, **column))
    assert sentence in str(refused.value)
    assert "column 'bought'" in str(refused.value)


POLICIES = {
    "no promise": (lambda: policy(more={"privacy": {"k": 2}}), "nothing is promised about its items"),
    "two promises": (
        lambda: policy(more={"privacy": {"k": 2, "models": [{"model": "k-m-anonymity", "column": "bought"}] * 2}}),
        "has 2 models about its items",
    ),
    "two columns of sets": (
        lambda: policy(more={"columns": {
            name: {"role": "quasi", "type": "set"} for name in ("bought", "other")}, "privacy": {"k": 2, "models": [
                {"model": "k-m-anonymity", "column": name} for name in ("bought", "other")]}}),
        "several columns of type 'set'",
    ),
    "another role": (lambda: policy(role="sensitive"), "must be quasi"),
    "published as it is": (lambda: policy(role="insensitive"), "must be quasi"),
    "a letter between items": (lambda: policy(separator="x"), "no letter"),
    "a separator without a set": (
        lambda: policy(type="string", model={"model": "average-risk", "most": 0.5}),
        "needs type",
    ),
    "a domain": (lambda: policy(domain=[0, 1]), "numeric columns only"),
    "intervals": (lambda: policy(hierarchy={"intervals": {"width": 5.0}}), "one of its items"),
    "snap": (lambda: policy(snap=5.0), "for numbers and dates"),
    "weight 0": (lambda: policy(weight=0.0), "weight above 0"),
    "m = 0": (lambda: policy(model={"model": "k-m-anonymity", "column": "bought", "m": 0}), "at least 1"),
    "m = 9": (lambda: policy(model={"model": "k-m-anonymity", "column": "bought", "m": 9}), "from 1 to 8"),
    "a model about another column": (
        lambda: policy(quasi=["age"], model={"model": "k-m-anonymity", "column": "age"}), "is not of type 'set'",
    ),
    "a label with the separator": (
        lambda: policy(hierarchy={"tree": {"x;y": ["a", "b"], "z": ["c"]}}), "hold the separator",
    ),
    "starred": (
        lambda: policy(hierarchy={"tree": TREE}, more={"output": {"suppressed": "starred"}}), "not yet there for sets",
    ),
    "no constraints": (lambda: policy(model={"model": "item-constraints", "column": "bought"}), "'protect'"),
    "rho without sensitive items": (
        lambda: policy(model={"model": "rho-uncertainty", "column": "bought", "rho": 0.5}),
        "'sensitive' must be a list",
    ),
    "rho of 0": (
        lambda: policy(model={"model": "rho-uncertainty", "column": "bought", "rho": 0.0, "sensitive": ["a"]}),
        "above 0",
    ),
    "rho with a hierarchy": (
        lambda: policy(
            hierarchy={"tree": TREE},
            model={"model": "rho-uncertainty", "column": "bought", "rho": 0.5, "sensitive": ["a"]},
        ),
        "needs no hierarchy",
    ),
    "constraints that are no lists": (
        lambda: policy(model={"model": "item-constraints", "column": "bought", "protect": ["a"]}), "a list of lists",
    ),
    "an item twice in a constraint": (
        lambda: policy(model={"model": "item-constraints", "column": "bought", "protect": [["a", "a"]]}),
        "has an item twice",
    ),
    "groups that overlap": (
        lambda: policy(
            model={"model": "item-constraints", "column": "bought", "every": 1, "utility": [["a", "b"], ["b"]]}
        ),
        "an item is in two groups",
    ),
    "constraints beside other columns": (
        lambda: policy(quasi=["age"], model={"model": "item-constraints", "column": "bought", "every": 1}),
        "there are other quasi-identifiers",
    ),
    "a file of constraints that is not there": (
        lambda: policy(model={"model": "item-constraints", "column": "bought", "protect": "none.txt"}),
        "cannot be read",
    ),
}  # fmt: skip


def _release(frame, make):
    rules = make()
    return kohort.anonymize(frame.select(list(rules.columns)), rules)


@pytest.mark.parametrize("name", POLICIES)
def test_policies_that_make_no_sense_are_refused(name):
    make, sentence = POLICIES[name]
    frame = pl.DataFrame({"bought": GOOD, "other": GOOD, "age": range(6)})
    with pytest.raises(PolicyError) as refused:
        _release(frame, make)
    assert sentence in str(refused.value)


def test_an_infeasible_request_names_what_can_be_kept():
    """All items as one label occur in 3 records, which is fewer than k."""
    cells = ["a", "b;c", "d", *[""] * 7]
    rules = policy(k=5, hierarchy={"tree": TREE})
    with pytest.raises(InfeasibleError, match=r"item_suppression_limit = 1\.0, or k = 3"):
        published(cells, rules)
    assert published(cells, policy(k=5, hierarchy={"tree": TREE}, item_suppression_limit=1.0)) == [""] * 10
    assert published(
        cells, policy(k=3, hierarchy={"tree": TREE}, model={"model": "k-m-anonymity", "column": "bought", "m": 1})
    )


def test_too_many_sets_of_items_are_refused_with_the_largest_m():
    cells = [";".join(f"i{item}" for item in range(2000))] * 2
    with pytest.raises(InfeasibleError, match=r"choose m = 3\."):
        published(cells, policy(model={"model": "k-m-anonymity", "column": "bought", "m": 4}))


@pytest.mark.parametrize("where", ["memory", "ledger"])
def test_what_is_not_there_is_refused_before_any_work(where, tmp_path):
    path = tmp_path / "in.csv"
    pl.DataFrame({"bought": GOOD}).write_csv(path)
    how = {"memory": "1GB"} if where == "memory" else {"ledger": tmp_path / "ledger.json"}
    with pytest.raises(KohortError, match="set"):
        kohort.anonymize(path, policy(hierarchy={"tree": TREE}), output=tmp_path / "out.csv", **how)
    assert not (tmp_path / "out.csv").exists()


def test_constraints_in_files(tmp_path):
    (tmp_path / "protect.txt").write_text("a; c\n\nb\n")
    (tmp_path / "policy.toml").write_text(
        'privacy = { k = 2, models = [{ model = "item-constraints", column = "bought", protect = "protect.txt" }] }\n'
        '[columns]\nbought = { role = "quasi", type = "set", separator = ";" }\n'
    )
    frame = pl.DataFrame({"bought": ["a;c", "a", "b", "b", "c", "d"]})
    release = kohort.anonymize(
        frame, tmp_path / "policy.toml", output=tmp_path / "out.csv", verdict=tmp_path / "v.json"
    )
    assert release.verdict.check("item-constraints").figures["sets"] == 4
    assert kohort.verify(tmp_path / "out.csv", verdict=tmp_path / "v.json").passed
    (tmp_path / "protect.txt").write_text("a;;c\n")
    with pytest.raises(PolicyError, match="line 1 is no set of items"):
        kohort.anonymize(frame, tmp_path / "policy.toml")
    with pytest.raises(KohortError, match="constraints 1"):
        kohort.anonymize(
            frame,
            tmp_path / "policy.toml",
            output=tmp_path / "out2.csv",
            verdict=tmp_path / "protect.txt",
            overwrite=True,
        )


RELEASES = {
    "labels out of order": ["b;a", "a;b", "a;b", "c", "c", "c"],
    "a label twice": ["a;a;b", "a;b", "a;b", "c", "c", "c"],
    "a blank": ["a; b", "a;b", "a;b", "c", "c", "c"],
    "a label of no hierarchy": ["a;b;z", "a;b;z", "a;b", "c", "c", "c"],
    "an empty label": [";a;b", "a;b", "a;b", "c", "c", "c"],
}


@pytest.mark.parametrize("name", RELEASES)
def test_cells_of_a_release_that_are_not_in_the_one_form_are_rejected(name):
    rules = policy(hierarchy={"tree": TREE})
    assert kohort.verify(pl.DataFrame({"bought": GOOD}), rules).passed
    found = kohort.verify(pl.DataFrame({"bought": RELEASES[name]}), rules)
    assert not found.check("sets").passed


@pytest.mark.parametrize("report", ["risk", "attack", "explain", "utility"])
def test_reports_that_do_not_look_at_sets_say_so(report):
    rules = policy(quasi=["age"], hierarchy={"tree": TREE})
    frame = pl.DataFrame({"bought": GOOD, "age": [1, 1, 1, 2, 2, 2]})
    with pytest.raises(PolicyError, match="does not look at sets"):
        getattr(kohort, report)(frame, policy=rules)
