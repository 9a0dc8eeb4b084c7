# $count → what hey prints for that many requests, with latencies of the usual shape and length
{
  elapsed_ns: ($count * 40000),
  results: $count,
  statuses: { "200": $count },
  errors: {},
  latencies_s: [range($count) | (. * 7919 % 1000003) as $spread | 0.000100001 + $spread / 1e9],
}
