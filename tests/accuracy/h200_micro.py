"""The micro-benchmarks of the H200: simulated clocks against measured ones, the maximum over threads each."""

import dataclasses

import h200_silicon as silicon
from runner import run_cases

TOLERANCE_PERCENT = 5.0
# Chases of more lines than steps: their timed part is not warm on silicon.
NOT_WARM = tuple(f"lat_global_{kind}_{kib}k" for kind in ("ca", "cg") for kib in (16384, 49152, 131072))
# What copies to the device left in the L2 on silicon, an earlier launch of the same case leaves in the model's.
WARM = ("lat_global", "wlat_global", "fence_", "bw_l1", "l2_per_line", "atomic_same", "red_global", "bw_read", "bw_write")
JUDGED = ("lat_", "thr_", "mlat_", "mthr_", "ldsm_", "wlat_", "bw_shared_", "barrier_", "mix_", "shfl_", "icache_",
          "diverge_", "fence_", "atom_shared_")
SECTIONS = (
    ("Arithmetic", ("lat_", "thr_", "mix_"), ("lat_shared", "lat_global")),
    ("Tensor cores", ("mlat_", "mthr_"), ()),
    ("Shared memory, shuffle, L1 and L2", ("lat_shared", "lat_global", "wlat_", "wthr_", "ldsm_", "bw_shared_", "bw_l1",
                                           "shfl_", "atom_shared_"), ()),
    ("Instruction supply, control flow, barriers, fences", ("icache_", "diverge_", "barrier_", "fence_"), ()),
    ("Reported without a verdict", ("l2_per_line", "atomic_same", "red_global", "bw_read", "bw_write"), ()),
)
HEADER = "| case | measured | simulated | error | verdict |\n|---|---|---|---|---|"


@dataclasses.dataclass
class Row:
    """One micro-benchmark: clocks of its slowest thread."""

    case: str
    measured: int
    simulated: int

    @property
    def error_percent(self):
        return 100.0 * (self.simulated / self.measured - 1.0)

    @property
    def judged(self):
        return self.case.startswith(JUDGED)

    @property
    def met(self):
        return abs(self.error_percent) <= TOLERANCE_PERCENT

    def line(self):
        verdict = ("met" if self.met else "missed") if self.judged else "-"
        return f"| {self.case} | {self.measured} | {self.simulated} | {self.error_percent:+.1f} % | {verdict} |"


def names(wanted=None):
    """{manifest: [case, ...]} of the rows, all or those that `wanted` lists."""
    measured = silicon.clocks()
    return {manifest: [c["id"] for c in silicon.cases(manifest)
                       if silicon.reads_clocks(c) and c["id"] in measured and c["id"] not in NOT_WARM
                       and (not wanted or c["id"] in wanted)]
            for manifest in (silicon.SUITE, silicon.MICRO2)}


def simulate(sim, wanted=None, config="H200", processes=2, settings=()):
    """The rows, in the manifests' order."""
    measured = silicon.clocks()
    rows = []
    for manifest, ids in names(wanted).items():
        launches = [[case, case] if case.startswith(WARM) else case for case in ids]
        done = run_cases(sim, manifest, silicon.CUBINS, launches, config, processes=processes, settings=settings, **silicon.RUN)
        rows += [Row(case, int(measured[case]["max"]), slowest(done[case])) for case in ids]
    return rows


def slowest(result):
    """Clocks of the slowest thread. l2_per_line reads its clock in many places: only a read in the one register counts
    with the next in the other, which are the pairs of its eight loads."""
    if result.case == "l2_per_line":
        return max(p["max_cycles"] for p in result.pairs if p["min_cycles"] > 1000)
    return result.clock_max


def render(rows, reasons):
    """The tables' text; `reasons`: {case or prefix: why it misses}."""
    judged = [r for r in rows if r.judged]
    missed = [r for r in judged if not r.met]
    text = [f"**{len(judged) - len(missed)} of {len(judged)} judged rows are within {TOLERANCE_PERCENT:g} %.**", ""]
    for title, prefixes, without in SECTIONS:
        part = [r for r in rows if r.case.startswith(prefixes) and not (without and r.case.startswith(without))]
        text += [f"### {title}", "", HEADER] + [r.line() for r in part] + [""]
    text += ["### Missed", ""]
    text += [f"- **{r.case}** ({r.error_percent:+.1f} %): {reason(r.case, reasons)}" for r in missed] or ["None."]
    return "\n".join(text) + "\n"


def reason(case, reasons):
    """The reason under the longest prefix of the case's name."""
    keys = [k for k in reasons if case.startswith(k)]
    return reasons[max(keys, key=len)] if keys else "not explained."
