#!/usr/bin/env python3
"""Rules on the tree's text: tests/lint/text_rules.py ROOT. File and line lengths, TODOs, commented-out code, tabs,
trailing blanks, words that have no business here, raw new/delete. A finding names file, line and the rule."""
import os
import re
import subprocess
import sys

LINE_MAX = 120
FILE_LINES_MAX = 800
CODE = (".h", ".cc", ".proto")
TEXT = CODE + (".py", ".sh", ".md", ".txt", ".cmake", ".cfg", ".config", ".yml", ".yaml")
RULES = [
    (CODE, re.compile(r"\b(TODO|FIXME|XXX)\b(?!\(#\d+\))"), "a TODO names its issue: TODO(#12)"),
    ((".cc",), re.compile(r"^\s*//\s*[\w:>.\-]+\(.*\);\s*$"), "commented-out code"),
    (CODE, re.compile(r"\bnew [A-Z]\w*[({]"), "raw new: use make_unique (private constructors: unique_ptr(new T) on one line)"),
    (CODE, re.compile(r"\bassert\s*\("), "assert: use SM89_ASSERT, which stays on in release builds"),
    (TEXT, re.compile(r"[ \t]+$"), "blanks at the end of the line"),
    (CODE, re.compile(r"\t"), "a tab"),
]
ALLOW_NEW = re.compile(r"^\s*static const |unique_ptr<.*\(new |shared_ptr<.*\(new |Reactor|return new |= new ")


def tracked(root):
    listing = subprocess.run(["git", "-C", root, "ls-files"], capture_output=True, text=True, check=False)
    if listing.returncode == 0 and listing.stdout:
        return listing.stdout.split("\n")[:-1]
    found = []
    for folder, folders, files in os.walk(root):
        folders[:] = [f for f in folders if f not in (".git", "build")]
        found += [os.path.relpath(os.path.join(folder, name), root) for name in files]
    return found


def check(root, path):
    if not path.endswith(TEXT) or not os.path.exists(os.path.join(root, path)):
        return []
    problems = []
    with open(os.path.join(root, path), encoding="utf-8", errors="replace") as source:
        lines = source.read().split("\n")
    if path.endswith(CODE) and len(lines) > FILE_LINES_MAX:
        problems.append(f"{path}: {len(lines)} lines, more than {FILE_LINES_MAX}")
    for number, line in enumerate(lines, 1):
        if path.endswith(CODE) and len(line) > LINE_MAX and "http" not in line:
            problems.append(f"{path}:{number}: {len(line)} columns, more than {LINE_MAX}")
        for suffixes, pattern, rule in RULES:
            if path.endswith(suffixes) and pattern.search(line):
                if "raw new" in rule and ALLOW_NEW.search(line):
                    continue
                problems.append(f"{path}:{number}: {rule}")
    return problems


def main(root):
    paths = [p for p in tracked(root) if not p.startswith(("tests/fuzz/corpus/", "tests/data/"))]
    problems = [problem for path in paths for problem in check(root, path)]
    for problem in problems:
        print(problem)
    print(f"{len(paths)} files, {len(problems)} findings")
    return 1 if problems or not paths else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
