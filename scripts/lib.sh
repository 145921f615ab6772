# SPDX-License-Identifier: BSD-3-Clause
# What the scripts share: missing Debian packages, configure, build. To be sourced.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

packages="build-essential cmake ninja-build pkg-config python3
  libcfitsio-dev libdeflate-dev liberfa-dev libeigen3-dev libcli11-dev nlohmann-json3-dev
  libsqlite3-dev libtomlplusplus-dev libhdf5-dev libpq-dev
  libgtest-dev librapidcheck-dev libbenchmark-dev"

# For the tests under MPI alone: the program and the demo need none.
mpi_packages="openmpi-bin libopenmpi-dev mpich libmpich-dev"

say() { printf '== %s\n' "$*" >&2; }
die() { printf 'error: %s\n' "$*" >&2; exit 1; }

# install_packages NAME...: installs those that are missing, as root or through sudo; else names them.
install_packages() {
  local missing=() name
  for name in "$@"; do
    [ "$(dpkg-query -W -f='${Status}' "$name" 2>/dev/null)" = "install ok installed" ] ||
      missing+=("$name")
  done
  [ ${#missing[@]} -eq 0 ] && return 0
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    sudo -n true 2>/dev/null || [ -t 0 ] && command -v sudo >/dev/null && as_root=(sudo)
    [ ${#as_root[@]} -gt 0 ] || die "these packages are missing, and there is neither root nor sudo
to install them. Please run:
  apt-get install --no-install-recommends ${missing[*]}"
  fi
  say "installing ${missing[*]}"
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

ensure_packages() {
  if command -v dpkg-query >/dev/null && command -v apt-get >/dev/null; then
    # shellcheck disable=SC2086
    install_packages $packages "$@"
  else
    say "not a Debian system: install the counterparts of: $(echo $packages "$@")"
  fi
}

# may_install: is there a way to install packages here?
may_install() {
  command -v dpkg-query >/dev/null && command -v apt-get >/dev/null || return 1
  [ "$(id -u)" -eq 0 ] || { command -v sudo >/dev/null && sudo -n true 2>/dev/null; }
}

# ensure_optional WHAT NAME...: packages that tests want, where they can be installed without a question; else
# those tests are skipped.
ensure_optional() {
  local what=$1
  shift
  if may_install; then
    install_packages "$@" || say "$what cannot be installed: its tests are skipped"
  fi
}

# How much memory a compiler may take changes no object.
export CCACHE_IGNOREOPTIONS="--param=ggc-min-heapsize=*"

# configure PRESET [CMAKE-ARGUMENT...]
configure() {
  local preset=$1 launcher=()
  shift
  command -v ccache >/dev/null && launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  cmake -S "$root" --preset "$preset" "${launcher[@]}" "$@"
}

jobs() { nproc; }
