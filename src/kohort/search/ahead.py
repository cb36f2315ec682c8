"""The kernel of the search that takes longest to compile, called once."""

from __future__ import annotations

import numpy as np


def compile_kernels() -> None:
    """Carry out no step on one record, as a search without promises would carry out many."""
    from kohort.kernels.search.search import carry_out, empty_round
    from kohort.kernels.search.spans import Spans
    from kohort.kernels.search.state import empty_state

    one = np.zeros(1, np.int32)
    spans = Spans(flat=one, offset=one, size=one, full=one, tables=1, lines=1)
    state = empty_state(one.copy(), 1, 3, 1)
    carry_out(np.zeros((1, 1), np.int32), spans, 2, None, 1.0, empty_round(1, 1), 0, 0, state)
