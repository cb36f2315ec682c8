"""How often attacks find a planted weakness, and how often they raise an alarm without one.

`PYTHONPATH=tests python benchmarks/attacks.py [SEEDS]`: the releases are those of tests/helpers/weak.py.
"""

from __future__ import annotations

import sys

from helpers.weak import alarms
from kohort.reports.attacks import ATTACKS
from kohort.reports.estimate import Estimate


def main(seeds: int) -> None:
    """A line for each attack."""
    print("| Attack | Planted weaknesses found | Alarms without one |\n|---|---|---|")
    for name in ATTACKS:
        found, false = (alarms(name, range(seeds), weak=weak) for weak in (True, False))
        print(f"| {name} | {_share(found, seeds)} | {_share(false, seeds)} |", flush=True)


def _share(found: int, of: int) -> str:
    interval = Estimate.of_share(found, of)
    return f"{found} of {of} ({interval.low:.1%} to {interval.high:.1%})"


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
