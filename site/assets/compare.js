// A comparison's page: a button that copies its Markdown.

const text = document.getElementById("markdown");
if (text) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy as Markdown";
  const said = document.createElement("span");
  said.setAttribute("role", "status");
  said.className = "quiet";
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text.value);
      said.textContent = "Copied.";
    } catch {
      // Over plain HTTP, or without permission, there is no clipboard: the text is selected for the reader to copy.
      text.closest("details").open = true;
      text.focus();
      text.select();
      said.textContent = "Selected: press Ctrl+C to copy.";
    }
  });
  const controls = document.createElement("p");
  controls.className = "controls";
  controls.append(button, said);
  text.before(controls);
}

// Flame graphs can be searched: their frames are read from the picture and drawn anew, as shapes and text only.
const SVG = "http://www.w3.org/2000/svg";
const ROW = 18;

const ENTITIES = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };
const plain = (text) => text.replace(/&(lt|gt|amp|quot|apos);/g, (_, name) => ENTITIES[name]).replace(/&#(\d{1,6});/g, (_, code) => String.fromCodePoint(Number(code)));

// Frames of a picture that wirebench drew: place and width as shares of the whole, row, colour and words. Read as text: a
// parser would try the picture's own scripts and styles, which pages forbid.
function frames(text) {
  const found = [...text.matchAll(/<title>([^<]*)<\/title>\s*<rect ([^>]*)>/g)].map(([, title, rect]) => {
    const value = (name) => rect.match(new RegExp(`(?:^|\\s)${name}="([^"]*)"`))?.[1] ?? "";
    const share = (name) => parseFloat(value(name)) / 100;
    return { title: plain(title), x: share("x"), width: share("width"), y: Number(value("y")), colour: value("fill") };
  });
  if (!found.length || found.some(({ x, width, y, colour }) => !(x >= 0 && width >= 0 && y >= 0 && /^rgb\([\d, .]+\)$/.test(colour)))) throw new Error("no frames");
  const top = Math.min(...found.map(({ y }) => y));
  return found.map((frame) => ({ ...frame, row: Math.round((frame.y - top) / 16), name: frame.title.replace(/ \([^()]*\)$/, "") }));
}

function shape(name, props, ...children) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(props)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

function draw(all) {
  const height = (Math.max(...all.map(({ row }) => row)) + 1) * ROW;
  const wide = 900;
  const svg = shape("svg", { viewBox: `0 0 ${wide} ${height}`, role: "img", "aria-label": "Flame graph of the difference" });
  const rects = all.map((frame) => {
    const rect = shape("rect", { x: frame.x * wide, y: frame.row * ROW, width: frame.width * wide, height: ROW - 1, fill: frame.colour }, shape("title", {}, frame.title));
    svg.append(rect);
    const fits = Math.floor((frame.width * wide - 6) / 6.6);
    if (fits > 3) svg.append(shape("text", { x: frame.x * wide + 3, y: frame.row * ROW + 13 }, frame.name.length > fits ? `${frame.name.slice(0, fits - 1)}…` : frame.name));
    return [frame, rect];
  });
  return [svg, rects];
}

async function searchable(figure) {
  const image = figure.querySelector("img");
  const answer = await fetch(image.src);
  if (!answer.ok) return;
  const [svg, rects] = draw(frames(await answer.text()));
  const said = document.createElement("span");
  said.setAttribute("role", "status");
  const find = document.createElement("input");
  find.type = "search";
  find.placeholder = "Find a function";
  find.setAttribute("aria-label", "Find a function in the flame graph");
  find.addEventListener("input", () => {
    const wanted = find.value.trim().toLowerCase();
    let count = 0;
    for (const [frame, rect] of rects) {
      const fits = wanted !== "" && frame.name.toLowerCase().includes(wanted);
      rect.classList.toggle("found", fits);
      count += fits ? 1 : 0;
    }
    said.textContent = wanted ? `${count} of ${rects.length} frames` : "";
  });
  const controls = document.createElement("p");
  controls.className = "controls";
  controls.append(find, said);
  image.replaceWith(controls, svg);
}

// Read when its fold opens. The picture stays as it is when it cannot be read: opened as a file, or drawn by something else.
for (const fold of document.querySelectorAll("details.why")) {
  fold.addEventListener("toggle", () => {
    for (const figure of fold.querySelectorAll("figure.flame")) searchable(figure).catch(() => {});
  }, { once: true });
}
