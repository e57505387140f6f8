#!/bin/sh
# Rebuilds the cubins from the sources: tests/data/kernels/build.sh [ARCH ...], default 89. Needs nvcc 13.0 on PATH or
# in NVCC; another version makes other code, and with it other traces and golden results. Line tables hold the folder
# that was compiled in and the time of each source: both are always the same, so that the same nvcc makes the same bytes.
set -eu
cd "$(dirname "$0")"
kernels=$(pwd)
nvcc=${NVCC:-nvcc}
folder=/tmp/sm89-kernels
mkdir "$folder"
trap 'rm -rf "$folder"' EXIT
cp ./*.cu "$folder"
touch -d 2026-01-01T00:00:00Z "$folder"/*.cu
cd "$folder"
for arch in "${@:-89}"; do
  for source in *.cu; do
    "$nvcc" -O3 -lineinfo -cubin -arch="sm_$arch" -o "$kernels/${source%.cu}.sm_$arch.cubin" "$source"
  done
done
