# The filter of ab, with and without kept-alive connections: ab's summary, the shares of -e (µs at each hundredth) and the rows
# of -g (whole ms, sorted) → {elapsed_ns, answers, histogram: {status: [[latency ns, count]]}, errors}
include "read";

def number($name): capture("(?m)^" + $name + ":\\s+(?<value>[\\d.]+)").value | tonumber;

# summary → {done, rate, connect, receive, exceptions, not_2xx}; {} for foreign text
def counts:
  [ {done: number("Complete requests")},
    {rate: number("Requests per second")},
    {failed: number("Failed requests")}
  ] | if length == 3 then add else {} end;

# summary → requests that failed by one cause of ab's list
def failed($cause): ([capture("\\b" + $cause + ": (?<count>\\d+)[,)]").count | tonumber] | .[0]) // 0;

# An index of the sorted requests is known to the µs at each hundredth: ab prints the one at 0.5 + requests × share.
def index_of($share; $done): if $share == 0 then 0 elif $share == 100 then $done - 1 else 0.5 + $done * $share / 100 | floor end;

def ab($driver; $summary; $shares; $rows):
  ($summary | counts) as $counts
  | if $counts == {} then error("\($driver): expected ab's summary, found \($summary | excerpt)") else . end
  | [$shares | capture("(?<share>\\d+),(?<ms>\\d+\\.\\d+)"; "g") | [(.share | tonumber), (.ms | tonumber * 1e6 | round)]] as $steps
  | [$rows | split("\n")[1:][] | select(. != "") | split("\t")
      | if length == 6 then .[4] | tonumber else error("\($driver): expected six columns in every row of -g, found \(join(" ") | excerpt)") end] as $ms
  | $counts.done as $done
  | if ($ms | length) == $done then . else error("\($driver): expected a row for each of \($done) requests in -g, found \($ms | length)") end
  | if $done == 0 or (($steps | length) > 99 and $steps[-1][0] == 100) then .
    else error("\($driver): expected the shares 0 to 100 of -e, found \($steps | length)") end
  # What ab calls failed was answered, or ended without an answer; it does not say which rows these are.
  | ([ {"not 2xx": ($summary | [number("Non-2xx responses")] | .[0] // 0)}, {"of another length": ($summary | failed("Length"))}, {"lost": ($summary | failed("Receive") + failed("Exceptions"))} ]
      | add | with_entries(select(.value > 0))) as $bad
  # Of the requests between two hundredths half is given the lower and half the upper one, so that neither their quantiles nor
  # their mean are off; those beyond the last hundredth have their whole ms.
  | (if $done == 0 then [] else
      (reduce ($steps[] | select(.[0] < 100)) as [$share, $ns] ({next: 0, before: $steps[0][1], pairs: []};
        ([index_of($share; $done) + 1, $done - 1] | min) as $past
        | if $past > .next then
            (($past - .next) / 2 | floor) as $half
            | .pairs += [[.before, $half], [$ns, $past - .next - $half]] | .next = $past
          else . end
        | .before = $ns)) as $known
      | $steps[-2][1] as $floor | $steps[-1][1] as $top
      | [$known.pairs[] | select(.[1] > 0)] + [$ms[$known.next:-1][] | [([[. * 1e6, $floor] | max, $top] | min), 1]] + [[$top, 1]]
    end) as $pairs
  | {
      # The whole time to more digits than ab prints it: requests over their printed rate.
      elapsed_ns: (if $counts.rate > 0 then $done / $counts.rate * 1e9 | round else null end),
      answers: {},
      histogram: (if $pairs == [] then {} else { (mixed("2xx"; $done; $bad)): $pairs } end),
      errors: {},
    };
