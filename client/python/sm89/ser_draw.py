"""Draws what sm89.ser found. Every picture says that it shows a research model; equal input gives equal bytes.

Colours are of palettes made for colour-blind readers (Okabe and Ito; Tol; cividis), and lines differ in their dashes, too.
Sizes are in pixels, at 100 dots an inch.
"""

import functools
import io
import os
import tempfile

import matplotlib
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection
from matplotlib.colors import PowerNorm, to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import FancyBboxPatch, PathPatch, Patch, Rectangle
from matplotlib.path import Path
from matplotlib.ticker import FuncFormatter, MaxNLocator

from sm89.ser_file import REASONS, UNITS, SerEmptyError, SerError, moved_of

CAPTION = "Reordering stage (SER): a research model, not hardware"
FORMATS = ("png", "svg", "gif")
COLOR = {"MEMORY_STALL": "#882255", "BRANCH_DIV": "#0072B2", "IDLE_EXEC_UNIT": "#E69F00"}
DASH = {"MEMORY_STALL": (0, (1.2, 0.6)), "BRANCH_DIV": "solid", "IDLE_EXEC_UNIT": (0, (6, 0.7))}
REFUSED = "#9A9A9A"
INK = "#222222"
PALE = "#F1F1EE"
SIZE = (1000, 640)
SIZE_MIN, SIZE_MAX = (800, 480), 8000
FRAMES_MAX = 200
_GROUPED = FuncFormatter(lambda value, _: f"{value:,.0f}")
_STYLE = {"font.size": 10, "font.family": "DejaVu Sans", "text.color": INK, "axes.edgecolor": INK, "axes.labelcolor": INK,
          "svg.hashsalt": "sm89", "svg.fonttype": "none", "text.parse_math": False, "figure.dpi": 100, "savefig.dpi": 100}


def _styled(function):
    """Runs with matplotlib's defaults and our style, whatever the user's matplotlibrc says."""
    @functools.wraps(function)
    def styled(*args, **kwargs):
        with matplotlib.rc_context():
            matplotlib.rcdefaults()
            matplotlib.rcParams.update(_STYLE)
            return function(*args, **kwargs)
    return styled


def format_of(out, given=None):
    """The format by name or by the file's end; SerError if it is none of FORMATS."""
    ending = given or os.path.splitext(str(out))[1][1:].lower()
    if ending not in FORMATS:
        raise SerError(f"{out}: unknown format (format = '{ending}', expected a name that ends in "
                       f"{', '.join('.' + name for name in FORMATS)}, or --format)")
    return ending


def write(out, data):
    """The file is there whole or not at all."""
    folder = os.path.dirname(os.path.abspath(out))
    try:
        handle, name = tempfile.mkstemp(dir=folder, prefix="." + os.path.basename(out))
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            mask = os.umask(0)
            os.umask(mask)
            os.chmod(name, 0o666 & ~mask)
            os.replace(name, out)
        except BaseException:
            os.unlink(name)
            raise
    except OSError as error:
        raise SerError(f"{out}: cannot be written: {error.strerror}") from None


@_styled
def encode(figure, kind):
    """The bytes of a png or svg, without a date or a program's version."""
    if kind not in ("png", "svg"):
        raise SerError(f"one picture is no animation (format = '{kind}', expected png or svg)")
    data = io.BytesIO()
    if kind == "svg":
        figure.savefig(data, format="svg", metadata={"Date": None, "Creator": "sm89"})
    else:
        _image(figure).save(data, "PNG", optimize=True, dpi=(100, 100))
    return data.getvalue()


def _image(figure):
    from PIL import Image
    figure.canvas.draw()
    return Image.fromarray(np.asarray(figure.canvas.buffer_rgba())).convert("RGB")


def save(figure, out):
    """Writes a figure by its file's end; returns its width and height in pixels."""
    write(out, encode(figure, format_of(out)))
    return size_of(figure)


def size_of(figure):
    """Width and height in pixels (svg: hundredths of an inch)."""
    return tuple(int(round(inches * 100)) for inches in figure.get_size_inches())


def check_size(size):
    if not all(least <= side <= SIZE_MAX for least, side in zip(SIZE_MIN, size)):
        raise SerError(f"a size out of range (size = '{size[0]}x{size[1]}', expected {SIZE_MIN[0]}x{SIZE_MIN[1]} to "
                       f"{SIZE_MAX}x{SIZE_MAX} pixels)")


def _figure(size):
    check_size(size)
    figure = Figure(figsize=(size[0] / 100, size[1] / 100), dpi=100, facecolor="white")
    FigureCanvasAgg(figure)
    return figure


_STEPS = 8


def _fitted(figure):
    """The figure, its texts made as small as they must be to end inside it. In steps: glyphs are rounded to pixels, and a
    legend's handles keep their size."""
    width = figure.get_size_inches()[0] * 100
    renderer = figure.canvas.get_renderer()
    for legend in [*figure.legends, *(axes.get_legend() for axes in figure.axes if axes.get_legend())]:
        for _ in range(_STEPS):
            figure.draw_without_rendering()
            box = legend.get_window_extent(renderer)
            if box.x1 <= width - 4:
                break
            _shrink(legend.get_texts(), (width - 4 - box.x0) / box.width)
    for text in [*figure.texts, *(text for axes in figure.axes for text in axes.texts)]:
        for _ in range(_STEPS):
            box = text.get_window_extent(renderer)
            if not text.get_text() or (box.x0 >= 4 and box.x1 <= width - 4):
                break
            _shrink([text], ((box.x1 if box.x0 < 4 else width - box.x0) - 4) / box.width)
    return figure


def _shrink(texts, factor):
    for text in texts:
        text.set_fontsize(max(4.0, text.get_fontsize() * min(0.98, factor)))


def _y(figure, pixels_from_top):
    return 1 - pixels_from_top / (figure.get_size_inches()[1] * 100)


def _titles(figure, title, subtitle):
    figure.text(0.02, _y(figure, 24), title, fontsize=13, fontweight="bold", va="center")
    figure.text(0.02, _y(figure, 46), subtitle, fontsize=9.5, va="center")
    figure.text(0.98, 0, CAPTION + "\n", fontsize=8.5, style="italic", ha="right", va="bottom", color="#555555",
                linespacing=0.6)


def _threads(number):
    return f"{number:,} thread{'' if number == 1 else 's'}"


def _totals(count):
    text = f"{count.decisions:,} decision{'' if count.decisions == 1 else 's'}, {_threads(count.moved_threads)} moved"
    if count.refused_decisions:
        text += f"; {count.refused_decisions:,} refused with {_threads(count.refused_threads)}"
    return text


def _cycles(first, last):
    return f"cycle {first:,}" if first == last else f"cycles {first:,} to {last:,}"


def _listed(name, plural, numbers):
    """'SM 3', 'SMs 0 to 7', '5 SMs from 0 to 90'."""
    if len(numbers) == 1:
        return f"{name} {numbers[0]}"
    if numbers[-1] - numbers[0] + 1 == len(numbers):
        return f"{plural} {numbers[0]} to {numbers[-1]}"
    return f"{len(numbers)} {plural} from {numbers[0]} to {numbers[-1]}"


def _what(summary):
    return ", ".join([_listed("SM", "SMs", summary.sms), _listed("launch", "launches", summary.launches),
                      _cycles(summary.first_cycle, summary.last_cycle)])


def _require(summary):
    if summary.decisions == 0:
        raise SerEmptyError("nothing to draw: no decision")


# --- flows ----------------------------------------------------------------------------------------------------------

_SOURCES_SHOWN = 24


def _gathered(sankey):
    """Nodes and links with the sources beyond the largest 24 (warps) as one."""
    nodes, links = [dict(column) for column in sankey.nodes], [dict(column) for column in sankey.links]
    if len(nodes[0]) > _SOURCES_SHOWN:
        ranked = sorted(nodes[0], key=lambda node: (-nodes[0][node], node))
        rest = ranked[_SOURCES_SHOWN - 1:]
        name = f"{len(rest)} others"
        nodes[0] = {node: nodes[0][node] for node in nodes[0] if node not in rest}
        nodes[0][name] = sum(sankey.nodes[0][node] for node in rest)
        gathered = {}
        for (begin, end, reason), threads in links[0].items():
            key = (name if begin in rest else begin, end, reason)
            gathered[key] = gathered.get(key, 0) + threads
        links[0] = gathered
    return nodes, links


def _node_order(column, node):
    if isinstance(node, str):
        return (9, 0, 0) if column != 1 else (REASONS.index(node), 0, 0)
    if column == 2:
        return (0, UNITS.index(node[0]), node[1])
    return (0, *node) if isinstance(node, tuple) else (0, node, 0)


def _node_name(column, node):
    if isinstance(node, str):
        return "refused, not moved" if node == "refused" else node
    if column == 2:
        return f"{node[0]} of scheduler {node[1]}"
    return f"warp {node[1]} (scheduler {node[0]})" if isinstance(node, tuple) else f"scheduler {node}"


def _spread(places, gap):
    """Positions as near to `places` (descending) as they can be with `gap` between them, half of it inside [0, 1]."""
    spread = [min(place, 1 - gap / 2) for place in places]
    for index in range(1, len(spread)):
        spread[index] = min(spread[index], spread[index - 1] - gap)
    floor = gap / 2
    for index in range(len(spread) - 1, -1, -1):
        spread[index] = max(spread[index], floor)
        floor = spread[index] + gap
    return spread


def _stack(column, nodes, total, gap):
    """{node: (top, bottom)} of a column of height 1, in drawing order."""
    order = sorted(nodes, key=functools.partial(_node_order, column))
    room = 1 - gap * (len(order) - 1)
    top, places = 1.0, {}
    for node in order:
        bottom = top - room * nodes[node] / total
        places[node] = (top, bottom)
        top = bottom - gap
    return places


def _ribbon(axes, x0, x1, from_top, to_top, height0, height1, color):
    middle = (x0 + x1) / 2
    points = [(x0, from_top), (middle, from_top), (middle, to_top), (x1, to_top), (x1, to_top - height1),
              (middle, to_top - height1), (middle, from_top - height0), (x0, from_top - height0), (x0, from_top)]
    codes = [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4, Path.LINETO, Path.CURVE4, Path.CURVE4, Path.CURVE4,
             Path.CLOSEPOLY]
    axes.add_patch(PathPatch(Path(points, codes), facecolor=color, alpha=0.5, linewidth=0))


@_styled
def sankey(flows, size=None, title=None):
    """A figure of a ser.Sankey: widths are threads; colours are reasons."""
    _require(flows.summary)
    nodes, links = _gathered(flows)
    # Of refused decisions alone the widths are those of what did not move.
    total = sum(nodes[1].values())
    if total == 0:
        raise SerEmptyError("nothing to draw: no decision has a thread")
    size = size or SIZE
    figure = _figure(size)
    _titles(figure, title or "Reordered threads: where from, why, where to",
            f"{_totals(flows.summary)}  |  {_what(flows.summary)}")
    # Room for the names: the same pixels at any size.
    left, right = (250 if flows.summary.source == "warp" else 225) / size[0], 1 - 262 / size[0]
    axes = figure.add_axes([left, 38 / size[1], right - left, 1 - 128 / size[1]])
    axes.set(xlim=(0, 1), ylim=(0, 1))
    axes.axis("off")
    gap = min(0.012, 0.3 / max(len(column) for column in nodes))
    places = [_stack(column, nodes[column], total, gap if column != 1 else 0.06) for column in range(3)]
    x = (0.0, 0.5, 1.0)
    for step in (0, 1):
        used = [{node: top for node, (top, _) in places[step + side].items()} for side in (0, 1)]
        order = sorted(links[step], key=lambda link: (_node_order(step, link[0]), _node_order(step + 1, link[1])))
        scale = [1 - (gap if step + side != 1 else 0.06) * (len(places[step + side]) - 1) for side in (0, 1)]
        for begin, end, reason in order:
            share = links[step][(begin, end, reason)] / total
            _ribbon(axes, x[step] + 0.012, x[step + 1] - 0.012, used[0][begin], used[1][end], share * scale[0],
                    share * scale[1], REFUSED if end == "refused" else COLOR[reason])
            used[0][begin] -= share * scale[0]
            used[1][end] -= share * scale[1]
    line = 15 / (size[1] - 128)
    for column in range(3):
        _name_nodes(axes, column, x[column], places[column], nodes[column], total, line)
    for column, name in enumerate(("source", "reason", "target")):
        axes.text(x[column], 1 + 14 / (size[1] - 128), name, ha=("right", "center", "left")[column], fontsize=10.5,
                  fontweight="bold")
    return _fitted(figure)


def _name_nodes(axes, column, x, places, nodes, total, line):
    labels = _spread([(top + bottom) / 2 for top, bottom in places.values()], line if column != 1 else 2.6 * line)
    for (node, (top, bottom)), label in zip(places.items(), labels):
        color = COLOR[node] if column == 1 else REFUSED if node == "refused" else "#444444"
        axes.add_patch(Rectangle((x - 0.012, bottom), 0.024, max(top - bottom, 0.0015), facecolor=color, linewidth=0))
        share = f"{nodes[node]:,} ({_percent(nodes[node], total)})"
        if column == 1:
            axes.text(x + 0.02, label, f"{_node_name(column, node)}\n{share}", fontsize=9, va="center",
                      bbox={"facecolor": "white", "alpha": 0.75, "linewidth": 0, "pad": 1.5})
            continue
        side = -1 if column == 0 else 1
        axes.plot([x + side * 0.013, x + side * 0.03], [(top + bottom) / 2, label], color="#888888", linewidth=0.6,
                  clip_on=False)
        axes.text(x + side * 0.034, label, f"{_node_name(column, node)}: {share}", fontsize=8.5, va="center",
                  ha="right" if column == 0 else "left")


def _percent(part, total):
    percent = 100 * part / total
    return f"{percent:.0f} %" if percent >= 9.95 else f"{percent:.1f} %" if percent >= 0.05 else "<0.1 %"


# --- heat map -------------------------------------------------------------------------------------------------------

_HEAT_ROWS_SHOWN = 256
_ROW_NAMES = {"sm": "SM", "launch": "launch", "warp": "warp (slot of its SM)", "source": "source scheduler",
              "target": "target scheduler", "unit": "unit", "reason": "reason", "pc": "instruction (pc)"}


def _heat_rows(heat):
    """Labels and values; of more than 256 rows (instructions: 40) the largest, and the sum of the others."""
    labels, values = heat.labels, heat.values
    if heat.by == "pc":
        labels = [f"0x{pc:x}" for pc in labels]
    shown = 40 if heat.by == "pc" else _HEAT_ROWS_SHOWN
    if len(labels) <= shown:
        return [str(label) for label in labels], values
    order = np.argsort(-values.sum(axis=1), kind="stable")
    keep, rest = np.sort(order[:shown - 1]), order[shown - 1:]
    return [str(labels[row]) for row in keep] + [f"{len(rest)} others"], np.vstack([values[keep], values[rest].sum(axis=0)])


@_styled
def heatmap(heat, size=None, title=None):
    """A figure of a ser.Heatmap: by reason above, by its grouping below."""
    _require(heat.summary)
    size = size or SIZE
    figure = _figure(size)
    each = "a cycle" if heat.width_cycles == 1 else f"{heat.width_cycles:,} cycles"
    _titles(figure, title or f"Threads moved over time, by {_ROW_NAMES[heat.by]}",
            f"{_totals(heat.summary)}  |  {_what(heat.summary)}")
    left = (150 if heat.by in ("reason", "pc") else 96) / size[0]
    top, bottom = 1 - 96 / size[1], 76 / size[1]
    strip = 0.2 * (top - bottom)
    upper = figure.add_axes([left, top - strip, 0.88 - left, strip])
    lower = figure.add_axes([left, bottom, 0.88 - left, top - bottom - strip - 0.03])
    edges = np.array(heat.edges, dtype=float)
    _reason_strip(upper, heat, edges)
    labels, values = _heat_rows(heat)
    # Intervals without a moved thread are blank, so that one thread can be told from none.
    image = lower.pcolormesh(edges, np.arange(len(labels) + 1), np.ma.masked_equal(values, 0), cmap="cividis",
                             norm=PowerNorm(0.5, 0, max(1, int(values.max(initial=0)))), rasterized=True)
    lower.set_facecolor("white")
    lower.set_ylim(len(labels), 0)
    room = size[1] * (top - bottom - strip - 0.03)
    step = max(1, int(np.ceil(len(labels) * 14 / room)))
    step = next(nice for nice in (1, 2, 4, 5, 8, 10, 16, 20, 32, 40, 64, 128, 256) if nice >= step)
    lower.set_yticks(np.arange(0, len(labels), step) + 0.5, labels[::step], fontsize=9)
    lower.set_ylabel(_ROW_NAMES[heat.by])
    lower.set_xlabel("GPU cycle")
    for axes in (upper, lower):
        axes.set_xlim(edges[0], edges[-1])
    lower.xaxis.set_major_formatter(_GROUPED)
    lower.xaxis.set_major_locator(_ticks(heat, size))
    bar = figure.colorbar(image, cax=figure.add_axes([0.9, bottom, 0.018, top - bottom - strip - 0.03]))
    bar.locator = MaxNLocator(6, integer=True)
    bar.formatter = _GROUPED
    bar.update_ticks()
    bar.set_label(f"threads moved in {each}", fontsize=9)
    figure.text(0.02, 10 / size[1], "blank: no thread moved; colours on a root scale", fontsize=8.5, color="#555555")
    return _fitted(figure)


def _ticks(heat, size):
    """As dense as their numbers are short."""
    number = 7 * len(f"{heat.edges[-1]:,}") + 24
    return MaxNLocator(max(1, min(8, int(0.78 * size[0] / number))), integer=True)


def _reason_strip(axes, heat, edges):
    by_reason, below = heat.by_reason, np.zeros(heat.columns)
    handles = []
    layers = [(reason, by_reason[code], COLOR[reason]) for code, reason in enumerate(REASONS)]
    layers.append(("refused, not moved", heat.refused, "#CFCFCF"))
    for name, threads, color in layers:
        if threads.sum() == 0:
            continue
        axes.stairs(below + threads, edges, baseline=below, fill=True, color=color, linewidth=0)
        handles.append(Patch(color=color, label=f"{name}: {int(threads.sum()):,}"))
        below = below + threads
    axes.set_ylim(0, max(1, below.max(initial=0)) * 1.05)
    axes.yaxis.set_major_locator(MaxNLocator(3, integer=True))
    axes.yaxis.set_major_formatter(_GROUPED)
    axes.tick_params(labelbottom=False, labelsize=9)
    axes.set_ylabel("threads", fontsize=9)
    axes.legend(handles=handles, loc="lower left", bbox_to_anchor=(0, 1.0), ncol=len(handles), frameon=False, fontsize=9,
                borderpad=0.1, handlelength=1.2)


# --- graph ----------------------------------------------------------------------------------------------------------

def _column_places(nodes, graph):
    """{node: y} from 1 down to 0 with room between schedulers, and {scheduler: (top, bottom)}."""
    order = sorted(nodes, key=lambda node: (graph.nodes[node]["scheduler"], _unit_order(node)))
    schedulers = sorted({graph.nodes[node]["scheduler"] for node in order})
    step = 1 / (len(order) + 0.6 * len(schedulers))
    y, places, bands = 1.0, {}, {}
    for scheduler in schedulers:
        top = y - 0.1 * step
        for node in order:
            if graph.nodes[node]["scheduler"] == scheduler:
                places[node] = y - 0.3 * step - 0.5 * step
                y -= step
        y -= 0.6 * step
        bands[scheduler] = (top, y + 0.1 * step)
    return places, bands, step


def _unit_order(node):
    return node[1] if node[0] == "warp" else UNITS.index(node[2])


_WARP_X, _UNIT_X = 0.24, 0.78
_REFUSED_DASH = (0, (1.5, 2.5))
_ARCS_MAX = 24
_HALF_WIDTH = {"warp": 0.045, "unit": 0.035}


class _Layout:
    """Where the nodes of a graph stand; of all frames of an animation."""

    def __init__(self, graph):
        self.places, self.bands, self.steps = {}, [], {}
        for kind, x in (("warp", _WARP_X), ("unit", _UNIT_X)):
            column, bands, step = _column_places([node for node in graph if node[0] == kind], graph)
            self.places.update({node: (x, y) for node, y in column.items()})
            self.bands += [(kind, scheduler, *span) for scheduler, span in bands.items()]
            self.steps[kind] = step
        busiest = max((graph.in_degree(node) for node in graph if node[0] == "unit"), default=0)
        self._half_most = {"warp": 22, "unit": min(80, 20 + 2 * busiest)}
        edges = [edge for _, _, edge in graph.edges(data=True)]
        self.reasons = [reason for reason in REASONS if any(edge["reason"] == reason for edge in edges)]
        self.refused = any(not edge["issued"] for edge in edges)
        self.joins = bool(_joins(graph))

    def half(self, kind, height):
        """Half of a node's height, as a part of `height` pixels: units have room for their edges."""
        return min(0.36 * self.steps[kind], self._half_most[kind] / height)


def graph_size(graph, each=27):
    """Width and height in pixels at which the names of all nodes can be read, `each` a warp."""
    rows = max(sum(1 for node in graph if node[0] == kind) for kind in ("warp", "unit"))
    return 1000, min(SIZE_MAX, max(480, 170 + each * rows))


def _draw_nodes(axes, layout, busy, height):
    for kind, scheduler, top, bottom in layout.bands:
        x = _WARP_X if kind == "warp" else _UNIT_X
        axes.add_patch(FancyBboxPatch((x - 0.062, bottom), 0.124, top - bottom, facecolor=PALE, edgecolor="#C8C8C0",
                                      boxstyle="round,pad=0,rounding_size=0.01", linewidth=0.8, zorder=0))
        side = -1 if kind == "warp" else 1
        axes.text(x + side * (0.165 if kind == "warp" else 0.07), (top + bottom) / 2, f"scheduler {scheduler}", fontsize=9.5,
                  va="center", ha="left")
    for node, (x, y) in layout.places.items():
        kind, step = node[0], layout.steps[node[0]]
        half = layout.half(kind, height)
        axes.add_patch(Rectangle((x - _HALF_WIDTH[kind], y - half), 2 * _HALF_WIDTH[kind], 2 * half, zorder=3,
                                 facecolor="white", edgecolor=INK if node in busy else "#BBBBBB", linewidth=1.0))
        axes.text(x, y, f"warp {node[1]}" if kind == "warp" else node[2], ha="center", va="center", zorder=4,
                  color=INK if node in busy else "#999999", fontsize=max(5.0, min(9.5, 0.5 * step * height)))


def _curve(begin, end):
    """A line with a level beginning, over which its label stands."""
    t = np.linspace(0, 1, 33)
    ease = np.clip((t - 0.3) / 0.7, 0, 1)
    return np.column_stack([begin[0] + (end[0] - begin[0]) * t, begin[1] + (end[1] - begin[1]) * ease * ease * (3 - 2 * ease)])


def _ports(layout, graph, height):
    """{edge: (begin, end)}: the edges of a node side by side along its side."""
    edges = list(graph.edges(keys=True))
    places = layout.places
    points = {edge: [None, None] for edge in edges}
    for side, kind in ((0, "warp"), (1, "unit")):
        shift = _HALF_WIDTH[kind] * (1 if side == 0 else -1)
        of = {}
        for edge in edges:
            of.setdefault(edge[side], []).append(edge)
        half = layout.half(kind, height)
        for node, group in of.items():
            group.sort(key=lambda edge: (-places[edge[1 - side]][1], edge[2]))
            for index, edge in enumerate(group):
                offset = 0 if len(group) == 1 else half * 0.8 * (1 - 2 * index / (len(group) - 1))
                points[edge][side] = (places[node][0] + shift, places[node][1] + offset)
    return points


class _Widths:
    """Line widths in points for threads, of all frames alike: the widest edges of a node fit side by side."""

    def __init__(self, layout, graphs, height):
        self.most = max(edge["threads"] for graph in graphs for _, _, edge in graph.edges(data=True))
        self.widest = 7.0
        for graph in graphs:
            for node in graph:
                edges = max(graph.out_degree(node), graph.in_degree(node), 1)
                # The ports' distance in pixels (see _ports), in points.
                room = 2 * 0.8 * layout.half(node[0], height) * height / max(1, edges - 1) * 0.72
                self.widest = max(2.5, min(self.widest, room))

    def of(self, threads):
        return 0.6 + (self.widest - 0.6) * threads / max(self.most, 1)


def _draw_edges(axes, layout, graph, widths, height):
    points = _ports(layout, graph, height)
    edges = sorted(points, key=lambda edge: (-graph.edges[edge]["threads"], edge[0], edge[1], edge[2]))
    data = [graph.edges[edge] for edge in edges]
    # Solid lines for what issued; a refused one is thin, grey under its reason's colour, and ends before its unit.
    curves = [_curve(*points[edge]) for edge in edges]
    for refused in (False, True):
        chosen = [index for index, edge in enumerate(data) if edge["issued"] != refused]
        axes.add_collection(LineCollection(
            [curves[index][:27] if refused else curves[index] for index in chosen], capstyle="butt", zorder=2,
            colors=[COLOR[data[index]["reason"]] for index in chosen], alpha=0.85,
            linestyles=[_REFUSED_DASH if refused else DASH[data[index]["reason"]] for index in chosen],
            linewidths=[1.2 if refused else widths.of(data[index]["threads"]) for index in chosen]))
        if refused and chosen:
            ends = np.array([curves[index][26] for index in chosen])
            axes.scatter(ends[:, 0], ends[:, 1], marker="x", s=36, linewidths=1.6, zorder=3,
                         color=[COLOR[data[index]["reason"]] for index in chosen])
    wide = axes.figure.get_size_inches()[0] * 100 >= 900
    if wide and len({edge[0] for edge in edges}) == len(edges) and len(edges) <= 24:
        for edge, values in zip(edges, data):
            pcs = values["pcs"]
            at = f"pc 0x{pcs[0]:x}" if len(pcs) == 1 else f"{len(pcs)} pcs"
            rise = 1 + 0.7 * (widths.of(values["threads"]) if values["issued"] else 1.2)
            axes.text(points[edge][0][0] + 0.024, points[edge][0][1] + rise / height,
                      f"{_threads(values['threads'])}, {at}", fontsize=8, va="bottom",
                      zorder=5)


def _joins(graph):
    """Pairs of a merged warp and the one whose issue slot it shares."""
    return sorted({(edge[0], ("warp", host)) for edge in graph.edges(keys=True) for host in graph.edges[edge]["joins"]})


def _draw_joins(axes, layout, graph, height):
    """Arcs on the outer side, unless they are so many that none could be told from another: see _graph_titles."""
    pairs = _joins(graph)
    if len(pairs) > _ARCS_MAX:
        return
    for begin, end in pairs:
        (x, y0), (_, y1) = layout.places[begin], layout.places[end]
        x -= _HALF_WIDTH["warp"]
        # arc3 puts its control point rad * dy pixels to the side; the arc reaches half as far.
        pixels = (y1 - y0) * height
        reach = 12 + min(24.0, 0.06 * abs(pixels))
        axes.annotate("", xy=(x, y1), xytext=(x, y0), zorder=2, arrowprops={
            "arrowstyle": "-|>,head_length=0.35,head_width=0.18", "color": COLOR["BRANCH_DIV"], "linewidth": 0.9,
            "shrinkA": 0, "shrinkB": 0, "connectionstyle": f"arc3,rad={-2 * reach / pixels}"})


def _legend(figure, layout, widths):
    handles = [Line2D([], [], color=COLOR[reason], linestyle=DASH[reason], linewidth=3, label=reason)
               for reason in layout.reasons]
    if layout.refused:
        handles.append(Line2D([], [], color="#666666", linestyle=_REFUSED_DASH, marker="x", label="refused, not moved"))
    if layout.joins:
        handles.append(Line2D([], [], color=COLOR["BRANCH_DIV"], marker="<", markersize=5, linewidth=1,
                              label="shares the issue slot of"))
    handles.append(Line2D([], [], color="#666666", linewidth=widths.of(widths.most), label=_threads(widths.most)))
    figure.legend(handles=handles, loc="lower left", bbox_to_anchor=(0.012, 20 / (figure.get_size_inches()[1] * 100)),
                  ncol=len(handles), frameon=False, fontsize=9, handlelength=2.9, columnspacing=1.2, borderpad=0)


def _graph_count(graph):
    from sm89.ser import Count
    count = Count()
    for _, _, edge in graph.edges(data=True):
        refused = not edge["issued"]
        count.add(edge["decisions"], edge["decisions"] * refused, edge["threads"] * (not refused), edge["threads"] * refused)
    return count


def _graph_titles(figure, graph, title):
    sm, cycle, window, launches = (graph.graph[name] for name in ("sm", "cycle", "window", "launches"))
    parts = [f"SM {sm}", _cycles(cycle, cycle + window - 1)]
    if launches:
        parts.append(_listed("launch", "launches", launches))
    totals = _totals(_graph_count(graph)) if launches else "no decision"
    pairs = len(_joins(graph))
    if pairs > _ARCS_MAX:
        totals += f"  |  {pairs} pairs share slots (no arcs)"
    _titles(figure, title or "Reordered threads: from warps to execution units", f"{', '.join(parts)}  |  {totals}")


@_styled
def graph(graph, size=None, title=None):
    """A figure of ser.SerTrace.cycle_graph: warps to the left, execution units to the right."""
    if graph.number_of_edges() == 0:
        raise SerEmptyError("nothing to draw: no decision")
    size = size or graph_size(graph)
    figure = _figure(size)
    _graph_titles(figure, graph, title)
    layout = _Layout(graph)
    layout.joins = 0 < len(_joins(graph)) <= _ARCS_MAX
    _graph_axes(figure, graph, layout, _Widths(layout, [graph], size[1] - 114), 58, 56)
    return _fitted(figure)


def _graph_axes(figure, graph, layout, widths, above, below):
    height = figure.get_size_inches()[1] * 100
    axes = figure.add_axes([0, below / height, 1, 1 - (above + below) / height])
    axes.set(xlim=(0, 1), ylim=(0, 1))
    axes.axis("off")
    inner = height - above - below
    busy = {node for edge in graph.edges(keys=True)
            for node in (*edge[:2], *(("warp", host) for host in graph.edges[edge]["joins"]))}
    _draw_nodes(axes, layout, busy, inner)
    _draw_edges(axes, layout, graph, widths, inner)
    _draw_joins(axes, layout, graph, inner)
    _legend(figure, layout, widths)


# --- animation ------------------------------------------------------------------------------------------------------

_PIXELS_MAX = 400_000_000


def _palette():
    """One for all frames, so that no colour flickers: each colour that is drawn, and its way to white in 8 steps."""
    from PIL import Image
    bases = [INK, "#000000", "#666666", *COLOR.values(), REFUSED, "#BBBBBB", "#C8C8C0", "#555555"]
    grounds = [("#FFFFFF", 8), (PALE, 2)]
    colors = [to_rgb("#FFFFFF"), to_rgb(PALE), to_rgb("#CFCFCF")]
    for base in bases:
        for ground, steps in grounds:
            colors += [tuple(a + (b - a) * step / steps for a, b in zip(to_rgb(base), to_rgb(ground))) for step in range(steps)]
    bytes_of = [round(255 * part) for color in dict.fromkeys(colors) for part in color]
    palette = Image.new("P", (1, 1))
    palette.putpalette(bytes_of + bytes_of[:3] * (256 - len(bytes_of) // 3))
    return palette


def _frame_spans(trace, frames):
    """[first, end) of each frame's cycles: the selection's up to the trace's end, or those of the rows."""
    first, last = int(trace.rows["cycle"].min()), int(trace.rows["cycle"].max())
    if trace.selection.cycle is not None:
        first = trace.selection.cycle
        window = trace.selection.window
        last = last if window is None else first + trace.window_within(first, window) - 1
    span = last - first + 1
    frames = min(frames, span)
    edges = [first + span * index // frames for index in range(frames + 1)]
    return list(zip(edges, edges[1:]))


@_styled
def animation(trace, frames=24, fps=4, size=None, title=None):
    """The graphs of a ser.SerTrace's busiest SM, one interval of cycles a frame, as a GIF that repeats: (bytes, (width,
    height), frames): fewer than asked for if there are fewer cycles. All frames share their layout and scale."""
    for name, value, most in (("frames", frames, FRAMES_MAX), ("fps", fps, 50)):
        if not 1 <= value <= most:
            raise SerError(f"out of range ({name} = '{value}', expected 1 to {most})")
    if len(trace) == 0:
        raise SerEmptyError("nothing to draw: no decision")
    sms, index = np.unique(trace.rows["sm"], return_inverse=True)
    sm = int(sms[np.bincount(index, weights=moved_of(trace.rows)).argmax()])
    trace = _of_sm(trace, sm)
    spans = _frame_spans(trace, frames)
    whole = trace.cycle_graph(spans[0][0], spans[-1][1] - spans[0][0], sm)
    size = size or (900, graph_size(whole, 20)[1] + 80)
    if size[0] * size[1] * len(spans) > _PIXELS_MAX:
        raise SerError(f"too many pixels: {len(spans)} frames of {size[0]}x{size[1]} (expected {_PIXELS_MAX:,} or fewer: "
                       "a smaller --size, or fewer --frames)")
    graphs = [trace.cycle_graph(begin, end - begin, sm) for begin, end in spans]
    scene = _Scene(whole, graphs, trace.heatmap(bins=120), size, title)
    images = [scene.image(graph) for graph in graphs]
    data = io.BytesIO()
    images[0].save(data, "GIF", save_all=True, append_images=images[1:], duration=1000 // fps, loop=0, optimize=False)
    return data.getvalue(), size, len(images)


def _of_sm(trace, sm):
    from sm89.ser import SerTrace
    return SerTrace(trace.rows[trace.rows["sm"] == sm], trace.path, trace.selection, trace.extent)


class _Scene:
    """What all frames of an animation share."""

    def __init__(self, whole, graphs, heat, size, title):
        self.layout, self.heat, self.size, self.title = _Layout(whole), heat, size, title
        self.widths = _Widths(self.layout, graphs, size[1] - 194)
        self.palette = _palette()

    def image(self, graph):
        from PIL import Image
        figure = _figure(self.size)
        _graph_titles(figure, graph, self.title)
        _graph_axes(figure, graph, self.layout, self.widths, 58, 136)
        height = self.size[1]
        axes = figure.add_axes([0.1, 64 / height, 0.87, 66 / height])
        _reason_strip(axes, self.heat, np.array(self.heat.edges, dtype=float))
        axes.get_legend().remove()
        axes.set_xlim(self.heat.edges[0], self.heat.edges[-1])
        axes.tick_params(labelbottom=True, labelsize=8)
        axes.xaxis.set_major_formatter(_GROUPED)
        axes.xaxis.set_major_locator(_ticks(self.heat, self.size))
        begin = graph.graph["cycle"]
        axes.axvspan(begin, begin + graph.graph["window"], facecolor="none", edgecolor=INK, linewidth=1.2)
        return _image(_fitted(figure)).quantize(palette=self.palette, dither=Image.Dither.NONE)
