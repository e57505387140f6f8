#!/usr/bin/env python3
"""Checks who includes whom: tests/lint/layering.py ROOT TABLE. Fails on an include that the table does not allow, on
a cycle in the table, on banned text, on a folder that the table forgets, and on an include that is not a full
path from the root."""
import os
import re
import sys


def read_table(path):
    allowed, banned = {}, []
    with open(path, encoding="utf-8") as table:
        for line in table:
            line = line.strip()
            if not line or line.startswith("#"):
                continue
            layer, value = line.split(":", 1)
            if layer.startswith("!"):
                banned.append((layer[1:], re.compile(value.strip())))
            else:
                allowed[layer] = value.split()
    return allowed, banned


def check_acyclic(allowed):
    def visit(layer, stack):
        if layer in stack:
            return " -> ".join(stack[stack.index(layer):] + [layer])
        for below in allowed.get(layer, []):
            if below not in allowed:
                return f"{layer} names {below}, which has no line"
            cycle = visit(below, stack + [layer])
            if cycle:
                return cycle
        return None

    for layer in allowed:
        cycle = visit(layer, [])
        if cycle:
            return [f"the table itself: {cycle}"]
    return []


def layer_of(path, allowed):
    fitting = [layer for layer in allowed if path.startswith(layer + "/")]
    return max(fitting, key=len) if fitting else None


def under(path, prefix):
    return path.startswith(prefix + "/")


THIRD_PARTY = ("absl/", "nlohmann/", "google/", "CLI/", "grpc", "spdlog/", "prometheus/", "openssl/")
INCLUDE = re.compile(r'\s*#\s*include\s*(["<])([^">]+)[">]')


def check_file(root, path, allowed, banned):
    problems = []
    me = layer_of(path, allowed)
    if me is None:
        return [f"{path}: its folder is not in the table"]
    with open(os.path.join(root, path), encoding="utf-8") as source:
        for number, line in enumerate(source, 1):
            match = INCLUDE.match(line)
            if match:
                quoted, target = match.groups()
                to = "proto" if target.startswith("sm89/v1/") else layer_of(target, allowed)
                if quoted == '"' and to is None and not target.startswith(THIRD_PARTY):
                    problems.append(f"{path}:{number}: include \"{target}\" is not a path from the root")
                elif to and to != me and to not in allowed[me]:
                    problems.append(f"{path}:{number}: {me} may not include {to} ({target})")
            code = re.sub(r"\s*//.*$", "", line)
            for layer, pattern in banned:
                # Programs' main files may print and exit; includes stay checked.
                main_file = path.endswith("_main.cc") and "include" not in pattern.pattern
                if under(path, layer) and not main_file and pattern.search(code):
                    problems.append(f"{path}:{number}: banned in {layer}: {pattern.search(code).group(0)}")
    return problems


def main(root, table):
    allowed, banned = read_table(table)
    problems = check_acyclic(allowed)
    seen = 0
    for top in ("sim", "server", "client"):
        for folder, _, files in os.walk(os.path.join(root, top)):
            for name in sorted(files):
                if name.endswith((".h", ".cc")):
                    seen += 1
                    path = os.path.relpath(os.path.join(folder, name), root)
                    problems += check_file(root, path, allowed, banned)
    for problem in problems:
        print(problem)
    print(f"{seen} files, {len(problems)} violations")
    return 1 if problems or seen == 0 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
