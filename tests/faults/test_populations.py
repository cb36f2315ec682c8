"""Populations that are not there, cannot be read or do not fit; and models that the table cannot keep."""

from faults.harness import CANARY, INFEASIBLE, Fault, assert_refused, each, like, privacy, says

KMAP = privacy('models = [{ model = "k-map", k = 3, population = "town.csv" }]')
PEOPLE = "age,zip,town\n30,77031,Sekretheim\n31,77032,Sekretheim\n"

FAULTS = [
    Fault(
        "population-absent",
        says(like(r"population of 'k-map': town\.csv: cannot be read \(.*\); check the path\.")),
        policy=KMAP,
    ),
    Fault(
        "population-without-columns",
        says(
            "population of 'k-map': quasi-identifier 'zip' is not in it; add the column, or give another file.",
            "population of 'k-map': quasi-identifier 'town' is not in it; add the column, or give another file.",
        ),
        policy=KMAP,
        files={"town.csv": f"age,{CANARY}\n30,1\n"},
    ),
    Fault(
        "population-of-other-values",
        says(like(r"population of 'k-map': column 'age': 1 value is no whole number \(first in row 3\);.*")),
        policy=KMAP,
        files={"town.csv": PEOPLE + f"{CANARY},77033,Sekretheim\n"},
    ),
    Fault(
        "population-of-other-codes",
        says(
            like(r"population of 'k-map': column 'zip': values differ in length \(4 of length 5, 1 of length 6\).*\.")
        ),
        policy=KMAP,
        files={"town.csv": "age,zip,town\n30,770311,Sekretheim\n"},
    ),
    Fault(
        "population-too-small",
        says(
            "policy.toml, line 3: k-map with k = 3 is impossible: even one class of all records covers 2 records of "
            "the population; choose a smaller k or a larger population."
        ),
        exit_code=INFEASIBLE,
        policy=KMAP,
        files={"town.csv": PEOPLE},
    ),
    Fault(
        "risk-too-small",
        says(
            "policy.toml, line 3: an average risk of 0.1 cannot be reached with the 4 records of the table: even one "
            "class of all has 1/4; choose a larger one."
        ),
        exit_code=INFEASIBLE,
        policy=privacy('models = [{ model = "average-risk", most = 0.1 }]'),
    ),
    Fault(
        "share-over-1",
        says(
            "policy.toml, line 3: privacy model 'delta-presence': 'most' must be a number above 0 and at most 1; got 2."
        ),
        policy=privacy('models = [{ model = "delta-presence", least = 0, most = 2, population = "town.csv" }]'),
    ),
]


@each(FAULTS)
def test_refused(fault, tmp_path, capsys):
    assert_refused(fault, tmp_path, capsys)
