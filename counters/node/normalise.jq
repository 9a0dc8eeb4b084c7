# Coverage files of V8, one for each process and thread → the blocks that each function executed

# Functions without a name, with the named function around them, if there is one
def owned:
  reduce .[] as $one ({around: [], functions: []};
    $one.ranges[0] as $whole
    | .around |= map(select(.to >= $whole.endOffset))
    | {name: (if $one.functionName == "" then "(anonymous)" else $one.functionName end), offset: $whole.startOffset, to: $whole.endOffset} as $named
    | .functions += [$named + {count: ($one.ranges | map(.count) | add), calls: $whole.count}
        + if $one.functionName == "" and .around != [] then {around: .around[-1]} else {} end]
    | if $one.functionName == "" then . else .around += [$named] end)
  | .functions;

def own: startswith("file://") and (contains("/node_modules/") | not);
def path: ltrimstr("file://") | gsub("%20"; " ");

[inputs] as $all
| {functions: [
  $all[].result[]
  | select(.url | own)
  | (.url | path) as $file
  # The first function of a file is the file itself.
  | .functions[1:] | owned[]
  | {name, file: $file, offset, to, count, calls, around}
],
# What compilers wrote of where each file comes from.
maps: ([
  $all[]["source-map-cache"] // {} | to_entries[]
  | select((.key | own) and .value.data != null)
  | {key: (.key | path), value: {lengths: .value.lineLengths, map: (.value.data | del(.sourcesContent) | .sources |= map(path))}}
] | from_entries)}
