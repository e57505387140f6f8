#!/usr/bin/env python3
"""Processor instructions that the simulator executes for each warp instruction, against the recorded figures.

    tests/perf/callgrind.py BUILD_DIR            the test: more than 10 % above callgrind.json fails (set_up: 50 %)
    tests/perf/callgrind.py BUILD_DIR --record   writes callgrind.json anew

Counted by Valgrind's callgrind in the phases of bench_phases, so the figures do not depend on the machine's load or
clock: ingest and simulate in instructions for each warp instruction, set_up in instructions. They do depend on compiler
and flags: with others than the recorded ones, or without Valgrind, the test is skipped (exit code 77) and says why.
"""
import argparse
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import measure

RECORD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "callgrind.json")
SKIPPED = 77
# Setting up is 10 ms a run and grows with every setting; it is held so that no accident multiplies it.
TOLERANCE = {"ingest": 0.10, "simulate": 0.10, "set_up": 0.50}
# bench_traces' arguments; about 42,000 and 46,000 warp instructions.
INPUTS = {"gemm": ("gemm", 16, 1), "stream": ("stream", 64, 8)}
PHASES = {"ingest": "Sm89PerfIngest", "set_up": "Sm89PerfSetUp", "simulate": "Sm89PerfSimulate"}


def count_phases(program, trace):
    """Instructions executed in each phase."""
    with tempfile.TemporaryDirectory(prefix="sm89_callgrind_") as folder:
        options = [f"{option}={function}" for function in PHASES.values()
                   for option in ("--dump-before", "--dump-after")]
        result = subprocess.run(
            ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out", *options, program, trace],
            capture_output=True, text=True, check=False)
        if result.returncode != 0:
            sys.exit(f"{program} under valgrind: exit code {result.returncode}\n{result.stderr[-2000:]}")
        counts = {}
        for path in glob.glob(f"{folder}/out*"):
            with open(path, encoding="utf-8") as dump:
                text = dump.read()
            for phase, function in PHASES.items():
                if f"Trigger: --dump-after={function}" in text:
                    counts[phase] = int(re.search(r"^(?:totals|summary): (\d+)", text, re.MULTILINE).group(1))
    missing = PHASES.keys() - counts.keys()
    if missing:
        sys.exit(f"valgrind gave no figures of {', '.join(sorted(missing))}\n{result.stderr[-2000:]}")
    return counts


def measure_all(build_dir):
    program = measure.program(build_dir, "bench_phases")
    traces = measure.program(build_dir, "bench_traces")
    figures = {}
    for name, arguments in INPUTS.items():
        with measure.made_trace(traces, *arguments) as (folder, instructions):
            counts = count_phases(program, folder)
        figures[name] = {phase: count if phase == "set_up" else round(count / instructions)
                         for phase, count in counts.items()}
    return figures


def compiled_with(build_dir):
    """Compiler and flags that the programs were built with."""
    lines = subprocess.run([measure.program(build_dir, "bench_phases"), "--compiler"], capture_output=True, text=True,
                           check=True).stdout.splitlines()
    return {"compiler": lines[0], "flags": lines[1]}


def record(build_dir):
    with open(RECORD, "w", encoding="utf-8") as out:
        json.dump({**compiled_with(build_dir), "figures": measure_all(build_dir)}, out, indent=2)
        out.write("\n")
    print(f"recorded in {RECORD}")
    return 0


def compare(build_dir):
    with open(RECORD, encoding="utf-8") as source:
        recorded = json.load(source)
    present = compiled_with(build_dir)
    for what, value in present.items():
        if value != recorded[what]:
            print(f"skipped: {what} is '{value}', the figures were recorded with '{recorded[what]}'")
            return SKIPPED
    again = f"{os.path.relpath(__file__)} {build_dir} --record"
    above = below = 0
    for name, phases in measure_all(build_dir).items():
        for phase, now in phases.items():
            then = recorded["figures"][name][phase]
            change = now / then - 1
            allowed = TOLERANCE[phase]
            note = ""
            if change > allowed:
                above, note = above + 1, f"  FAILED: more than {allowed:.0%} above"
            elif change < -allowed:
                below, note = below + 1, f"  more than {allowed:.0%} below"
            print(f"{name:7} {phase:9} {now:12,} recorded {then:12,} {change:+7.1%}{note}")
    if above:
        print(f"If the extra work is meant, record it and say why in the commit:\n  {again}")
    elif below:
        print(f"Faster than recorded: record it, so that it is held:\n  {again}")
    return 1 if above else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build_dir")
    parser.add_argument("--record", action="store_true")
    arguments = parser.parse_args()
    if shutil.which("valgrind") is None:
        print("skipped: valgrind is not installed")
        return SKIPPED
    return record(arguments.build_dir) if arguments.record else compare(arguments.build_dir)


if __name__ == "__main__":
    sys.exit(main())
