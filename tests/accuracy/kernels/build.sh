#!/bin/sh
# Rebuilds the cubins from the sources. The figures that the kernels replay were measured with code of CUDA 11 and 12,
# and ptxas 13 makes other: it folds the shift of an index into a shared load, for one. So nvcc 13.0 (on PATH or in NVCC)
# makes PTX, and ptxas 12.1 (in PTXAS; PyPI nvidia-cuda-nvcc-cu12 12.1.105) machine code of it; ptxas 13.0 for the tensor
# kernels, of which some need a later PTX. Line tables hold the folder that was compiled in and the time of each source:
# both are always the same, so that the same tools make the same bytes.
set -eu
cd "$(dirname "$0")"
kernels=$(pwd)
nvcc=${NVCC:-nvcc}
ptxas=${PTXAS:?ptxas 12.1.105}
folder=/tmp/sm89-accuracy
mkdir "$folder"
trap 'rm -rf "$folder"' EXIT
cp ./*.cu ./*.h "$folder"
touch -d 2026-01-01T00:00:00Z "$folder"/*
cd "$folder"
"$nvcc" -O3 -lineinfo -cubin -arch=sm_89 -o "$kernels/tensor.sm_89.cubin" tensor.cu
for name in arithmetic bandwidth dpx latency; do
  "$nvcc" -O3 -lineinfo -ptx -arch=sm_89 -o "$name.ptx" "$name.cu"
  sed -i 's/^\.version .*/.version 8.1/' "$name.ptx"
  "$ptxas" -O3 -lineinfo -arch=sm_89 -o "$kernels/$name.sm_89.cubin" "$name.ptx"
done
