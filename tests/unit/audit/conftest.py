"""Shared pieces: small tables as files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Write lines as a file and return its path."""

    def make(*lines: str, name: str = "release.csv") -> Path:
        path = tmp_path / name
        path.write_text("".join(line + "\n" for line in lines), encoding="utf-8", newline="")
        return path

    return make
