"""The package is cheap to import and shows what it says it has."""

import subprocess
import sys

import pytest

import kohort.datasets


def test_import_loads_no_heavy_library():
    # What `kohort` itself loads is not the affair of this package.
    code = (
        "import sys, kohort\n"
        "before = set(sys.modules)\n"
        "import kohort.datasets\n"
        "heavy = {'numpy', 'polars', 'numba', 'kohort.datasets.hospital', 'kohort.datasets.papers'}\n"
        "sys.exit(', '.join(sorted(heavy & (set(sys.modules) - before))) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_use_loads_no_numba():
    code = "import sys; from kohort.datasets import patients; patients(5); sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("name", kohort.datasets.__all__)
def test_every_public_name_is_there_and_documented(name):
    function = getattr(kohort.datasets, name)
    assert callable(function)
    assert function.__doc__
    assert name in dir(kohort.datasets)


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = kohort.datasets.nothing
