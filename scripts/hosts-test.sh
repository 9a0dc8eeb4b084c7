#!/usr/bin/env bash
# hosts-test.sh: the long tests between two network namespaces with sshd and a slow, lossy link; scripts/test.sh has the short ones.
#
# Usage: scripts/hosts-test.sh      about 7 minutes on an idle machine, as root
# The latency must rise by what the link adds, and verdicts over the link must be right.
set -euo pipefail

if [[ "${1:-}" == --help ]]; then sed -n '2,/^set/{/^#/s/^# \{0,1\}//p;}' "${BASH_SOURCE[0]}" && exit; fi
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/setup.sh --dev
cargo test --workspace --locked --test it -- hosts:: --ignored --test-threads=1 --nocapture
