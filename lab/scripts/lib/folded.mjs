// folded.mjs: a CPU profile of Node.js (--cpu-prof) as folded stacks: one stack a line, its µs at the end; and where the time went.
//
// Usage: node lab/scripts/lib/folded.mjs PROFILE.cpuprofile > STACKS.folded      (shares of kinds go to standard error)

import { readFileSync } from "node:fs";

const profile = JSON.parse(readFileSync(process.argv[2], "utf8"));
const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
const parents = new Map(profile.nodes.flatMap((node) => (node.children ?? []).map((child) => [child, node.id])));

// A frame is a function with the package or the part of Node.js that it is of; no path of the machine.
const frame = ({ callFrame: { functionName, url } }) => {
  const packaged = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url);
  const own = /\/(src\/[^/]+(?:\/[^/]+)?)$/.exec(url);
  const where = packaged?.[1] ?? own?.[1] ?? (url.startsWith("node:") ? url : "");
  return `${(functionName || "(anonymous)").replace(/^.*\//, "")}${where ? ` [${where}]` : ""}`.replaceAll(";", ",");
};

const stack = (id) => {
  const frames = [];
  for (let at = id; at !== undefined; at = parents.get(at)) frames.unshift(frame(nodes.get(at)));
  return frames.slice(1).join(";");
};

const micros = new Map();
profile.samples.forEach((id, place) => micros.set(id, (micros.get(id) ?? 0) + profile.timeDeltas[place]));

const kind = ({ callFrame: { functionName, url } }) => {
  if (functionName === "(idle)") return undefined;
  if (functionName === "(garbage collector)") return "garbage collection";
  const packaged = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1];
  if (packaged) return packaged;
  if (/^node:internal\/http2/.test(url)) return "Node.js: HTTP/2";
  if (url.startsWith("node:")) return "Node.js: other modules";
  return url ? "the gateway" : "native code";
};

const stacks = new Map();
const kinds = new Map();
let busy = 0;
for (const [id, us] of micros) {
  const of = kind(nodes.get(id));
  if (of === undefined || us <= 0) continue;
  busy += us;
  kinds.set(of, (kinds.get(of) ?? 0) + us);
  const line = stack(id);
  stacks.set(line, (stacks.get(line) ?? 0) + us);
}
// Of a stack with less than a thousandth of the time only its innermost function is kept, so that shares of functions stay whole.
const lines = new Map();
for (const [line, us] of stacks) {
  const kept = us < busy / 1000 ? `(smaller stacks);${line.slice(line.lastIndexOf(";") + 1)}` : line;
  lines.set(kept, (lines.get(kept) ?? 0) + us);
}
for (const [line, us] of [...lines].sort(([one], [other]) => (one < other ? -1 : 1))) console.log(`${line} ${us}`);
for (const [of, us] of [...kinds].sort((one, other) => other[1] - one[1])) {
  if (us >= busy / 200) console.error(`${((us / busy) * 100).toFixed(1)} %\t${of}`);
}
