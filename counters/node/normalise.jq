# Coverage files of V8, one for each process and thread → the blocks that each function executed

# Functions without a name count for the named function around them; elsewhere they stay by themselves.
def owned:
  reduce .[] as $one ({around: [], functions: []};
    $one.ranges[0] as $whole
    | .around |= map(select(.to >= $whole.endOffset))
    | (if $one.functionName == "" then .around[-1] else null end) as $owner
    | ($owner // {name: (if $one.functionName == "" then "(anonymous)" else $one.functionName end), offset: $whole.startOffset, to: $whole.endOffset}) as $named
    | (if $one.functionName == "" then . else .around += [$named] end)
    | .functions += [$named + {
        count: ($one.ranges | map(.count) | add),
        calls: (if $owner then 0 else $whole.count end)
      }])
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
  | {name, file: $file, offset, to, count, calls}
],
# What compilers wrote of where each file comes from.
maps: ([
  $all[]["source-map-cache"] // {} | to_entries[]
  | select((.key | own) and .value.data != null)
  | {key: (.key | path), value: {lengths: .value.lineLengths, map: (.value.data | del(.sourcesContent) | .sources |= map(path))}}
] | from_entries)}
