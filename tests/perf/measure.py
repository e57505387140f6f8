"""What the scripts of this folder share: a program run with its times and peak memory, inputs made and removed."""
import contextlib
import dataclasses
import os
import subprocess
import sys
import tempfile
import time


@dataclasses.dataclass
class Usage:
    wall_s: float
    user_s: float
    system_s: float
    peak_mib: float  # resident, as the kernel counts it for the process


def run(argv):
    """Runs a program to its end; its output is dropped unless it fails."""
    with tempfile.TemporaryFile() as output:
        start = time.monotonic()
        child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(child.pid, 0)
        wall_s = time.monotonic() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            output.seek(0)
            sys.exit(f"{' '.join(argv)}: exit code {child.returncode}\n{output.read().decode(errors='replace')}")
    return Usage(wall_s, usage.ru_utime, usage.ru_stime, usage.ru_maxrss / 1024)


@contextlib.contextmanager
def made_trace(bench_traces, *arguments):
    """A folder with an input of bench_traces (its arguments after OUT): gives (folder, warp instructions)."""
    with tempfile.TemporaryDirectory(prefix="sm89_perf_") as folder:
        made = subprocess.run([bench_traces, folder, *map(str, arguments)], capture_output=True, text=True, check=True)
        yield folder, int(made.stdout)


def program(build_dir, name):
    """A program's path in a build folder; the script ends with a message when it is not there."""
    path = os.path.join(build_dir, "bin", name)
    if not os.path.exists(path):
        sys.exit(f"{path} is not built: cmake --build {build_dir} --target {name}")
    return path
