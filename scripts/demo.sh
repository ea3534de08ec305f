#!/usr/bin/env bash
# The main job from nothing: installs what is missing, builds the command, judges a real implementation on all 2^32
# float32 inputs, and shows what a failure looks like.
set -euo pipefail
. "$(dirname "$0")/setup.sh"

say "packages"
install_packages "$needed" "$optional"

say "build"
configure release -DHALFULP_BUILD_TESTS=OFF
cmake --build build/release --parallel "$jobs" --target halfulp
halfulp=build/release/tools/halfulp/halfulp

say "what was found"
"$halfulp" doctor

say "one value, explained"
"$halfulp" explain value --to e4m3 0.01

found() { "$halfulp" doctor | awk -v name="$1" '$1 == name && $2 == "found" { yes = 1 } END { exit !yes }'; }
if found cuda-headers; then
  spec=cast:f32:e4m3@cuda_satfinite impl=cuda-headers what="NVIDIA's E4M3 header cast"
elif found cpu-f16c; then
  spec=cast:f32:f16@x86_f16c impl=cpu-f16c what="the CPU's own F16C conversion instruction"
else
  spec=cast:f32:e4m3 impl=halfulp-batch what="the batch engine of this library (no CUDA toolkit, no F16C here)"
fi
say "verdict on $what, all 2^32 float32 inputs"
"$halfulp" verify "$spec" --impl "$impl" --level exhaustive

say "a mutant that judges overflow before rounding, as a real library does"
if "$halfulp" verify cast:f32:e4m3,overflow=overflow --impl mutant:clamp_before_rounding; then
  echo "the mutant was not found out" >&2
  exit 1
fi
say "done: the mutant above failed, as it must"
