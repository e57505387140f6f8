#!/usr/bin/env python3
"""Tests a Grafana dashboard without Grafana.

    check_dashboard.py DASHBOARD.json                                   form only
    check_dashboard.py DASHBOARD.json PROMETHEUS_URL METRICS_URL        and every expression against data

Form: unique panel ids, panels that do not overlap, title, description and data source everywhere, only
variables that are defined, rates only over $__rate_interval. Data: each expression, with its variables
replaced, must parse, return at least one number, and carry the labels that its legend shows; every sm89_ and
process_ metric that it names must be exported. Prints one line a fault and "N passed, M failed"; an
expression counts once.
"""
import json
import re
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

RATE_WINDOW = "10s"   # the test's Prometheus scrapes every second
QUERY_SPAN_SECONDS = 20
TIMEOUT_SECONDS = 10
BUILTIN_VARIABLES = {"__rate_interval", "__interval", "__range"}


def walk(panels):
    for panel in panels:
        yield panel
        yield from walk(panel.get("panels", []))


def variables_in(text):
    return re.findall(r"\$\{?(\w+)", text)


def metrics_in(expr):
    return set(re.findall(r"\b(?:sm89|process)_\w+", expr))


def substitute(expr):
    """The expression as Grafana would send it with every variable on "All"."""
    for name in BUILTIN_VARIABLES:
        expr = expr.replace(f"${name}", RATE_WINDOW).replace(f"${{{name}}}", RATE_WINDOW)
    return re.sub(r"\$\{?\w+[^\"}]*\}?", ".+", expr)


def form_faults_of_dashboard(dashboard):
    panels = list(walk(dashboard.get("panels", [])))
    ids = [panel.get("id") for panel in panels]
    if len(ids) != len(set(ids)) or None in ids:
        yield "panel ids are missing or not unique"
    cells = {}
    for panel in panels:
        grid = panel.get("gridPos", {})
        for x in range(grid.get("x", 0), grid.get("x", 0) + grid.get("w", 0)):
            for y in range(grid.get("y", 0), grid.get("y", 0) + grid.get("h", 0)):
                if (x, y) in cells:
                    yield f"panels '{cells[(x, y)]}' and '{panel.get('title')}' overlap"
                    break
                cells[(x, y)] = panel.get("title")
            else:
                continue
            break
        wanted = ("title", "gridPos") if panel.get("type") == "row" else (
            "title", "description", "gridPos", "datasource", "targets")
        for key in wanted:
            if not panel.get(key):
                yield f"panel {panel.get('id')} ('{panel.get('title')}') lacks {key}"


def form_faults_of_target(target, defined):
    expr = target.get("expr", "")
    for name in variables_in(expr):
        if name not in defined | BUILTIN_VARIABLES:
            yield f"undefined variable {name} in: {expr}"
    for window in re.findall(r"\[([^\]]*)\]", expr):
        if window != "$__rate_interval":
            yield f"range [{window}] instead of [$__rate_interval] in: {expr}"


def get_json(url):
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT_SECONDS) as response:
            return json.load(response)
    except urllib.error.HTTPError as error:
        return json.load(error)


def data_faults_of_target(target, prometheus, exported):
    expr = substitute(target["expr"])
    for name in sorted(metrics_in(expr)):
        if name not in exported and re.sub(r"_(bucket|sum|count)$", "", name) not in exported:
            yield f"metric {name} is not exported"
    now = time.time()
    query = urllib.parse.urlencode({"query": expr, "start": now - QUERY_SPAN_SECONDS, "end": now, "step": 1})
    answer = get_json(f"{prometheus}/api/v1/query_range?{query}")
    if answer["status"] != "success":
        yield f"{answer.get('error')} in: {expr}"
        return
    series = answer["data"]["result"]
    if not any(value not in ("NaN", "+Inf", "-Inf") for one in series for _, value in one["values"]):
        yield f"no data for: {expr}"
    wanted = set(re.findall(r"\{\{\s*(\w+)\s*\}\}", target.get("legendFormat", "")))
    missing = set().union(*(wanted - set(one["metric"]) for one in series)) if series else set()
    if missing:
        yield f"legend labels {sorted(missing)} are not in the result of: {expr}"


def exported_metrics(metrics_url):
    with urllib.request.urlopen(metrics_url, timeout=TIMEOUT_SECONDS) as response:
        return set(re.findall(r"^# TYPE (\S+)", response.read().decode(), re.MULTILINE))


def check(dashboard, prometheus=None, metrics_url=None):
    """(expressions that passed, faults)."""
    faults = list(form_faults_of_dashboard(dashboard))
    defined = {variable["name"] for variable in dashboard.get("templating", {}).get("list", [])}
    exported = exported_metrics(metrics_url) if prometheus else set()
    passed = 0
    for panel in walk(dashboard.get("panels", [])):
        for target in panel.get("targets", []):
            found = list(form_faults_of_target(target, defined))
            if prometheus and not found:
                found = list(data_faults_of_target(target, prometheus, exported))
            faults += [f"{panel.get('title')}: {fault}" for fault in found]
            passed += not found
    return passed, faults


def main(arguments):
    if len(arguments) not in (1, 3):
        sys.exit(__doc__)
    with open(arguments[0], encoding="utf-8") as file:
        dashboard = json.load(file)
    passed, faults = check(dashboard, *arguments[1:])
    for fault in faults:
        print("FAIL", fault)
    print(f"{passed} passed, {len(faults)} failed")
    return 1 if faults or passed == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
