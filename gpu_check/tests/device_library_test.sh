#!/usr/bin/env bash
# A library on device pointers gets the verdicts of a host library; a driver of the test plays the GPU.
# usage: device_library_test.sh HALFULP DRIVER_FOLDER LIBRARY
set -uo pipefail
halfulp=$1 driver=$2 library=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
verify() { LD_LIBRARY_PATH=$driver "$halfulp" verify cast:f32:e4m3 --lib "$library" >"$work/log" 2>&1; }
fail() { echo "FAILED: $1"; cat "$work/log"; exit 1; }

verify || fail "the right cast is not accepted"
grep -q '^bit-exact' "$work/log" || fail "no verdict"
HALFULP_TEST_FAULT=ties verify; [ $? -eq 1 ] || fail "ties away are not found"
HALFULP_TEST_FAULT=overrun verify; [ $? -eq 1 ] || fail "a write beside the device column is not found"
grep -q 'bytes beside the device column' "$work/log" || fail "the overrun is not named"
HALFULP_TEST_FAULT=input verify; [ $? -eq 1 ] || fail "a written input is not found"
grep -q 'the input column .* was written' "$work/log" || fail "the written input is not named"
HALFULP_TEST_NO_DEVICE=1 verify; [ $? -eq 2 ] || fail "no device is no usage error"
grep -q 'it asks for device memory, and cuInit gives error 100' "$work/log" || fail "the reason is not given"
echo "ok: a kernel library on device pointers"
