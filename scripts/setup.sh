# Sourced by demo.sh and test.sh: options, packages, the private Python environment, configuration.
#
# Everything is Debian 12's own, or a wheel from PyPI put into .venv/ inside the checkout. sudo is used only when not root.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

install=yes
usage() {
  echo "usage: $(basename "$0") [--no-install] [--jobs N]"
  echo "  --no-install  install nothing; fail with a clear message when something needed is missing"
  echo "  --jobs N      build and test with N processes (default: all cores)"
}
jobs=$(nproc)
while [ $# -gt 0 ]; do
  case $1 in
    --no-install) install=no ;;
    --jobs) jobs=${2:?--jobs needs a number}; shift ;;
    -h | --help) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
  esac
  shift
done

say() { printf '\n== %s\n' "$*"; }

needed="g++ cmake ninja-build pkg-config libboost1.81-dev libhwy-dev libcli11-dev libfmt-dev nlohmann-json3-dev zlib1g-dev"
optional="" # packages whose absence only leaves an implementation under test out

# have PACKAGE: installed already.
have() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

# install_packages PACKAGES OPTIONAL_PACKAGES
install_packages() {
  local missing="" extra="" package
  command -v dpkg-query >/dev/null || {
    echo "not a Debian system: make sure that these are installed: $1" >&2
    return 0
  }
  for package in $1; do have "$package" || missing="$missing $package"; done
  for package in $2; do have "$package" || extra="$extra $package"; done
  if [ $install = no ]; then
    [ -z "$missing" ] || { echo "missing packages:$missing; install them, or leave out --no-install" >&2; exit 2; }
    [ -z "$extra" ] || echo "not installed, the implementations that need them are left out:$extra"
    return 0
  fi
  [ -n "$missing$extra" ] || { echo "all Debian packages are here"; return 0; }
  local as_root=""
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || { echo "installing needs root: run as root, or install:$missing$extra" >&2; exit 2; }
    as_root=sudo
  fi
  echo "installing with apt-get:$missing$extra"
  $as_root env DEBIAN_FRONTEND=noninteractive apt-get update -q >/dev/null
  [ -z "$missing" ] || $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $missing >/dev/null
  for package in $extra; do
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$package" >/dev/null ||
      echo "could not install $package; what needs it is left out"
  done
}

# python_environment: ml_dtypes, gfloat, gguf and numpy in .venv, for the implementations under test that are Python.
python_environment() {
  if [ -x .venv/bin/python ] && .venv/bin/python -c 'import ml_dtypes, gfloat, gguf, numpy' 2>/dev/null; then
    echo "the Python environment .venv is here"
  elif [ $install = no ]; then
    echo "no .venv: ml_dtypes, gfloat, gguf and numpy are left out"
  else
    echo "installing from PyPI into .venv: ml_dtypes gfloat gguf numpy"
    { python3 -m venv .venv && .venv/bin/pip install -q -r scripts/requirements.txt; } ||
      echo "could not make .venv; ml_dtypes, gfloat, gguf and numpy are left out"
  fi
}

# A generator choice is kept by an existing build folder.
configure() { cmake --preset "$1" "${@:2}" >"build/$1.configure.log" 2>&1 || { cat "build/$1.configure.log" >&2; exit 1; }; }
mkdir -p build
