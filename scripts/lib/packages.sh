#!/usr/bin/env bash
# packages.sh: how packages of the distribution are installed; read with `source`.

# install_packages NAME… → installs them with apt. When apt fails, its lists may be too old: they are fetched anew, and it tries once more
install_packages() {
  local apt=(env DEBIAN_FRONTEND=noninteractive apt-get --quiet --yes)
  if [[ "$(id -u)" -ne 0 ]]; then apt=(sudo -n "${apt[@]}"); fi
  "${apt[@]}" install --no-install-recommends -- "$@" || { "${apt[@]}" update && "${apt[@]}" install --no-install-recommends -- "$@"; }
}
