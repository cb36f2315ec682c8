"""Shared pieces: small tables as files, and the data that other tools made."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

DATA = Path(__file__).parents[3].parent / "shared/data"


@pytest.fixture(scope="session")
def shared() -> Path:
    if not DATA.is_dir():
        pytest.skip("the shared data folder is not on this machine")
    return DATA


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Write lines as a file and return its path."""

    def make(*lines: str, name: str = "release.csv") -> Path:
        path = tmp_path / name
        path.write_text("".join(line + "\n" for line in lines), encoding="utf-8", newline="")
        return path

    return make
