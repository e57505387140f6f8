"""What an H200 measured: clocks of micro-benchmarks and profiler figures of whole kernels.

The measurements lie beside the source tree (../shared/silicon) and are not part of it; configs/H200/VALIDATION.md
carries the values that the tables need.
"""

import csv
import io
import json
import lzma
import pathlib

FOLDER = pathlib.Path(__file__).resolve().parent
ROOT = FOLDER.parent.parent
SILICON = ROOT.parent / "shared" / "silicon"
CUBINS = SILICON / "cubin"
SUITE = SILICON / "suite.json"
MICRO2 = SILICON / "micro2.json"
# Foreign code: the model runs sm_90 through the instructions that it shares with sm_89.
RUN = {"arch": "sm_90", "options": ("--foreign-arch",)}


def present():
    """Whether the measurements are there."""
    return all(p.exists() for p in (SUITE, MICRO2, CUBINS, SILICON / "measured" / "h200_runs.json"))


def cases(manifest):
    """The manifest's launches, in order."""
    return json.loads(manifest.read_text())["cases"]


def reads_clocks(case):
    """Whether the launch is a micro-benchmark that stores clock counts of its own."""
    return case["module"].startswith("micro") and any(a.get("buffer") == "clocks" for a in case["args"])


def clocks():
    """{case: {min, median, max}} over the threads of each micro-benchmark."""
    measured = {}
    for name in ("h200_runs.json", "h200_micro2.json"):
        for case, run in json.loads((SILICON / "measured" / name).read_text()).items():
            if "clocks" in run.get("outputs", {}):
                measured[case] = run["outputs"]["clocks"]
    return measured


def profile(name):
    """The profiler's rows, in launch order: {metric: number} in bytes, cycles, sectors and percent; text is left out."""
    with lzma.open(SILICON / "measured" / name) as f:
        rows = list(csv.reader(io.TextIOWrapper(f)))
    header, units = rows[0], rows[1]
    return [{h: _number(text) * SCALE.get(unit, 1) for h, unit, text in zip(header, units, row) if _is_number(text)}
            for row in rows[2:]]


SCALE = {"Kbyte": 1e3, "Mbyte": 1e6, "Gbyte": 1e9}


def _number(text):
    return float(text.replace(",", ""))


def _is_number(text):
    return bool(text) and text.replace(",", "").replace(".", "", 1).isdigit()
