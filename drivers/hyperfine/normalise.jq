# hyperfine's --export-json → {elapsed_ns: null, answers: {exit code: [time of a start, ns]}, errors: {}}
include "read";

document("hyperfine"; "the JSON of --export-json")
| if (.results | type) == "array" and (.results | length) == 1 then .results[0]
  else error("hyperfine: expected the results of one command, found \(keys)") end
| if (.times | type) == "array" and (.times | length) == (.exit_codes | length) then .
  else error("hyperfine: expected a time and an exit code for each start, found \(keys)") end
| {
    elapsed_ns: null,
    # A program ended by a signal has the exit code 128 + signal.
    answers: (reduce ([.times, .exit_codes] | transpose[]) as [$seconds, $code] ({};
      .[$code | tostring] += [$seconds * 1e9 | round])),
    errors: {},
  }
