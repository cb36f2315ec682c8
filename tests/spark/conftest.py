"""Spark in three shapes. All tests of this folder run in one process, and one shape at a time."""

import os
from contextlib import ExitStack

import pytest

from kohort.errors import EngineError
from kohort.release.engines import sample
from kohort.release.engines.spark.session import refuse_without_java, session

from .clusters import CLUSTER, QUICK_JAVA, connect_server, standalone

SMALL = {"spark.sql.shuffle.partitions": "4", "spark.sql.codegen.wholeStage": "false"}
QUICK = {"spark.driver.extraJavaOptions": QUICK_JAVA, "spark.executor.extraJavaOptions": QUICK_JAVA}


def pytest_collection_modifyitems(items):
    for item in items:
        if "spark" in item.fixturenames:
            item.add_marker(pytest.mark.spark)


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    """As many parts as are asked for, however small the table."""
    monkeypatch.setattr(sample, "CLASSES", 1)


@pytest.fixture(scope="session")
def java():
    try:
        refuse_without_java()
    except EngineError as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def workers():
    """The processes of the cluster's workers, once it runs."""
    return []


@pytest.fixture(scope="session", params=["local", "cluster", "connect"])
def spark(request, java, workers, tmp_path_factory):
    """A session of each shape; tests that need only one ask for it by `only`."""
    folder = tmp_path_factory.mktemp(request.param)
    with ExitStack() as stack:
        if request.param == "local":
            yield stack.enter_context(session("local[2]", SMALL | QUICK | {"spark.driver.memory": "1g"}))
        elif request.param == "cluster":
            address, workers[:] = stack.enter_context(standalone(folder))
            yield stack.enter_context(session(address, SMALL | QUICK | CLUSTER))
        else:
            address = stack.enter_context(connect_server(folder))
            yield stack.enter_context(session(address, SMALL))


def only(*shapes):
    """Run a test on some shapes of Spark."""
    return pytest.mark.parametrize("spark", shapes, indirect=True)
