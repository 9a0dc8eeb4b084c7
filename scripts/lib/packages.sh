#!/usr/bin/env bash
# packages.sh: how packages of the distribution are installed; read with `source`.

# as_root COMMAND… → the command, as root
as_root() { if [[ "$(id -u)" -eq 0 ]]; then "$@"; else sudo -n "$@"; fi; }

# install_packages NAME… → installs them with apt. When apt fails, its lists may be too old: they are fetched anew, and it tries once more
install_packages() {
  local apt=(as_root env DEBIAN_FRONTEND=noninteractive apt-get --quiet --yes)
  "${apt[@]}" install --no-install-recommends -- "$@" || { "${apt[@]}" update && "${apt[@]}" install --no-install-recommends -- "$@"; }
}
