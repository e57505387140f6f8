#!/usr/bin/env python3
"""Peak memory of sm89-sim does not depend on the trace's length.

    tests/perf/memory.py BUILD_DIR          the test: traces and the same four times as long, by CTAs and by iterations
    tests/perf/memory.py BUILD_DIR --long   two traces of 100 million warp instructions and one of a GPU full of scattered
                                            loads (minutes; 1 GB of disk): at most 400 MiB

Text traces in, the RTX4090 configuration, one thread. Peak resident memory of the process as the kernel counts it,
pages of mapped files included.
"""
import argparse
import sys

import measure

MOST_MIB = 400
# What a trace four times as long may take more: the allocator's rounding, a few KiB of index, pages of the L2 model that
# the short one does not touch; not its content. The gathers' compact traces, which hardly compress, grow by 10 MiB.
MOST_GROWTH_MIB = 3
# (kernel, CTAs, iterations, CTAs of the long one, its iterations). Even the short ones have as many resident warps,
# several segments each, as the long ones.
PAIRS = [
    ("gather", 1536, 8, 6144, 8),
    ("gather", 12, 512, 12, 2048),
    ("gemm", 128, 4, 128, 16),
]
# 100.6 and 100.8 million; and every warp that the GPU has room for, with addresses that no other warp shares.
LONG = [("gemm", 10_240, 4), ("stream", 1024, 1230), ("gather", 768, 256)]


def peak(build_dir, kernel, ctas, iterations, *options):
    """(peak MiB, warp instructions) of a run on an input."""
    traces = measure.program(build_dir, "bench_traces")
    sim = measure.program(build_dir, "sm89-sim")
    with measure.made_trace(traces, kernel, ctas, iterations, *options) as (folder, instructions):
        usage = measure.run([sim, "--trace", folder])
    print(f"{kernel:8} {ctas:6} CTAs x {iterations:4} {instructions:11,} warp instructions {usage.peak_mib:7.1f} MiB "
          f"{usage.user_s:7.2f} s user", flush=True)
    return usage.peak_mib, instructions


def compare(build_dir):
    problems = []
    for kernel, ctas, iterations, long_ctas, long_iterations in PAIRS:
        short, few = peak(build_dir, kernel, ctas, iterations)
        long, many = peak(build_dir, kernel, long_ctas, long_iterations)
        if long - short > MOST_GROWTH_MIB:
            problems.append(f"{kernel}: {many / few:.1f} times the trace takes {long - short:.1f} MiB more, "
                            f"allowed are {MOST_GROWTH_MIB}")
        if long > MOST_MIB:
            problems.append(f"{kernel}: {long:.1f} MiB, more than {MOST_MIB}")
    return problems


def run_long(build_dir):
    problems = []
    for kernel, ctas, iterations in LONG:
        mib, _ = peak(build_dir, kernel, ctas, iterations, "--gzip")
        if mib > MOST_MIB:
            problems.append(f"{kernel}: {mib:.1f} MiB, more than {MOST_MIB}")
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build_dir")
    parser.add_argument("--long", action="store_true")
    arguments = parser.parse_args()
    problems = run_long(arguments.build_dir) if arguments.long else compare(arguments.build_dir)
    for problem in problems:
        print(f"FAILED {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
