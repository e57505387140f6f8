#!/bin/sh
# Every C++ file is as clang-format 14 leaves it: tests/lint/format.sh ROOT
set -eu
cd "$1"
find sim server client tests -name '*.h' -o -name '*.cc' | sort | xargs clang-format --dry-run --Werror
