#!/usr/bin/env python3
"""The model against a measured H200: micro-benchmarks, whole kernels, reasons to wait, synthesised control bits.

    h200.py --sim build/release/bin/sm89-sim                       # prints the text of configs/H200/VALIDATION.md
    h200.py --sim ... --part micro [--rows lat_ffma mix_...]       # only a part, only some rows
    h200.py --sim ... --write                                      # writes configs/H200/VALIDATION.md
    h200.py --sim ... --check [--part micro]                       # fails when the committed text is not what comes out

The measurements lie in ../shared beside the source tree; without them it says so and ends with 77.
"""

import argparse
import json
import pathlib
import sys

import h200_micro
import h200_silicon
import h200_stalls
import h200_suite
from runner import RunError

TABLE = h200_silicon.ROOT / "configs" / "H200" / "VALIDATION.md"
HEAD = h200_silicon.FOLDER / "h200.head.md"
REASONS = h200_silicon.FOLDER / "h200_reasons.json"
PARTS = ("micro", "suite", "stalls", "bits")
SKIPPED = 77
STALLS_HEAD = ("## Why warps wait\n\nThe suite's stall samples by instruction (Nsight Compute's source counters) against the "
               "model's warp-cycles in the same states. Nothing is tuned to these either.\n\n")
BITS_HEAD = ("## Synthesised against real control bits\n\nThe suite's sm_89 code on the preset RTX4090, with the control "
             "bits of the code and with those that are synthesised for traces without code. Cycles of a launch whose last "
             "wave is not full (sgemm_tiled: 1,024 CTAs in 768 places) move with which SM gets its CTAs, up to a fifth; "
             "with full waves its bits differ by 1 %. Of sm_90 code, 24 launches on the preset H200 differ by 0.8 % in the "
             "mean, dgemm_tiled by 6 %.\n\n")


def build(args, reasons):
    """{part: its text}, in order."""
    text = {}
    if "micro" in args.part:
        rows = h200_micro.simulate(args.sim, args.rows, args.config, args.processes, args.set)
        text["micro"] = "## Micro-benchmarks\n\n" + h200_micro.render(rows, reasons["micro"])
    if "suite" in args.part:
        rows = h200_suite.simulate(args.sim, args.rows, args.config, args.processes, args.set)
        text["suite"] = "## Whole kernels\n\n" + h200_suite.render(rows, reasons["suite"])
    if "stalls" in args.part:
        rows = h200_stalls.simulate(args.sim, args.rows, args.config, args.processes, args.set)
        text["stalls"] = STALLS_HEAD + h200_stalls.render(rows, reasons["stalls"])
    if "bits" in args.part:
        pairs = h200_suite.compare_bits(args.sim, args.rows, processes=args.processes)
        text["bits"] = BITS_HEAD + h200_suite.render_bits(pairs)
    return text


def check(text):
    """The lines of the parts that the committed table does not have."""
    committed = set(TABLE.read_text().splitlines()) if TABLE.exists() else set()
    return [line for part in text.values() for line in part.splitlines() if line not in committed]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sim", required=True, help="sm89-sim to run")
    parser.add_argument("--part", nargs="*", choices=PARTS, default=PARTS)
    parser.add_argument("--rows", nargs="*", help="only these cases")
    parser.add_argument("--config", default="H200", help="preset or file")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="overrides the preset; --set=-name=1")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--write", action="store_true", help="write the table")
    parser.add_argument("--check", action="store_true", help="compare with the committed table")
    args = parser.parse_args()
    if args.write and (args.rows or args.set or args.config != "H200" or set(args.part) != set(PARTS)):
        parser.error("--write needs every part and row, and the preset as it is")
    if not h200_silicon.present():
        print(f"skipped: no measurements of an H200 in {h200_silicon.SILICON}")
        return SKIPPED
    try:
        text = build(args, json.loads(REASONS.read_text()))
    except RunError as error:
        raise SystemExit(f"h200: {error}") from error
    whole = HEAD.read_text().rstrip() + "\n\n" + "\n".join(text.values())
    if args.write:
        TABLE.write_text(whole)
    if args.check:
        complaints = [f"not in {pathlib.Path(TABLE).relative_to(h200_silicon.ROOT)}: {line}" for line in check(text)]
        print("\n".join(complaints) or "as committed")
        return 1 if complaints else 0
    print("\n".join(text.values()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
