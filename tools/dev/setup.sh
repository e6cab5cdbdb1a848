# Sourced by demo.sh and test.sh: Debian packages, the Python environment, configured and built tools. Does only what is
# missing, so it can run again and again.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

say() { printf '\n== %s\n' "$*"; }

as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }

# Installs what packages.txt lists and this machine lacks.
setup_packages() {
  local missing=() line name pattern version
  while read -r line; do
    case $line in '' | '#'*) continue ;; esac
    name=${line%%=*} pattern='*'
    case $line in *=*) pattern=${line#*=} ;; esac
    version=$(dpkg-query -W -f '${db:Status-Status} ${Version}' "$name" 2>/dev/null || true)
    # shellcheck disable=SC2053
    [[ $version == "installed "$pattern ]] || missing+=("$line")
  done <tools/dev/packages.txt
  [ ${#missing[@]} = 0 ] && return
  say "Debian packages: ${missing[*]}"
  as_root apt-get update -q
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}"
}

# Makes .venv with what requirements.txt pins.
setup_python() {
  local stamp=.venv/fp8c-requirements
  cat tools/dev/requirements.txt tools/dev/constraints.txt | cmp -s - "$stamp" && return
  say "Python environment .venv"
  [ -x .venv/bin/python ] || python3 -m venv .venv
  .venv/bin/python -m pip install -q --disable-pip-version-check -r tools/dev/requirements.txt -c tools/dev/constraints.txt
  cat tools/dev/requirements.txt tools/dev/constraints.txt >"$stamp"
}

# Configures and builds everything; the tools are in build/bin.
setup_build() {
  say "Build"
  mkdir -p build
  cmake --preset dev >build/configure.log 2>&1 || { cat build/configure.log; exit 1; }
  cmake --build build
}

setup_packages
setup_python
