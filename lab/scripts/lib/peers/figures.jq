# The figures of the records that peers.jq has in $run, $counts, $calls and $held: medians with their intervals, ratios, counts.

def median: sort | if length == 0 then null elif length % 2 == 1 then .[(length - 1) / 2] else (.[length / 2 - 1] + .[length / 2]) / 2 end;

# How many of the n smallest and largest values an interval for the median leaves out, at 95 % or more (the sign test's).
def left_out($n):
  reduce range(0; ($n / 2) | floor) as $i ({ term: 1, sum: 0, out: 0 };
    .sum += .term
    | if 2 * .sum <= 0.05 * pow(2; $n) then .out = $i + 1 else . end
    | .term = .term * ($n - $i) / ($i + 1))
  | [.out - 1, 0] | max;

# values → {value, low, high, n}: the median and its interval; of fewer than 6 values, their range
def spread: map(select(. != null)) | sort | length as $n | left_out($n) as $out
  | { value: median, low: .[$out], high: .[$n - 1 - $out], n: $n };

# The good rounds of a series in both runs; a round's number begins with that of its run.
def rounds($id):
  [$run | to_entries[] | .key as $key | .value.series[] | select(.id == "\($id)@h2load")
    | .rounds[]? | select(.status == "ok") | .round |= "\($key).\(.)"];
def cpu: (.server_cpu_ns.user + .server_cpu_ns.system) / .ok_count / 1000;
def figure($what):
  if $what == "cpu" then cpu
  elif $what == "memory" then .server_peak_rss_bytes / 1048576
  elif $what == "rate" then .ok_count / .elapsed_ns * 1e9
  else .latency_ns.p99 / 1e6 end;

# The ratio of two series: that of each pass in which both were measured.
def ratio($what; $ours; $beside):
  (rounds($beside) | map({ (.round): figure($what) }) | add // {}) as $other
  | rounds($ours) | map(select($other[.round] != null) | figure($what) / $other[.round]) | spread;

def counted($server): [$counts[0].series[] | select(.server == $server) | .counts[]?] | first // null;
def count($server; $metric): counted($server) | .figures // [] | map(select(.metric == $metric and .refused == null) | .value) | first // null;

def found:
  if .figure == "calls" then { value: $calls[0][.ours] }
  elif .figure == "allocations" then { value: count(.ours; "allocations") }
  elif .figure == "instructions" then { value: (count(.ours; "instructions") as $a | count(.beside; "instructions") as $b | if $a and $b then $a / $b else null end) }
  else ratio(.figure; .ours; .beside) end;

def limit: .held // .goal;
def outcome($found):
  if $found.value == null then "not measured"
  elif ($found.low // $found.value) > .goal then "**missed**"
  elif $found.value <= .goal then "reached"
  else "can't tell" end;

def digits: if . == null then "–" elif . >= 1000 then (round | tostring | [match("\\d{1,3}(?=(\\d{3})*$)"; "g").string] | join(",")) elif . >= 100 then (round | tostring)
  elif . >= 10 then ((. * 10 | round) / 10 | tostring) elif . >= 0.1 then (. * 100 | round | "\(. / 100 | floor).\(. % 100 | tostring | if length < 2 then "0" + . else . end)") else ((. * 1000 | round) / 1000 | tostring) end;
def shown: if .value == null then "–" elif .low == null then (.value | digits) else "\(.value | digits) (\(.low | digits) to \(.high | digits))" end;
