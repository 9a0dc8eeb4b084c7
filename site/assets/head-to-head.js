// Head to head: switches for scenario, driver and number. The pictures are there without it; the state is in the address.

const groups = [...document.querySelectorAll(".group")];
const place = document.getElementById("switches");

// The choices there are, in the order of the page: key and words.
function choices(of) {
  const found = new Map();
  for (const element of of()) found.set(element.key, element.words);
  return [...found];
}

const kinds = [
  { name: "scenario", all: "all scenarios", list: () => groups.map(({ dataset: d }) => ({ key: d.scenario, words: d.scenario })) },
  { name: "driver", all: "all drivers", list: () => groups.map(({ dataset: d }) => ({ key: d.driver, words: d.driver })) },
  {
    name: "metric",
    all: "all numbers",
    list: () => [...document.querySelectorAll(".group figure[data-metric]")].map(({ dataset: d }) => ({ key: d.metric, words: d.label })),
  },
];

const none = document.createElement("p");
none.setAttribute("role", "status");

// Shows what the address asks for; what it names and nothing has is not chosen.
function show() {
  const query = new URLSearchParams(location.search);
  const chosen = {};
  for (const kind of kinds) {
    const wanted = query.get(kind.name) ?? "";
    chosen[kind.name] = [...kind.select.options].some((option) => option.value === wanted) ? wanted : "";
    kind.select.value = chosen[kind.name];
  }
  let shown = 0;
  for (const group of groups) {
    const fits = ["scenario", "driver"].every((name) => !chosen[name] || group.dataset[name] === chosen[name]);
    const cells = [...group.querySelectorAll("[data-metric]")];
    const has = !chosen.metric || cells.some((cell) => cell.dataset.metric === chosen.metric);
    group.hidden = !(fits && has);
    shown += group.hidden ? 0 : 1;
    for (const cell of cells) cell.hidden = chosen.metric !== "" && cell.dataset.metric !== chosen.metric;
  }
  none.textContent = shown > 0 ? "" : "No picture fits: this driver did not ask in this scenario, or has no such number.";
}

function choose() {
  const query = new URLSearchParams();
  for (const { name, select } of kinds) if (select.value) query.set(name, select.value);
  const text = query.toString();
  history.pushState(null, "", text ? `?${text}` : location.pathname);
  show();
}

if (groups.length > 0) {
  const controls = document.createElement("p");
  controls.className = "controls";
  for (const kind of kinds) {
    kind.select = document.createElement("select");
    kind.select.append(new Option(kind.all, ""));
    for (const [key, words] of choices(kind.list)) kind.select.append(new Option(words, key));
    kind.select.addEventListener("change", choose);
    const label = document.createElement("label");
    label.className = "switch";
    label.append(kind.name === "metric" ? "number" : kind.name, kind.select);
    controls.append(label);
  }
  place.append(controls, none);
  addEventListener("popstate", show);
  show();
}
