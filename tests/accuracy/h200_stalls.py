"""Why warps wait, on the H200: the profiler's stall samples of the silicon suite against the model's warp-cycles.

Both say for each instruction in which state the warps were whose next instruction it is: the profiler by samples, the
model by counting every warp-cycle. Compared are the order of the reasons of a kernel and which instructions are hot.
"""

import collections
import csv
import dataclasses
import io
import lzma

import h200_silicon as silicon
import h200_suite
from runner import run_cases

SOURCE = "h200_ncu_source.csv.xz"
# The profiler's columns and the model's names.
REASONS = {
    "stall_barrier": "barrier", "stall_branch_resolving": "branch_resolving", "stall_dispatch": "dispatch",
    "stall_drain": "drain", "stall_imc": "imc_miss", "stall_lg": "lg_throttle", "stall_long_sb": "long_scoreboard",
    "stall_math": "math_pipe_throttle", "stall_membar": "membar", "stall_mio": "mio_throttle", "stall_misc": "misc",
    "stall_no_inst": "no_instruction", "stall_not_selected": "not_selected", "stall_selected": "selected",
    "stall_short_sb": "short_scoreboard", "stall_sleep": "sleeping", "stall_tex": "tex_throttle", "stall_wait": "wait",
}
HOT = 10  # instructions of a kernel that are called hot
TOP = 3   # reasons


@dataclasses.dataclass
class Row:
    """One launch; shares are fractions of its samples or warp-cycles."""

    case: str
    samples: int
    measured: dict   # {reason: share}
    simulated: dict  # {reason: share}
    hot: int         # of the HOT instructions with most samples, those among the model's HOT
    of: int          # HOT, or how many have samples at all

    def top(self, shares):
        return [r for r, share in sorted(shares.items(), key=lambda item: (-item[1], item[0])) if share > 0][:TOP]

    @property
    def same_first(self):
        return self.top(self.measured)[:1] == self.top(self.simulated)[:1]

    @property
    def common(self):
        return len(set(self.top(self.measured)) & set(self.top(self.simulated)))

    @property
    def distance(self):
        """Percentage points of time that lie with another reason: half the sum of the differences."""
        return 50.0 * sum(abs(self.measured[r] - self.simulated[r]) for r in self.measured)


def blocks():
    """[{code offset: {reason: samples}}], one a profiled launch."""
    with lzma.open(silicon.SILICON / "measured" / SOURCE) as f:
        lines = list(csv.reader(io.TextIOWrapper(f)))
    found, columns, first = [], {}, 0
    for line in lines:
        if line[:1] == ["Kernel Name"]:
            found.append({})
            columns = {}
        elif line[:1] == ["Address"]:
            columns = {name: line.index(name) for name in REASONS if name in line}
            first = None
        elif line and columns:
            address = int(line[0], 16)
            first = address if first is None else first
            found[-1][address - first] = {REASONS[name]: int(line[i]) for name, i in columns.items()}
    return found


def by_launch():
    """{case: block}: the listing holds each block twice."""
    cases = h200_suite.launches()
    found = blocks()
    if len(found) != 2 * len(cases):
        raise ValueError(f"{SOURCE}: {len(found)} blocks for {len(cases)} launches")
    return {case: found[2 * i] for i, case in enumerate(cases)}


def shares(totals):
    """Of all REASONS, those without a count included."""
    whole = sum(totals.values()) or 1
    return {reason: totals.get(reason, 0) / whole for reason in REASONS.values()}


def compare(case, block, kernel):
    measured, simulated = collections.Counter(), collections.Counter()
    for samples in block.values():
        measured.update(samples)
    model = {row["pc"]: row["warp_cycles"] for row in kernel["per_pc"]}
    for cycles in model.values():
        simulated.update(cycles)
    weight = {pc: sum(samples.values()) for pc, samples in block.items()}
    hottest = [pc for pc, n in sorted(weight.items(), key=lambda item: (-item[1], item[0])) if n][:HOT]
    cycles_of = {pc: sum(cycles.values()) for pc, cycles in model.items()}
    hottest_model = sorted(cycles_of, key=lambda pc: (-cycles_of[pc], pc))[:len(hottest)]
    return Row(case, sum(measured.values()), shares(measured), shares(simulated),
               len(set(hottest) & set(hottest_model)), len(hottest))


def simulate(sim, wanted=None, config="H200", processes=2, settings=()):
    source = by_launch()
    wanted = [c for c in source if not wanted or c in wanted]
    run = dict(silicon.RUN, options=silicon.RUN["options"] + ("--profile",))
    done = run_cases(sim, silicon.SUITE, silicon.CUBINS, wanted, config, processes=processes, settings=settings, **run)
    return [compare(c, source[c], done[c].report) for c in wanted]


def listed(row, side):
    return ", ".join(f"{r} {100 * side[r]:.0f}" for r in row.top(side))


def render(rows, mechanisms):
    """`mechanisms`: {reason: text}."""
    n = len(rows)
    text = [f"The same first reason in {sum(r.same_first for r in rows)} of {n} launches; of the first {TOP}, "
            f"{sum(r.common for r in rows) / n:.1f} in common; {sum(r.distance for r in rows) / n:.0f} % of the time lies with "
            f"another reason (mean); of the {HOT} instructions with most samples, "
            f"{100.0 * sum(r.hot for r in rows) / sum(r.of for r in rows):.0f} % are among the model's.", "",
            "Shares in percent.", "",
            "| launch | samples | measured | simulated | elsewhere, % | hot instructions |", "|---|---|---|---|---|---|"]
    text += [f"| {r.case} | {r.samples} | {listed(r, r.measured)} | {listed(r, r.simulated)} | {r.distance:.0f} | "
             f"{r.hot} of {r.of} |" for r in rows]
    text += ["", "| reason | measured, mean share | simulated |", "|---|---|---|"]
    for reason in REASONS.values():
        measured = 100.0 * sum(r.measured[reason] for r in rows) / n
        simulated = 100.0 * sum(r.simulated[reason] for r in rows) / n
        if max(measured, simulated) >= 0.1:
            text.append(f"| {reason} | {measured:.1f} | {simulated:.1f} |")
    text += [""] + [f"- **{reason}**: {why}" for reason, why in mechanisms.items()]
    return "\n".join(text) + "\n"
