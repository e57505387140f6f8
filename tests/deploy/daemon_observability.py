#!/usr/bin/env python3
"""Runs observability.py against a real daemon under load.

    daemon_observability.py BIN_FOLDER TRACE

Starts sm89d with two workers in a temporary folder, keeps it busy with simulations of TRACE, refused uploads and
wrong calls, and prints what observability.py prints. Every wait is bounded.
"""
import contextlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
import observability  # noqa: E402 (beside this file)

READY_SECONDS = 30
STOP_SECONDS = 60
CALL_SECONDS = 60
REPEATS = 25  # of the example, a third of a second each


class Daemon:
    """sm89d on free loopback ports; ends with the context."""

    def __init__(self, programs, folder):
        self.programs = programs
        self.log_path = folder / "sm89d.log"
        self.address = f"127.0.0.1:{observability.free_port()}"
        self.metrics = f"127.0.0.1:{observability.free_port()}"
        self.log = open(self.log_path, "wb")
        self.process = subprocess.Popen(
            [programs / "sm89d", f"--data-dir={folder}/data", f"--listen-address={self.address}",
             f"--metrics-address={self.metrics}", "--workers=2", "--shutdown-seconds=5"],
            stdout=self.log, stderr=self.log, stdin=subprocess.DEVNULL)

    def client(self, *arguments):
        """Exit code and output of one call of the client."""
        environment = dict(os.environ, SM89_ADDRESS=self.address)
        run = subprocess.run([self.programs / "sm89", *arguments], env=environment, text=True, timeout=CALL_SECONDS,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, check=False)
        return run.returncode, run.stdout

    def wait_ready(self):
        deadline = time.monotonic() + READY_SECONDS
        while time.monotonic() < deadline and self.process.poll() is None:
            if self.client("--timeout", "2", "pool")[0] == 0:
                return True
            time.sleep(0.2)
        return False

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(timeout=STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()


def keep_busy(daemon, trace, broken_trace, stop):
    """Until `stop`: more jobs than workers, and calls that must fail."""
    while not stop.is_set():
        with contextlib.suppress(subprocess.TimeoutExpired):
            for _ in range(4):
                daemon.client("submit", "--trace", trace, "--no-cache")
            daemon.client("show", "no-such-job")
            daemon.client("upload", str(broken_trace))
        stop.wait(0.5)


def make_long(trace, folder):
    """The trace with its list repeated: a job long enough to be seen while it runs."""
    copy = folder / "long"
    shutil.copytree(trace, copy)
    kernels = copy / "kernelslist.g"
    kernels.write_text(kernels.read_text(encoding="utf-8") * REPEATS, encoding="utf-8")
    return str(copy)


def main(programs, trace):
    with tempfile.TemporaryDirectory(prefix="sm89-daemon.") as name:
        folder = pathlib.Path(name)
        broken = folder / "broken.traceg"
        broken.write_text("this is no trace\n", encoding="utf-8")
        daemon = Daemon(pathlib.Path(programs), folder)
        stop = threading.Event()
        try:
            if not daemon.wait_ready():
                print("FAIL the daemon does not answer\n" + daemon.log_path.read_text(encoding="utf-8")[-2000:])
                return 1
            code, output = daemon.client("--json", "upload", make_long(trace, folder))
            names = re.findall(r'"(traces/[^"]+)"', output)
            if code != 0 or not names:
                print(f"FAIL the upload of {trace}: {output}")
                return 1
            traffic = threading.Thread(target=keep_busy, args=(daemon, names[0], broken, stop))
            traffic.start()
            try:
                return observability.main(f"http://{daemon.metrics}/metrics")
            finally:
                stop.set()
                traffic.join()
        finally:
            daemon.stop()


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
