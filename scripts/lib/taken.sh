#!/usr/bin/env bash
# taken.sh: find the program that a job of this workflow built among the artifacts that were unpacked; read by scripts with `source`.

# taken DIR → moves the first DIR/bin/wirebench-*/wirebench to DIR/bin/wirebench unless there is one, and makes it executable: artifacts keep no
# permissions. Failure if there is none. Each artifact has its own folder, because they are unpacked at the same time.
taken() {
  local program
  for program in "$1"/bin/wirebench-*/wirebench; do
    if [[ -f "$program" && ! -e "$1/bin/wirebench" ]]; then mv -- "$program" "$1/bin/wirebench"; fi
  done
  [[ -f "$1/bin/wirebench" ]] && chmod 755 "$1/bin/wirebench"
}
