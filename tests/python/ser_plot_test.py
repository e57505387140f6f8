"""The command sm89-ser-plot: pictures, totals, exit codes, and what it says when something is wrong."""
import argparse
import contextlib
import io
import json
import os
import re
import subprocess
import sys
import tomllib
import unittest
import xml.etree.ElementTree

import matplotlib.collections
import matplotlib.colors
import matplotlib.patches
import matplotlib.text
from PIL import Image

import sm89
from sm89 import ser, ser_draw, ser_plot
from ser_records import REASONS, REPOSITORY, UNITS, Folder, compact_of, csv_of, jsonl_of, record, some_records


def run_process(*arguments, stdin=b"", env=None):
    """(exit code, standard output as bytes, standard error as text) of the command in a process of its own."""
    done = subprocess.run([sys.executable, "-m", "sm89.ser_plot", *map(str, arguments)], input=stdin, capture_output=True,
                          env=dict(os.environ, **env or {}), check=False)
    return done.returncode, done.stdout, done.stderr.decode()


def run(*arguments):
    """The same in this process: importing matplotlib takes longer than most pictures."""
    output, error = io.TextIOWrapper(io.BytesIO()), io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(error):
        try:
            code = ser_plot.main([str(argument) for argument in arguments])
        except SystemExit as done:
            code = done.code
    output.flush()
    return code, output.buffer.getvalue(), error.getvalue()


def texts_of(svg):
    return ["".join(node.itertext()) for node in xml.etree.ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]


class Pictures(unittest.TestCase):
    def setUp(self):
        self.folder = Folder(self)
        self.records = some_records(2000, seed=21)
        self.trace = self.folder.file("t.csv", csv_of(self.records))

    def draw(self, name, *arguments, trace=None):
        out = self.folder.file(name)
        code, text, error = run(trace or self.trace, "--out", out, *arguments)
        self.assertEqual((code, error), (0, ""))
        with open(out, "rb") as source:
            return source.read(), text.decode()

    def test_kinds_and_sizes(self):
        for kind in ("summary", "graph", "heatmap"):
            data, text = self.draw("a.png", "--kind", kind, "--size", "800x500")
            image = Image.open(io.BytesIO(data))
            self.assertEqual((image.format, image.size), ("PNG", (800, 500)))
            self.assertGreater(len(image.convert("RGB").getcolors(1 << 24)), 50, "an empty picture")
            self.assertIn(f"wrote {self.folder.file('a.png')}: {kind}, 800 x 500 pixels", text)
            self.assertEqual(image.info.keys() & {"Software", "Creation Time", "date"}, set())

    def test_equal_input_gives_equal_bytes_in_each_form(self):
        forms = [self.trace, self.folder.file("t.jsonl", jsonl_of(self.records)), self.folder.file("t.bin", compact_of(self.records))]
        for kind, name in (("summary", "a.png"), ("graph", "a.png"), ("heatmap", "a.png"), ("summary", "a.svg"),
                           ("graph", "a.svg"), ("heatmap", "a.svg")):
            first = self.draw(name, "--kind", kind)[0]
            for form in forms:
                self.assertEqual(self.draw(name, "--kind", kind, trace=form)[0], first, (kind, form))

    def test_every_picture_says_that_it_shows_a_research_model(self):
        for kind in ("summary", "graph", "heatmap"):
            texts = texts_of(self.draw("a.svg", "--kind", kind)[0])
            self.assertEqual(sum("a research model, not hardware" in text for text in texts), 1, texts)

    def test_names_and_numbers_of_the_flows_are_in_the_picture(self):
        texts = " ".join(texts_of(self.draw("a.svg", "--source", "warp", "--sm", "1")[0]))
        summary = ser.load(self.trace, sm=1).summary("warp")
        for reason, count in summary.by("reason").items():
            self.assertIn(f"{reason} {count.threads:,} (", texts.replace("\n", " "))
        self.assertIn(f"refused, not moved: {summary.refused_threads:,} (", texts)
        self.assertIn(f"{summary.decisions:,} decisions, {summary.moved_threads:,} threads moved; "
                      f"{summary.refused_decisions:,} refused with {summary.refused_threads:,} threads", texts)
        # 48 warps: the 23 largest by name, the rest as one.
        self.assertEqual(len(re.findall(r"warp \d+ \(scheduler \d\)", texts)), 23)
        self.assertIn("25 others", texts)

    def test_nodes_and_threads_of_a_cycle_are_in_the_picture(self):
        records = [record(50, 4, 0xFF, target=1, pc=0x1A0), record(50, 9, 0x7, "BRANCH_DIV", joins=2, target=2, pc=0x1B0),
                   record(50, 7, 0x1, "MEMORY_STALL", "MEM", target=0, issued=0)]
        texts = texts_of(self.draw("a.svg", "--kind", "graph", trace=self.folder.file("u.csv", csv_of(records)))[0])
        for text in ("warp 4", "warp 9", "warp 2", "warp 7", "MEM", "8 threads, pc 0x1a0", "3 threads, pc 0x1b0",
                     "1 thread, pc 0x100", "refused, not moved", "BRANCH_DIV",
                     "shares the issue slot of", "SM 0, cycle 50, launch 0  |  3 decisions, 11 threads moved; 1 refused with 1 thread"):
            self.assertIn(text, texts)

    def test_animation_has_the_frames_that_were_asked_for(self):
        data, text = self.draw("a.gif", "--kind", "animation", "--window", "100", "--frames", "7", "--fps", "5", "--size", "900x600")
        image = Image.open(io.BytesIO(data))
        self.assertEqual((image.format, image.size, image.n_frames, image.info["duration"], image.info["loop"]),
                         ("GIF", (900, 600), 7, 200, 0))
        sm, cycle = ser.load(self.trace).busiest(100)
        self.assertIn(f"animation, SM {sm}, 7 frames of 900 x 600 pixels", text)
        self.assertIn(f"decisions            {len(ser.load(self.trace, sm=sm, cycle=cycle, window=100))}, ", text)
        frames = set()
        for index in range(7):
            image.seek(index)
            frames.add(image.convert("RGB").tobytes())
        self.assertEqual(len(frames), 7)
        self.assertEqual(self.draw("b.gif", "--kind", "animation", "--window", "100", "--frames", "7", "--fps", "5", "--size",
                                   "900x600")[0], data)

    def test_animation_has_no_more_frames_than_cycles(self):
        data, _ = self.draw("a.gif", "--kind", "animation", "--window", "3", "--frames", "9", "--size", "800x480")
        self.assertEqual(Image.open(io.BytesIO(data)).n_frames, 3)

    def test_without_a_window_all_cycles_of_the_busiest_sm_are_animated(self):
        _, text = self.draw("a.gif", "--kind", "animation", "--frames", "2")
        sums = {sm: sum(item["threads"] for item in self.records if item["sm"] == sm and item["issued"]) for sm in range(3)}
        sm = max(sums, key=sums.get)
        self.assertIn(f"animation, SM {sm}, 2 frames", text)
        self.assertIn(f"decisions            {sum(item['sm'] == sm for item in self.records)}, ", text)

    def test_frames_cover_the_window_once(self):
        trace = ser.load(self.trace, sm=1)
        spans = ser_draw._frame_spans(trace.select(cycle=1100, window=100), 7)
        self.assertEqual((spans[0][0], spans[-1][1], len(spans)), (1100, 1200, 7))
        self.assertEqual([end for _, end in spans[:-1]], [begin for begin, _ in spans[1:]])
        graphs = [trace.cycle_graph(begin, end - begin, 1) for begin, end in spans]
        self.assertEqual(sum(edge["decisions"] for graph in graphs for _, _, edge in graph.edges(data=True)),
                         len(trace.select(cycle=1100, window=100)))

    def test_a_window_beyond_the_end_is_shown_to_the_end(self):
        last = max(item["cycle"] for item in self.records)
        trace = ser.load(self.trace, sm=1)
        for first, cycle in ((trace.busiest(20000)[1], []), (1200, ["--cycle", "1200"])):
            beyond, exact = (["--sm", "1", "--window", str(window)] for window in (20000, last - first + 1))
            graph = self.draw("a.svg", "--kind", "graph", *cycle, *beyond)[0]
            self.assertIn(f"SM 1, cycles {first:,} to {last:,}, ", " ".join(texts_of(graph)))
            exact += ["--cycle", str(first)]
            for kind, name in (("graph", "a.svg"), ("heatmap", "a.svg"), ("animation", "a.gif")):
                frames = ["--frames", "2"] if kind == "animation" else []
                self.assertEqual(self.draw(name, "--kind", kind, *cycle, *beyond, *frames)[0],
                                 self.draw(name, "--kind", kind, *exact, *frames)[0], kind)
            self.assertEqual(trace.cycle_graph(first, 20000).graph["window"], last - first + 1)

    def test_standard_input_and_output(self):
        data, _ = self.draw("a.png")
        with open(self.trace, "rb") as source:
            code, output, error = run_process("-", "--out", "-", "--format", "png", stdin=source.read())
        self.assertEqual((code, error), (0, ""))
        self.assertEqual(output, data)

    def test_a_user_s_matplotlibrc_changes_nothing(self):
        data, _ = self.draw("a.png")
        rc = self.folder.file("matplotlibrc", b"font.size: 30\nfigure.facecolor: red\nbackend: TkAgg\n")
        self.assertEqual(run_process(self.trace, "--out", self.folder.file("b.png"), env={"MATPLOTLIBRC": rc})[0], 0)
        with open(self.folder.file("b.png"), "rb") as source:
            self.assertEqual(source.read(), data)

    def test_many_warps_and_schedulers_and_large_numbers_fit(self):
        records = [record(2**40 + slot, slot % 64, 2**32 - 1, target=slot % 16, sm=slot % 300, pc=16 * slot) for slot in range(3000)]
        trace = self.folder.file("big.csv", csv_of(records))
        for arguments in (["--source", "warp"], ["--kind", "graph", "--window", "3000"], ["--kind", "heatmap"],
                          ["--kind", "heatmap", "--by", "pc"], ["--kind", "heatmap", "--bins", "1"]):
            self.draw("a.png", *arguments, trace=trace)

    def test_texts_end_inside_the_picture(self):
        records = [record(10**12 + slot, slot % 48, 2**32 - 1, REASONS[slot % 3], UNITS[slot % 4], slot % 5 % 4, slot % 3,
                          joins=slot % 7, issued=slot % 11 and 1) for slot in range(4000)]
        trace = ser.load(self.folder.file("wide.csv", csv_of(records)))
        for size in ((800, 480), (1000, 640), None):
            for figure in (ser_draw.sankey(trace.sankey("warp"), size, "a long title " * 12), ser_draw.heatmap(trace.heatmap(), size),
                           ser_draw.graph(trace.cycle_graph(window=4000), size)):
                figure.canvas.draw()
                renderer, (width, height) = figure.canvas.get_renderer(), ser_draw.size_of(figure)
                texts = [text for text in figure.findobj(matplotlib.text.Text) if text.get_visible() and text.get_text()]
                self.assertGreater(len(texts), 10)
                for text in texts:
                    box = text.get_window_extent(renderer)
                    self.assertTrue(box.x0 >= 0 and box.x1 <= width and box.y0 >= 0 and box.y1 <= height,
                                    f"{text.get_text()!r} at {box} of {width} x {height}")

    def test_library_saves_what_the_command_writes(self):
        trace = ser.load(self.trace)
        self.assertEqual(trace.heatmap().save(self.folder.file("l.png")), (1000, 640))
        self.assertEqual(trace.sankey().save(self.folder.file("s.png"), size=(820, 500)), (820, 500))
        self.assertEqual(trace.select(cycle=1100, window=10).animate(self.folder.file("l.gif"), frames=2), 2)
        with open(self.folder.file("l.png"), "rb") as source:
            self.assertEqual(source.read(), self.draw("a.png", "--kind", "heatmap")[0])


class WhatIsDrawn(unittest.TestCase):
    """The shapes in the figures against what they stand for."""

    def setUp(self):
        self.trace = ser.load(Folder(self).file("t.csv", csv_of(some_records(3000, seed=27))))

    def test_ribbons_are_as_wide_as_their_threads(self):
        flows = self.trace.sankey()
        ribbons = [patch for patch in ser_draw.sankey(flows).axes[0].patches if isinstance(patch, matplotlib.patches.PathPatch)]
        drawn = []
        for ribbon in ribbons:
            points = ribbon.get_path().vertices
            color = matplotlib.colors.to_hex(ribbon.get_facecolor())
            # Heights at the reasons' column, where both steps have one scale: 1 less two gaps for all threads.
            height = points[3][1] - points[4][1] if points[0][0] < 0.25 else points[0][1] - points[7][1]
            drawn.append((color.upper(), round(height * sum(flows.nodes[1].values()) / (1 - 2 * 0.06))))
        wanted = [(ser_draw.REFUSED if end == "refused" else ser_draw.COLOR[reason], threads)
                  for step in flows.links for (_, end, reason), threads in step.items()]
        self.assertEqual(sorted(drawn), sorted(wanted))

    def test_lines_are_the_edges_in_their_reasons_colours(self):
        graph = self.trace.cycle_graph(window=40)
        edges = [edge for _, _, edge in graph.edges(data=True)]
        self.assertGreater(len({edge["reason"] for edge in edges}), 2)
        lines = [lines for lines in ser_draw.graph(graph).axes[0].collections
                 if isinstance(lines, matplotlib.collections.LineCollection)]
        for refused, drawn in zip((False, True), lines):
            part = [edge for edge in edges if edge["issued"] != refused]
            self.assertEqual(len(drawn.get_segments()), len(part))
            colors = sorted(matplotlib.colors.to_hex(color).upper() for color in drawn.get_colors())
            self.assertEqual(colors, sorted(ser_draw.COLOR[edge["reason"]] for edge in part))
        widths = sorted(lines[0].get_linewidths())
        threads = sorted(edge["threads"] for edge in edges if edge["issued"])
        scale = (widths[-1] - widths[0]) / (threads[-1] - threads[0])
        for width, count in zip(widths, threads):
            self.assertAlmostEqual(width, widths[0] + scale * (count - threads[0]))

    def test_cells_and_strip_are_the_heat_map(self):
        heat = self.trace.heatmap("warp", 50)
        strip, cells = ser_draw.heatmap(heat).axes[:2]
        mesh = next(mesh for mesh in cells.collections if isinstance(mesh, matplotlib.collections.QuadMesh))
        self.assertEqual(mesh.get_array().filled(0).reshape(heat.values.shape).tolist(), heat.values.tolist())
        layers = [patch.get_data() for patch in strip.patches if isinstance(patch, matplotlib.patches.StepPatch)]
        tops = [layer.values - layer.baseline for layer in layers]
        self.assertEqual([top.tolist() for top in tops], [*heat.by_reason.tolist(), heat.refused.tolist()])
        self.assertEqual([label.get_text() for label in cells.get_yticklabels()], [str(label) for label in heat.labels][::2])


class Totals(unittest.TestCase):
    def test_text_and_json_say_what_the_records_say(self):
        records = some_records(500, seed=22)
        trace = Folder(self).file("t.csv", csv_of(records))
        moved = sum(item["threads"] for item in records if item["issued"])
        code, text, _ = run(trace)
        self.assertEqual(code, 0)
        self.assertIn(f"threads moved        {moved:,}\n", text.decode())
        self.assertIn("research model, not hardware", text.decode())
        code, text, _ = run(trace, "--json")
        totals = json.loads(text)
        self.assertEqual((totals["decisions"], totals["moved_threads"]), (500, moved))
        self.assertEqual(sum(flow["moved_threads"] for flow in totals["flows"]), moved)
        self.assertEqual(sum(count["decisions"] for count in totals["by_unit"].values()), 500)
        self.assertEqual(run(trace, "-q")[1], b"")

    def test_a_full_disk_is_said(self):
        trace = Folder(self).file("t.csv", csv_of(some_records(5, seed=26)))
        with open("/dev/full", "wb") as full:
            done = subprocess.run([sys.executable, "-m", "sm89.ser_plot", trace], stdout=full, stderr=subprocess.PIPE, check=False)
        self.assertEqual((done.returncode, done.stderr),
                         (2, b"sm89-ser-plot: error: standard output cannot be written: No space left on device\n"))

    def test_reader_of_the_totals_may_go(self):
        trace = Folder(self).file("t.csv", csv_of(some_records(5000, seed=23)))
        command = f"{sys.executable} -m sm89.ser_plot {trace} --source warp --json | head -1; exit ${{PIPESTATUS[0]}}"
        done = subprocess.run(["bash", "-c", command], capture_output=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, b""))


class Refusals(unittest.TestCase):
    def setUp(self):
        self.folder = Folder(self)
        self.trace = self.folder.file("t.csv", csv_of(some_records(200, seed=24)))

    def check(self, code, message, *arguments, trace=None):
        """The exit code, one line of reason without a traceback, and no picture."""
        out = self.folder.file("no.png")
        arguments = [out if argument == "OUT" else argument for argument in arguments]
        got, _, error = run(trace or self.trace, *arguments)
        self.assertEqual(got, code, error)
        self.assertRegex(error, "^sm89-ser-plot: error: .*" + message)
        self.assertNotIn("Traceback", error)
        self.assertFalse(os.path.exists(out))
        self.assertEqual([name for name in os.listdir(self.folder.path) if name.startswith(".")], [])

    def test_nothing_to_show(self):
        empty = {"e.csv": csv_of([]), "e.jsonl": b"", "e.bin": compact_of([])}
        for name, data in empty.items():
            for kind in ("summary", "graph", "heatmap"):
                self.check(1, f"{name}: no decision in the trace: the reordering stage was off, or nothing diverged",
                           "--kind", kind, "--out", "OUT", trace=self.folder.file(name, data))
        self.check(1, "no decision in the trace", trace=self.folder.file("e.csv"))
        self.check(1, r"t.csv: no decision in the selection \(SM 9\); the trace has 200 of SMs 0 to 2, launches 0 to 1, cycles "
                   r"1,\d+ to 1,\d+", "--sm", "9", "--out", "OUT")
        self.check(1, r"no decision in the selection \(launch 5, cycle 1,100\)", "--kind", "graph", "--launch", "5", "--cycle",
                   "1100", "--out", "OUT")

    def test_wrong_usage(self):
        for message, arguments in (
                ("--kind graph needs --out FILE", ["--kind", "graph"]),
                ("invalid choice: 'pie'", ["--kind", "pie"]),
                (r"x.jpg: unknown format \(format = 'jpg', expected a name that ends in .png, .svg, .gif", ["--out", "x.jpg"]),
                ("--kind summary is written as png or svg, not as gif", ["--out", "x.gif"]),
                ("--kind animation is written as gif, not as png", ["--kind", "animation", "--out", "OUT"]),
                ("argument --sm: '-1' is out of range|expected one argument", ["--sm", "-1"]),
                (r"argument --sm: '70000' is out of range \(expected a whole number 0 to 65535\)", ["--sm", "70000"]),
                ("argument --window: '0' is out of range", ["--window", "0"]),
                ("argument --title: no title", ["--title", "a" * 161, "--out", "OUT"]),
                ("argument --size: '5' is no size", ["--size", "5", "--out", "OUT"]),
                (r"a size out of range \(size = '100x100', expected 800x480 to 8000x8000 pixels\)", ["--size", "100x100", "--out", "OUT"]),
                ("no_folder/x.png: cannot be written", ["--out", self.folder.file("no_folder/x.png")]),
                ("cannot be written", ["--out", self.folder.path, "--format", "png"]),
                ("--format, --size and --title need --out", ["--format", "png"]),
                ("--json and --out - cannot share", ["--json", "--out", "-", "--format", "png"]),
                ("unrecognized arguments: --colour", ["--colour"])):
            with self.subTest(message):
                self.check(2, message, *arguments)

    def test_bad_input(self):
        self.check(2, r"bad.csv:2: a row of 2 fields \('1,2', expected 13: cycle,", "--out", "OUT",
                   trace=self.folder.file("bad.csv", csv_of([]) + b"1,2\n"))
        self.check(2, "none.csv: cannot be read: No such file", trace=self.folder.file("none.csv"))

    def test_limits(self):
        self.check(3, r"t.csv: more than 100 decisions \(all decisions\): choose an SM, a launch or cycles, or raise the limit",
                   "--kind", "graph", "--max-decisions", "100", "--out", "OUT")
        # Kinds that keep nothing in memory have no such limit.
        self.assertEqual(run(self.trace, "--kind", "heatmap", "--max-decisions", "1", "--out", self.folder.file("yes.png"))[0], 0)
        self.check(2, "too many pixels: 24 frames of 8000x8000", "--kind", "animation", "--size", "8000x8000", "--format", "gif",
                   "--out", "OUT")

    def test_help_names_every_option_and_exit_code(self):
        code, text, _ = run("--help")
        self.assertEqual(code, 0)
        for word in ("--kind", "--out", "--format", "--size", "--sm", "--launch", "--cycle", "--window", "--frames", "--by",
                     "research model, not hardware", "exit codes:", "examples:"):
            self.assertIn(word, text.decode())
        self.assertLessEqual(max(map(len, text.decode().split("\n"))), 130)


class Package(unittest.TestCase):
    def test_versions_agree_and_the_command_is_the_package_s(self):
        with open(os.path.join(REPOSITORY, "client/python/pyproject.toml"), "rb") as source:
            project = tomllib.load(source)["project"]
        with open(os.path.join(REPOSITORY, "CMakeLists.txt"), encoding="utf-8") as source:
            product = re.search(r"project\(sm89 VERSION ([0-9.]+)", source.read()).group(1)
        self.assertEqual({project["version"], sm89.__version__}, {product})
        self.assertEqual(run("--version")[1].decode(), f"sm89-ser-plot {product}\n")
        self.assertEqual(project["scripts"], {"sm89-ser-plot": "sm89.ser_plot:main"})

    def test_the_command_s_choices_are_the_library_s(self):
        options = {action.dest: action for action in ser_plot._parser()._actions}
        self.assertEqual(options["by"].choices, ser.GROUPINGS)
        self.assertEqual(options["format"].choices, ser_draw.FORMATS)
        self.assertIn(str(ser.MAX_DECISIONS), options["max_decisions"].help)
        for option, most in (("frames", ser_draw.FRAMES_MAX), ("fps", 50), ("bins", 4096)):
            self.assertEqual(options[option].type(str(most)), most)
            with self.assertRaises(argparse.ArgumentTypeError):
                options[option].type(str(most + 1))

    def test_the_manual_s_example_runs(self):
        folder = Folder(self)
        folder.file("crowded.csv", csv_of(some_records(3000, seed=25)))
        with open(os.path.join(REPOSITORY, "client/python/README.md"), encoding="utf-8") as source:
            example = re.search("```python\n(.*?)```", source.read(), re.DOTALL).group(1)
        folder.file("script.py", example.encode() + b"print(flows.decisions)\n")
        # As the manual says, and without what the test's own interpreter was given.
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        done = subprocess.run([os.path.join(REPOSITORY, "client/python/with_packages"), "script.py"], cwd=folder.path, check=False,
                              capture_output=True, text=True, env=environment)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout.split()[-1], "3000")
        self.assertEqual({"flow.png", "heat.svg", "moves.gif"} - set(os.listdir(folder.path)), set())

    def test_the_command_beside_the_programs_runs(self):
        program = os.path.join(os.environ["SM89_BIN_DIR"], "sm89-ser-plot")
        done = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout, f"sm89-ser-plot {sm89.__version__}\n")

    def test_missing_packages_are_named(self):
        code, _, error = run_process("t.csv", env={"PYTHONPATH": os.path.join(REPOSITORY, "client/python"), "PYTHONNOUSERSITE": "1"})
        self.assertEqual((code, "t.csv: cannot be read" in error), (2, True))
        # An interpreter without site packages has none of them.
        done = subprocess.run([sys.executable, "-S", "-m", "sm89.ser_plot", "t.csv"], capture_output=True, text=True, check=False,
                              env={"PYTHONPATH": os.path.join(REPOSITORY, "client/python")})
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, "^sm89-ser-plot: error: Python packages are missing: numpy, matplotlib, networkx, PIL .*"
                                      "deploy/packages.sh plot")


if __name__ == "__main__":
    unittest.main()
