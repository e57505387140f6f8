#!/bin/sh
# The one list of Debian 12 packages. Prints them, one a line:
#   deploy/packages.sh build     to build the programs
#   deploy/packages.sh test      beyond that, to build and run the tests
#   deploy/packages.sh runtime   to run programs that were built elsewhere
#   deploy/packages.sh plot      to run sm89-ser-plot (Python)
#   deploy/packages.sh missing KIND...   those of the kinds that are not installed here
set -eu

list() {
  case "$1" in
    build)
      printf '%s\n' g++ cmake ninja-build ccache pkg-config \
        libgrpc++-dev libprotobuf-dev protobuf-compiler protobuf-compiler-grpc grpc-proto libabsl-dev \
        libspdlog-dev prometheus-cpp-dev libsqlite3-dev libssl-dev libarchive-dev libzstd-dev liblz4-dev \
        liblzma-dev zlib1g-dev nlohmann-json3-dev libcli11-dev libcsv-dev
      ;;
    test)
      printf '%s\n' libgtest-dev libgmock-dev libbenchmark-dev prometheus python3 shellcheck clang-format xz-utils procps git \
        valgrind
      list plot
      ;;
    plot)
      printf '%s\n' python3 python3-numpy python3-matplotlib python3-networkx python3-pil python3-zstandard
      ;;
    runtime)
      printf '%s\n' libgrpc++1.51 libprotobuf32 libabsl20220623 libspdlog1.10 libprometheus-cpp-core1.0 \
        libprometheus-cpp-pull1.0 libsqlite3-0 libssl3 libarchive13 libzstd1 liblz4-1 liblzma5 zlib1g libcsv3
      ;;
    *)
      echo "packages.sh: unknown kind '$1' (build, test, runtime, plot)" >&2
      return 2
      ;;
  esac
}

missing() {
  packages=$(list "$1")
  for package in $packages; do
    status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) || status=absent
    [ "$status" = installed ] || echo "$package"
  done
}

if [ $# -ge 2 ] && [ "$1" = missing ]; then
  shift
  for kind in "$@"; do missing "$kind"; done
elif [ $# -ge 1 ] && [ "$1" != missing ]; then
  for kind in "$@"; do list "$kind"; done
else
  sed -n '2,7s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi
