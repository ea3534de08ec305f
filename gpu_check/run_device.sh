#!/usr/bin/env bash
# The device check in one command: builds (nvcc, g++, CMake), runs every step with a time-out of its own, prints a table, and writes
# OUT/report.json anew after each step, so that a cut run leaves what it has. No setting of the device is touched.
#
# usage: run_device.sh --data DATA [--out OUT] [--build BUILD] [--arch 90a] [--quick] [--libraries DIR] [--host PROGRAM]
#   --data   what gpu_check_prepare wrote, on any machine
#   --out, --build  folders, ./gpu_check_report and ./gpu_check_build if not given
#   --arch   what nvcc compiles for: 90a, 100a, 120a …
#   --quick  casts and functions on a sample of their inputs, not on all 2^32
#   --libraries  folder of the libcublasLt.so.13 or .12 to judge; otherwise the one that the loader finds
#   --host   dry run: PROGRAM (gpu_check_host) runs the same steps on the CPU in the thread shim; nothing is built
# exit: 0 all passed; 1 a mismatch; 2 usage or build; 3 incomplete; 77 no device or no driver
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
data= out=$PWD/gpu_check_report build=$PWD/gpu_check_build arch=90a quick= host= libraries=

usage() { sed -n '/^# usage:/,/^# exit:/p' "$0" | sed 's/^# //'; }
refuse() { echo "gpu_check: error: $1; see run_device.sh --help" >&2; exit 2; }
while [ $# -gt 0 ]; do
  case $1 in
    --data | --out | --build | --arch | --host | --libraries)
      [ $# -ge 2 ] && [ -n "$2" ] || refuse "$1 needs a value"
      printf -v "${1#--}" %s "$2"
      shift 2 ;;
    --quick) quick=--quick; shift ;;
    --help | -h) usage; exit 0 ;;
    *) refuse "unknown argument '$1'" ;;
  esac
done
[ -n "$data" ] || refuse "a run needs --data DATA"
[ -f "$data/mufu/exp2_table.bin" ] || { echo "gpu_check: error: $data holds no prepared data: run gpu_check_prepare $data tests/data/mma_hardware"; exit 2; }
mkdir -p -- "$out" && [ -w "$out" ] || { echo "gpu_check: error: nothing can be written to $out: name another folder with --out"; exit 2; }
if command -v flock >/dev/null; then
  exec 9>"$out/.lock"
  flock -n 9 || { echo "gpu_check: error: another run writes to $out: wait for it, or name another folder with --out"; exit 2; }
fi
rm -f -- "$out"/step_*.json "$out/report.json"
started=$(date -u +%Y-%m-%dT%H:%M:%SZ)
begun=$SECONDS

if [ -n "$host" ]; then
  program=$host
  [ -f "$program" ] && [ -x "$program" ] || { echo "gpu_check: error: $program is no program"; exit 2; }
else
  cmake -S "$here/.." -B "$build" -DHALFULP_DEVICE_ONLY=ON -DCMAKE_BUILD_TYPE=Release -DCMAKE_CUDA_ARCHITECTURES="$arch" >"$out/build.log" 2>&1 &&
    cmake --build "$build" --target gpu_check_probe >>"$out/build.log" 2>&1 || { tail -20 "$out/build.log"; echo "gpu_check: error: the build failed"; exit 2; }
  "$build/gpu_check_probe"
  found=$?
  [ $found -eq 0 ] || exit $found
  cmake --build "$build" --parallel "$(nproc)" --target gpu_check_device >>"$out/build.log" 2>&1 || { tail -20 "$out/build.log"; echo "gpu_check: error: the build failed"; exit 2; }
  program=$build/gpu_check_device
fi
build_seconds=$((SECONDS - begun))

text() { printf '%s' "$1" | tr -d '"\\' | tr '\n\t' '  '; }
facts() {
  local toolkit driver
  toolkit=$(nvcc --version 2>/dev/null | sed -n 's/.*release \([^,]*\),.*/\1/p')
  driver=$(sed -n 's/^NVRM version: *//p' /proc/driver/nvidia/version 2>/dev/null)
  printf '"date": "%s", "machine": "%s", "processors": %s, "toolkit": "%s", "driver": "%s", "architecture": "%s", "quick": %s, "build_seconds": %s' \
    "$started" "$(text "$(uname -srm)")" "$(nproc)" "$(text "${toolkit:-none}")" "$(text "${driver:-none}")" "$([ -n "$host" ] && echo host || echo "$arch")" \
    "$([ -n "$quick" ] && echo true || echo false)" "$build_seconds"
}
verdict() {  # COMPLETE
  if [ $interrupted = 1 ]; then echo interrupted; elif [ $failed = 1 ]; then echo failed; elif [ "$1" = false ]; then echo running; elif [ $incomplete = 1 ]; then echo incomplete; else echo passed; fi
}
report() {  # COMPLETE; all steps so far
  {
    printf '{"halfulp_gpu_check": 1, "verdict": "%s", %s, "seconds": %s, "complete": %s, "steps": [\n' "$(verdict "$1")" "$(facts)" $((SECONDS - begun)) "$1"
    local first=1 file
    for file in "$out"/step_*.json; do
      [ -e "$file" ] || continue
      [ $first = 1 ] || printf ',\n'
      first=0
      cat "$file"
    done
    printf ']}\n'
  } >"$out/report.json.partial" && mv "$out/report.json.partial" "$out/report.json"
}

failed=0 incomplete=0 interrupted=0 number=0 skipped= child=
stop() {  # STATUS; a signal ends the step, and what was found is kept
  trap '' INT TERM HUP
  [ -z "$child" ] || { kill -TERM "$child" 2>/dev/null; wait "$child"; }
  interrupted=1
  report false
  echo "gpu_check: interrupted; report: $out/report.json"
  exit "$1"
}
trap 'stop 130' INT
trap 'stop 143' TERM
trap 'stop 129' HUP
run_step() {  # NAME SECONDS COMMAND...
  local name=$1 limit=$2 json status
  shift 2
  number=$((number + 1))
  json=$(printf '%s/step_%02d_%s.json' "$out" $number "$name")
  echo "== $name (at most $limit s)"
  timeout --kill-after=5 "$limit" "$@" --json "$json" 2>&1 9>&- &  # in the background: a signal is heard at once
  child=$!
  wait "$child"
  status=$?
  child=
  case $status in
    0) [ -s "$json" ] || { incomplete=1; echo "gpu_check: $name ended without a report"; } ;;
    3) incomplete=1 ;;
    4) skipped="$skipped $name" ;;
    124 | 137) incomplete=1; echo "gpu_check: $name did not end within $limit s" ;;
    *) failed=1 ;;
  esac
  [ -s "$json" ] || printf '{"step": "%s", "rows": [], "exit": %s}\n' "$name" $status >"$json"
  report false
}

run_step device 10 "$program" --device
while read -r name limit; do
  run_step "$name" "$limit" "$program" --step "$name" --data "$data" --output "$out" $quick ${libraries:+--libraries "$libraries"}
done < <("$program" --list)
[ $number -gt 1 ] || { incomplete=1; echo "gpu_check: $program lists no steps"; }

# Memory and race checks of the kernels where the tool is there; small inputs, because it slows them down.
sanitizer=$(command -v compute-sanitizer || ls /usr/local/cuda/bin/compute-sanitizer 2>/dev/null || true)
if [ -z "$host" ] && [ -n "$sanitizer" ]; then
  for tool in memcheck racecheck synccheck; do
    run_step "sanitizer_$tool" 40 "$sanitizer" --tool $tool --error-exitcode 9 "$program" --step mma --data "$data" --quick
  done
else
  echo "== compute-sanitizer: not run ($([ -n "$host" ] && echo "no device code on the host" || echo "not found"))"
fi

report true
echo "== $((SECONDS - begun)) s in all, $build_seconds s of them building; report: $out/report.json"
[ -z "$skipped" ] || echo "== skipped, reasons above:$skipped"
if [ $failed = 1 ]; then echo "gpu_check: FAILED"; exit 1; fi
if [ $incomplete = 1 ]; then echo "gpu_check: incomplete"; exit 3; fi
echo "gpu_check: passed"
