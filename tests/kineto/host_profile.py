#!/usr/bin/env python3
"""Profiles a PyTorch program that launches the kernels of tests/data/kernels beside operations of its own.

    tests/kineto/host_profile.py OUT.json[.gz] [--steps N]

With a GPU (and nvcc on the PATH) each step copies the inputs of tests/data/kernels/suite.json to the device, launches
its seven kernels through cudaLaunchKernel, and runs a small PyTorch model: what torch.profiler writes then has launches
that a simulation of the suite knows and launches that it does not know. Without a GPU only the model runs, on the CPU:
the profile then has no launch at all. host_profile.json.gz is this program's output on an NVIDIA H200.
"""
import argparse
import ctypes
import glob
import json
import os
import subprocess
import tempfile

import torch

KERNELS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "kernels")
TYPES = {"f32": torch.float32, "f16": torch.float16, "u32": torch.int32}


class Dim3(ctypes.Structure):
    _fields_ = [("x", ctypes.c_uint), ("y", ctypes.c_uint), ("z", ctypes.c_uint)]

    def __init__(self, sizes):
        super().__init__(*(list(sizes) + [1, 1])[:3])


class Suite:
    """The launches of suite.json, through the CUDA runtime that PyTorch has loaded."""

    def __init__(self, folder):
        library = os.path.join(folder, "suite.so")
        arch = "sm_%d%d" % torch.cuda.get_device_capability()
        subprocess.run(["nvcc", "-O3", "-shared", "-Xcompiler", "-fPIC", "-cudart", "shared",
                        "-device-entity-has-hidden-visibility=false", "-arch=" + arch, "-o", library] + sorted(glob.glob(os.path.join(KERNELS, "*.cu"))), check=True)
        self.kernels = ctypes.CDLL(library)
        self.runtime = ctypes.CDLL("libcudart.so.%s" % torch.version.cuda.split(".")[0])
        with open(os.path.join(KERNELS, "suite.json")) as file:
            self.cases = json.load(file)["cases"]

    def inputs(self, case):
        for arg in case["args"]:
            if "buffer" not in arg:
                yield ctypes.c_int(arg["i32"])
            elif arg["init"] == "zero":
                yield torch.zeros(arg["count"], dtype=TYPES[arg["dtype"]], device="cuda")
            elif arg["init"] == "uniform":
                yield torch.rand(arg["count"]).to(TYPES[arg["dtype"]]).to("cuda")
            else:
                yield torch.randint(arg.get("mod", 2**31 - 1), (arg["count"],), dtype=torch.int32).to("cuda")

    def run(self):
        for case in self.cases:
            with torch.profiler.record_function("suite::" + case["id"]):
                values = list(self.inputs(case))
                cells = [ctypes.c_void_p(v.data_ptr()) if isinstance(v, torch.Tensor) else v for v in values]
                pointers = (ctypes.c_void_p * len(cells))(*[ctypes.addressof(c) for c in cells])
                kernel = ctypes.cast(getattr(self.kernels, case["kernel"]), ctypes.c_void_p)
                stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
                error = self.runtime.cudaLaunchKernel(kernel, Dim3(case["grid"]), Dim3(case["block"]), pointers,
                                                      ctypes.c_size_t(0), stream)
                if error != 0:
                    raise RuntimeError("cudaLaunchKernel of %s: error %d" % (case["id"], error))
                torch.cuda.synchronize()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("output")
    parser.add_argument("--steps", type=int, default=2)
    options = parser.parse_args()
    gpu = torch.cuda.is_available()
    device = "cuda" if gpu else "cpu"
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8)).to(device)
    activities = [torch.profiler.ProfilerActivity.CPU] + ([torch.profiler.ProfilerActivity.CUDA] if gpu else [])
    with tempfile.TemporaryDirectory() as folder:
        suite = Suite(folder) if gpu else None

        def step():
            if suite:
                suite.run()
            with torch.profiler.record_function("model"):
                model(torch.rand(32, 64, device=device)).sum().backward()

        step()  # libraries are loaded outside the profile
        with torch.profiler.profile(activities=activities) as profile:
            for number in range(options.steps):
                with torch.profiler.record_function("ProfilerStep#%d" % number):
                    step()
            if gpu:
                torch.cuda.synchronize()
    profile.export_chrome_trace(options.output)
    print("torch %s on %s: %s" % (torch.__version__, torch.cuda.get_device_name() if gpu else "the CPU", options.output))


if __name__ == "__main__":
    main()
