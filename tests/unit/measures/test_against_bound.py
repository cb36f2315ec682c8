"""What is said of a loss beside its lower bound: nothing, where the bound says nothing."""

import pytest

from kohort.cli.shared import print_loss
from kohort.measures.loss import Loss, against_bound


@pytest.mark.parametrize(
    ("loss", "bound", "words"),
    [
        (0.0, 0.0, "no release of this table loses less"),
        (0.2, 0.2, "no release of this table loses less"),
        (0.2 - 1e-12, 0.2, "no release of this table loses less"),
        (0.3, 0.2, "at most 50.0 % above the optimum: no release of this table loses less than 0.2000"),
        (0.4, 0.2, "at most 100.0 % above the optimum: no release of this table loses less than 0.2000"),
        (0.4001, 0.2, "no useful bound for this table"),
        (0.5, 0.0, "no useful bound for this table"),
        (0.3427, 0.002, "no useful bound for this table"),
    ],
)
def test_a_bound_is_named_where_it_says_something(loss, bound, words):
    assert against_bound(loss, bound) == words


@pytest.mark.parametrize(("bound", "there"), [(0.002, "no useful bound for this table"), (0.3, "at most 14.2 % above")])
def test_the_screen_uses_these_words(capsys, bound, there):
    print_loss(Loss(0.3427, {"age": 0.3427}, "ncp"), bound)
    assert there in capsys.readouterr().out
