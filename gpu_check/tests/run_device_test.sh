#!/usr/bin/env bash
# run_device.sh end to end on the host shim: a whole run, a run with wrong data, a step that cannot run, and refusals.
# usage: run_device_test.sh SOURCE PREPARE HOST LIBRARIES
set -uo pipefail
source=$1 prepare=$2 host=$3 libraries=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "FAILED: $1"; cat "$work/log"; exit 1; }
check() { "$source/gpu_check/run_device.sh" "$@" >"$work/log" 2>&1; }

"$prepare" "$work/data" "$source/tests/data/mma_hardware" 2 || { echo "FAILED: prepare"; exit 1; }

check --data "$work/data" --out "$work/out" --host "$host" || fail "a whole run does not pass"
grep -q '^gpu_check: passed$' "$work/log" || fail "no verdict"
for step in data self_test casts mma mufu attention libraries; do grep -q "^== $step " "$work/log" || fail "step $step is missing"; done
grep -q '"verdict": "passed".*"complete": true' "$work/out/report.json" || fail "the report is not complete"
[ "$(grep -c '"tier": "host shim"' "$work/out/report.json")" -ge 5 ] || fail "the report has not all steps"
if command -v python3 >/dev/null; then python3 -c 'import json, sys; json.load(open(sys.argv[1]))' "$work/out/report.json" || fail "the report is no JSON"; fi
[ -s "$work/out/ex2.approx.f32_by_exponent.tsv" ] || fail "the study left no data"

grep -q '^== skipped, reasons above: libraries$' "$work/log" || fail "the skipped libraries are not named"
grep -q '^skipped .*--libraries names no stand-in' "$work/log" || fail "no reason for the skipped libraries"

# A library: its model is named, and a dropped scale fails the run. That step alone.
cat >"$work/only" <<END
#!/usr/bin/env bash
case " \$* " in *" --list "*) echo "libraries 60"; exit 0;; esac
exec "$host" "\$@"
END
chmod +x "$work/only"
check --data "$work/data" --out "$work/library" --host "$work/only" --libraries "$libraries" || fail "the stand-in library does not pass"
grep -q '^passed .*cuBLASLt e4m3, .*equals hopper_fp8_wgmma, promoted every 128' "$work/log" || fail "the model of the library is not named"
HALFULP_TEST_FAULT=scale check --data "$work/data" --out "$work/library" --host "$work/only" --libraries "$libraries"
[ $? -eq 1 ] || fail "a library that drops a scale passes"
grep -q '^FAILED .*scales 2^-3 and 2^5' "$work/log" || fail "the product is not named"

# Prints the content of a prepared file under a name, with the checksum (FNV-1a) that fits.
prepared() {  # NAME
  local byte state=$((0xcbf29ce484222325))
  { cat; echo "name $1"; } >"$work/named"
  for byte in $(od -An -v -tu1 "$work/named"); do state=$(((state ^ byte) * 0x100000001b3)); done
  cat "$work/named"
  printf 'checksum %016x\n' $state
}

# The table of another cast in a table's place: the step says which it is, in the report too, and the other casts are judged.
table=$work/data/casts/f32_e4m3_cuda_satfinite.txt other=$work/data/casts/f32_e4m3_cuda_nosat.txt
cp "$table" "$work/saved"
cp "$other" "$table"
"$host" --step self_test --data "$work/data" --json "$work/exchanged.json" >"$work/log" 2>&1
[ $? -eq 1 ] || fail "the table of another cast is taken"
grep -q 'it is the file casts/f32_e4m3_cuda_nosat.txt' "$work/exchanged.json" && grep -q '"status": "passed"' "$work/exchanged.json" || fail "the report does not say which"

# Under the right name: the run fails and names the input.
sed '/^name /,$d' "$other" | prepared casts/f32_e4m3_cuda_nosat.txt | cmp -s - "$other" || fail "the test writes other files than gpu_check_prepare"
sed '/^name /,$d' "$other" | prepared casts/f32_e4m3_cuda_satfinite.txt >"$table"
check --data "$work/data" --out "$work/wrong" --host "$host"
[ $? -eq 1 ] || fail "wrong thresholds are not found"
grep -q '^FAILED .*f32->e4m3 cuda_satfinite' "$work/log" && grep -q 'input [0-9a-f]\{8\}: right' "$work/log" || fail "the input is not named"
grep -q '"verdict": "failed"' "$work/wrong/report.json" && grep -q '"status": "failed"' "$work/wrong/report.json" || fail "the report does not say so"
cp "$work/saved" "$table"

# One changed byte, in a file that this GPU does not read: the first step names the file.
tiles=$work/data/mma/mma_e4m3_f32_sm120.bin
cp "$tiles" "$work/saved"
printf '\377' | dd of="$tiles" bs=1 seek=1001 conv=notrunc 2>/dev/null
cmp -s "$tiles" "$work/saved" && { printf '\0' | dd of="$tiles" bs=1 seek=1001 conv=notrunc 2>/dev/null; }
check --data "$work/data" --out "$work/damaged" --host "$host" --quick
[ $? -eq 1 ] || fail "a changed byte is not found"
grep -q "$tiles is damaged" "$work/log" && grep -q "$tiles is damaged" "$work/damaged/report.json" || fail "the damaged file is not named"
cp "$work/saved" "$tiles"

# The one file of a step: its report has a failed row that says why.
cp "$work/data/mufu/exp2_table.bin" "$work/saved"
rm "$work/data/mufu/exp2_table.bin"
"$host" --step mufu --data "$work/data" --json "$work/mufu.json" >"$work/log" 2>&1
[ $? -eq 1 ] && grep -q '"status": "failed".*cannot read .*exp2_table.bin' "$work/mufu.json" || fail "the report of mufu does not say that its file is missing"
cp "$work/saved" "$work/data/mufu/exp2_table.bin"

# A step that does not end is cut, the others are reported, and the run is incomplete.
cat >"$work/slow" <<END
#!/usr/bin/env bash
case " \$* " in *" --list "*) echo "casts 1"; echo "mma 60"; exit 0;; *" --step casts "*) sleep 30;; esac
exec "$host" "\$@"
END
chmod +x "$work/slow"
check --data "$work/data" --out "$work/cut" --host "$work/slow"
[ $? -eq 3 ] || fail "a step past its time is not incomplete"
grep -q '"verdict": "incomplete"' "$work/cut/report.json" && grep -q '"step": "mma"' "$work/cut/report.json" || fail "the step after a cut one is missing"

# A signal ends the step and is kept in the report; nothing lives on. The folder's name has a blank.
cat >"$work/sleeper" <<END
#!/usr/bin/env bash
case " \$* " in *" --list "*) echo "casts 60"; exit 0;; *" --step casts "*) echo \$\$ >"$work/pid"; exec sleep 50;; esac
exec "$host" "\$@"
END
chmod +x "$work/sleeper"
signals="TERM HUP" deaf=
if command -v python3 >/dev/null; then  # what a script starts behind its back is deaf to SIGINT
  signals="INT $signals" deaf='import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])'
fi
for signal in $signals; do
  rm -f "$work/pid"
  ${deaf:+python3 -c "$deaf"} "$source/gpu_check/run_device.sh" --data "$work/data" --out "$work/in two" --host "$work/sleeper" >"$work/log" 2>&1 &
  run=$!
  for _ in $(seq 200); do [ -s "$work/pid" ] && break; sleep 0.1; done
  kill -$signal $run
  wait $run
  [ $? -gt 128 ] || fail "SIG$signal has no status of its own"
  grep -q '"verdict": "interrupted"' "$work/in two/report.json" || fail "SIG$signal is not in the report"
  kill -0 "$(cat "$work/pid")" 2>/dev/null && fail "a step outlives SIG$signal"
done

# A step that ends well and says nothing is no pass.
cat >"$work/silent" <<END
#!/usr/bin/env bash
case " \$* " in *" --list "*) echo "casts 60"; exit 0;; *" --step casts "*) exit 0;; esac
exec "$host" "\$@"
END
chmod +x "$work/silent"
check --data "$work/data" --out "$work/in two" --host "$work/silent"
[ $? -eq 3 ] || fail "a step without a report passes"
check --data "$work/data" --out "$work/log" --host "$host"
[ $? -eq 2 ] || fail "a file is taken for a folder"

check --data "$work/nothing" --out "$work/none" --host "$host"
[ $? -eq 2 ] || fail "missing data are no usage error"
check --data "$work/data" --out "$work/none" --host "$work"
[ $? -eq 2 ] || fail "a folder is taken for a program"
check --data "$work/data" --out "$work/none" --host "$(type -P true)"
[ $? -eq 3 ] || fail "a program without steps is not incomplete"
check --out "$work/none"
[ $? -eq 2 ] || fail "no --data is no usage error"
echo "ok: run_device.sh on the host shim"
