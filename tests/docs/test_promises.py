"""Every sentence of docs/promises.md has tests that hold it, and no test holds a sentence that is not there."""

import pytest

from helpers import promises


def test_sentences_are_numbered_in_order():
    numbers = [tuple(map(int, number.split("."))) for number in promises.sentences()]
    assert numbers == sorted(set(numbers))
    assert {first for first, _ in numbers} == set(range(1, 7))
    assert all(sentence.endswith(".") for sentence in promises.sentences().values())


@pytest.mark.parametrize("number", promises.sentences())
def test_every_sentence_has_a_test(number):
    assert promises.marked_tests().get(number)


def test_no_test_holds_a_sentence_that_is_not_there():
    assert set(promises.marked_tests()) <= set(promises.sentences())


def test_the_page_of_a_run_tells_how_it_went():
    [first, *_] = promises.marked_tests()["1.1"]
    assert f"- `{first}`: 1 failed, 2 passed\n" in promises.page({first: {"passed": 2, "failed": 1}})
    assert f"- `{first}`: not run\n" in promises.page({})
