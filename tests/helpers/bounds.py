"""Lower bounds on the loss with little effort: valid after any, and users wait seconds for better ones."""

from contextlib import contextmanager
from unittest.mock import patch

from kohort.measures.bounds import lower

FULL = lower.STEPS


def save_effort():
    """From now on, unless a test asks for `full_effort`."""
    lower.STEPS = FULL // 100


@contextmanager
def full_effort():
    """As users, and processes that tests start, make them."""
    with patch.object(lower, "STEPS", FULL):
        yield
