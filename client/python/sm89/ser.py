"""Analyses the decisions of the reordering stage (SER): a research model, not hardware (sim/sm/SER.md).

    from sm89 import ser
    trace = ser.load("moves.csv", sm=0)            # any of the three forms of sm89-sim --ser-trace
    trace.summary().moved_threads                  # what the run's counter sm_ser_moved_threads says
    graph = trace.cycle_graph()                    # networkx: warps and execution units, the busiest cycle
    trace.sankey().save("flow.png")
    trace.heatmap(by="warp").save("heat.svg")
    trace.animate("moves.gif", frames=20)

`load` keeps a selection's rows, 32 bytes each, up to a limit. `scan` makes the summary and the heat map while it reads,
in memory that does not grow with the file. Threads of decisions that the target refused (`issued` 0) did not move: they
are counted apart everywhere. Cycles are GPU cycles. Errors are SerError; its text names file, line, field and value.
"""

import dataclasses

import numpy as np

from sm89.ser_file import (COLUMNS, REASONS, ROW, UNITS, SerEmptyError, SerError, SerLimitError, moved_of, read_blocks,
                           threads_of)

__all__ = ["COLUMNS", "REASONS", "ROW", "UNITS", "Count", "Heatmap", "Sankey", "Selection", "SerEmptyError", "SerError",
           "SerLimitError", "SerTrace", "Summary", "load", "scan", "threads_of"]

MAX_DECISIONS = 10_000_000
GROUPINGS = ("sm", "launch", "warp", "source", "target", "unit", "reason", "pc")
_FIELD_OF = {"source": "source_scheduler", "target": "target_scheduler"}


@dataclasses.dataclass(frozen=True)
class Selection:
    """Which decisions: of one SM, one launch, and the cycles [cycle, cycle + window). None: all."""
    sm: int | None = None
    launch: int | None = None
    cycle: int | None = None
    window: int | None = None

    def of(self, rows):
        keep = np.ones(len(rows), bool)
        if self.sm is not None:
            keep &= rows["sm"] == self.sm
        if self.launch is not None:
            keep &= rows["launch"] == self.launch
        if self.cycle is not None:
            # Differences: the sum of two large numbers may not fit.
            keep &= rows["cycle"] >= self.cycle
            if self.window is not None:
                keep &= rows["cycle"] - np.uint64(self.cycle) < self.window
        return rows if keep.all() else rows[keep]

    def __str__(self):
        parts = []
        if self.sm is not None:
            parts.append(f"SM {self.sm}")
        if self.launch is not None:
            parts.append(f"launch {self.launch}")
        if self.cycle is not None:
            if self.window == 1:
                parts.append(f"cycle {self.cycle:,}")
            elif self.window is not None:
                parts.append(f"cycles {self.cycle:,} to {self.cycle + self.window - 1:,}")
            else:
                parts.append(f"cycles from {self.cycle:,} on")
        return ", ".join(parts) or "all decisions"


@dataclasses.dataclass
class Count:
    """Decisions and their threads: moved, and those of decisions that the target refused."""
    decisions: int = 0
    refused_decisions: int = 0
    moved_threads: int = 0
    refused_threads: int = 0

    def add(self, decisions, refused_decisions, moved_threads, refused_threads):
        self.decisions += int(decisions)
        self.refused_decisions += int(refused_decisions)
        self.moved_threads += int(moved_threads)
        self.refused_threads += int(refused_threads)

    @property
    def threads(self):
        return self.moved_threads + self.refused_threads


class Summary(Count):
    """Totals of any number of rows. `flows`: (source scheduler, source warp or None, reason, unit, target scheduler)
    -> Count; `sms`, `launches`: sorted numbers; first_cycle, last_cycle: None without rows."""

    def __init__(self, source="scheduler"):
        super().__init__()
        if source not in ("scheduler", "warp"):
            raise SerError(f"unknown source (source = '{source}', expected scheduler or warp)")
        self.source = source
        self.first_cycle = None
        self.last_cycle = None
        self.sms = []
        self.launches = []
        self.flows = {}

    def add_rows(self, rows):
        if len(rows) == 0:
            return
        first, last = int(rows["cycle"].min()), int(rows["cycle"].max())
        self.first_cycle = first if self.first_cycle is None else min(self.first_cycle, first)
        self.last_cycle = last if self.last_cycle is None else max(self.last_cycle, last)
        self.sms = sorted(set(self.sms) | set(np.unique(rows["sm"]).tolist()))
        self.launches = sorted(set(self.launches) | set(np.unique(rows["launch"]).tolist()))
        key = rows["source_scheduler"].astype(np.int64)
        warp = rows["warp"].astype(np.int64) if self.source == "warp" else np.zeros(len(rows), np.int64)
        for part, bits in ((warp, 16), (rows["reason"], 2), (rows["unit"], 2), (rows["target_scheduler"], 8)):
            key = (key << bits) | part
        keys, index = np.unique(key, return_inverse=True)
        for key, numbers in zip(keys.tolist(), np.stack(_sums(rows, index, len(keys)), axis=1).tolist()):
            flow = (key >> 28, (key >> 12) & 0xFFFF if self.source == "warp" else None, REASONS[(key >> 10) & 3],
                    UNITS[(key >> 8) & 3], key & 0xFF)
            self.flows.setdefault(flow, Count()).add(*numbers)
            self.add(*numbers)

    def by(self, part):
        """{value: Count} of one part of the flows: 'source', 'warp', 'reason', 'unit' or 'target'."""
        index = ("source", "warp", "reason", "unit", "target").index(part)
        counts = {}
        for flow, count in sorted(self.flows.items(), key=lambda item: str(item[0])):
            counts.setdefault(flow[index], Count()).add(*dataclasses.astuple(count))
        if part in ("reason", "unit"):
            return {name: counts[name] for name in (REASONS if part == "reason" else UNITS) if name in counts}
        return dict(sorted(counts.items(), key=lambda item: (item[0] is None, item[0])))

    def as_dict(self):
        """For JSON: the same numbers in plain types."""
        flows = [dict(zip(("source_scheduler", "warp", "reason", "unit", "target_scheduler"), flow),
                      **dataclasses.asdict(count)) for flow, count in sorted(self.flows.items(), key=_flow_order)]
        for flow in flows:
            if flow["warp"] is None:
                del flow["warp"]
        return {"model": "research model, not hardware", **dataclasses.asdict(self), "first_cycle": self.first_cycle,
                "last_cycle": self.last_cycle, "sms": self.sms, "launches": self.launches,
                "by_reason": {name: dataclasses.asdict(count) for name, count in self.by("reason").items()},
                "by_unit": {name: dataclasses.asdict(count) for name, count in self.by("unit").items()}, "flows": flows}


def _flow_order(item):
    source, warp, reason, unit, target = item[0]
    return source, warp or 0, REASONS.index(reason), UNITS.index(unit), target


def _sums(rows, index, groups):
    """Decisions, refused decisions, moved threads and refused threads of each of `groups` groups."""
    threads = threads_of(rows)
    moved = rows["issued"] == 1
    decisions = np.bincount(index, minlength=groups)
    issued = np.bincount(index[moved], minlength=groups)
    all_threads = np.bincount(index, weights=threads, minlength=groups).astype(np.int64)
    moved_threads = np.bincount(index[moved], weights=threads[moved], minlength=groups).astype(np.int64)
    return decisions, decisions - issued, moved_threads, all_threads - moved_threads


class Heatmap:
    """Threads moved, by a grouping's value (rows) and interval of cycles (columns).

    `width_cycles` is the smallest power of two for which `bins` intervals are enough. After the rows were added:
    `labels` (the grouping's values, sorted), `edges` (len + 1 first cycles of the intervals), `values[row, column]`,
    `by_reason[reason, column]`, `refused[column]`: threads.
    """

    def __init__(self, by="sm", bins=240):
        if by not in GROUPINGS:
            raise SerError(f"unknown grouping (by = '{by}', expected one of {', '.join(GROUPINGS)})")
        if not 1 <= bins <= 4096:
            raise SerError(f"out of range (bins = '{bins}', expected 1 to 4096)")
        self.by = by
        self.bins = bins
        self.summary = Summary()
        self.width_cycles = 1
        self._first = self._last = None
        # Sparse cells: (group, reason or 3 for refused, interval) sorted, and their threads.
        self._keys = np.empty((3, 0), np.uint64)
        self._threads = np.empty(0, np.int64)

    def add_rows(self, rows):
        if len(rows) == 0:
            return
        self.summary.add_rows(rows)
        self._first, self._last = self.summary.first_cycle, self.summary.last_cycle
        width = self.width_cycles
        while self._last // width - self._first // width >= self.bins:
            width *= 2
        if width != self.width_cycles:
            self._keys[2] //= np.uint64(width // self.width_cycles)
            self.width_cycles = width
        kind = np.where(rows["issued"] == 1, rows["reason"], 3)
        fresh = np.stack([rows[_FIELD_OF.get(self.by, self.by)].astype(np.uint64), kind.astype(np.uint64),
                          rows["cycle"] // np.uint64(width)])
        self._merge(np.concatenate([self._keys, fresh], axis=1), np.concatenate([self._threads, threads_of(rows)]))

    def _merge(self, keys, threads):
        order = np.lexsort(keys[::-1])
        keys, threads = keys[:, order], threads[order]
        begins = np.flatnonzero(np.concatenate([[True], (keys[:, 1:] != keys[:, :-1]).any(axis=0)]))
        self._keys, self._threads = keys[:, begins], np.add.reduceat(threads, begins)

    @property
    def columns(self):
        return 0 if self._first is None else self._last // self.width_cycles - self._first // self.width_cycles + 1

    @property
    def labels(self):
        values = np.unique(self._keys[0]).tolist()
        names = {"reason": REASONS, "unit": UNITS}.get(self.by)
        return [names[value] for value in values] if names else values

    @property
    def edges(self):
        begin = 0 if self._first is None else self._first // self.width_cycles
        return [(begin + column) * self.width_cycles for column in range(self.columns + 1)]

    def _table(self, rows, keep, count):
        table = np.zeros((count, self.columns), np.int64)
        if self.columns:
            columns = (self._keys[2] - np.uint64(self._first // self.width_cycles)).astype(np.int64)
            np.add.at(table, (rows[keep], columns[keep]), self._threads[keep])
        return table

    @property
    def values(self):
        groups, rows = np.unique(self._keys[0], return_inverse=True)
        return self._table(rows, self._keys[1] < 3, len(groups))

    @property
    def by_reason(self):
        return self._table(self._keys[1].astype(np.int64), self._keys[1] < 3, len(REASONS))

    @property
    def refused(self):
        return self._table(np.zeros(len(self._threads), np.int64), self._keys[1] == 3, 1)[0]

    def save(self, out, **options):
        """Draws into `out` (.png or .svg): see ser_draw.heatmap."""
        from sm89 import ser_draw
        return ser_draw.save(ser_draw.heatmap(self, **options), out)


class Sankey:
    """Flows of threads: source -> reason -> target. `nodes[column]`: {key: threads}; `links[column]`: {(from, to,
    reason): threads}. The last column has the target (unit, scheduler), or "refused" for threads that did not move.
    Each column's threads and each step's sum to those of all decisions."""

    def __init__(self, summary):
        self.summary = summary
        self.nodes = ({}, {}, {})
        self.links = ({}, {})
        for (source, warp, reason, unit, target), count in sorted(summary.flows.items(), key=_flow_order):
            begin = source if warp is None else (source, warp)
            for end, threads in (((unit, target), count.moved_threads), ("refused", count.refused_threads)):
                if threads:
                    self._add((begin, reason, end), threads, reason)

    def _add(self, path, threads, reason):
        for column, node in enumerate(path):
            self.nodes[column][node] = self.nodes[column].get(node, 0) + threads
        for column in (0, 1):
            link = (path[column], path[column + 1], reason)
            self.links[column][link] = self.links[column].get(link, 0) + threads

    def save(self, out, **options):
        """Draws into `out` (.png or .svg): see ser_draw.sankey."""
        from sm89 import ser_draw
        return ser_draw.save(ser_draw.sankey(self, **options), out)


class SerTrace:
    """Rows of ROW in memory, and what can be asked of them. `extent`: of the whole trace that they were selected from;
    without it they are all of it."""

    def __init__(self, rows, path="", selection=Selection(), extent=None):
        self.rows = np.asarray(rows, ROW)
        self.extent = extent
        if extent is None:
            self.extent = Extent()
            self.extent.add_rows(self.rows)
        self.path = str(path)
        self.selection = selection

    def __len__(self):
        return len(self.rows)

    def table(self):
        """{column: array} in the order of COLUMNS, as the CSV has them: names for reason and unit, threads counted."""
        special = {"threads": threads_of(self.rows), "reason": np.array(REASONS)[self.rows["reason"]],
                   "unit": np.array(UNITS)[self.rows["unit"]]}
        return {name: special[name] if name in special else self.rows[name] for name in COLUMNS}

    def select(self, **parts):
        """The rows of a Selection(**parts), as a trace."""
        selection = Selection(**parts)
        return SerTrace(selection.of(self.rows), self.path, selection, self.extent)

    def window_within(self, cycle, window):
        """How many of the `window` cycles from `cycle` on the trace has: those after its last decision are not counted
        (all are if it ends before `cycle`)."""
        last = self.extent.last_cycle
        return window if last is None or cycle > last else min(window, last - cycle + 1)

    def summary(self, source="scheduler"):
        summary = Summary(source)
        summary.add_rows(self.rows)
        return summary

    def sankey(self, source="scheduler"):
        return Sankey(self.summary(source))

    def heatmap(self, by="sm", bins=240):
        heat = Heatmap(by, bins)
        heat.add_rows(self.rows)
        return heat

    def busiest(self, window=1):
        """(sm, first cycle) of the `window` cycles in which most threads moved (where all decisions were refused:
        were to move); of equals the lowest SM, then the first cycle. A window begins with a decision. SerEmptyError without rows."""
        if len(self) == 0:
            raise SerEmptyError("no decision to choose the busiest cycle from")
        best = (-1, 0, 0)
        rows = self.rows[np.lexsort((self.rows["cycle"], self.rows["sm"]))]
        threads = moved_of(rows)
        begins = np.flatnonzero(np.concatenate([[True], rows["sm"][1:] != rows["sm"][:-1]])).tolist()
        for begin, end in zip(begins, begins[1:] + [len(rows)]):
            cycles = rows["cycle"][begin:end]
            until = np.concatenate([[0], np.cumsum(threads[begin:end])])
            # From the first on: cycle + window might not fit. Exact up to 2^53.
            since = (cycles - cycles[0]).astype(np.float64)
            sums = until[np.searchsorted(since, since + window)] - until[np.searchsorted(since, since)]
            at = int(sums.argmax())
            if int(sums[at]) > best[0]:
                best = (int(sums[at]), int(rows["sm"][begin]), int(cycles[at]))
        return best[1], best[2]

    def cycle_graph(self, cycle=None, window=1, sm=None):
        """A networkx.MultiDiGraph of `window` cycles on one SM; without `cycle` (or `sm`) the busiest.

        Nodes: ("warp", slot) with `scheduler`, and ("unit", scheduler, name). Edges: one for each warp, unit, reason and
        `issued`, key (reason, issued), with `decisions`, `threads`, `lanes` (or of the masks), `pcs` (sorted) and, for
        BRANCH_DIV, `joins` {warp: decisions}, the warps whose issue slot was shared (they are nodes, too). Graph
        attributes: sm, cycle, window (no cycles beyond the trace's end: see window_within), launches (sorted).
        """
        if window < 1:
            raise SerError(f"out of range (window = '{window}', expected 1 or more cycles)")
        trace = self if sm is None else self.select(sm=sm)
        if cycle is None:
            sm, cycle = trace.busiest(window)
        elif sm is None:
            sm, _ = trace.select(cycle=cycle, window=window).busiest(window)
        window = self.window_within(cycle, window)
        return _graph_of(trace.select(sm=sm, cycle=cycle, window=window).rows, sm, cycle, window)

    def animate(self, out, frames=24, **options):
        """Writes the graph of the busiest SM, one interval of cycles a frame, as a GIF; `options` as ser_draw.animation's.
        Returns the number of frames."""
        from sm89 import ser_draw
        if ser_draw.format_of(out) != "gif":
            raise SerError(f"{out}: an animation is a GIF (expected a name that ends in .gif)")
        data, _, frames = ser_draw.animation(self, frames=frames, **options)
        ser_draw.write(out, data)
        return frames


def _graph_of(rows, sm, cycle, window):
    """See SerTrace.cycle_graph; all rows are of one SM."""
    import networkx
    graph = networkx.MultiDiGraph(sm=sm, cycle=cycle, window=window, launches=np.unique(rows["launch"]).tolist())
    parts = [rows[name] for name in ("issued", "reason", "unit", "target_scheduler", "warp")]
    rows = rows[np.lexsort(parts)]
    keys = np.stack([rows[name].astype(np.int64) for name in ("warp", "target_scheduler", "unit", "reason", "issued")])
    begins = np.flatnonzero(np.concatenate([[True], (keys[:, 1:] != keys[:, :-1]).any(axis=0)])) if len(rows) else []
    for part in np.split(rows, begins[1:]) if len(rows) else []:
        _add_edge(graph, part)
    return graph


def _add_edge(graph, rows):
    """One edge of all `rows`, which agree in warp, unit, reason and `issued`."""
    reason, unit, target = REASONS[rows["reason"][0]], UNITS[rows["unit"][0]], int(rows["target_scheduler"][0])
    begin, end = ("warp", int(rows["warp"][0])), ("unit", target, unit)
    graph.add_node(begin, scheduler=int(rows["source_scheduler"][0]))
    graph.add_node(end, scheduler=target)
    hosts, times = np.unique(rows["joins_warp"][rows["joins_warp"] != rows["warp"]], return_counts=True)
    for host in hosts.tolist():
        # A merged instruction issues in its host's sub-core.
        if ("warp", host) not in graph:
            graph.add_node(("warp", host), scheduler=target)
    graph.add_edge(begin, end, (reason, bool(rows["issued"][0])), reason=reason, issued=bool(rows["issued"][0]),
                   decisions=len(rows), threads=int(threads_of(rows).sum()), lanes=int(np.bitwise_or.reduce(rows["lanes"])),
                   pcs=np.unique(rows["pc"]).tolist(), joins=dict(zip(hosts.tolist(), times.tolist())))


@dataclasses.dataclass
class Extent:
    """What a whole file holds, whatever was selected of it."""
    decisions: int = 0
    first_cycle: int | None = None
    last_cycle: int | None = None
    sms: set = dataclasses.field(default_factory=set)
    launches: set = dataclasses.field(default_factory=set)

    def add_rows(self, rows):
        if len(rows) == 0:
            return
        self.decisions += len(rows)
        first, last = int(rows["cycle"].min()), int(rows["cycle"].max())
        self.first_cycle = first if self.first_cycle is None else min(self.first_cycle, first)
        self.last_cycle = last if self.last_cycle is None else max(self.last_cycle, last)
        self.sms.update(np.flatnonzero(np.bincount(rows["sm"])).tolist())
        self.launches.update(np.unique(rows["launch"]).tolist())


def _selected(path, selection, extent):
    for rows in read_blocks(path):
        extent.add_rows(rows)
        yield selection.of(rows)


def load(path, *, sm=None, launch=None, cycle=None, window=None, limit=MAX_DECISIONS):
    """The decisions of a selection as a SerTrace; SerLimitError beyond `limit` rows, SerError for a bad file."""
    selection, extent = Selection(sm, launch, cycle, window), Extent()
    kept, count = [], 0
    for rows in _selected(path, selection, extent):
        count += len(rows)
        if count > limit:
            raise SerLimitError(f"{path}: more than {limit:,} decisions ({selection}): choose an SM, a launch or cycles, "
                                "or raise the limit (a decision takes 32 bytes of memory)")
        if len(rows):
            kept.append(rows)
    return SerTrace(np.concatenate(kept) if kept else np.empty(0, ROW), path, selection, extent)


def scan(path, *consumers, sm=None, launch=None, cycle=None, window=None):
    """Hands a selection's rows, block by block, to `consumers` (Summary, Heatmap): memory does not grow with the file.
    Returns the whole file's Extent."""
    selection, extent = Selection(sm, launch, cycle, window), Extent()
    for rows in _selected(path, selection, extent):
        for consumer in consumers:
            consumer.add_rows(rows)
    return extent
