#!/usr/bin/env python3
"""The same JSON bytes from every build and thread count: compare_builds.py SIM [SANITIZED_SIM]. Executes kernels of
tests/data/kernels, runs the bundled text trace and, where ../shared is there, some public traces: five times, on 1
and 2 threads. Exit code 77 = skipped."""
import hashlib
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
KERNELS = os.path.join(ROOT, "tests", "data", "kernels")
CASES = ["tensor_gemm", "reduction", "divergent", "histogram"]  # of suite.json
SHARED = os.path.join(ROOT, "..", "shared", "traces")
PUBLIC = ["nassosliak__accel-sim-framework.tar.xz", "HamHyungkyu__advanced_computer_architecture.tar.xz"]
LISTS = {
    PUBLIC[0]: "nassosliak__accel-sim-framework/util/tracer_nvbit/traces/bfs-rodinia-3.1",
    PUBLIC[1]: "HamHyungkyu__advanced_computer_architecture/util/tracer_nvbit/traces/GPU_0",
}


def digest(sim, name, options, threads):
    run = subprocess.run([sim, "--config", "RTX4090", *options, "--threads", str(threads), "--json", "-"],
                         capture_output=True, check=False)
    if run.returncode != 0:
        print(run.stderr.decode(errors="replace"))
        raise SystemExit(f"{sim} ended with {run.returncode} on {name}")
    return hashlib.sha256(run.stdout).hexdigest()


def inputs(folder):
    """Name and options of each input."""
    cases = [option for case in CASES for option in ("--case", case)]
    yield "tests/data/kernels", ["--suite", os.path.join(KERNELS, "suite.json"), "--cubin-dir", KERNELS, *cases]
    for trace in traces(folder):
        yield os.path.basename(trace), ["--trace", trace, "--foreign-arch"]


def traces(folder):
    found = [os.path.join(ROOT, "deploy", "example")]
    for archive in PUBLIC:
        path = os.path.join(SHARED, archive)
        if not os.path.exists(path):
            print(f"without {archive}: not there")
            continue
        subprocess.run(["tar", "xf", path, "-C", folder], check=True)
        found.append(os.path.join(folder, LISTS[archive]))
    return found


def main(sims):
    problems = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, options in inputs(folder):
            reference = digest(sims[0], name, options, 1)
            seen = {(sim, threads, run): digest(sim, name, options, threads)
                    for sim in sims for threads in (1, 2) for run in range(5 if sim == sims[0] else 1)}
            for key, value in seen.items():
                if value != reference:
                    problems += 1
                    print(f"{name}: {key} differs")
            print(f"{name}: {len(seen)} runs, sha256 {reference[:16]}")
    return 1 if problems else 0


if __name__ == "__main__":
    programs = [p for p in sys.argv[1:] if p]
    missing = [p for p in programs if not os.path.exists(p)]
    if missing:
        print("skipped: not built:", missing)
        sys.exit(77)
    sys.exit(main(programs))
