#!/usr/bin/env python3
"""The model against published figures of an RTX 4090, one micro-benchmark a row.

    accuracy.py --sim build/release/bin/sm89-sim            # runs all rows, prints the table
    accuracy.py --sim ... --write                           # writes configs/RTX4090/VALIDATION.md
    accuracy.py --sim ... --check [--fast]                  # fails when the committed table is not what comes out

rtx4090.json says for each row which launches of kernels/suite.json are run and how the quantity comes from their clock
reads and cycles; targets_rtx4090.csv holds the figures of silicon. README.md explains both.
"""

import argparse
import ast
import csv
import json
import operator
import pathlib
import sys

from runner import RunError, run_cases

FOLDER = pathlib.Path(__file__).resolve().parent
ROOT = FOLDER.parent.parent
TABLE = ROOT / "configs" / "RTX4090" / "VALIDATION.md"
OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}


def evaluate(formula, names):
    """A formula of numbers, + - * / and NAME.FIGURE, where NAME is a run and FIGURE one of its results."""

    def value(node):
        if isinstance(node, ast.Expression):
            return value(node.body)
        if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
            return OPERATORS[type(node.op)](value(node.left), value(node.right))
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
            return node.value
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            return getattr(names[node.value.id], node.attr)
        raise ValueError(f"formula {formula!r}: {ast.dump(node)} is not a number, + - * / or RUN.FIGURE")

    return value(ast.parse(formula, mode="eval"))


def load_manifest():
    manifest = json.loads((FOLDER / "rtx4090.json").read_text())
    with (FOLDER / "targets_rtx4090.csv").open(newline="") as f:
        targets = {row["id"]: row for row in csv.DictReader(f)}
    rows = {row["id"]: row for row in manifest["rows"]}
    left = {row["id"]: row for row in manifest["not_isolated"]}
    unknown = (set(rows) | set(left)) - set(targets)
    missing = set(targets) - set(rows) - set(left)
    if unknown or missing or set(rows) & set(left):
        raise SystemExit(f"rtx4090.json: rows without a target {sorted(unknown)}, targets without a row {sorted(missing)}")
    return manifest, rows, left, targets


def measure(sim, manifest, rows, config, processes):
    """{row id: simulated value} and the control-bit path; every launch runs once for each set of settings."""
    jobs = {}
    for row in rows.values():
        settings = tuple(manifest["settings"].get(row.get("settings", ""), ()))
        for run in row["runs"].values():
            jobs.setdefault(settings, {})[tuple([run] if isinstance(run, str) else run)] = None
    results, paths = {}, set()
    suite = FOLDER / "kernels" / "suite.json"
    for settings, cases in jobs.items():
        done = run_cases(sim, suite, suite.parent, list(cases), config, settings, processes=processes)
        results[settings] = done
        paths |= {r.report["control_bits"] for r in done.values()}
    values = {}
    for row in rows.values():
        done = results[tuple(manifest["settings"].get(row.get("settings", ""), ()))]
        names = {n: done[r if isinstance(r, str) else r[-1]] for n, r in row["runs"].items()}
        values[row["id"]] = evaluate(row["formula"], names)
    return values, sorted(paths)


def judge(target, value):
    """(error in percent, verdict) of one row; no verdict where the target is not to be judged by."""
    error = 100.0 * (value / float(target["value"]) - 1.0)
    if target["judge"] != "yes":
        return error, "-"
    return error, "met" if abs(error) <= float(target["tolerance_percent"]) else "missed"


def figure(value):
    """Four significant digits, without an exponent."""
    digits = max(0, 4 - len(str(int(abs(value)))))
    return f"{value:.{digits}f}"


def line(target, value):
    error, verdict = judge(target, value)
    tolerance = f"{target['tolerance_percent']} %" if target["judge"] == "yes" else "-"
    return (f"| {target['id']} | {target['quantity']} | {target['value']} | {figure(value)} | {target['unit']} "
            f"| {error:+.1f} % | {tolerance} | {verdict} | {target['grade']} | {target['source']} |")


HEADER = ("| id | quantity | target | simulated | unit | error | tolerance | verdict | grade | source |\n"
          "|---|---|---|---|---|---|---|---|---|---|")


def render(manifest, rows, left, targets, values, paths):
    judged = [i for i in targets if i in rows and targets[i]["judge"] == "yes"]
    missed = [i for i in judged if judge(targets[i], values[i])[1] == "missed"]
    text = [(FOLDER / "VALIDATION.head.md").read_text().rstrip(), ""]
    text += [f"**{len(judged) - len(missed)} of {len(judged)} judged rows are met.** Control bits: {', '.join(paths)}.", ""]
    for category in ("latency", "throughput", "tensor", "bandwidth"):
        ids = [i for i in targets if i in rows and targets[i]["category"] == category]
        text += [f"## {category.capitalize()}", "", HEADER] + [line(targets[i], values[i]) for i in ids] + [""]
    text += ["## Missed", ""]
    text += [f"- **{i}** {targets[i]['quantity']} ({judge(targets[i], values[i])[0]:+.1f} %): "
             f"{rows[i].get('miss', 'not explained.')}" for i in missed] or ["None."]
    text += ["", "## Not isolated", "", "Rows that no micro-benchmark here can stand for.", ""]
    text += [f"- **{i}** {targets[i]['quantity']}, {targets[i]['value']} {targets[i]['unit']} ({targets[i]['source']}): "
             f"{left[i]['reason']}" for i in targets if i in left]
    text += ["", "## Benchmarks", "", "| id | launches | formula | what it isolates |", "|---|---|---|---|"]
    for i in targets:
        if i in rows:
            runs = ", ".join(f"{n} = {r if isinstance(r, str) else ' then '.join(r)}" for n, r in rows[i]["runs"].items())
            text.append(f"| {i} | {runs} | `{rows[i]['formula']}` | {rows[i]['isolates']} |")
    return "\n".join(text) + "\n"


def check(text, rows, targets, values, fast):
    """The complaints about the committed table."""
    committed = TABLE.read_text() if TABLE.exists() else ""
    if not fast:
        return [] if committed == text else [f"{TABLE.relative_to(ROOT)} is not what the model makes now"]
    lines = set(committed.splitlines())
    return [f"not in {TABLE.relative_to(ROOT)}: {line(targets[i], values[i])}" for i in rows
            if line(targets[i], values[i]) not in lines]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sim", required=True, help="sm89-sim to run")
    parser.add_argument("--config", default="RTX4090")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--fast", action="store_true", help="only rows that take well below a second")
    parser.add_argument("--rows", nargs="*", help="only these rows, printed")
    parser.add_argument("--write", action="store_true", help="write the table")
    parser.add_argument("--check", action="store_true", help="compare with the committed table")
    parser.add_argument("--json", type=pathlib.Path, help="write the rows as JSON")
    args = parser.parse_args()
    if args.write and (args.fast or args.rows):
        parser.error("--write needs all rows")

    manifest, all_rows, left, targets = load_manifest()
    rows = {i: r for i, r in all_rows.items() if not (args.fast and r.get("slow"))}
    if args.rows:
        rows = {i: r for i, r in rows.items() if i in args.rows}
    try:
        values, paths = measure(args.sim, manifest, rows, args.config, args.processes)
    except RunError as error:
        raise SystemExit(f"accuracy: {error}") from error
    if args.json:
        report = [{**targets[i], "simulated": values[i], "error_percent": judge(targets[i], values[i])[0],
                   "verdict": judge(targets[i], values[i])[1]} for i in rows]
        args.json.write_text(json.dumps(report, indent=1) + "\n")
    whole = len(rows) == len(all_rows)
    text = render(manifest, rows, left, targets, values, paths) if whole else ""
    if args.write:
        TABLE.write_text(text)
    if args.check:
        complaints = check(text, rows, targets, values, not whole)
        complaints += [f"a published peak of the tensor cores is missed: {line(targets[i], values[i])}" for i in rows
                       if targets[i]["quantity"].startswith("peak_") and judge(targets[i], values[i])[1] != "met"]
        print("\n".join(complaints) or f"{len(rows)} rows as committed")
        if complaints:
            print("If the model was meant to change: accuracy.py --sim ... --write, and look at what the table says now.")
        return 1 if complaints else 0
    print("\n".join([HEADER] + [line(targets[i], values[i]) for i in rows]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
