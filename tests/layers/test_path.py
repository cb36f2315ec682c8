"""A reader who follows a record needs no file that the page does not name, and meets them in its order."""

import re
import sys
from pathlib import Path

import polars as pl

import kohort

PACKAGE = Path(kohort.__file__).parent
PAGE = (Path(__file__).parents[2] / "docs" / "architecture.md").read_text()


def stations():
    """The files of the page, each with the functions that it names."""
    steps = re.findall(r"^\d\. `([\w/]+\.py)`(.*?)(?=^\d\. |^$)", PAGE, flags=re.MULTILINE | re.DOTALL)
    return [(PACKAGE / file, set(re.findall(r"`(\w+)`", text))) for file, text in steps]


def test_a_release_goes_through_the_files_of_the_page_in_their_order():
    there = stations()
    assert 6 <= len(there) <= 8
    assert all(functions for _, functions in there)
    wanted = {(str(file), name) for file, functions in there for name in functions}
    entered = []

    def watch(frame, event, _):
        here = (frame.f_code.co_filename, frame.f_code.co_name)
        if event == "call" and here in wanted and here not in entered:
            entered.append(here)

    policy = kohort.Policy.build(k=2, quasi_identifiers=["age"], algorithm="k-member", seed=1)
    table = pl.DataFrame({"age": [30, 31, 50, 52]})
    sys.setprofile(watch)
    try:
        release = kohort.anonymize(table, policy)
    finally:
        sys.setprofile(None)
    assert release.verdict.passed
    assert set(entered) == wanted
    files = list(dict.fromkeys(file for file, _ in entered))
    assert files == [str(file) for file, _ in there]
