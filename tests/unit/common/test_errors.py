"""Faults of cells are data: each engine says what it knows of them."""

import pickle

from kohort.errors import CellError, DataError


def test_faults_of_cells_are_counted_by_rows_or_by_records():
    fault = CellError([1, 4], lambda rows, where: f"{rows} rows{where}.")
    assert fault.faults == ("2 rows (first in row 2).",)
    assert fault.of_counts([9, 5, 9, 9, 7]).faults == ("12 rows.",)
    there = pickle.loads(pickle.dumps(fault))  # as errors of other processes come
    assert type(there) is DataError
    assert there.faults == fault.faults
