#!/usr/bin/env python3
"""Speed and memory of whole sm89-sim processes on the four benchmark inputs, next to Accel-Sim's.

    tests/perf/table.py BUILD_DIR [--runs N] [--threads N] [--markdown]

Runs every input N times (5), the inputs in turns so that a busy spell of the machine hits all alike, and prints medians:
wall, user and system seconds, user/wall (how many processors it kept busy), simulated warp instructions and GPU cycles
for each wall second, peak resident memory, and how many times Accel-Sim's recorded wall time is ours.
"""
import argparse
import json
import statistics
import subprocess
import sys
import tempfile

import measure

INPUTS = ("gemm128", "vecadd512", "hmma128", "stream1024")
# Wall seconds, whole process, median, single-threaded: Accel-Sim's October 2024 dev branch, release build, on a 2-core
# EPYC container, with the same traces marked as binary version 86 (it does not accept 89). Recorded in
# ../shared/bench/README.md; another machine's absolute times: ratios are indicative.
ACCEL_SIM_RTX4090 = {"gemm128": 102.3, "vecadd512": 24.6}
ACCEL_SIM_RTX3070 = {"gemm128": 23.2, "vecadd512": 5.5, "hmma128": 35.1, "stream1024": 121.5}
COLUMNS = ("input", "wall s", "user s", "sys s", "user/wall", "warp inst/s", "cycles/s", "peak MiB",
           "Accel-Sim RTX 4090", "Accel-Sim RTX 3070")


def simulated(sim, trace):
    """(warp instructions, GPU cycles) of a run: its report's totals."""
    report = subprocess.run([sim, "--trace", trace, "--json", "-"], capture_output=True, text=True, check=True).stdout
    totals = json.loads(report)["totals"]
    return totals["warp_instructions"], totals["cycles"]


def ratio(name, recorded, wall_s):
    return f"{recorded[name]} s, {recorded[name] / wall_s:.0f}x" if name in recorded else "-"


def row_of(name, usages, counts):
    wall_s, user_s, system_s, mib = (statistics.median(getattr(u, field) for u in usages)
                                     for field in ("wall_s", "user_s", "system_s", "peak_mib"))
    busy = statistics.median(u.user_s / u.wall_s for u in usages)
    instructions, cycles = counts
    return (name, f"{wall_s:.2f}", f"{user_s:.2f}", f"{system_s:.2f}", f"{busy:.2f}", f"{instructions / wall_s:,.0f}",
            f"{cycles / wall_s:,.0f}", f"{mib:.0f}", ratio(name, ACCEL_SIM_RTX4090, wall_s),
            ratio(name, ACCEL_SIM_RTX3070, wall_s))


def print_table(rows, markdown):
    widths = [max(len(row[i]) for row in rows) for i in range(len(COLUMNS))]
    for number, row in enumerate(rows):
        cells = [cell.ljust(width) if i == 0 else cell.rjust(width) for i, (cell, width) in enumerate(zip(row, widths))]
        print("| " + " | ".join(cells) + " |" if markdown else "  ".join(cells))
        if markdown and number == 0:
            print("|" + "|".join("---" if i == 0 else "--:" for i in range(len(COLUMNS))) + "|")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build_dir")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--markdown", action="store_true")
    arguments = parser.parse_args()
    sim = measure.program(arguments.build_dir, "sm89-sim")
    traces = measure.program(arguments.build_dir, "bench_traces")
    with tempfile.TemporaryDirectory(prefix="sm89_perf_") as folder:
        counts = {}
        for name in INPUTS:
            subprocess.run([traces, f"{folder}/{name}", name], check=True, stdout=subprocess.DEVNULL)
            counts[name] = simulated(sim, f"{folder}/{name}")  # not timed: it brings the trace into the page cache
        usages = {name: [] for name in INPUTS}
        for _ in range(arguments.runs):
            for name in INPUTS:
                argv = [sim, "--trace", f"{folder}/{name}", "--threads", str(arguments.threads)]
                usages[name].append(measure.run(argv))
    print_table([COLUMNS] + [row_of(name, usages[name], counts[name]) for name in INPUTS], arguments.markdown)
    return 0


if __name__ == "__main__":
    sys.exit(main())
