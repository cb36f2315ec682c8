"""Every benchmark, one after the other: `make bench`."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

HERE = Path(__file__).parent

if __name__ == "__main__":
    sys.path.insert(0, str(HERE))
    for name in ("start", "kmember", "algorithms", "end_to_end"):
        print(f"\n## {name}\n", flush=True)
        runpy.run_path(str(HERE / f"{name}.py"), run_name="__main__")
