#!/usr/bin/env python3
"""Adds up test results: tests/tally.py BUILD_DIR... prints 'N passed, N failed, N skipped', exit code 1 on a failure.

Each BUILD_DIR holds results.xml (ctest's JUnit file) and results/*.xml (one GoogleTest file a program). A program
counts by its GoogleTest cases; one that wrote none, crashed or timed out counts as one test. Skipped tests are
listed with their reasons.
"""
import os
import sys
import xml.etree.ElementTree as ET


def cases_of(path):
    """(passed, failed, [skip reasons]) of a GoogleTest file."""
    passed = failed = 0
    skips = []
    for case in ET.parse(path).getroot().iter("testcase"):
        if case.find("failure") is not None:
            failed += 1
        elif case.find("skipped") is not None or case.get("result") == "skipped":
            node = case.find("skipped")
            reason = node.get("message", "") if node is not None else ""
            skips.append(f"{case.get('classname')}.{case.get('name')}: {reason.strip()}")
        elif case.get("status") == "run":
            passed += 1
    return passed, failed, skips


def tally(build):
    passed = failed = 0
    skips, failures = [], []
    root = ET.parse(os.path.join(build, "results.xml")).getroot()
    for test in root.iter("testcase"):
        name = test.get("name")
        program_failed = test.find("failure") is not None
        xml = os.path.join(build, "results", name + ".xml")
        if test.find("skipped") is not None or test.get("status") in ("disabled", "notrun"):
            skips.append(f"{name}: {(test.findtext('system-out') or '').strip()[-300:]}")
            continue
        if os.path.exists(xml):
            p, f, s = cases_of(xml)
            passed, failed, skips = passed + p, failed + f, skips + s
            if f:
                failures.append(f"{name}: {f} failed")
            if not program_failed or f:
                continue
        if program_failed:
            failed += 1
            failures.append(f"{name}: the program failed")
        else:
            passed += 1
    return passed, failed, skips, failures


def main():
    totals = [tally(build) for build in sys.argv[1:]]
    passed = sum(t[0] for t in totals)
    failed = sum(t[1] for t in totals)
    skips = [s for t in totals for s in t[2]]
    for build, t in zip(sys.argv[1:], totals):
        for failure in t[3]:
            print(f"FAILED {build}: {failure}")
    for skip in skips:
        print(f"skipped {skip}")
    print(f"{passed} passed, {failed} failed" + (f", {len(skips)} skipped" if skips else ""))
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
