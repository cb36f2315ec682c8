"""A session of Spark for the command line, and a clear word where Spark or Java are missing."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from kohort.common.private import private_folder
from kohort.common.spark import guarded
from kohort.common.system import megabytes
from kohort.errors import EngineError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LEAST_JAVA = 17
SETTINGS = {
    # Two columns may differ in case alone, and stay apart.
    "spark.sql.caseSensitive": "true",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
}
_QUIET = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}
_LOOPBACK = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}


def refuse_without_spark() -> None:
    """Say how to install Spark if it is missing."""
    if find_spec("pyspark") is None:
        raise EngineError("Spark is not installed; install it with: pip install 'kohort[spark]'")


def refuse_without_java() -> None:
    """Say how to install Java if there is none that Spark can run on."""
    version = java_version()
    if version is None or version < LEAST_JAVA:
        found = "none was found" if version is None else f"this is Java {version}"
        raise EngineError(
            f"Spark needs Java {LEAST_JAVA} or newer, and {found}; install it with: "
            f"apt-get install openjdk-{LEAST_JAVA}-jre-headless, or set JAVA_HOME."
        )


def java_version() -> int | None:
    """The version of the Java that Spark would run on; None if there is none."""
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    try:
        answered = subprocess.run([java or "java", "-version"], capture_output=True, text=True, check=True).stderr
    except (OSError, subprocess.CalledProcessError):
        return None
    found = re.search(r'version "(?:1\.)?(\d+)', answered)
    return int(found[1]) if found else None


@contextmanager
def session(master: str | None = None, settings: Mapping[str, str] | None = None) -> Iterator[SparkSession]:
    """A session that leaves nothing behind.

    Scratch files hold cells of the table, so they lie in a private folder and go with the session. So does what Spark
    would say on the terminal, for it may quote cells.

    Parameters
    ----------
    master : str, optional
        Where Spark runs: ``local[*]`` when absent, ``spark://host:port``, or ``sc://host:port`` for Spark Connect.
    settings : mapping, optional
        Further settings of Spark, which come before those of kohort.

    Raises
    ------
    EngineError
        When Spark or Java are missing, or Spark does not start.
    """
    refuse_without_spark()
    master = master or "local[*]"
    if not master.startswith("sc://"):
        refuse_without_java()
    with ExitStack() as stack:
        scratch = stack.enter_context(private_folder("kohort-spark"))
        given = SETTINGS | _places(master, scratch) | dict(settings or {})
        # Workers on this machine must have the libraries of this interpreter.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        yield stack.enter_context(_started(master, given))


def _places(master: str, scratch: Path) -> dict[str, str]:
    """Settings of a driver on this machine."""
    if master.startswith("sc://"):
        return {}
    places = _QUIET | {"spark.local.dir": str(scratch), "spark.sql.warehouse.dir": str(scratch / "warehouse")}
    if master.startswith("local"):
        places |= _LOOPBACK | {
            "spark.driver.memory": f"{max(1024, megabytes() // 4)}m",
            "spark.sql.shuffle.partitions": str(max(16, 4 * (os.cpu_count() or 1))),
        }
    return places


@contextmanager
def _same_signals() -> Iterator[None]:
    """Leave Ctrl-C to whoever answers it: Spark would answer it itself from its start on."""
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread() and before is not None:
            signal.signal(signal.SIGINT, before)


@contextmanager
def _started(master: str, settings: Mapping[str, str]) -> Iterator[SparkSession]:
    """Start a session, and stop it with everything that it started."""
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    if master.startswith("sc://"):
        builder = SparkSession.builder.appName("kohort").config(map=dict(settings)).remote(master)
        spark = guarded(builder.getOrCreate, "Spark cannot be reached there; check the address.")
        try:
            yield spark
        finally:
            spark.stop()
            os.environ.pop("SPARK_CONNECT_MODE_ENABLED", None)  # else no other kind could follow in this process
        return
    conf = SparkConf().setMaster(master).setAppName("kohort").setAll(list(settings.items()))
    fault = "Spark does not start; check its address and its settings."
    # What Java says may quote cells.
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    gateway = guarded(lambda: launch_gateway(conf, silent), fault)  # type: ignore[no-untyped-call]
    try:
        with _same_signals():
            spark = guarded(lambda: SparkSession(SparkContext(conf=conf, gateway=gateway)), fault)
        try:
            yield spark
        finally:
            spark.stop()
    finally:
        gateway.shutdown()
        gateway.proc.stdin.close()  # which ends the Java process
        gateway.proc.wait()
        SparkContext._gateway = SparkContext._jvm = None
