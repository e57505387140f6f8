#!/usr/bin/env python3
"""The layering check must catch what it is there for: a planted bad tree fails, line by line."""
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
BAD = {
    "sim/mem/a.cc": ('#include "sim/sm/sm.h"\n', "sim/mem may not include sim/sm"),
    "sim/gpu/b.cc": ("auto t = std::chrono::steady_clock::now();\n", "banned in sim/gpu: std::chrono"),
    "sim/isa/c.cc": ("#include <grpcpp/grpcpp.h>\n", "banned in sim"),
    "server/jobs/d.cc": ('#include "sm89/v1/job.pb.h"\n', "server/jobs may not include proto"),
    "client/e.cc": ('#include "sim/base/types.h"\n', "client may not include sim/base"),
    "sim/newfolder/f.cc": ("int x;\n", "not in the table"),
    "sim/base/g.cc": ('#include "types.h"\n', "is not a path from the root"),
}


def main():
    with tempfile.TemporaryDirectory() as root:
        for path, (text, _) in BAD.items():
            os.makedirs(os.path.join(root, os.path.dirname(path)), exist_ok=True)
            with open(os.path.join(root, path), "w", encoding="utf-8") as out:
                out.write(text)
        run = subprocess.run([sys.executable, os.path.join(HERE, "layering.py"), root,
                              os.path.join(HERE, "layers.txt")], capture_output=True, text=True, check=False)
    missing = [f"{path}: {want}" for path, (_, want) in BAD.items()
               if not any(line.startswith(path) and want in line for line in run.stdout.splitlines())]
    for line in missing:
        print("not caught:", line)
    if run.returncode == 0:
        print("a bad tree passed")
    return 1 if missing or run.returncode == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
