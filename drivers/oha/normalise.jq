# oha's CSV, times in s → {elapsed_ns, answers: {status: [latency ns]}, errors: {}}
include "read";
include "rows";

([try input catch ""] | .[0]) as $head
| if $head | startswith("request-start,DNS,DNS+dialup,Response-delay,request-duration,bytes,status") then . else error("oha: expected the head of its CSV, found \($head | excerpt)") end
| [inputs | split(",") | if length == 7 then . else error("oha: expected 7 columns in every row, found \(join(",") | excerpt)") end
    | (.[4] | tonumber * 1e9 | round) as $ns | [$ns, .[6], (.[0] | tonumber * 1e9) + $ns]] as $rows
| {
    # From oha's start, before its first connection, to the last answer.
    elapsed_ns: (if $rows == [] then null else [$rows[][2]] | max | round end),
    answers: ($rows | by_status),
    errors: {},
  }
