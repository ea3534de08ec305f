#!/usr/bin/env bash
# The digest of all f16 -> narrow casts is the committed one with every compiler and machine that is here:
# g++ and clang++ at -O0 and -O3, aarch64 and big-endian s390x under qemu-user. What is missing is named.
# usage: run.sh [CXX]   (exit 77 when no compiler could be tried)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
formats=$here/../../formats
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
checked=0

# check NAME RUNNER COMPILER FLAGS...
check() {
  local name=$1 runner=$2
  shift 2
  command -v "$1" >/dev/null || { echo "not checked: $name ($1 is not installed)"; return 0; }
  [ -z "$runner" ] || command -v "$runner" >/dev/null || { echo "not checked: $name ($runner is not installed)"; return 0; }
  "$@" -std=c++20 -I "$formats" "$here/digest.cpp" -o "$work/digest"
  $runner "$work/digest" >"$work/out"
  diff -u "$here/digest.txt" "$work/out" || { echo "FAILED: $name gives other results"; exit 1; }
  echo "same results: $name"
  checked=$((checked + 1))
}

check "g++ -O0" "" g++ -O0
check "g++ -O3" "" g++ -O3
check "clang++ -O0" "" clang++ -O0
check "clang++ -O3" "" clang++ -O3
check "aarch64 (qemu-user)" qemu-aarch64 aarch64-linux-gnu-g++ -O2 -static
check "s390x, big-endian (qemu-user)" qemu-s390x s390x-linux-gnu-g++ -O2 -static
echo "$checked passed, 0 failed"
[ "$checked" -gt 0 ] || exit 77
