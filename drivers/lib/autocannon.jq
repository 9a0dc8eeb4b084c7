# The filter of autocannon, however many threads: its JSON, and a line of JSON for each thread from collect.cjs
# → {elapsed_ns, answers: {status: [latency ns]}, errors: {reason: count}}
include "read";

def autocannon($driver; $summary; $threads):
  ($summary | document($driver; "autocannon's JSON")) as $said
  | if $said | has("errors") and has("requests") then . else error("\($driver): expected errors and requests, found \($said | keys)") end
  | [$threads | split("\n")[] | select(. != "") | document($driver; "a line of collect.cjs")] as $parts
  | ([$parts[] | .answers | keys[]] | unique) as $statuses
  | (reduce $statuses[] as $status ({}; .[$status] = [$parts[] | .answers[$status] // empty | .[]])) as $answers
  | ([$answers[] | length] | add // 0) as $answered
  | if $parts == [] then error("\($driver): expected a line for each thread, found nothing") else . end
  # When time is up, up to one request of each worker is under way; all others without an answer were lost with their connection.
  | ($said | .requests.sent - $answered - .errors - .connections * .pipelining) as $lost
  | {
      elapsed_ns: (($parts | map(.last) | max) - ($parts | map(.first) | min)),
      answers: $answers,
      errors: ({ "refused or broken": ($said.errors - $said.timeouts), "no answer within 20 s": $said.timeouts, "connection lost before the answer": $lost }
        | with_entries(select(.value > 0))),
    };
