#!/usr/bin/env bash
# sample.sh: run one criterion benchmark and keep its samples.
#
# Usage: sample.sh RAW BENCHMARK SAMPLES FOLDER COMMAND...
# COMMAND, run in FOLDER, is `cargo bench …` of one bench target, built before. What criterion writes into sample.json is in RAW
# afterwards; RAW is empty when there is no benchmark of that name.
set -euo pipefail

raw="$1" benchmark="$2" samples="$3" folder="$4"
shift 4
home="$raw.criterion"

rm -rf "$home"
trap 'rm -rf "$home"' EXIT
cd "$folder"
# Its own folder, so that no earlier samples are there to be compared with, or to be mistaken for these.
CRITERION_HOME="$home" "$@" -- --exact "$benchmark" --sample-size "$samples" --warm-up-time 0.3 --measurement-time 0.7 --noplot
: >"$raw"
if [[ -d "$home" ]]; then find "$home" -path '*/new/sample.json' -exec cat {} + >"$raw"; fi
