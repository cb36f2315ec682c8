"""What the adversary has found, as small as it can be."""

import pytest

from .generate import by_hand
from .run import findings, run_case

POLICY = """
[privacy]
k = 2
models = [{{ model = "distinct-l-diversity", column = '{name}', l = 2 }}]
[columns]
age = "quasi"
'{name}' = "sensitive"
"""


@pytest.mark.promise("6.2")
@pytest.mark.parametrize(("name", "code"), [("row", 0), ("index", 0), ("count", 0), ("*", 2), ("^a.*$", 2)])
def test_any_name_of_a_column_is_taken_as_it_is_or_refused(tmp_path, name, code):
    """`row` was a column of kohort's own, and the others are patterns of polars."""
    case = by_hand("memory", POLICY.format(name=name), f"age,{name}\n1,a\n1,b\n2,a\n2,b\n")
    outcome = run_case(case, tmp_path)
    assert findings(case, outcome) == []
    assert outcome.code == code
