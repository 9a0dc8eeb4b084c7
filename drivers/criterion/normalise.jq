# criterion's sample.json → {elapsed_ns: null, answers: {"0": [ns of an iteration, one for each sample]}, errors: {}}
include "read";

if . == "" then error("criterion: expected the samples of one benchmark, found nothing: is there a benchmark of that name?") else . end
| document("criterion"; "the sample.json of one benchmark")
| if (.iters | type) == "array" and (.times | type) == "array" and (.times | length) == (.iters | length) and all(.iters[]; . > 0) then .
  else error("criterion: expected a time and a number of iterations for each sample, found \(keys)") end
| {
    # A sample is the mean of many iterations: a throughput of samples would say nothing.
    elapsed_ns: null,
    answers: { "0": [[.times, .iters] | transpose[] | (.[0] / .[1]) | round] },
    errors: {},
  }
