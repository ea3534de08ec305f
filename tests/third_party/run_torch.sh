#!/usr/bin/env bash
# Agreement with PyTorch's casts and with the quantizers of compressed-tensors and torchao, on the CPU. Run by hand:
# they bring PyTorch, so nothing else here needs them.
#   pip install torch torchao compressed-tensors numpy
# usage: run_torch.sh [HALFULP]   (the command; else $HALFULP, else `halfulp` on the path; $PYTHON chooses the python)
# Exit status: 1 a difference without an explanation, 77 when PyTorch is missing.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
python=${PYTHON:-python3}
command=${1:-${HALFULP:-halfulp}}
has() { "$python" -c "import importlib.util as u, sys; sys.exit(any(u.find_spec(n) is None for n in sys.argv[1:]))" "$@"; }
has torch numpy || { echo "PyTorch or NumPy is not importable by $python"; exit 77; }
status=0
"$python" "$here/torch_casts.py" "$command" || status=1
for package in compressed_tensors torchao; do
  has "$package" || { echo "not checked: $package is not installed"; continue; }
  "$python" "$here/${package}_recipes.py" "$command" || status=1
done
exit $status
