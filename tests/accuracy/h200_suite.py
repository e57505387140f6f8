"""Whole kernels on the H200: the silicon suite as it comes, against the profiler. Nothing is tuned to these."""

import dataclasses

import h200_silicon as silicon
from runner import run_cases

PROFILE = "h200_ncu_raw.csv.xz"
# Name, unit, decimals, and how the simulator's statistics make it.
METRICS = (
    ("gpc__cycles_elapsed.max", "cycles", lambda r: r.cycles),
    ("smsp__inst_executed.sum", "warp instructions", lambda r: r.warp_instructions),
    ("l1tex__t_sector_hit_rate.pct", "%", lambda r: l1_hit_percent(r.stats["l1"])),
    ("lts__t_sector_hit_rate.pct", "%", lambda r: l2_hit_percent(r.stats["l2"])),
    ("lts__t_sectors.sum", "sectors", lambda r: l2_sectors(r.stats["l2"])),
    ("dram__bytes_read.sum", "bytes", lambda r: 32 * r.stats["dram"]["read_sectors"]),
)
# Shown beside: what of lts__t_sectors.sum the SMs asked for.
TEX_SECTORS = "lts__t_sectors_srcunit_tex.sum"
BITS = ("-gpgpu_sm89_control_bits=1",)


def l1_hit_percent(l1):
    """The profiler's rate is over the sectors of loads, stores and atomics; one that is on its way counts as a hit, and a
    store's hit is a sector present."""
    sectors = sum(l1[k] for k in ("global_load_sectors", "local_load_sectors", "global_store_sectors",
                                  "local_store_sectors", "atomic_sectors"))
    hits = sum(l1[k] for k in ("global_load_hits", "global_load_mshr_hits", "local_load_hits", "global_store_hits",
                               "local_store_hits"))
    return 100.0 * hits / sectors if sectors else 0.0


def l2_sectors(l2):
    """Sectors of reads, writes and atomics that reach a slice."""
    return l2["read_sectors"] + l2["write_sectors"] + l2["atomic_sectors"]


def l2_hit_percent(l2):
    """The profiler counts a sector that is on its way and every write as a hit; so it does an atomic but for the first
    of a sector, which the model does not tell apart."""
    sectors = l2_sectors(l2)
    hits = l2["read_hits"] + l2["mshr_hits"] + l2["write_sectors"] + l2["atomic_sectors"]
    return 100.0 * hits / sectors if sectors else 0.0


@dataclasses.dataclass
class Row:
    """One launch: {metric: (measured, simulated)}, sectors that the SMs asked for on silicon, and the control bits."""

    case: str
    values: dict
    tex_sectors: float
    control_bits: str

    def error(self, metric):
        """In percent; of rates, in percentage points."""
        measured, simulated = self.values[metric]
        if metric.endswith(".pct"):
            return simulated - measured
        return 100.0 * (simulated / measured - 1.0) if measured else 0.0


def launches():
    """The launches that were profiled, in the profile's order."""
    return [c["id"] for c in silicon.cases(silicon.SUITE) if not silicon.reads_clocks(c)]


def simulate(sim, wanted=None, config="H200", processes=2, settings=()):
    """The rows, each launch with cold caches."""
    profile = dict(zip(launches(), silicon.profile(PROFILE)))
    wanted = [c for c in profile if not wanted or c in wanted]
    done = run_cases(sim, silicon.SUITE, silicon.CUBINS, wanted, config, processes=processes, settings=settings,
                     **silicon.RUN)
    return [Row(c, {name: (profile[c][name], make(done[c])) for name, _, make in METRICS}, profile[c][TEX_SECTORS],
                done[c].report["control_bits"]) for c in wanted]


def number(value, metric):
    return f"{value:.1f}" if metric.endswith(".pct") else f"{value:.0f}"


def mean_error(rows, metric):
    """MAPE; of rates, the mean error in percentage points."""
    return sum(abs(r.error(metric)) for r in rows) / len(rows)


def render(rows, mechanisms):
    """The table and what is behind its large errors; `mechanisms`: {case: text}."""
    text = ["| metric | unit | mean absolute error |", "|---|---|---|"]
    for name, unit, _ in METRICS:
        points = " points" if name.endswith(".pct") else " %"
        text.append(f"| `{name}` | {unit} | {mean_error(rows, name):.1f}{points} |")
    tex = sum(abs(r.values["lts__t_sectors.sum"][1] / r.tex_sectors - 1.0) for r in rows) * 100.0 / len(rows)
    text += [f"| `{TEX_SECTORS}`, same simulated figure | sectors | {tex:.1f} % |", ""]
    text += ["Measured / simulated (error).", "",
             "| launch | cycles | warp instructions | L1 hits, % | L2 hits, % | L2 sectors | of the SMs | DRAM bytes read |",
             "|---|---|---|---|---|---|---|---|"]
    for r in rows:
        cells = []
        for name, _, _ in METRICS:
            measured, simulated = r.values[name]
            sign = "" if name.endswith(".pct") else " %"
            cells.append(f"{number(measured, name)} / {number(simulated, name)} ({r.error(name):+.1f}{sign})")
        cells.insert(5, f"{r.tex_sectors:.0f}")
        text.append(f"| {r.case} | {' | '.join(cells)} |")
    text += ["", "### Mechanisms", ""]
    text += [f"- **{case}**: {why}" for case, why in mechanisms.items() if any(r.case.startswith(case) for r in rows)
             or case.startswith("`")]
    unnamed = [r.case for r in rows if far(r) and not any(r.case.startswith(m) for m in mechanisms)]
    text += [f"- **{c}**: off by more than 2x, not explained." for c in unnamed]
    return "\n".join(text) + "\n"


def far(row):
    """Whether the cycles are off by more than a factor of two."""
    measured, simulated = row.values["gpc__cycles_elapsed.max"]
    return not 0.5 <= simulated / measured <= 2.0


def compare_bits(sim, wanted=None, config="RTX4090", processes=2):
    """[(case, cycles with the code's control bits, cycles with synthesised ones, and where each came from)] of the
    suite's sm_89 code, which is what bits are synthesised for."""
    wanted = [c for c in launches() if not wanted or c in wanted]
    real, synthesised = (run_cases(sim, silicon.SUITE, silicon.CUBINS, wanted, config, settings, processes=processes)
                         for settings in ((), BITS))
    return [(c, real[c].cycles, synthesised[c].cycles, real[c].report["control_bits"],
             synthesised[c].report["control_bits"]) for c in wanted]


def render_bits(pairs):
    errors = [100.0 * (synthesised / real - 1.0) for _, real, synthesised, _, _ in pairs]
    mean = sum(abs(e) for e in errors) / len(errors)
    paths = sorted({(a, b) for _, _, _, a, b in pairs})
    text = [f"**Mean absolute difference {mean:.2f} %** (3 % allowed), signed {sum(errors) / len(errors):+.2f} %; control "
            f"bits {', '.join(f'{a} against {b}' for a, b in paths)}.", "",
            "| launch | cycles, code's bits | cycles, synthesised | difference |", "|---|---|---|---|"]
    text += [f"| {case} | {real} | {synthesised} | {error:+.2f} % |"
             for (case, real, synthesised, _, _), error in zip(pairs, errors)]
    return "\n".join(text) + "\n"
