# h2load's log (one row a request: start µs, status, duration µs) and its printed summary → {elapsed_ns, protocol, answers: {status: [latency ns]}, errors: {reason: count}}
include "read";

# summary → {clients, rate, total, done, errored}; {} for foreign text
def counts:
  [ capture("(?<clients>\\d+) total client"),
    capture("finished in [^,]+, (?<rate>[\\d.]+) req/s"),
    capture("requests: (?<total>\\d+) total, \\d+ started, (?<done>\\d+) done, [^\n]* (?<errored>\\d+) errored")
  ] | if length == 3 then add | map_values(tonumber) else {} end;

($summary | counts) as $counts
| if $counts == {} then error("h2load: expected its summary of requests, found \($summary | excerpt)") else . end
# try is kept within arrays, because an open try of jq 1.6 also catches the errors of the filters that follow it.
| ([try (input | input) catch null] | .[0]) as $status
# The log is a stream of numbers to jq. A row of the first row's status becomes its latency, any other [status, latency]:
# a log of one status, the common case, costs no array for each row.
| [ try (if $status == null then empty
      else input * 1000, (inputs | input | if . == $status then input * 1000 else [., input * 1000] end) end)
    catch error("h2load: expected start, status and duration in every row of its log: \(.)") ] as $rows
| if ($rows | length) == $counts.done then .
  else error("h2load: expected a row for each of \($counts.done) requests in its log, found \($rows | length)") end
| (if $rows == [] then {}
    elif $rows | max | type == "number" then { ($status | tostring): $rows }
    else reduce ($rows | map(arrays) | group_by(.[0])[]) as $others ({ ($status | tostring): ($rows | map(numbers)) };
      .[$others[0][0] | tostring] = ($others | map(.[1])))
    end) as $latencies
| ($latencies["-1"] | length) as $reset
| {
    # The whole time to seven digits: answers over their printed rate. "finished in" has three digits.
    elapsed_ns: (if $counts.rate > 0 then ($counts.done - $reset) / $counts.rate * 1e9 | round else null end),
    answers: ($latencies | del(.["-1"])),
    protocol: ([$summary | capture("Application protocol: (?<name>\\S+)").name | {"http/1.1": "http"}[.] // .] | .[0]),
    errors: ({
        "the server reset the stream": $reset,
        "no connection, or lost before the answer": ($counts.errored - $reset),
        # A timed run in which nobody connected counts no request at all.
        "nobody connected": (if $counts.total == 0 then $counts.clients else 0 end),
      } | with_entries(select(.value > 0))),
  }
