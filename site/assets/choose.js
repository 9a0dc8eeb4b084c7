// Two runs side by side: shown, never judged. Loads the summaries of the runs that the address names.
import { el } from './lib/dom.js';

// Differences that are seen at once.
const FIRST = 12;
const SCHEMA = "wirebench.run-summary/v1";
const place = document.getElementById("choose");
const runs = [...document.querySelectorAll("#runs tr[data-run]")].map((row) => ({
  id: row.dataset.run,
  label: row.dataset.label,
}));

async function load(id) {
  const answer = await fetch(`${document.documentElement.dataset.root}data/runs/${id}.summary.json`);
  if (!answer.ok) throw new Error(`the summary of run ${id} is missing (${answer.status})`);
  let data;
  try {
    data = await answer.json();
  } catch {
    throw new Error(`the summary of run ${id} is broken`);
  }
  if (data?.schema !== SCHEMA || !Array.isArray(data.series) || !Array.isArray(data.environment)) {
    throw new Error(`the summary of run ${id} is of another version of wirebench`);
  }
  return data;
}

function table(heads, rows) {
  const head = el("tr", {}, ...heads.map((text, at) => el("th", at > 1 ? { class: "number" } : {}, text)));
  for (const cells of rows) for (const [at, cell] of cells.entries()) if (at > 1) cell.dataset.label = heads[at];
  return el("table", { class: "cards" }, el("thead", {}, head), el("tbody", {}, ...rows.map((cells) => el("tr", {}, ...cells))));
}

// What is not the same in both runs; the first thing to read.
function environment(a, b) {
  const of = (run) => new Map(run.environment.map((fact) => [fact.name, fact.value]));
  const [left, right] = [of(a), of(b)];
  const names = [...new Set([...left.keys(), ...right.keys()])];
  const differing = names.filter((name) => left.get(name) !== right.get(name));
  const parts = [el("h3", {}, "Environment")];
  if (differing.length === 0) parts.push(el("p", {}, "No difference: same machine, same programs, same profile."));
  else {
    const cell = (text) => el("td", {}, text ?? "–");
    parts.push(el("p", {}, "These differ; a change below may come from them:"));
    const rows = differing.map((name) => [cell(name), cell(left.get(name)), cell(right.get(name))]);
    const shown = table(["what", "A", "B"], rows);
    for (const head of shown.querySelectorAll("th")) head.removeAttribute("class");
    parts.push(shown);
  }
  const remarks = [["A", a], ["B", b]].flatMap(([side, run]) => run.remarks.map((text) => `${side}: ${text}`));
  if (remarks.length > 0) parts.push(el("ul", {}, ...remarks.map((text) => el("li", {}, text))));
  return parts;
}

// `+5.2 %`, as the other pages write it.
function change(from, to) {
  if (!(from > 0)) return "–";
  const percent = (to / from - 1) * 100;
  if (percent >= 99.95) return `× ${(to / from).toFixed(1)}`;
  const digits = Math.abs(percent).toFixed(1);
  return `${digits === "0.0" ? "" : percent < 0 ? "−" : "+"}${digits} %`;
}

function values(a, b) {
  const right = new Map(b.series.map((series) => [series.id, series]));
  const left = new Set(a.series.map((series) => series.id));
  const rows = [];
  const apart = [];
  for (const series of a.series) {
    const other = right.get(series.id);
    if (!other) apart.push(`${series.id}: only in A`);
    else if (other.digest !== series.digest) apart.push(`${series.id}: the two runs asked different questions`);
    else {
      const found = new Map(other.values.map((value) => [value.label, value]));
      for (const value of series.values.filter((one) => found.has(one.label))) {
        const beside = found.get(value.label);
        const number = (one) => el("td", { class: "number", title: one.range }, one.text);
        const note = value.label === "throughput" ? [...new Set([series.note, other.note])].filter(Boolean).join("; ") : "";
        rows.push([Math.abs(Math.log(other && value.value > 0 && beside.value > 0 ? beside.value / value.value : 1)), [
          el("td", { class: "mono" }, series.id),
          el("td", {}, note ? `${value.label} (${note})` : value.label),
          number(value),
          number(beside),
          el("td", { class: "number" }, change(value.value, beside.value)),
          el("td", { class: "quiet" }, `${value.better} is better`),
        ]]);
      }
    }
  }
  apart.push(...b.series.filter((series) => !left.has(series.id)).map((series) => `${series.id}: only in B`));
  const parts = [el("h3", {}, "Values")];
  if (rows.length === 0) parts.push(el("p", {}, "The two runs have no series in common."));
  else {
    parts.push(el("p", { class: "quiet" }, "Medians of the candidates, the largest difference first; two runs: shown, not judged."));
    const heads = ["series", "metric", "A", "B", "B over A", "direction"];
    const sorted = rows.sort(([one], [other]) => other - one).map(([, cells]) => cells);
    parts.push(table(heads, sorted.slice(0, FIRST)));
    if (sorted.length > FIRST) parts.push(el("details", {}, el("summary", {}, `${sorted.length - FIRST} smaller differences`), table(heads, sorted.slice(FIRST))));
  }
  if (apart.length > 0) parts.push(el("ul", {}, ...apart.map((text) => el("li", {}, text))));
  return parts;
}

// The two ids of the address; what it does not name, or names wrongly, is the newest run and the one before.
function chosen() {
  const query = new URLSearchParams(location.search);
  const known = (id, otherwise) => (runs.some((run) => run.id === id) ? id : otherwise);
  const wrong = ["a", "b"].map((side) => query.get(side)).filter((id) => id !== null && !runs.some((run) => run.id === id));
  return { a: known(query.get("a"), runs[1].id), b: known(query.get("b"), runs[0].id), wrong };
}

const result = el("div");
let asked = 0;

async function show() {
  const { a, b, wrong } = chosen();
  const mine = ++asked;
  picks.a.value = a;
  picks.b.value = b;
  const notices = wrong.map((id) => el("p", {}, `No run ${id.slice(0, 60)} has a page here; another one is shown.`));
  if (a === b) {
    result.replaceChildren(...notices, el("p", {}, "A and B are the same run."));
    return;
  }
  try {
    const [left, right] = await Promise.all([load(a), load(b)]);
    if (mine !== asked) return;
    result.replaceChildren(...notices, ...environment(left, right), ...values(left, right));
  } catch (error) {
    if (mine !== asked) return;
    const again = el("button", { type: "button", click: show }, "Try again");
    result.replaceChildren(el("p", {}, `The two runs cannot be shown: ${error.message}. `, again));
  }
}

function pick(side) {
  const select = el("select", { id: `run-${side}` });
  for (const run of runs) select.append(el("option", { value: run.id }, run.label));
  select.addEventListener("change", () => {
    const { a, b } = { ...chosen(), [side]: select.value };
    history.pushState(null, "", `?a=${encodeURIComponent(a)}&b=${encodeURIComponent(b)}`);
    show();
  });
  return select;
}

const picks = { a: pick("a"), b: pick("b") };
const labelled = (side) => el("label", { class: "pick" }, `${side.toUpperCase()} `, picks[side]);
place.replaceChildren(el("p", { class: "controls" }, labelled("a"), labelled("b")), result);
addEventListener("popstate", show);
show();
