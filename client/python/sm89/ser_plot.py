"""sm89-ser-plot: pictures of the reordering stage's decisions, a research model (sim/sm/SER.md)."""

import argparse
import importlib.util
import json
import os
import sys

from sm89 import __version__

EXIT_OK = 0
EXIT_EMPTY = 1
EXIT_BAD_INPUT = 2
EXIT_LIMIT = 3
EXIT_INTERNAL = 4
EXIT_INTERRUPTED = 5

_DESCRIPTION = """\
Draws the decisions of the reordering stage (SER) that `sm89-sim --ser-trace FILE` recorded, and prints their totals. The
stage is a research model, not hardware; every picture says so.

kinds of picture:
  summary    flows: source scheduler (or warp) -> reason -> target unit and scheduler, as wide as threads moved (png, svg)
  graph      warps and execution units of one SM in one cycle or a few; an edge is a warp's threads, its colour the
             reason (png, svg)
  heatmap    threads moved over time, by SM or another grouping, and by reason (png, svg)
  animation  the graph, one interval of cycles a frame (gif)"""

_EPILOG = """\
examples:
  sm89-ser-plot moves.csv                                           totals only, no picture
  sm89-ser-plot moves.csv --out flow.png                            the flows
  sm89-ser-plot moves.csv --kind graph --out busiest.png            the cycle in which most threads moved
  sm89-ser-plot moves.csv --kind graph --sm 0 --cycle 12000 --window 50 --out graph.svg
  sm89-ser-plot moves.csv --kind heatmap --sm 0 --by warp --out heat.png
  sm89-ser-plot moves.csv --kind animation --window 200 --frames 25 --out moves.gif

exit codes:
  0  the whole output was written
  1  nothing to show: no decision in the trace, or none in the selection; no picture is written
  2  wrong usage, unreadable or refused input, or an output that cannot be written
  3  a limit was reached: --max-decisions
  4  internal error
  5  interrupted"""


def _number(least, most):
    def parse(text):
        if not text.isascii() or not text.isdigit() or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"'{text}' is out of range (expected a whole number {least} to {most})")
        return int(text)
    return parse


def _size(text):
    sides = text.split("x")
    if len(sides) != 2 or not all(side.isascii() and side.isdigit() for side in sides):
        raise argparse.ArgumentTypeError(f"'{text}' is no size (expected WIDTHxHEIGHT in pixels, as in 1000x640)")
    return int(sides[0]), int(sides[1])


def _title(text):
    if not 1 <= len(text) <= 160 or not text.isprintable():
        raise argparse.ArgumentTypeError("no title (expected 1 to 160 printable characters)")
    return text


class _Parser(argparse.ArgumentParser):
    def error(self, message):
        self.exit(EXIT_BAD_INPUT, f"{self.prog}: error: {message}\nsee {self.prog} --help\n")


def _parser():
    parser = _Parser(prog="sm89-ser-plot", description=_DESCRIPTION, epilog=_EPILOG, allow_abbrev=False,
                     formatter_class=argparse.RawDescriptionHelpFormatter)
    cycles = _number(0, 2**63 - 1)
    parser.add_argument("trace", metavar="TRACE", help="CSV, JSON lines or compact, also packed with gzip, "
                        "told apart by content; '-': standard input")
    parser.add_argument("--kind", choices=("summary", "graph", "heatmap", "animation"), default="summary",
                        help="what to draw (default summary)")
    parser.add_argument("--out", metavar="FILE", help="the picture; '-': standard output, with --format and "
                        "without the totals; none: only the totals are printed")
    parser.add_argument("--format", choices=("png", "svg", "gif"), help="format of FILE (default by its end)")
    parser.add_argument("--size", type=_size, metavar="WxH", help="in pixels (default 1000x640, or by the number of warps)")
    parser.add_argument("--title", type=_title, metavar="TEXT", help="instead of the picture's own title")
    select = parser.add_argument_group("which decisions")
    select.add_argument("--sm", type=_number(0, 65535), metavar="N", help="of one SM (default all; graph, animation: the "
                        "busiest)")
    select.add_argument("--launch", type=_number(0, 2**32 - 1), metavar="N", help="of one launch, from 0 (default all)")
    select.add_argument("--cycle", type=cycles, metavar="N", help="from this GPU cycle on (default: all; graph: the busiest)")
    select.add_argument("--window", type=_number(1, 2**63 - 1), metavar="N", help="so many cycles; without --cycle the N in "
                        "which most threads moved (default: to the end; graph: 1)")
    select.add_argument("--max-decisions", type=_number(1, 2**40), metavar="N", help="most that may be kept in memory, "
                        "32 bytes each; summary and heatmap keep none (default 10000000)")
    detail = parser.add_argument_group("details")
    detail.add_argument("--source", choices=("scheduler", "warp"), default="scheduler", help="summary: left column")
    detail.add_argument("--by", choices=("sm", "launch", "warp", "source", "target", "unit", "reason", "pc"),
                        help="heatmap: its rows (default sm; with --sm warp)")
    detail.add_argument("--bins", type=_number(1, 4096), metavar="N", default=240, help="heatmap: most columns (default 240)")
    detail.add_argument("--frames", type=_number(1, 200), metavar="N", default=24, help="animation (default 24)")
    detail.add_argument("--fps", type=_number(1, 50), metavar="N", default=4, help="animation: frames a second (default 4)")
    parser.add_argument("--json", action="store_true", help="print the totals and all flows as JSON")
    parser.add_argument("-q", "--quiet", action="store_true", help="print no totals")
    parser.add_argument("--version", action="version", version=f"sm89-ser-plot {__version__}")
    return parser


def _check(parser, line):
    """Wrong usage is said before anything is read."""
    if line.out is None:
        if line.kind != "summary":
            parser.error(f"--kind {line.kind} needs --out FILE")
        if line.format or line.size or line.title:
            parser.error("--format, --size and --title need --out FILE")
        return
    from sm89 import ser_draw
    kind = ser_draw.format_of(line.out, line.format)
    if (kind == "gif") != (line.kind == "animation"):
        parser.error(f"{line.out}: --kind {line.kind} is written as {'gif' if line.kind == 'animation' else 'png or svg'}, "
                     f"not as {kind}")
    if line.size:
        ser_draw.check_size(line.size)
    if line.out == "-":
        if line.json:
            parser.error("--json and --out - cannot share standard output")
        return
    folder = os.path.dirname(os.path.abspath(line.out))
    if os.path.isdir(line.out) or not os.path.isdir(folder):
        parser.error(f"{line.out}: cannot be written (expected a file name in an existing folder)")


def _print_totals(line, summary):
    if line.json:
        print(json.dumps(summary.as_dict(), indent=1))
        return
    if line.quiet:
        return
    print(f"decisions            {summary.decisions:,}, of them {summary.refused_decisions:,} refused by their target")
    print(f"threads moved        {summary.moved_threads:,}")
    print(f"cycles               {summary.first_cycle:,} to {summary.last_cycle:,}")
    print(f"SMs, launches        {len(summary.sms):,}, {len(summary.launches):,}")
    print(f"{'':20} {'decisions':>12} {'refused':>12} {'threads moved':>14}")
    for part in ("reason", "unit"):
        for name, count in summary.by(part).items():
            print(f"{name:20} {count.decisions:12,} {count.refused_decisions:12,} {count.moved_threads:14,}")
    print("(research model, not hardware)")


def _nothing(path, selection, extent):
    from sm89 import ser
    path = "standard input" if path == "-" else path
    if extent.decisions == 0:
        return ser.SerEmptyError(f"{path}: no decision in the trace: the reordering stage was off, or nothing diverged")
    numbers = [f"{name} {min(values)} to {max(values)}" for name, values in (("SMs", extent.sms), ("launches", extent.launches))]
    return ser.SerEmptyError(f"{path}: no decision in the selection ({selection}); the trace has {extent.decisions:,} of "
                             f"{', '.join(numbers)}, cycles {extent.first_cycle:,} to {extent.last_cycle:,}")


def _rows(line):
    """The trace of a selection in memory. The busiest window is looked for where no cycle was given."""
    from sm89 import ser
    window = line.window or (1 if line.kind == "graph" else None)
    trace = ser.load(line.trace, sm=line.sm, launch=line.launch, cycle=line.cycle,
                     window=window if line.cycle is not None else None, limit=line.max_decisions or ser.MAX_DECISIONS)
    if len(trace) == 0:
        raise _nothing(line.trace, trace.selection, trace.extent)
    if line.cycle is None and window is not None:
        sm, cycle = trace.busiest(window)
    elif line.kind in ("graph", "animation"):
        sm, cycle = trace.busiest(window or 2**53)[0], line.cycle
    else:
        return trace
    return trace.select(sm=sm, launch=line.launch, cycle=cycle, window=window)


def _totals_of(line):
    """Summary and Heatmap of a selection, made while the file is read."""
    from sm89 import ser
    summary = ser.Summary(line.source)
    heat = ser.Heatmap(line.by or ("sm" if line.sm is None else "warp"), line.bins)
    consumers = [summary, heat] if line.kind == "heatmap" else [summary]
    if line.window is not None and line.cycle is None:
        trace = _rows(line)
        for consumer in consumers:
            consumer.add_rows(trace.rows)
        return summary, heat
    part = {"sm": line.sm, "launch": line.launch, "cycle": line.cycle, "window": line.window}
    extent = ser.scan(line.trace, *consumers, **part)
    if summary.decisions == 0:
        raise _nothing(line.trace, ser.Selection(**part), extent)
    return summary, heat


def _picture(line):
    """(bytes or None without --out, what to say of them, Summary of what they show)."""
    from sm89 import ser
    if line.kind in ("graph", "animation"):
        trace = _rows(line)
        summary = trace.summary()
    else:
        summary, heat = _totals_of(line)
    if line.out is None:
        return None, None, summary
    from sm89 import ser_draw
    style = {"title": line.title, "size": line.size}
    if line.kind == "animation":
        data, size, frames = ser_draw.animation(trace, frames=line.frames, fps=line.fps, **style)
        return data, f"SM {summary.sms[0]}, {frames} frames of {size[0]} x {size[1]} pixels", summary
    if line.kind == "graph":
        part = trace.selection
        figure = ser_draw.graph(trace.cycle_graph(part.cycle, part.window, part.sm), **style)
    elif line.kind == "heatmap":
        figure = ser_draw.heatmap(heat, **style)
    else:
        figure = ser_draw.sankey(ser.Sankey(summary), **style)
    width, height = ser_draw.size_of(figure)
    return ser_draw.encode(figure, ser_draw.format_of(line.out, line.format)), f"{width} x {height} pixels", summary


def _run(line):
    data, what, summary = _picture(line)
    if line.out == "-":
        sys.stdout.buffer.write(data)
        return
    if data is not None:
        from sm89 import ser_draw
        ser_draw.write(line.out, data)
    _print_totals(line, summary)
    if data is not None and not line.quiet and not line.json:
        print(f"wrote {line.out}: {line.kind}, {what}")


def _missing_packages():
    """zstandard is not among them: only the compact form needs it, and says so."""
    return [name for name in ("numpy", "matplotlib", "networkx", "PIL") if importlib.util.find_spec(name) is None]


def main(arguments=None):
    """The command: returns the exit code."""
    parser = _parser()
    line = parser.parse_args(arguments)
    missing = _missing_packages()
    if missing:
        print(f"sm89-ser-plot: error: Python packages are missing: {', '.join(missing)} (Debian: the packages that "
              f"deploy/packages.sh plot prints; elsewhere: pip install client/python; searched by {sys.executable})",
              file=sys.stderr)
        return EXIT_BAD_INPUT
    from sm89 import ser
    try:
        _check(parser, line)
        _run(line)
        sys.stdout.flush()
        return EXIT_OK
    except (ser.SerError, MemoryError) as error:
        codes = {ser.SerEmptyError: EXIT_EMPTY, ser.SerLimitError: EXIT_LIMIT, MemoryError: EXIT_LIMIT}
        print(f"sm89-ser-plot: error: {error or 'out of memory'}", file=sys.stderr)
        return codes.get(type(error), EXIT_BAD_INPUT)
    except BrokenPipeError:
        # The reader of the totals has gone; the picture is written before.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_OK
    except OSError as error:
        print(f"sm89-ser-plot: error: standard output cannot be written: {error.strerror}", file=sys.stderr)
        # What is still in the buffer would fail once more at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_BAD_INPUT
    except KeyboardInterrupt:
        print("sm89-ser-plot: interrupted", file=sys.stderr)
        return EXIT_INTERRUPTED
    except Exception as error:  # pylint: disable=broad-except
        print(f"sm89-ser-plot: internal error: {type(error).__name__}: {error}", file=sys.stderr)
        return EXIT_INTERNAL


if __name__ == "__main__":
    sys.exit(main())
