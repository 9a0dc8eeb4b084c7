# hey's output by the template in driver.toml → {elapsed_ns, answers: {status: [latency ns]}, errors: {reason: count}}
include "read";

document("hey"; "the JSON object its template prints")
| if has("latencies_s") and has("results") then . else error("hey: expected latencies_s and results, found \(keys)") end
# hey keeps at most 1,000,000 answers and drops the rest without a word.
| (.latencies_s | length) as $answered
| if $answered + (.errors | add) == .results then .
  else error("hey: expected a latency for each of \(.results) requests, found \($answered): it keeps 1000000; ask for fewer or a shorter round") end
| (.latencies_s | map(. * 1e9 | round)) as $ns
| .status_of_each as $of
| {
    elapsed_ns,
    answers: (reduce (.statuses // {} | keys)[] as $status ({};
      .[$status] = if $of == null then $ns
        else ($status | tonumber) as $code | [range($ns | length) | select($of[.] == $code) | $ns[.]] end)),
    errors: (.errors | tally),
  }
