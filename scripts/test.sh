#!/usr/bin/env bash
# All set-up and the default tests: installs what is missing, builds everything, runs CTest without the long labels.
set -euo pipefail
. "$(dirname "$0")/setup.sh"

say "packages"
install_packages "$needed libgtest-dev librapidcheck-dev" "$optional llvm-19-dev python3-venv"
python_environment

say "build"
configure release
cmake --build build/release --parallel "$jobs"

say "tests"
ctest --preset release --parallel "$jobs"
