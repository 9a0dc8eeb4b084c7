# k6's --out csv → {elapsed_ns, answers: {status: [latency ns]}, errors: {reason: count}, dropped: requests for which no connection was free}
include "read";
include "rows";

# k6's code of an error → why there was no answer
def no_answer: { "1050": "timeout", "1212": "connection refused", "1220": "connection reset by peer" }[.] // "k6: error \(.)";

([try input catch ""] | .[0]) as $head
| if $head | startswith("metric_name,timestamp,metric_value,error_code,status") then . else error("k6: expected the head of --out csv, found \($head | excerpt)") end
# A row: metric, µs since 1970 at its end, ms it took, error code, status. Status 0 of HTTP means no answer.
| [inputs | select(test("^(http|grpc)_req_duration,|^dropped_iterations,")) | split(",")
    | if .[0] == "dropped_iterations" then [(.[2] | tonumber), "dropped"]
      else [(.[2] | tonumber * 1e6 | round), (if .[0] == "http_req_duration" and .[4] == "0" then .[3] else .[4] | tonumber end), (.[1] | tonumber)] end] as $rows
| [$rows[] | select(length == 3)] as $timed
| {
    elapsed_ns: (if $timed == [] then null else ([$timed[][2]] | max) * 1000 - ([$timed[] | .[2] * 1000 - .[0]] | min) end),
    answers: ([$timed[] | select(.[1] | type == "number") | [.[0], (.[1] | tostring)]] | by_status),
    errors: (reduce ($timed[] | select(.[1] | type == "string") | .[1] | no_answer) as $reason ({}; .[$reason] += 1)),
    dropped: ([$rows[] | select(length == 2) | .[0]] | add // 0),
  }
