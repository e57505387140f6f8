#!/usr/bin/env python3
"""Watches a running, busy daemon with a real Prometheus and the committed configuration.

    observability.py METRICS_URL

Checks that the text of /metrics passes promtool, that the target is scraped, that every expression of the
committed dashboard returns data, that the alert rules evaluate, and that they name only exported metrics.
Prints one line a fault and "N passed, M failed". Takes about 20 seconds; every wait is bounded.
"""
import json
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

sys.dont_write_bytecode = True
import check_dashboard  # noqa: E402 (beside this file)

ROOT = pathlib.Path(__file__).resolve().parents[2]
READY_SECONDS = 60
DATA_SECONDS = 12  # rates over RATE_WINDOW need that much history


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def fetch(url):
    with urllib.request.urlopen(url, timeout=10) as response:
        return response.read().decode()


def wait_until(condition, what):
    """Polls; False and a message when the bound is reached."""
    deadline = time.monotonic() + READY_SECONDS
    while time.monotonic() < deadline:
        try:
            if condition():
                return True
        except (urllib.error.URLError, OSError):
            pass
        time.sleep(0.2)
    print(f"FAIL {what} did not happen within {READY_SECONDS} s")
    return False


def write_configuration(folder, target):
    """The committed files with a faster clock and the given target."""
    source = ROOT / "deploy" / "prometheus"
    text = (source / "prometheus.yml").read_text(encoding="utf-8")
    text, changed = re.subn(r"_interval: 10s", "_interval: 1s", text)
    assert changed == 2, "prometheus.yml no longer has the two intervals that this test shortens"
    (folder / "prometheus.yml").write_text(text, encoding="utf-8")
    (folder / "alerts.yml").write_text((source / "alerts.yml").read_text(encoding="utf-8"), encoding="utf-8")
    (folder / "targets.yml").write_text(f'- targets: ["{target}"]\n', encoding="utf-8")


def start_prometheus(folder, port):
    log = open(folder / "prometheus.log", "wb")
    return subprocess.Popen(
        ["prometheus", f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data",
         f"--web.listen-address=127.0.0.1:{port}"], stdout=log, stderr=log, stdin=subprocess.DEVNULL)


def target_is_up(prometheus):
    targets = json.loads(fetch(f"{prometheus}/api/v1/targets"))["data"]["activeTargets"]
    return any(target["health"] == "up" for target in targets)


def promtool_faults(text):
    run = subprocess.run(["promtool", "check", "metrics"], input=text, text=True, capture_output=True, check=False)
    if run.returncode != 0:
        yield f"promtool check metrics: {run.stdout}{run.stderr}"


def rule_faults(prometheus, exported):
    groups = json.loads(fetch(f"{prometheus}/api/v1/rules"))["data"]["groups"]
    rules = [rule for group in groups for rule in group["rules"]]
    if not rules:
        yield "no alert rules are loaded"
    for rule in rules:
        if rule["health"] != "ok":
            yield f"rule {rule['name']} is {rule['health']}: {rule.get('lastError')}"
        for name in sorted(check_dashboard.metrics_in(rule["query"])):
            if name not in exported and re.sub(r"_(bucket|sum|count)$", "", name) not in exported:
                yield f"rule {rule['name']}: metric {name} is not exported"


def label_faults(text):
    """No label may grow with jobs, users, traces or peers."""
    for name in set(re.findall(r'[{,](\w+)="', text)):
        if name in ("job", "job_id", "user", "owner", "trace", "trace_id", "worker", "worker_id", "peer"):
            yield f"label {name} is not bounded"


CANARIES = {
    "is not exported": {"expr": "sm89_no_such_metric", "legendFormat": ""},
    "no data": {"expr": "sm89_queue_length > 1e18", "legendFormat": ""},
    "legend labels ['state']": {"expr": "sum(sm89_jobs)", "legendFormat": "{{state}}"},
    "parse error": {"expr": "sum(sm89_jobs", "legendFormat": ""},
}


def canary_faults(prometheus, exported):
    """The checker itself: each of these must be caught."""
    for fault, target in CANARIES.items():
        found = list(check_dashboard.data_faults_of_target(target, prometheus, exported))
        if not any(fault in one for one in found):
            yield f"the dashboard checker did not notice '{fault}' in {target['expr']}: {found}"


def watch(metrics_url, prometheus):
    text = fetch(metrics_url)
    exported = check_dashboard.exported_metrics(metrics_url)
    with open(ROOT / "deploy/grafana/dashboards/sm89.json", encoding="utf-8") as file:
        dashboard = json.load(file)
    passed, faults = check_dashboard.check(dashboard, prometheus, metrics_url)
    for found in (promtool_faults(text), rule_faults(prometheus, exported), label_faults(text),
                  canary_faults(prometheus, exported)):
        found = list(found)
        faults += found
        passed += not found
    return passed, faults


def main(metrics_url):
    with tempfile.TemporaryDirectory(prefix="sm89-observability.") as name:
        folder = pathlib.Path(name)
        write_configuration(folder, urllib.parse.urlsplit(metrics_url).netloc)
        port = free_port()
        prometheus = f"http://127.0.0.1:{port}"
        process = start_prometheus(folder, port)
        try:
            if not wait_until(lambda: target_is_up(prometheus), "the first scrape"):
                print((folder / "prometheus.log").read_text(encoding="utf-8")[-2000:])
                return 1
            # Until the oldest sample is old enough for the rates.
            query = urllib.parse.urlencode({"query": f"up offset {DATA_SECONDS}s"})
            if not wait_until(lambda: json.loads(fetch(f"{prometheus}/api/v1/query?{query}"))["data"]["result"],
                              "enough history"):
                return 1
            # A gauge of running jobs has data only while one runs: what has none yet may have some soon.
            deadline = time.monotonic() + READY_SECONDS
            passed, faults = watch(metrics_url, prometheus)
            while faults and all("no data" in fault for fault in faults) and time.monotonic() < deadline:
                time.sleep(2)
                passed, faults = watch(metrics_url, prometheus)
        finally:
            process.terminate()
            process.wait(timeout=30)
    for fault in faults:
        print("FAIL", fault)
    print(f"{passed} passed, {len(faults)} failed")
    return 1 if faults else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
