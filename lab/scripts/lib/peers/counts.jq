# A counted run's record → the same without call stacks and all but the costliest functions, which are most of it.
.series |= map(.counts |= map(del(.stacks, .callers)
  | .functions |= ((. // []) | group_by(.metric) | map(sort_by(-.cost) | .[:30]) | add)))
