"""Real processes of Spark on this machine: a standalone cluster, and a server of Spark Connect."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "src"
PATIENCE = 120
QUICK_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""For processes that do not live long."""
CLUSTER = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "700m",
    "spark.executor.memory": "512m",
    "spark.executor.cores": "1",
}
"""Settings of a session on workers as small as these."""


class Process:
    """A Java process with a group of its own, and what it says in a file."""

    def __init__(self, log, *arguments, memory="256m"):
        import pyspark

        home = Path(pyspark.__file__).parent
        self.log = log
        environment = os.environ | {
            "SPARK_HOME": str(home),
            "SPARK_DAEMON_MEMORY": memory,
            "SPARK_DAEMON_JAVA_OPTS": QUICK_JAVA,
            "SPARK_LOCAL_DIRS": str(log.parent),
            "PYSPARK_PYTHON": sys.executable,
            "PYTHONPATH": str(PACKAGE),
        }
        with log.open("wb") as file:
            self.process = subprocess.Popen(
                [str(home / "bin" / "spark-class"), *arguments],
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                env=environment,
                cwd=log.parent,
                start_new_session=True,
            )

    def says(self, pattern):
        """Wait for a line, and return its first group."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and self.process.poll() is None:
            found = re.search(pattern, self.log.read_text())
            if found:
                return found[1]
            time.sleep(0.1)
        raise AssertionError(f"{pattern} was not said: {self.log.read_text()[-2000:]}")

    def kill(self):
        """End it and whatever it started, at once."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


@contextmanager
def standalone(folder, workers=2):
    """A master and some workers; yields the address and the processes of the workers."""
    running = []
    try:
        running.append(
            Process(
                folder / "master.log",
                "org.apache.spark.deploy.master.Master",
                *("--host", "127.0.0.1", "--port", "0", "--webui-port", "0"),
            )
        )
        address = running[0].says(r"Starting Spark master at (spark://\S+)")
        for number in range(workers):
            running.append(
                Process(
                    folder / f"worker{number}.log",
                    "org.apache.spark.deploy.worker.Worker",
                    *("--host", "127.0.0.1", "--cores", "1", "--memory", "700m", "--webui-port", "0"),
                    *("--work-dir", str(folder / f"work{number}"), address),
                )
            )
        for worker in running[1:]:
            worker.says(r"(Successfully registered with master)")
        yield address, running[1:]
    finally:
        for process in reversed(running):
            process.kill()


@contextmanager
def connect_server(folder):
    """A server of Spark Connect; yields its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = Process(
        folder / "connect.log",
        "org.apache.spark.deploy.SparkSubmit",
        *("--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "--master", "local[2]"),
        *("--conf", f"spark.connect.grpc.binding.port={port}", "--conf", "spark.ui.enabled=false"),
        *("--conf", "spark.connect.grpc.binding.address=127.0.0.1", "--conf", "spark.driver.host=127.0.0.1"),
        *("--conf", f"spark.sql.warehouse.dir={folder / 'warehouse'}", "spark-internal"),
        memory="1g",
    )
    try:
        server.says(r"(Spark Connect server started)")
        yield f"sc://127.0.0.1:{port}"
    finally:
        server.kill()
