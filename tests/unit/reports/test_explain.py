"""Where the loss comes from."""

import json
import re
import signal
import tomllib

import numpy as np
import polars as pl
import pytest

import kohort
from helpers.cli import called
from kohort import Policy

CELLS = re.compile(r"secretcell|(?<![\d.])77\d{3}(?!\d)", re.IGNORECASE)
"""What cells of the canary table hold; none of it may be told."""


def build(frame, k=5, **keys):
    return Policy.build(**{"k": k, "quasi_identifiers": frame.columns, "seed": 1, **keys})


def column_of(explanation, name):
    [column] = [column for column in explanation.columns if column.name == name]
    return column


def fast_loss(frame, policy):
    [outcome] = kohort.compare(frame, policy, algorithms=["fast"])
    return outcome.loss


@pytest.fixture(scope="module")
def noisy():
    """Two columns of few values, and one of random numbers that are all different."""
    rng = np.random.default_rng(5)
    return pl.DataFrame(
        {
            "sex": rng.choice(["f", "m"], 600),
            "noise": rng.permutation(100_000)[:600],
            "ward": rng.choice(["a", "b", "c"], 600),
        }
    )


@pytest.fixture(scope="module")
def canaries():
    """400 ordinary people, 15 outliers in every respect, and 3 who are outliers in another."""
    rng = np.random.default_rng(8)
    towns = [*rng.choice(["SecretcellA", "SecretcellB", "SecretcellC"], 400), *(f"Secretcell{i}" for i in range(15))]
    frame = pl.DataFrame(
        {
            "zip": [*rng.integers(77000, 77020, 400), *rng.integers(77900, 77999, 15)],
            "town": towns,
            "visits": [*rng.integers(0, 3, 400), *[None] * 15],
        }
    )
    few = pl.DataFrame({"zip": [77000] * 3, "town": ["SecretcellA"] * 3, "visits": [50, 51, 52]})
    return pl.concat([frame, few])


# -- columns -------------------------------------------------------------------------------------


def test_the_column_that_causes_the_loss_is_found(noisy):
    explanation = kohort.explain(noisy, build(noisy))
    shares = {column.name: column.share for column in explanation.columns}
    assert shares["noise"] > 0.95
    assert sum(shares.values()) == pytest.approx(1)


@pytest.mark.parametrize(
    "keys",
    [{"algorithm": "k-member"}, {"algorithm": "auto"}, {"algorithm": "datafly", "suppression_limit": 0.2}],
    ids=lambda keys: keys["algorithm"],
)
def test_losses_and_classes_are_those_of_the_release(noisy, keys):
    policy = build(noisy, weights={"noise": 0.5}, **keys)
    explanation, release = kohort.explain(noisy, policy), kohort.anonymize(noisy, policy)
    assert explanation.algorithm == keys["algorithm"]
    assert explanation.loss == pytest.approx(release.loss.total)
    assert {column.name: column.loss for column in explanation.columns} == pytest.approx(release.loss.by_column)
    noise = column_of(explanation, "noise")
    assert noise.share == pytest.approx(0.5 * noise.loss / 2.5 / explanation.loss)
    facts = release.verdict.facts
    assert (explanation.classes, explanation.smallest) == (facts.classes, facts.smallest_class)


def test_what_is_refined_is_explained_as_refined(noisy):
    policy = build(noisy, algorithm="mondrian")
    refined = policy.with_changes("algorithm", refine=True)
    loss = kohort.explain(noisy, refined).loss
    assert loss == pytest.approx(kohort.anonymize(noisy, refined).loss.total)
    assert loss < kohort.explain(noisy, policy).loss


@pytest.mark.parametrize("name", ["sex", "noise", "ward"])
def test_dropping_a_column_saves_what_a_release_without_it_saves(noisy, name):
    weights = {"sex": 1.0, "noise": 0.25, "ward": 2.0}
    explanation = kohort.explain(noisy, build(noisy, weights=weights))
    assert explanation.tried_loss == pytest.approx(fast_loss(noisy, build(noisy, weights=weights)))
    rest = noisy.drop(name)
    others = fast_loss(rest, build(rest, weights={other: weights[other] for other in rest.columns}))
    column = column_of(explanation, name)
    assert column.dropped.others == pytest.approx(others)
    saved = 1 - others / column.tried_others if column.tried_others else 0
    assert column.dropped.others_saved == pytest.approx(saved)
    everything, own = sum(weights.values()), weights[name]
    assert column.dropped.total == pytest.approx((own + (everything - own) * others) / everything)


def test_advice_is_given_where_it_is_clear():
    rng = np.random.default_rng(2)
    towns = [f"town {number}" for number in rng.integers(0, 10, 300)]
    frame = pl.DataFrame({"town": towns, "age": rng.integers(0, 90, 300)})
    town, _ = kohort.explain(frame, build(frame)).columns
    assert town.dropped.others_saved > 0.5
    saved = f"{town.dropped.others_saved:.0%}"
    assert town.advice == f"dropping it would lower the loss of the other columns by {saved}."
    even = pl.DataFrame({"age": [1, 1, 2, 2], "sex": ["f", "f", "m", "m"]})
    assert [column.advice for column in kohort.explain(even, build(even, k=2)).columns] == ["", ""]


def test_advice_names_a_level_that_spares_the_others():
    rng = np.random.default_rng(2)
    tree = {"tree": {region: [f"{region} {town}" for town in range(8)] for region in ("north", "south")}}
    towns = [f"{region} {town}" for region in ("north", "south") for town in range(8)]
    frame = pl.DataFrame({"town": rng.choice(towns, 300), "age": rng.integers(0, 90, 300)})
    town, _ = kohort.explain(frame, build(frame, hierarchies={"town": tree})).columns
    [level] = town.coarser
    assert town.dropped.others_saved > level.others_saved > 0.5
    assert town.advice.endswith(f"%, publishing it at level 1 of 2 by {level.others_saved:.0%}.")


def plain_best_cut(records, k, cost):
    """Least total cost of any cut of an order into runs of k and more: a plain dynamic program."""
    least = [0.0] + [np.inf] * len(records)
    for end in range(k, len(records) + 1):
        for begin in range(max(0, end - 2 * k + 1), end - k + 1):
            least[end] = min(least[end], least[begin] + (end - begin) * cost(records[begin:end]))
    return least[-1]


@pytest.mark.parametrize("missing", [False, True])
def test_coarsening_costs_what_a_plain_computation_gives(missing):
    """Heights grow with age, so a best partition is a cut of the one order that there is."""
    rng = np.random.default_rng(4)
    ages = [0, 99, *(int(age) for age in rng.integers(0, 100, 78))]
    if missing:
        ages[10:14] = [None] * 4
    heights = [40 if age is None else age**2 // 300 for age in ages]
    known = [age for age in ages if age is not None]
    frame = pl.DataFrame({"age": ages, "height": heights})
    age, height = kohort.explain(frame, build(frame, k=3, weights={"age": 2.0})).columns
    widths = [5, 10, 20, 40, 80]
    assert [variant.level for variant in age.coarser] == [1, 2, 3, 4, 5]
    for variant, width in zip(age.coarser, widths, strict=True):

        def bin_of(age, width=width):
            return 1000 if age is None else age // width

        def age_cost(run, width=width):
            bins = [bin_of(age, width) for age, _ in run]
            if 1000 in bins:
                return 0.0 if min(bins) == 1000 else 1.0
            low = min(age for age in known if age // width == min(bins))
            high = max(age for age in known if age // width == max(bins))
            return (high - low) / 99

        def cost(run, age_cost=age_cost):
            tall = [height for _, height in run]
            return (2 * age_cost(run) + (max(tall) - min(tall)) / (max(heights) - min(heights))) / 3

        order = sorted(zip(ages, heights, strict=True), key=lambda record: (bin_of(record[0]), record[1]))
        least = plain_best_cut(order, 3, cost) / 80
        assert variant.total == pytest.approx(least, abs=1e-5)
        assert variant.total == pytest.approx((2 * variant.column + variant.others) / 3)
        assert variant.others_saved == pytest.approx(1 - variant.others / age.tried_others)
    assert height.coarser


def test_a_coarser_taxonomy_is_charged_for_its_nodes():
    """One column in two halves, the other constant: all of the loss is that of the halves."""
    tree = {"tree": {"x": ["a", "b"], "y": ["c", "d", "e"]}}
    frame = pl.DataFrame({"letter": list("abcde") * 8, "same": [1] * 40})
    letter, same = kohort.explain(frame, build(frame, k=4, hierarchies={"letter": tree})).columns
    [level] = letter.coarser
    assert level.column == pytest.approx((2 / 5 * 2 / 5) + (3 / 5 * 3 / 5))
    assert (level.level, level.top, level.others, letter.best_level) == (1, 2, 0, None)
    assert same.coarser == ()


def test_a_coarser_column_that_lowers_the_loss_is_told():
    """Cuts by fine numbers scatter the records; coarse ones do not."""
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({f"c{j}": rng.integers(0, 10, 300) for j in range(8)})
    explanation = kohort.explain(frame, build(frame, k=10))
    better = [column for column in explanation.columns if column.best_level is not None]
    for column in explanation.columns:
        least = min(variant.total for variant in column.coarser)
        if column in better:
            [best] = [variant for variant in column.coarser if variant.level == column.best_level]
            assert best.total == least < explanation.tried_loss
        else:
            assert least >= explanation.tried_loss
    assert better


def test_a_column_alone_has_no_others():
    frame = pl.DataFrame({"age": [30, 31, 60, 64, 65]})
    [age] = kohort.explain(frame, build(frame, k=2)).columns
    assert (age.share, age.dropped, age.coarser, age.tried_others, age.advice) == (1, None, (), None, "")


def test_others_without_weight_are_no_others():
    frame = pl.DataFrame({"age": [30, 31, 60, 64, 65], "size": [1, 2, 3, 4, 5]})
    age, size = kohort.explain(frame, build(frame, k=2, weights={"size": 0.0})).columns
    assert age.dropped is None
    assert (size.share, size.dropped.total) == (0, size.tried_others)


# -- records -------------------------------------------------------------------------------------


def test_the_spread_of_an_even_loss_is_even():
    frame = pl.DataFrame({"age": [0, 1] * 100 + [9, 10] * 100})
    frame = frame.with_columns(pair=pl.col("age") // 2)
    explanation = kohort.explain(frame, build(frame, k=150))
    assert [part.loss for part in explanation.parts] == [None, None, None]
    explanation = kohort.explain(frame, build(frame, k=4))
    assert explanation.loss == 0
    assert [part.loss for part in explanation.parts] == [0, 0, 0]
    assert (explanation.costliest, explanation.kinds) == (None, ())


def test_the_costliest_records_carry_their_share():
    """Ten classes of ten: nine lose nothing, the last all."""
    frame = pl.DataFrame({"age": [j for j in range(9) for _ in range(10)] + list(range(20, 30))})
    explanation = kohort.explain(frame, build(frame, k=10))
    assert [part.loss for part in explanation.parts] == [None, None, pytest.approx(1)]
    assert explanation.costliest == pytest.approx(0.1)


def test_a_planted_group_of_outliers_is_described(canaries):
    explanation = kohort.explain(canaries, build(canaries))
    told = {(kind.column, kind.what): kind for kind in explanation.kinds}
    planted = told["town", "value that fewer than 5 records have"]
    assert planted.among_all == pytest.approx(15 / 418)
    assert planted.ratio == pytest.approx(planted.among_costliest / planted.among_all)
    assert planted.ratio > 5
    assert told["visits", "value is missing"].ratio == planted.ratio
    assert ("town", "value that under 1% of the records have") not in told  # the same records
    assert told["zip", "among the lowest or highest 1%"].among_all == pytest.approx(5 / 418)
    ratios = [kind.ratio or 0 for kind in explanation.kinds]
    assert ratios == sorted(ratios, reverse=True)


def test_numbers_of_fewer_than_k_records_are_not_told():
    frame = pl.DataFrame({"age": list(range(10)) * 10 + [50, 51, 52]})
    explanation = kohort.explain(frame, build(frame, k=6))
    [few] = [kind for kind in explanation.kinds if "fewer than 6" in kind.what]
    assert (few.among_costliest, few.among_all, few.ratio) == (None, None, None)


def test_records_that_miss_a_value_may_be_suppressed(canaries):
    policy = build(canaries, missing="suppress", suppression_limit=0.1)
    explanation, release = kohort.explain(canaries, policy), kohort.anonymize(canaries, policy)
    assert (explanation.records, explanation.suppressed) == (418, 15)
    assert explanation.loss == pytest.approx(release.loss.total)
    missing = next(kind for kind in explanation.kinds if kind.what == "value is missing")
    assert missing.among_costliest == pytest.approx(15 / 418 / explanation.costliest)  # they lose everything
    few = canaries.with_columns(pl.col("visits").fill_null(0)).with_row_index("row")
    few = few.with_columns(pl.when(pl.col("row") > 2).then("visits").alias("visits")).drop("row")
    assert kohort.explain(few, policy).suppressed is None


# -- all of it -----------------------------------------------------------------------------------


def test_the_seed_decides(noisy):
    policy = build(noisy, algorithm="k-member")
    assert kohort.explain(noisy, policy) == kohort.explain(noisy, policy)


def test_a_release_without_classes_is_explained_by_auto(hospital, policy):
    changed = policy.with_changes("algorithm", name="anatomy").with_changes("privacy", anonymity="buckets")
    explanation = kohort.explain(hospital, changed)
    assert explanation.algorithm == "auto"
    assert explanation.loss > 0
    assert explanation.smallest >= 5


def test_refusals_are_those_of_a_release(noisy, canaries):
    for frame, policy in ((noisy, build(noisy, k=601)), (canaries, build(canaries, missing="refuse"))):
        with pytest.raises(kohort.PolicyError) as refused:
            kohort.anonymize(frame, policy)
        with pytest.raises(kohort.PolicyError) as explained:
            kohort.explain(frame, policy)
        assert explained.value.faults == refused.value.faults


def test_command_tells_no_value(tmp_path, canaries, capsys, monkeypatch):
    from kohort.cli.main import run

    canaries.write_csv(tmp_path / "people.csv")
    (tmp_path / "policy.toml").write_text(build(canaries).to_toml())
    before = sorted(tmp_path.iterdir())
    given = ["kohort", "why", str(tmp_path / "people.csv"), "-p", str(tmp_path / "policy.toml")]
    told = []
    for options in ([], ["--json"]):
        monkeypatch.setattr("sys.argv", [*given, *options])
        with pytest.raises(SystemExit) as end:
            run()
        assert end.value.code == 0
        told.append(capsys.readouterr())
        assert not CELLS.search(told[-1].out + told[-1].err)
    plain, facts = told[0].out, json.loads(told[1].out)
    [gain] = facts.pop("hierarchies")
    assert f"one for column '{gain['column']}' would lower the loss by {gain['saved']:.0%}" in plain
    assert facts == json.loads(json.dumps(kohort.explain(canaries, build(canaries)).to_dict()))
    assert f"loss {facts['loss']:.4f} (ncp, auto, k = 5)" in plain
    for column in facts["columns"]:
        assert f"{column['share']:.1%}" in plain
        assert column["advice"] in plain
    assert "value that fewer than 5 records have" in plain
    assert "fewer than 5 records of the costliest" in plain
    assert sorted(tmp_path.iterdir()) == before


# -- large and wide tables, Ctrl-C ---------------------------------------------------------------


def test_a_sample_says_how_large_it_is(noisy):
    policy = build(noisy)
    some = kohort.explain(noisy, policy, sample=200)
    assert (some.records, some.of, some.complete) == (200, 600, True)
    assert some == kohort.explain(noisy, policy, sample=200)
    assert (some.algorithm, sum(column.share for column in some.columns)) == ("auto", pytest.approx(1))
    assert kohort.explain(noisy, policy, sample=600).records == kohort.explain(noisy, policy).records == 600


def test_what_the_table_is_refused_for_is_refused_before_a_sample_is_drawn(noisy):
    few = noisy.with_columns(noise=pl.when(pl.int_range(pl.len()) < 3).then(None).otherwise("noise"))
    with pytest.raises(kohort.PolicyError, match="missing"):
        kohort.explain(few, build(few, missing="refuse"), sample=100)


def test_of_many_columns_the_costliest_are_tried(noisy, monkeypatch):
    monkeypatch.setattr("kohort.reports.explain.TRIES", 4)
    monkeypatch.setattr("kohort.reports.whatif.WIDE", 2)
    explanation = kohort.explain(noisy, build(noisy))
    assert explanation.tried_with == "mondrian"
    tried = {column.name: (column.dropped is not None, column.lighter is not None) for column in explanation.columns}
    assert all(dropped for dropped, _ in tried.values())
    assert [name for name, (_, lighter) in tried.items() if lighter] == ["noise"]
    assert not any(column.coarser for column in explanation.columns)
    assert column_of(explanation, "noise").dropped.others_saved > 0


@pytest.mark.parametrize("name", ["sex", "noise", "ward"])
def test_a_column_that_counts_less_is_what_its_line_makes(noisy, name):
    weights = {"sex": 1.0, "noise": 2.0, "ward": 1.0}
    less = column_of(kohort.explain(noisy, build(noisy, weights=weights)), name).lighter
    [(changed, keys)] = tomllib.loads(f"{less.line.section}\n{less.line.text}")["columns"].items()
    assert (changed, keys) == (name, {"weight": weights[name] / 4})
    others = 4 - weights[name]
    expected = (less.weight * less.column + others * less.others) / (less.weight + others)
    policy = build(noisy, weights=weights | {name: keys["weight"]})
    assert fast_loss(noisy, policy) == pytest.approx(expected, abs=1e-6)
    assert less.total == pytest.approx((weights[name] * less.column + others * less.others) / 4)


def test_every_line_makes_a_policy_that_works(noisy):
    frame = noisy.with_columns(born=pl.lit("1980-01-01").str.to_date() + pl.duration(days="noise") / 100)
    frame = frame.with_columns(pl.col("born").cast(pl.Date))
    policy = build(frame)
    explanation = kohort.explain(frame, policy)
    lines = [column.dropped.line for column in explanation.columns]
    lines += [variant.line for column in explanation.columns for variant in column.coarser if variant.line]
    assert {line.text.split(" ")[0] for line in lines} == {"role", "snap"}
    for line in lines[:: max(len(lines) // 6, 1)]:
        [(name, keys)] = tomllib.loads(f"{line.section}\n{line.text}")["columns"].items()
        entry = keys if line.instead else policy.to_dict()["columns"][name] | keys
        changed = policy.with_changes("columns", **{name: entry})
        assert kohort.anonymize(frame, changed).verdict.passed


def test_ctrl_c_ends_with_what_was_found(noisy, tmp_path, monkeypatch):
    def pressed(self, j):
        signal.raise_signal(signal.SIGINT)

    noisy.write_csv(tmp_path / "in.csv")
    (tmp_path / "p.toml").write_text(build(noisy).to_toml())
    monkeypatch.setattr("kohort.reports.whatif.Trial.lighter", pressed)
    ended = called("why", "in.csv", "-p", "p.toml", folder=tmp_path)
    assert ended.returncode == 130
    assert "stopped: not everything was tried" in ended.stdout
    assert "share of the loss" in ended.stdout
    facts = json.loads(called("why", "in.csv", "-p", "p.toml", "--json", folder=tmp_path).stdout)
    assert facts["complete"] is False
    assert all(column["dropped"] and not column["lighter"] and not column["coarser"] for column in facts["columns"])
    assert facts["hierarchies"] == []
