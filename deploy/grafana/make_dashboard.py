#!/usr/bin/env python3
"""Writes the Grafana dashboard from the description below.

    deploy/grafana/make_dashboard.py            writes dashboards/sm89.json beside this file
    deploy/grafana/make_dashboard.py --print    writes it to standard output

The JSON is committed; a test fails when it differs from what this script gives.
"""
import json
import pathlib
import sys

DATASOURCE = {"type": "prometheus", "uid": "${datasource}"}
SELECT = 'instance=~"$instance"'
WIDTH = 24  # of Grafana's grid


def metric(name, matchers=""):
    """A selector limited to the chosen instances."""
    return f"{name}{{{SELECT}{',' + matchers if matchers else ''}}}"


def rate(name, matchers=""):
    return f"rate({metric(name, matchers)}[$__rate_interval])"


def total_rate(name, by="", matchers=""):
    """Sum over instances, split by the labels in `by`."""
    return f"sum{f' by ({by})' if by else ''} ({rate(name, matchers)})"


def total(name, by="", matchers=""):
    return f"sum{f' by ({by})' if by else ''} ({metric(name, matchers)})"


def quantile(q, histogram, by=""):
    labels = f"le, {by}" if by else "le"
    return f"histogram_quantile({q}, {total_rate(histogram + '_bucket', labels)})"


def of_daemon(name, rated=False):
    """A process metric of the daemons only: other programs may export the same name."""
    return f"({rate(name) if rated else metric(name)} and on (instance) sm89_build_info)"


def share(part, whole, by=""):
    """part / whole of two counters' rates; nothing while nothing is counted."""
    return f"{total_rate(part, by)} / {total_rate(whole, by)}"


def panel(title, help_text, unit, *targets, kind="timeseries", width=8, stacked=False, maximum=None):
    """`targets`: (expression, legend)."""
    custom = {"fillOpacity": 20 if stacked else 8, "lineWidth": 1, "showPoints": "never",
              "stacking": {"mode": "normal" if stacked else "none", "group": "A"}}
    defaults = {"unit": unit, "min": 0}
    if maximum is not None:
        defaults["max"] = maximum
    options = {"reduceOptions": {"calcs": ["lastNotNull"]}, "colorMode": "value"}
    if kind == "timeseries":
        defaults["custom"] = custom
        options = {"legend": {"displayMode": "list", "placement": "bottom"},
                   "tooltip": {"mode": "multi", "sort": "desc"}}
    return {
        "type": kind, "title": title, "description": help_text, "datasource": DATASOURCE,
        "gridPos": {"h": 8 if kind == "timeseries" else 4, "w": width},
        "fieldConfig": {"defaults": defaults, "overrides": []}, "options": options,
        "targets": [{"refId": chr(ord("A") + i), "datasource": DATASOURCE, "expr": expr, "legendFormat": legend}
                    for i, (expr, legend) in enumerate(targets)],
    }


def row(title):
    return {"type": "row", "title": title, "collapsed": False, "gridPos": {"h": 1, "w": WIDTH}, "panels": []}


def overview():
    return [
        panel("Daemons", "Daemons that answer the scraper.", "short",
              (f"count({metric('sm89_build_info')})", "daemons"), kind="stat", width=4),
        panel("Running jobs", "Jobs that a worker simulates now.", "short",
              (total("sm89_jobs", matchers='state="running"'), "running"), kind="stat", width=4),
        panel("Queued jobs", "Jobs that wait for a worker.", "short",
              (total("sm89_queue_length"), "queued"), kind="stat", width=4),
        panel("Busy workers", "Share of the pool's workers that have a job.", "percentunit",
              (total("sm89_workers", matchers='state="busy"') + " / " +
               total("sm89_workers", matchers='state=~"idle|busy|lost_contact|draining"'), "busy"),
              kind="stat", width=4, maximum=1),
        panel("Simulation speed", "Simulated warp instructions a second of host time, all running jobs.", "short",
              (total("sm89_simulation_warp_instructions_per_second"), "warp instructions/s"), kind="stat", width=4),
        panel("Free for the store", "Bytes left on the file system of the store that has least.", "bytes",
              (f"min({metric('sm89_store_free_bytes')})", "free"), kind="stat", width=4),
    ]


def service():
    return [
        panel("Queue length", "Jobs that wait for a worker.", "short",
              (total("sm89_queue_length", "instance"), "{{instance}}")),
        panel("Oldest queued job", "How long the job that waits longest has waited.", "s",
              (f"max by (instance) ({metric('sm89_queue_oldest_age_seconds')})", "{{instance}}")),
        panel("Queue wait", "Time in the queue of jobs that were given to a worker.", "s",
              (quantile(0.5, "sm89_job_queue_wait_seconds"), "p50"),
              (quantile(0.95, "sm89_job_queue_wait_seconds"), "p95")),
        panel("Workers by state", "Worker processes. Backoff: died, and waits to be started again.", "short",
              (total("sm89_workers", "state"), "{{state}}"), stacked=True),
        panel("Worker restarts and lost contacts",
              "Processes that had to be replaced, workers that went silent, leases that ran out.", "cps",
              (total_rate("sm89_worker_restarts_total"), "restarts"),
              (total_rate("sm89_job_lost_contacts_total"), "lost contacts"),
              (total_rate("sm89_lease_expiries_total"), "lease expiries")),
        panel("RPC rate", "Calls that ended, by method.", "reqps",
              (total_rate("sm89_rpc_requests_total", "method"), "{{method}}")),
        panel("RPC errors", "Calls that ended with another status than OK.", "reqps",
              (total_rate("sm89_rpc_requests_total", "method, code", 'code!="OK"'), "{{method}} {{code}}")),
        panel("RPC latency p99", "Unary calls; streams and long polls are not in it.", "s",
              (quantile(0.99, "sm89_rpc_duration_seconds", "method"), "{{method}}")),
        panel("RPC latency, all methods", "Unary calls together.", "s",
              (quantile(0.5, "sm89_rpc_duration_seconds"), "p50"),
              (quantile(0.95, "sm89_rpc_duration_seconds"), "p95"),
              (quantile(0.99, "sm89_rpc_duration_seconds"), "p99")),
        panel("Open calls and watchers", "Calls in flight, and job watchers among them.", "short",
              (total("sm89_rpcs_in_flight"), "calls"), (total("sm89_watchers"), "watchers")),
        panel("Uploads", "Trace uploads begun, finished and failed.", "cps",
              (total_rate("sm89_uploads_started_total"), "started"),
              (total_rate("sm89_uploads_finished_total", "result"), "finished: {{result}}"),
              (total_rate("sm89_uploads_failed_total", "reason"), "failed: {{reason}}")),
        panel("Upload bytes", "Trace bytes received.", "Bps",
              (total_rate("sm89_upload_bytes_total", "instance"), "{{instance}}")),
        panel("Trace errors", "Traces refused while reading them, by what was wrong.", "cps",
              (total_rate("sm89_trace_parse_errors_total", "kind"), "{{kind}}")),
        panel("Database commits", "Time of one commit, with its wait for the disk.", "s",
              (quantile(0.5, "sm89_store_commit_duration_seconds"), "p50"),
              (quantile(0.99, "sm89_store_commit_duration_seconds"), "p99")),
        panel("Store size", "Bytes that the content-addressed store holds, and bytes left.", "bytes",
              (metric("sm89_store_bytes"), "{{instance}} held"),
              (metric("sm89_store_free_bytes"), "{{instance}} free")),
        panel("Daemon memory", "Memory in RAM of the daemon itself, without its workers.", "bytes",
              (of_daemon("process_resident_memory_bytes"), "{{instance}}")),
        panel("Daemon CPU", "Cores that the daemon itself uses, without its workers.", "short",
              (of_daemon("process_cpu_seconds_total", rated=True), "{{instance}}")),
        panel("Daemon file descriptors", "Open descriptors as a share of the limit.", "percentunit",
              (f"{of_daemon('process_open_fds')} / process_max_fds", "{{instance}}")),
    ]


def simulation():
    return [
        panel("Jobs by state", "Jobs that have not ended.", "short",
              (total("sm89_jobs", "state", 'state=~"queued|starting|running|lost_contact|cancelling"'), "{{state}}"),
              stacked=True),
        panel("Jobs finished", "Jobs that reached a final state, and those answered from an earlier result.", "cps",
              (total_rate("sm89_jobs_finished_total", "outcome"), "{{outcome}}"),
              (total_rate("sm89_job_result_cache_hits_total"), "from the result cache")),
        panel("Job duration", "From the first start to the end, of jobs that ended.", "s",
              (quantile(0.5, "sm89_job_duration_seconds", "outcome"), "{{outcome}} p50"),
              (quantile(0.95, "sm89_job_duration_seconds", "outcome"), "{{outcome}} p95")),
        panel("Simulation speed", "Simulated warp instructions a second of host time: as reported, and as counted.",
              "short", (total("sm89_simulation_warp_instructions_per_second"), "reported"),
              (total_rate("sm89_simulated_warp_instructions_total"), "counted")),
        panel("Simulated cycles", "GPU cycles simulated a second of host time.", "short",
              (total_rate("sm89_simulated_cycles_total", "instance"), "{{instance}}")),
        panel("Simulated IPC", "Warp instructions a GPU cycle: of the running jobs so far, and in the interval.",
              "short", (f"avg({metric('sm89_simulation_ipc')} > 0)", "running jobs so far"),
              (share("sm89_simulated_warp_instructions_total", "sm89_simulated_cycles_total"), "interval")),
        panel("L1 hit rate", "Share of the sectors of global loads that were in L1.", "percentunit",
              (share("sm89_sim_l1_global_load_hits_total", "sm89_sim_l1_global_load_sectors_total"), "global loads"),
              maximum=1),
        panel("L2 hit rate", "Share of the sectors that SMs read and that were in L2.", "percentunit",
              (share("sm89_sim_l2_read_hits_total", "sm89_sim_l2_read_sectors_total"), "reads"), maximum=1),
        panel("DRAM traffic", "Simulated sectors of 32 bytes a second of host time.", "Bps",
              (f"32 * {total_rate('sm89_sim_dram_read_sectors_total')}", "read"),
              (f"32 * {total_rate('sm89_sim_dram_write_sectors_total')}", "written")),
        panel("Tensor cores busy", "Cycles that simulated tensor cores were occupied, as a share of those that their "
              "SMs had warps.", "percentunit",
              (share("sm89_sim_sm_tensor_busy_cycles_total", "sm89_sim_sm_issue_slots_total"), "busy"), maximum=1),
        panel("Tensor instructions", "Simulated tensor instructions (of warps) a second of host time.", "cps",
              (total_rate("sm89_sim_sm_inst_tensor_total"), "instructions")),
        panel("Tensor operations", "Simulated tensor multiplications and additions, dense-equivalent, a second of host "
              "time.", "short", (total_rate("sm89_sim_sm_tensor_ops_total"), "operations")),
        panel("Stall shares", "What the simulated warps waited for, as shares of all resident warp-cycles.",
              "percentunit",
              (f"{total_rate('sm89_sim_stall_warp_cycles_total', 'reason')} / ignoring (reason) group_left () "
               f"{total_rate('sm89_sim_stall_warp_cycles_total')}", "{{reason}}"),
              width=16, stacked=True, maximum=1),
        panel("Shared-memory bank conflicts", "Simulated extra passes a second of host time.", "cps",
              (total_rate("sm89_sim_l1_shared_bank_conflicts_total"), "passes")),
    ]


def place(panels):
    """Gives every panel its id and its place, left to right, top to bottom."""
    x = y = height = 0
    for number, item in enumerate(panels, start=1):
        grid = item["gridPos"]
        if x + grid["w"] > WIDTH:
            x, y, height = 0, y + height, 0
        item["id"] = number
        grid["x"], grid["y"] = x, y
        x += grid["w"]
        height = max(height, grid["h"])
    return panels


def variable(name, **rest):
    return {"name": name, **rest}


def dashboard():
    return {
        "uid": "sm89-overview", "title": "sm89", "tags": ["sm89"], "timezone": "utc", "schemaVersion": 39,
        "version": 1, "refresh": "10s", "editable": False, "time": {"from": "now-1h", "to": "now"},
        "templating": {"list": [
            variable("datasource", type="datasource", query="prometheus", label="Data source"),
            variable("instance", type="query", label="Instance", datasource=DATASOURCE, multi=True,
                     includeAll=True, allValue=".+", refresh=2, query="label_values(sm89_build_info, instance)"),
        ]},
        "panels": place(overview() + [row("Service")] + service() + [row("Simulation")] + simulation()),
    }


def main():
    text = json.dumps(dashboard(), indent=1) + "\n"
    if sys.argv[1:] == ["--print"]:
        sys.stdout.write(text)
    elif not sys.argv[1:]:
        (pathlib.Path(__file__).parent / "dashboards" / "sm89.json").write_text(text, encoding="utf-8")
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
