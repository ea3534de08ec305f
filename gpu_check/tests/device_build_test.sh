#!/usr/bin/env bash
# The device build with nothing but nvcc, a C++ compiler and CMake, and what it says without a device: exit 77 and a line.
# usage: device_build_test.sh SOURCE PREPARE
set -uo pipefail
source=$1 prepare=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$prepare" "$work/data" "$source/tests/data/mma_hardware" 1 || { echo "FAILED: prepare"; exit 1; }
# Packages hidden: whatever the full build finds must not be needed here.
cmake -S "$source" -B "$work/build" -DHALFULP_DEVICE_ONLY=ON -DCMAKE_BUILD_TYPE=Release -DCMAKE_DISABLE_FIND_PACKAGE_GTest=ON \
  -DCMAKE_DISABLE_FIND_PACKAGE_Boost=ON -DCMAKE_DISABLE_FIND_PACKAGE_hwy=ON -DCMAKE_DISABLE_FIND_PACKAGE_nlohmann_json=ON >"$work/log" 2>&1 &&
  cmake --build "$work/build" --parallel "$(nproc)" >>"$work/log" 2>&1 || { tail -40 "$work/log"; echo "FAILED: the device build"; exit 1; }
"$source/gpu_check/tests/command_line_test.sh" "$prepare" "$work/build/gpu_check_device" "$source/gpu_check/run_device.sh" || exit 1
if "$work/build/gpu_check_probe" | grep -q '^gpu_check: device'; then
  echo "ok: the device build; a device is there"
  exit 0
fi
"$source/gpu_check/run_device.sh" --data "$work/data" --out "$work/out" --build "$work/build" >"$work/log" 2>&1
[ $? -eq 77 ] || { cat "$work/log"; echo "FAILED: no device is not exit 77"; exit 1; }
grep -q '^gpu_check: no device: ' "$work/log" || { cat "$work/log"; echo "FAILED: no reason is given"; exit 1; }
"$work/build/gpu_check_device" --step casts --data "$work/data" >"$work/log" 2>&1
[ $? -eq 77 ] || { cat "$work/log"; echo "FAILED: the program does not say 77"; exit 1; }
sed -n 1p "$work/log"
echo "ok: the device build, and exit 77 without a device"
