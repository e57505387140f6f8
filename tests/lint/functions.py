#!/usr/bin/env python3
"""Function length: tests/lint/functions.py ROOT. No function over 70 lines in sim, server and client, but those of
ALLOWED, which may only shrink. A function is a block opened by a line that ends in '{' at namespace depth."""
import os
import re
import sys

LIMIT = 70
# path:function -> lines it had when it was let in. Take entries out as they shrink.
ALLOWED = {}


def functions(lines):
    """(name, first line, length) of blocks that begin in column 0 (or continue a signature from there)."""
    begin, name = None, ""
    for number, line in enumerate(lines, 1):
        if begin is None:
            signature = re.match(r"^[A-Za-z_~][^=;]*?([\w:~]+)\(", line)
            if signature and not line.startswith(("namespace", "struct", "class", "enum", "using", "TEST")):
                begin, name = number, signature.group(1)
            if begin is not None and line.rstrip().endswith(";"):
                begin = None
        elif line.startswith("}"):
            yield name, begin, number - begin + 1
            begin = None
        elif re.match(r"^[A-Za-z#]", line) and not line.startswith((" ", ")")):
            begin = None


def main(root):
    problems, seen = [], 0
    for top in ("sim", "server", "client"):
        for folder, _, files in os.walk(os.path.join(root, top)):
            for name in sorted(files):
                if not name.endswith((".cc", ".h")):
                    continue
                path = os.path.relpath(os.path.join(folder, name), root)
                with open(os.path.join(folder, name), encoding="utf-8") as source:
                    for function, first, length in functions(source.read().split("\n")):
                        seen += 1
                        if length > max(LIMIT, ALLOWED.get(f"{path}:{function}", 0)):
                            problems.append(f"{path}:{first}: {function} has {length} lines, more than {LIMIT}")
    for problem in problems:
        print(problem)
    print(f"{seen} functions, {len(problems)} too long")
    return 1 if problems or seen == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
