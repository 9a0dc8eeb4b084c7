# shellcheck shell=sh
# What wirebench tells a shell on another host first: functions that start, watch and end servers there.
#
# POSIX sh, with what every Linux has (coreutils and util-linux, or busybox). The commands that use it follow on standard
# input. When that closes, or nothing came for half a minute, everything that was made here is ended and removed.
umask 077
[ -r /proc/self/stat ] || { echo "lacks /proc"; exit 1; }
for program in setsid mktemp sha256sum nproc; do
  command -v "$program" >/dev/null || { echo "lacks $program"; exit 1; }
done
dir=$(mktemp -d "${TMPDIR:-/tmp}/wirebench-XXXXXXXX") || { echo "lacks room"; exit 1; }
cd "$dir" || exit 1

clean() {
  for file in "$dir"/*.pid; do
    [ -e "$file" ] && read -r pid <"$file" && kill -KILL "$pid" "-$pid" 2>/dev/null
  done
  cd /
  # A process that was just killed may still write.
  rm -rf -- "$dir" 2>/dev/null || { sleep 1; rm -rf -- "$dir"; }
}

# Cleans when the shell of that id is gone, or the connection died without closing.
watch() {
  trap 'kill "$nap" 2>/dev/null; exit 0' TERM
  silent=0 before=
  while sleep 5 & nap=$!; wait "$nap"; do
    kill -0 "$1" 2>/dev/null || break
    read -r now <"$dir/beat"
    if [ "$now" = "$before" ]; then silent=$((silent + 1)); else silent=0; fi
    before=$now
    [ "$silent" -lt 6 ] || break
  done
  clean
  kill -KILL "$1" 2>/dev/null
}

beats=0
beat() {
  beats=$((beats + 1))
  echo "$beats" >"$dir/beat"
}
beat
# In parentheses: otherwise dash keeps a copy of the output for when the function returns, and a lost shell looks alive.
(watch $$) </dev/null >/dev/null 2>&1 &
watcher=$!
trap 'kill "$watcher" 2>/dev/null; clean' EXIT

# facts → what this host is, one fact a line
facts() {
  echo "dir $dir"
  echo "arch $(uname -m)"
  echo "host $(uname -srm)"
  echo "cpus $(nproc)"
  echo "tick $(getconf CLK_TCK 2>/dev/null || echo 100)"
  echo "connection ${SSH_CONNECTION-}"
  echo "host $(grep MemTotal /proc/meminfo)"
  echo "host $(grep -m 1 'model name' /proc/cpuinfo)"
}

# start NAME COMMAND… → the id of the process group that it leads
start() {
  name=$1
  shift
  setsid "$@" </dev/null >"$name.stdout" 2>"$name.stderr" &
  echo "$!" >"$name.pid"
  echo "$!"
}

# state PID → run, or end and the exit status
state() {
  rest=
  { read -r line <"/proc/$1/stat"; } 2>/dev/null && rest=${line##*) }
  case $rest in
    '' | Z* | X*)
      wait "$1"
      echo "end $?"
      ;;
    *) echo run ;;
  esac
}

# children → the fields of this shell's /proc stat after the name; cutime and cstime are the CPU time of ended children
children() {
  read -r line <"/proc/$$/stat" && echo "${line##*) }"
}

# members GROUP… → the ids of their processes, and of those that descend from them
members() {
  all='' found=' '
  for file in /proc/[0-9]*/stat; do
    { read -r line <"$file"; } 2>/dev/null || continue
    rest=${line##*) }
    rest=${rest#* }
    parent=${rest%% *} rest=${rest#* }
    all="$all ${line%% *}:$parent:${rest%% *}"
  done
  before=
  while [ "$before" != "$found" ]; do
    before=$found
    for one in $all; do
      rest=${one#*:}
      case "$found" in *" ${one%%:*} "*) continue ;; esac
      case " $* $found" in *" ${rest#*:} "* | *" ${rest%:*} "*) found="$found${one%%:*} " ;; esac
    done
  done
  for pid in $found; do
    echo "$pid"
  done
}

# cpu PID… → for each a line "process PID", its stat, and a line "thread ID NS" for each of its threads
cpu() {
  for pid; do
    { read -r line <"/proc/$pid/stat"; } 2>/dev/null || continue
    printf 'process %s\n%s\n' "$pid" "$line"
    for thread in "/proc/$pid/task"/*; do
      { read -r ns rest <"$thread/schedstat"; } 2>/dev/null && echo "thread ${thread##*/} $ns"
    done
  done
}

# memory PID… → lines of their status
memory() {
  for pid; do
    grep -E '^(VmHWM|VmRSS|RssFile):' "/proc/$pid/status" 2>/dev/null
  done
}

# sockets PID… → lines that name their open sockets
sockets() {
  for pid; do
    ls -l "/proc/$pid/fd" 2>/dev/null
  done
}

# size FILE… → the sum of the file sizes in bytes; a missing file counts as 0
size() {
  total=0
  for file; do
    [ ! -e "$file" ] || total=$((total + $(wc -c <"$file")))
  done
  echo "$total"
}

# steal → ticks that the hypervisor gave to others
steal() {
  read -r _ _ _ _ _ _ _ _ ticks _ </proc/stat
  echo "$ticks"
}

# ports → the kernel's tables of sockets, and the range of outgoing connections
ports() {
  cat /proc/sys/net/ipv4/ip_local_port_range /proc/net/tcp /proc/net/tcp6 2>/dev/null
}
