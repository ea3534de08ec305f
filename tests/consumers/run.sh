#!/usr/bin/env bash
# Small projects that use halfulp as its users do: installed and found, as a subfolder, and in CUDA device code.
# usage: run.sh BUILD_FOLDER CXX
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../.." && pwd)
build=$(cd "$1" && pwd)
export CXX=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

expect() { [ "$("$1")" = "$2" ] || { echo "FAILED: $1 did not print $2"; exit 1; }; }

cmake --install "$build" --prefix "$work/prefix" >"$work/log"
cmake -S "$here/find_package" -B "$work/found" -DCMAKE_PREFIX_PATH="$work/prefix" >"$work/log" || { cat "$work/log"; exit 1; }
cmake --build "$work/found" >"$work/log" || { cat "$work/log"; exit 1; }
expect "$work/found/formats_only" 0x1d
expect "$work/found/with_reference" 0x1d
echo "ok: find_package(halfulp)"

cmake -S "$here/subdirectory" -B "$work/sub" -DHALFULP_SOURCE="$source" >"$work/log" || { cat "$work/log"; exit 1; }
cmake --build "$work/sub" >"$work/log" || { cat "$work/log"; exit 1; }
expect "$work/sub/formats_only" 0x1d
echo "ok: add_subdirectory"

sed 's/spec_of("e4m3")/spec_of("e4m4")/' "$here/main.cpp" >"$work/wrong.cpp"
if "$CXX" -std=c++20 -I "$source/formats" -fsyntax-only "$work/wrong.cpp" 2>/dev/null; then
  echo "FAILED: a wrong format name compiles"
  exit 1
fi
echo "ok: a wrong format name does not compile"

"$work/prefix/bin/halfulp" cast --to e4m3 0.1 | grep -qx 0x1d
echo "ok: the installed command"

if command -v cc >/dev/null; then
  cc -std=c99 -Wall -Wextra -Werror -shared -fPIC -I "$work/prefix/include" "$source/docs/examples/c_library.c" -o "$work/kernel.so"
  "$work/prefix/bin/halfulp" verify cast:f32:e4m3 --lib "$work/kernel.so" | grep -q '^bit-exact'
  echo "ok: a kernel library in C with the installed halfulp/kernel.h"
else
  echo "not checked: a kernel library in C (cc is not installed)"
fi

nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null || true)
if [ -n "$nvcc" ]; then
  "$nvcc" -std=c++20 -arch=sm_90 -Werror all-warnings -I "$source/formats" -c "$source/gpu_check/casts.cu" -o "$work/device.o"
  echo "ok: device code (sm_90)"
else
  echo "CUDA: not checked (no nvcc)"
fi
