"""Wrong parameters are refused in one sentence that names the parameter."""

import pytest

from kohort.errors import PolicyError
from kohort.policy import Policy
from kohort.privacy import MODELS, models_of

GOOD = {
    "distinct-l-diversity": {"l": 2},
    "entropy-l-diversity": {"l": 1.5},
    "recursive-cl-diversity": {"c": 2, "l": 2},
    "frequency-l-diversity": {"l": 2},
    "alpha-k": {"alpha": 0.5},
    "k-e": {"k": 2, "e": 1},
    "variance-control": {"variance": 1},
    "epsilon-m": {"epsilon": 1, "m": 2},
    "dissimilarity": {"epsilon": 1, "delta": 0.5},
    "t-closeness": {"t": 0.2},
    "beta-likeness": {"beta": 1},
    "delta-disclosure": {"delta": 1},
}
INF, NAN = float("inf"), float("nan")


def policy(entry):
    return Policy(
        privacy={"k": 2, "models": [entry]},
        columns={"q": "quasi", "s": "sensitive", "n": "insensitive"},
    )


def faults(name, **parameters):
    with pytest.raises(PolicyError) as caught:
        models_of(policy({"model": name, **parameters}))
    return caught.value.faults


@pytest.mark.parametrize("name", GOOD)
def test_good_parameters_are_taken(name):
    [_, model] = models_of(policy({"model": name, "column": "s", **GOOD[name]}))
    assert model.columns == ("s",)
    assert (model.name, model.summary, model.paper) == (name, MODELS[name].summary, MODELS[name].paper)


@pytest.mark.parametrize(
    ("name", "parameter", "values", "must"),
    [
        ("distinct-l-diversity", "l", [1, 0, -3, 2.5, "2", True, None], "an integer of at least 2"),
        ("entropy-l-diversity", "l", [1, 0.5, -2, "2", True, INF, NAN], "a number above 1"),
        ("recursive-cl-diversity", "c", [0, -1, "1", False, INF], "a number above 0"),
        ("recursive-cl-diversity", "l", [1, 2.0], "an integer of at least 2"),
        ("frequency-l-diversity", "l", [1, 2.5], "an integer of at least 2"),
        ("alpha-k", "alpha", [0, 1, 1.5, -0.1, "0.5", NAN], "a number above 0 and below 1"),
        ("k-e", "k", [0, 1.5], "an integer of at least 1"),
        ("k-e", "e", [-1, "1"], "a number of at least 0"),
        ("variance-control", "variance", [0, -1, INF], "a number above 0"),
        ("epsilon-m", "epsilon", [-0.1, NAN], "a number of at least 0"),
        ("epsilon-m", "m", [1, 2.5], "an integer of at least 2"),
        ("epsilon-m", "relative", ["yes", 1], "true or false"),
        ("dissimilarity", "epsilon", [-1], "a number of at least 0"),
        ("dissimilarity", "delta", [0, 1.1], "a number above 0 and at most 1"),
        ("t-closeness", "t", [-0.1, 1.1, "0.2"], "a number from 0 to 1"),
        ("t-closeness", "distance", ["euclid", 3], "'equal', 'ordered' or 'hierarchical'"),
        ("beta-likeness", "beta", [0, -1], "a number above 0"),
        ("beta-likeness", "enhanced", ["no", 0], "true or false"),
        ("delta-disclosure", "delta", [0, -1], "a number above 0"),
        ("delta-disclosure", "log", ["10", 2], "'e' or '2'"),
        ("delta-disclosure", "zeros", ["keep"], "'count' or 'skip'"),
    ],
)
def test_a_wrong_parameter_is_named(name, parameter, values, must):
    for value in values:
        found = faults(name, column="s", **{**GOOD[name], parameter: value})
        assert found == (f"policy: privacy model {name!r}: '{parameter}' must be {must}; got {value!r}.",)


@pytest.mark.parametrize("name", GOOD)
def test_a_parameter_that_is_missing_or_unknown(name):
    first = next(iter(GOOD[name]))
    [fault] = faults(name, column="s", **{key: value for key, value in GOOD[name].items() if key != first})
    assert (
        fault
        == f"policy: privacy model {name!r} needs {first!r}; it has {', '.join(MODELS[name].__dataclass_fields__)}."
    )
    [fault] = faults(name, column="s", **GOOD[name], wrong=1)
    assert f"privacy model {name!r} has no parameter 'wrong'" in fault


@pytest.mark.parametrize("name", GOOD)
def test_the_column_must_be_sensitive(name):
    for column in ("n", "q", "nobody"):
        [fault] = faults(name, column=column, **GOOD[name])
        assert fault == f"policy: privacy model {name!r}: column {column!r} is not a sensitive column."


@pytest.mark.parametrize(
    ("parameters", "fault"),
    [
        ({"columns": "s"}, "'columns' must be a list of at least one column"),
        ({"columns": []}, "'columns' must be a list of at least one column"),
        ({"columns": ["s", "s"]}, "'columns' must not name a column twice"),
        ({"columns": ["s", "n"]}, "column 'n' is not a sensitive column"),
        ({"epsilon": 1}, "'epsilon' must be a number of at least 0 and below 1; got 1"),
        ({"delta": 0}, "'delta' must be a number above 0 and at most 1; got 0"),
        ({"weights": [1, 2]}, "'weights' must be a list of 1, one number for each column"),
        ({"weights": 1}, "'weights' must be a list of 1, one number for each column"),
        ({"weights": [0]}, "'weights' must be a number above 0, for each column; got 0"),
    ],
)
def test_parameters_of_several_columns(parameters, fault):
    good = {"columns": ["s"], "epsilon": 0.1, "delta": 1}
    assert models_of(policy({"model": "dissimilarity-plus", **good}))[1].columns == ("s",)
    found = faults("dissimilarity-plus", **{**good, **parameters})
    assert found == (f"policy: privacy model 'dissimilarity-plus': {fault}.",)


@pytest.mark.parametrize("values", [[], "flu", [True], [["flu"]], 3])
def test_listed_values_are_texts_or_numbers_and_not_told(values):
    found = faults("alpha-k", column="s", alpha=0.5, values=values)
    assert found == ("policy: privacy model 'alpha-k': 'values' must be a list of at least one text or number.",)
