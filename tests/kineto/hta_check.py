#!/usr/bin/env python3
"""Reads a merged trace with HolisticTraceAnalysis and prints what it understood, as JSON.

    tests/kineto/hta_check.py MERGED.json[.gz]
"""
import json
import os
import sys

from hta.trace_analysis import TraceAnalysis


def main():
    path = os.path.abspath(sys.argv[1])
    analysis = TraceAnalysis(trace_files={0: path}, trace_dir=os.path.dirname(path), include_last_profiler_step=True)
    trace = analysis.t.get_trace(0)
    symbols = analysis.t.symbol_table.get_sym_table()
    names = trace["name"].map(lambda i: symbols[i])
    categories = trace["cat"].map(lambda i: symbols[i])
    kernels = trace[categories == "kernel"]
    launched = kernels[kernels["index_correlation"] > 0]
    launchers = {names[int(i)] for i in launched["index_correlation"]}
    breakdown = analysis.get_temporal_breakdown(visualize=False)
    launches = analysis.get_cuda_kernel_launch_stats(visualize=False)[0]
    by_kernel = analysis.get_gpu_kernel_breakdown(visualize=False)[1]
    print(json.dumps({
        "kernels": len(kernels),
        "devices": sorted(int(p) for p in kernels["pid"].unique()),
        "kernels_with_launch": len(launched),
        "launchers": sorted(launchers),
        "steps": [int(s) for s in analysis.get_profiler_steps()],
        "compute_us": float(breakdown["compute_time(us)"].iloc[0]),
        "launch_rows": len(launches),
        "kernel_names": sorted(set(by_kernel["name"])),
    }))


if __name__ == "__main__":
    main()
