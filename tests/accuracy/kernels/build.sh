#!/bin/sh
# Rebuilds the cubins from the sources. Needs nvcc 13.0 on PATH or in NVCC. Line tables hold the folder that was compiled
# in and the time of each source: both are always the same, so that the same nvcc makes the same bytes.
set -eu
cd "$(dirname "$0")"
kernels=$(pwd)
nvcc=${NVCC:-nvcc}
folder=/tmp/sm89-accuracy
mkdir "$folder"
trap 'rm -rf "$folder"' EXIT
cp ./*.cu ./*.h "$folder"
touch -d 2026-01-01T00:00:00Z "$folder"/*
cd "$folder"
for source in *.cu; do
  "$nvcc" -O3 -lineinfo -cubin -arch=sm_89 -o "$kernels/${source%.cu}.sm_89.cubin" "$source"
done
