"""Random tables of visits: k persons in every class, counted by brute force in the written file."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kohort
from kohort.algorithms import ALGORITHMS
from kohort.errors import InfeasibleError
from oracles.files import rows_of
from property.strategies import requests

IN_CLASSES = [name for name, algorithm in ALGORITHMS.items() if algorithm.anonymity == "classes"]


@st.composite
def visits(draw, algorithm):
    """(frame, policy): a random table in which a person may have many records, equal or not."""
    frame, policy = draw(requests(algorithm, max_rows=24))
    times = draw(st.lists(st.integers(1, 4), min_size=frame.height, max_size=frame.height))
    frame = frame[np.repeat(np.arange(frame.height), times)]
    persons = draw(st.integers(1, frame.height))
    who = draw(st.lists(st.integers(1, persons), min_size=frame.height, max_size=frame.height))
    # whoever is written in two ways is still one person
    texts = [f"{number}.0" if draw(st.booleans()) else str(number) for number in who]
    policy = policy.with_changes("privacy", person="who", models=())
    return frame.with_columns(pl.Series("who", texts)), policy


def persons_by_class(path, release, frame, policy):
    """The persons of every published combination, by Python's own sets."""
    found = {}
    for row, record in zip(rows_of(path), release.row_order.tolist(), strict=True):
        published = tuple(row[name] for name in policy.quasi_identifiers)
        found.setdefault(published, set()).add(float(frame["who"][record]))
    return found


@pytest.mark.promise("1.3")
@pytest.mark.parametrize("algorithm", IN_CLASSES)
@given(data=st.data())
@settings(max_examples=15)
def test_every_class_of_the_written_file_has_k_persons(tmp_path_factory, algorithm, data):
    frame, policy = data.draw(visits(algorithm))
    path = tmp_path_factory.mktemp("release") / "out.csv"
    usable = frame
    if policy.privacy.missing == "suppress":
        usable = frame.drop_nulls(list(policy.quasi_identifiers))
    enough = usable["who"].cast(pl.Float64).n_unique() >= policy.privacy.k
    try:
        release = kohort.anonymize(frame, policy, output=path, overwrite=True)
    except kohort.PolicyError:
        assert not enough
        return
    except InfeasibleError:
        assert policy.privacy.missing == "suppress"
        return
    assert enough
    classes = persons_by_class(path, release, frame, policy)
    fewest = min(map(len, classes.values()))
    assert fewest >= policy.privacy.k
    assert release.verdict.check("persons").figures["fewest_persons"] == fewest
    assert "who" not in rows_of(path)[0]


@pytest.mark.promise("1.3")
@given(data=st.data())
@settings(max_examples=40)
def test_the_check_counts_what_brute_force_counts(tmp_path_factory, data):
    """Persons are dealt anew to a finished release: the verdict must agree with a count."""
    frame, policy = data.draw(visits("fast"))
    path = tmp_path_factory.mktemp("release") / "out.csv"
    release = kohort.anonymize(
        frame, policy.with_changes("privacy", person=None, missing="own-value"), output=path, overwrite=True
    )
    asked = policy.with_changes("privacy", missing="own-value")
    fewest = min(map(len, persons_by_class(path, release, frame, policy).values()))
    verdict = kohort.verify(path, asked, original=frame, row_order=release.row_order)
    assert verdict.check("persons").figures["fewest_persons"] == fewest
    assert verdict.passed == (fewest >= policy.privacy.k)
