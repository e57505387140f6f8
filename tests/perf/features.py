#!/usr/bin/env python3
"""What each feature that is off by default costs in simulation speed, on against off.

    tests/perf/features.py BUILD_DIR [--runs N]

Runs the two sides of every feature in turns, N times (7), and prints medians of the user seconds of whole sm89-sim processes,
their ratio, and the simulated cycles of both sides: where a feature changes the timing, more or fewer events are simulated, and
the ratio holds that too. Kernels: tests/data/kernels, launched larger so that a run takes some tenths of a second.
"""
import argparse
import dataclasses
import json
import os
import statistics
import subprocess
import sys
import tempfile

import measure

KERNELS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "kernels")
THREADS = 256
# Kernel: CTAs of 256 threads.
CTAS = {"divergent": 512, "reduction": 1024}
EVERYTHING = "0x0-0xffffffffffffffff"


@dataclasses.dataclass
class Feature:
    name: str
    kernel: str
    on: list
    off: list = dataclasses.field(default_factory=list)


def features(folder):
    def at(name):
        return os.path.join(folder, name)

    research = ["--config", "RTX4090_SER"]
    return [
        Feature("reordering stage", "divergent", research),
        Feature("its decisions written, compact", "divergent", research + ["--ser-trace", at("moves.ser")], research),
        Feature("its decisions written, CSV", "divergent", research + ["--ser-trace", at("moves.csv")], research),
        Feature("L2 prefetch, distance 4", "reduction", ["--set", "gpgpu_sm89_l2_prefetch_distance=4"]),
        Feature("L2 prefetch, distance 16", "reduction", ["--set", "gpgpu_sm89_l2_prefetch_distance=16"]),
        Feature("L2 compression of everything, 2:1", "reduction",
                ["--set", f"gpgpu_sm89_l2_compression_ranges={EVERYTHING}", "--set", "gpgpu_sm89_l2_compression_ratio=2"]),
        Feature("half lines round the slices", "reduction", ["--set", "gpgpu_sm89_l2_interleave_bytes=64"]),
        Feature("profile by instruction", "reduction", ["--profile"]),
        Feature("profile with SASS, JSON", "reduction", ["--pc-json", at("profile.json")]),
        Feature("timeline", "reduction", ["--kineto", at("timeline.json")]),
        Feature("kept trace", "reduction", ["--keep-trace", at("kept.sm89t")]),
    ]


def larger(kernel, folder):
    """Writes a launch of CTAS[kernel] CTAs next to the results; gives its path."""
    with open(os.path.join(KERNELS, f"{kernel}.json"), encoding="utf-8") as file:
        launch = json.load(file)
    one = launch["launches"][0]
    one["grid"], one["block"] = [CTAS[kernel]], [THREADS]
    count = CTAS[kernel] * THREADS * (8 if kernel == "reduction" else 1)
    for argument in one["args"]:
        if argument.get("count", 0) > 1000:
            argument["count"] = count
        if argument.get("buffer") == "partial":
            argument["count"] = CTAS[kernel]
        if argument.get("name") == "count":
            argument["i32"] = count
    path = os.path.join(folder, f"{kernel}.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(launch, file)
    return path


def cycles(argv):
    report = subprocess.run(argv + ["--json", "-"], capture_output=True, text=True, check=True).stdout
    return json.loads(report)["totals"]["cycles"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build_dir")
    parser.add_argument("--runs", type=int, default=7)
    arguments = parser.parse_args()
    sim = measure.program(arguments.build_dir, "sm89-sim")
    print("| feature | kernel | off, user s | on, user s | on / off | cycles off | cycles on |")
    print("|---|---|--:|--:|--:|--:|--:|")
    with tempfile.TemporaryDirectory(prefix="sm89_perf_") as folder:
        launches = {kernel: larger(kernel, folder) for kernel in CTAS}
        for feature in features(folder):
            base = [sim, "--cubin", os.path.join(KERNELS, f"{feature.kernel}.sm_89.cubin"), "--launch", launches[feature.kernel]]
            sides = [base + feature.off, base + feature.on]
            simulated = [cycles(side) for side in sides]
            user_s = [[], []]
            for _ in range(arguments.runs):
                for side, seconds in zip(sides, user_s):
                    seconds.append(measure.run(side).user_s)
            off, on = (statistics.median(seconds) for seconds in user_s)
            print(f"| {feature.name} | {feature.kernel} | {off:.2f} | {on:.2f} | {on / off:.2f} "
                  f"| {simulated[0]:,} | {simulated[1]:,} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
