"""Runs launches of a suite file through sm89-sim and hands back their figures.

    from runner import run_cases
    results = run_cases(sim, suite, cubin_dir, ["lat_ffma", ["warm", "measured"]], config="RTX4090")
    results["lat_ffma"].clock_max

A case is an id of the suite, or a list of ids that run one after another in one process, so that the later ones find
the L2 as the earlier ones left it; every id of a list gets its own result. Separate cases start with cold caches.
Nothing is cached between calls.
"""

import concurrent.futures
import dataclasses
import json
import pathlib
import subprocess
import tempfile


@dataclasses.dataclass
class CaseResult:
    """What one launch measured.

    `pairs` holds the clock reads: dictionaries with pc_first, pc_second, warps, threads, min_cycles, median_cycles and
    max_cycles, ordered by PC. `clock_min` and `clock_max` are over all pairs that go forward in the code, None without
    clock reads. `cycles` is the whole kernel, the launch latency included. `stats` is the report's statistics block by
    unit (sm, l1, noc, l2, dram), `report` the kernel's whole object (outputs, control_bits, derived figures ...).
    """

    case: str
    cycles: int
    warp_instructions: int
    pairs: list
    clock_min: int | None
    clock_max: int | None
    clock_median: int | None
    stats: dict
    report: dict
    core_ghz: float


class RunError(RuntimeError):
    """The simulator refused a case; the text is its message."""


def _result(case, kernel, core_ghz):
    pairs = kernel.get("clock_reads", {}).get("pairs", [])
    forward = [p for p in pairs if p["pc_second"] > p["pc_first"]]
    longest = max(forward, key=lambda p: p["max_cycles"], default=None)
    return CaseResult(
        case=case,
        cycles=kernel["cycles"],
        warp_instructions=kernel["warp_instructions"],
        pairs=pairs,
        clock_min=longest and longest["min_cycles"],
        clock_max=longest and longest["max_cycles"],
        clock_median=longest and longest["median_cycles"],
        stats=kernel["statistics"],
        report=kernel,
        core_ghz=core_ghz,
    )


def _run_process(command, cases):
    with tempfile.TemporaryDirectory(prefix="accuracy") as folder:
        report_path = pathlib.Path(folder) / "report.json"
        command = command + ["--json", str(report_path)]
        for case in cases:
            command += ["--case", case]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        if run.returncode != 0:
            raise RunError(f"{' '.join(cases)}: sm89-sim ended with {run.returncode}: {run.stderr.strip()[-2000:]}")
        report = json.loads(report_path.read_text())
    by_case = {k["case"]: k for k in report["kernels"]}
    missing = [c for c in cases if c not in by_case]
    if missing:
        raise RunError(f"{' '.join(cases)}: no result for {' '.join(missing)}")
    return {c: _result(c, by_case[c], report["config"]["core_khz"] / 1e6) for c in cases}


def run_cases(sim, suite, cubin_dir, cases, config="RTX4090", settings=(), arch="sm_89", processes=2, options=()):
    """Runs `cases` (see above) and returns {id: CaseResult}.

    sim: path of sm89-sim. suite, cubin_dir: manifest and folder of its cubins. config: preset or file. settings:
    NAME=VALUE overrides. options: further words of the command line, as in ["--foreign-arch"].
    """
    command = [str(sim), "--suite", str(suite), "--cubin-dir", str(cubin_dir), "--config", str(config), "--arch", arch]
    for setting in settings:
        command += ["--set", setting]
    command += list(options)
    groups = [[c] if isinstance(c, str) else list(c) for c in cases]
    results = {}
    with concurrent.futures.ThreadPoolExecutor(max_workers=processes) as pool:
        for part in pool.map(lambda group: _run_process(command, group), groups):
            results.update(part)
    return results
