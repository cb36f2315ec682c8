"""Every test works in a folder of its own."""

import pytest


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """An empty folder, which is also the working directory."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.chdir(home)
    return home
