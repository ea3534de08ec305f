#!/usr/bin/env bash
# Every program of the check: --help is usage on stdout and exit 0; a bad command line is one line on stderr and exit 2.
# usage: command_line_test.sh PREPARE PROGRAM SCRIPT, with PROGRAM gpu_check_host or gpu_check_device and SCRIPT run_device.sh
set -uo pipefail
prepare=$1 program=$2 script=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "FAILED: $1"; cat "$work/out" "$work/err"; exit 1; }
run() { "$@" >"$work/out" 2>"$work/err"; status=$?; }
help() {  # PROGRAM WORD: the usage names WORD
  run "$1" --help
  [ $status -eq 0 ] || fail "$1 --help exits $status"
  grep -q '^usage: ' "$work/out" || fail "$1 --help prints no usage"
  grep -q -- "$2" "$work/out" || fail "the usage of $1 does not name $2"
  [ ! -s "$work/err" ] || fail "$1 --help writes to stderr"
}
refuse() {  # TEXT PROGRAM ARGUMENTS...
  local text=$1
  shift
  run "$@"
  [ $status -eq 2 ] || fail "$* exits $status"
  [ "$(wc -l <"$work/err")" -eq 1 ] || fail "$* does not write one line"
  grep -q -- "$text" "$work/err" || fail "$* does not say: $text"
  [ ! -s "$work/out" ] || fail "$* writes to stdout"
}

help "$prepare" MEASURED
help "$program" --step
help "$script" --data
refuse "unknown argument '--frobnicate'" "$prepare" --frobnicate
refuse "unknown argument '--frobnicate'" "$prepare" "$work/data" "$work" --frobnicate
refuse "FOLDER and MEASURED are needed" "$prepare" "$work/data"
refuse "TILES is '3x'" "$prepare" "$work/data" "$work" 3x
refuse "cannot read $work" "$prepare" "$work/data" "$work" 1
refuse "unknown argument '--frobnicate'" "$program" --frobnicate
refuse "unknown argument 'casts'" "$program" --list casts
refuse "nothing to do" "$program"
refuse "needs --data" "$program" --step casts
refuse "--data needs a value" "$program" --step casts --data
refuse "unknown step 'cast'; the steps are data, self_test" "$program" --step cast --data "$work"
refuse "--model is one of 89, 90, 100, 120" "$program" --list --model 99
refuse "--model is '90a'" "$program" --list --model 90a
refuse "unknown argument '--frobnicate'" "$script" --frobnicate
refuse "--data needs a value" "$script" --data
refuse "needs --data" "$script"
echo "ok: command lines"
