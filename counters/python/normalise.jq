# Functions of each process, as sitecustomize.py wrote them → the bytecodes that each function executed

# Lambdas and comprehensions count for the function around them.
def owner: .name | sub("\\.<locals>\\.<.*"; "");

{functions: [
  [inputs[] | . + {owner: owner}] | group_by([.file, .owner])[]
  | (map(select(.name == .owner)) | if . == [] then null else . end) as $own
  | {
      name: .[0].owner,
      file: .[0].file,
      line: (($own // .) | map(.line) | min),
      last: (map(.last) | max),
      count: (map(.count) | add),
      calls: (($own // .) | map(.calls) | add)
    }
]}
