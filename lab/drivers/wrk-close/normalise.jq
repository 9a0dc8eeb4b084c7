# what report.lua writes → {elapsed_ns, answers, histogram: {status: [[latency ns, count]]}, errors: {reason: count}}
include "read";

document("wrk"; "the JSON object of report.lua")
| if has("latency_us") and has("requests") then . else error("wrk: expected latency_us and requests, found \(keys)") end
| ([.latency_us[][1]] | add // 0) as $counted
| if $counted == .requests and all(.latency_us[]; .[1] > 0) then .
  else error("wrk: expected a latency for each of \(.requests) requests, found \($counted)") end
| {
    elapsed_ns: (.duration_us * 1000),
    answers: {},
    histogram: (if .requests == 0 then {}
      else { (mixed("below 400"; .requests; if .status > 0 then { "400 or above": .status } else {} end)): (.latency_us | map([.[0] * 1000, .[1]])) } end),
    errors: ({ connect, read, write, timeout } | with_entries(select(.value > 0) | .key |= "wrk: \(.)")),
  }
