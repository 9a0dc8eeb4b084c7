# The filter of ghz, with whatever flags: its JSON report → {elapsed_ns, answers: {code name: [latency ns]}, errors: {reason: count}}
include "read";

# error text of a call → true when ghz's own gRPC library wrote it, so that no server answered: these are the texts of
# grpc-go 1.56.3 (clientconn, picker_wrapper, http2_client, transport), the version that go.sum pins.
def unanswered: test(" desc = (connection error: |closing transport due to: |error reading from server: |transport is closing|the connection is draining|the stream is rejected because server is draining|stream terminated by RST_STREAM|SubConn shutting down|context deadline exceeded|context canceled|unexpected EOF)");

def ghz($driver):
  document($driver; "the JSON report of --format json")
  | if has("details") and has("statusCodeDistribution") then .
    else error("\($driver): expected a report with details and statusCodeDistribution, found \(keys)") end
  # ghz keeps the details of at most 1,000,000 calls and drops the rest without a word.
  | if (.details | length) == .count then .
    else error("\($driver): expected details of \(.count) calls, found \(.details | length): it keeps 1000000; ask for fewer or a shorter round") end
  | (.errorDistribution | with_entries(select(.key | unanswered))) as $lost
  | .details as $calls
  | {
      elapsed_ns: .total,
      answers: (
        if (.statusCodeDistribution | length) == 1 and $lost == {} then
          { (.statusCodeDistribution | keys[0]): [$calls[].latency] }
        else reduce (.statusCodeDistribution | keys)[] as $code ({};
          [$calls[]? | select(.status == $code) | select($lost[.error] | not) | .latency] as $ns
          | if $ns == [] then . else .[$code] = $ns end)
        end),
      errors: ($lost | tally),
    };
