"""Paper 003 (PAC): theorem 1, and the trends of figure 4."""

import numpy as np
import polars as pl
import pytest

import kohort
from kohort.codes.encode import encode
from kohort.errors import DataError
from kohort.measures.figures import FIGURES, Partition
from kohort.measures.figures.epsilon import delta_at
from kohort.policy import Policy
from kohort.table import typed_columns


def classes(labels):
    frame = pl.DataFrame({"q": [0] * 6, "value": [1.0, 3.0, 5.0, 2.0, 4.0, 6.0]})
    policy = Policy.build(k=3, quasi_identifiers=["q"], sensitive=["value"])
    sensitive = encode(typed_columns(frame, policy, "sensitive"), policy, "sensitive")
    box = np.zeros((6, 1), np.int32)
    return Partition(np.array(labels), (), box, box, sensitive, 3, 0)


def test_theorem_1_dissimilarity_is_not_monotone():
    """{1, 3, 5} and {2, 4, 6} are (1.5, 1)-dissimilar, their union is not. Range 5: 1.5 is 0.3."""
    apart, union = classes([0, 0, 0, 1, 1, 1]), classes([0] * 6)
    assert delta_at(apart, 0.3) == 1
    assert FIGURES.make("epsilon", {}).of(apart)["smallest_eps_min"] == pytest.approx(2 / 5)
    # 3.0 has only 1, 5 and 6 farther away than 1.5; delta = 1 asks for 5 of them
    assert delta_at(union, 0.3) == pytest.approx(3 / 5)


def trend(frame, quasi, sensitive, hierarchies, k, seeds):
    """Mean eps_AVG and ILoss over seeds, for growing weights of the sensitive columns."""
    figures = []
    for weight in (0.0, 0.4, 0.8):
        runs = []
        for seed in seeds:
            policy = Policy.build(
                k=k, quasi_identifiers=quasi, sensitive=sensitive, hierarchies=hierarchies, measure="iloss", seed=seed,
                algorithm={"name": "pac", "sensitive_weight": weight},
            )  # fmt: skip
            release = kohort.anonymize(frame.select(*quasi, *sensitive), policy)
            runs.append((release.facts["mean_eps_avg"], release.loss.total))
        figures.append(np.mean(runs, axis=0))
    return np.array(figures).T


@pytest.mark.slow
def test_figure_4_on_a_made_up_table():
    """Sensitive values follow the quasi-identifiers, so keeping unlike ones together costs."""
    rng = np.random.default_rng(4)
    age, years = rng.integers(18, 90, 1500), rng.integers(0, 20, 1500)
    pay = (age * 300 + rng.normal(0, 3000, 1500)).round()
    ill = np.where(rng.random(1500) < age / 120, "old", "young")
    frame = pl.DataFrame({"age": age, "years": years, "pay": pay, "ill": ill})
    apart, loss = trend(frame, ["age", "years"], ["pay", "ill"], {}, 10, range(3))
    assert (np.diff(apart) > 0).all()
    assert (np.diff(loss) > 0).all()


@pytest.mark.slow
def test_figure_4_on_adult():
    try:
        frame = kohort.datasets.adult()
        files = kohort.datasets.adult_hierarchies()
    except DataError as error:
        pytest.skip(f"Adult is not here: {error}")
    quasi, sensitive = ["age", "sex", "race", "education"], ["occupation"]
    hierarchies = {name: str(files[name]) for name in [*quasi[1:], *sensitive]}
    apart, loss = trend(frame.head(4000), quasi, sensitive, hierarchies, 10, [1])
    assert (np.diff(apart) > 0).all()
    assert (np.diff(loss) > 0).all()
