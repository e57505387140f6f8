#!/bin/sh
# Makes the files of this folder from its sources. Needs nvcc (they were made with 13.0); tests need only the files.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
# Line tables name the folder that the compiler ran in: always the same one.
work=/tmp/cubin
mkdir "$work"
trap 'rm -rf "$work"' EXIT
cp "$here"/*.cu "$here"/*.ptx "$work"
cd "$work"
ada="-gencode arch=compute_89,code=sm_89"
two="-gencode arch=compute_80,code=sm_80 -gencode arch=compute_89,code=[sm_89,compute_89]"

# shellcheck disable=SC2086
{
  nvcc -fatbin $two --compress-mode=none axpy.cu -o axpy_none.fatbin
  nvcc -fatbin $two --compress-mode=speed -Xfatbin -compress-all axpy.cu -o axpy_lz4.fatbin
  nvcc -fatbin $two --compress-mode=default -Xfatbin -compress-all axpy.cu -o axpy_zstd.fatbin
  nvcc -fatbin -gencode arch=compute_75,code=compute_75 axpy.cu -o axpy_ptx75.fatbin
  nvcc -c $ada --compress-mode=size axpy.cu -o axpy.o
  nvcc -cubin -arch=sm_89 -O3 -lineinfo kernels.cu -o kernels.cubin
  nvcc -cubin -arch=sm_89 -rdc=true kernels.cu -o kernels_rdc.cubin
  nvcc -cubin -arch=sm_90 -maxrregcount=40 kernels.cu -o kernels_sm90.cubin
  ptxas -arch=sm_89 bounds.ptx -o bounds.cubin
  nvcc -dc $ada -Xcompiler -fPIC objects_a.cu -o a.o
  nvcc -dc $ada -Xcompiler -fPIC objects_b.cu -o b.o
  nvcc -dlink $ada -Xcompiler -fPIC a.o b.o -o linked.o
  g++ -shared -nostdlib a.o b.o linked.o -o libobjects.so
}
strip libobjects.so
cp ./*.fatbin axpy.o ./*.cubin libobjects.so "$here"
