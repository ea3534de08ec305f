#!/usr/bin/env bash
# Adding a format is one line in formats.hpp and one row in the table test: done on a copy of the tree, which is then
# built and asked for the new format.
# usage: add_format.sh SOURCE CXX
set -euo pipefail
source=$(cd "$1" && pwd)
export CXX=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/tree"
tar -C "$source" --exclude=./build --exclude=./.git --exclude=./.venv -cf - . | tar -C "$work/tree" -xf -
cd "$work/tree"

# E5M1: 1 sign, 5 exponent, 1 fraction bit, IEEE-like. Largest 1.5 * 2^15 = 49152, smallest 2^-15.
line='    {"e5m1_ieee",     signed_float(5, 1, 15, NonFinite::ieee), "float7_e5m1", "a test"},'
sed -i "/{\"e4m3\",  /i\\$line" formats/halfulp/formats.hpp
[ "$(diff "$source/formats/halfulp/formats.hpp" formats/halfulp/formats.hpp | grep -c '^>')" = 1 ]
row='    {"e5m1_ieee", 0x3d, "49152", "2^-14", "2^-15", {{0x3f, 0x3f}, {0x7f, 0x7f}}, 0x3e, 0x7e, 0x40},'
sed -i "/^    {\"e4m3\",  .*0x7e/i\\$row" tests/format_table_test.cpp
[ "$(diff "$source/tests/format_table_test.cpp" tests/format_table_test.cpp | grep -c '^>')" = 1 ]

cmake -S . -B build -DCMAKE_BUILD_TYPE=Release -DHALFULP_BUILD_TESTS=ON -DHALFULP_WITH_APFLOAT=OFF \
  -DHALFULP_WITH_CUDA_HEADERS=OFF -DCMAKE_CXX_FLAGS_RELEASE=-O1 >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
cmake --build build --parallel 2 --target halfulp format_table_test >"$work/log" 2>&1 || { tail -40 "$work/log"; exit 1; }
build/tests/format_table_test --gtest_brief=1

halfulp=build/tools/halfulp/halfulp
# ask EXPECTED ARGUMENTS...: the answer contains a line that matches.
ask() {
  local expected=$1
  shift
  "$halfulp" "$@" >"$work/answer" || { echo "FAILED: halfulp $*"; exit 1; }
  grep -qE -- "$expected" "$work/answer" || { echo "FAILED: halfulp $* does not print $expected:"; cat "$work/answer"; exit 1; }
  echo "ok: halfulp $*"
}
ask '^ *e5m1_ieee +7 +5 +1 +15 +49152 ' formats
ask '49152' formats e5m1_ieee
ask '^0x3d 49152$' cast --to e5m1_ieee --values 60000
ask '^0x3e inf inexact,overflow$' cast --to e5m1_ieee --values --flags --overflow overflow 60000
ask '^0x1e 1 0x3f600000 0x3fa00000 yes$' thresholds --from f32 --to float7_e5m1
ask '1/4 of the gap' explain value --to e5m1_ieee 1.125
ask 'bit-exact' verify cast:f32:e5m1_ieee --impl halfulp
