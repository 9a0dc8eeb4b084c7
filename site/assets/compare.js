// A comparison's page. Flame graphs are read from their pictures and drawn anew, as shapes and text only, with a callout on the frame that changed most.
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

function draw(all, wide, { function: name, change }) {
  const called = all.filter((frame) => frame.name === name).sort((one, other) => other.width - one.width)[0];
  const head = called ? 24 : 0;
  const top = ({ row }) => head + row * ROW;
  const svg = shape("svg", { viewBox: `0 0 ${wide} ${head + (Math.max(...all.map(({ row }) => row)) + 1) * ROW}`, role: "img", "aria-label": "Flame graph of the difference" });
  for (const frame of all) {
    const [x, width] = [frame.x * wide, frame.width * wide];
    svg.append(shape("rect", { x, y: top(frame), width, height: ROW - 1, fill: frame.colour, ...(frame === called && { class: "called" }) }, shape("title", {}, frame.title)));
    const fits = Math.floor((width - 6) / 6.6);
    if (fits > 3) svg.append(shape("text", { x: x + 3, y: top(frame) + 13 }, frame.name.length > fits ? `${frame.name.slice(0, fits - 1)}…` : frame.name));
  }
  if (called) {
    const middle = (called.x + called.width / 2) * wide;
    const right = called.x > 0.5;
    svg.append(shape("path", { class: "callout", d: `M${middle} ${top(called)}V17` }),
      shape("text", { class: "callout", x: middle + (right ? 4 : -4), y: 12, "text-anchor": right ? "end" : "start" }, `${name.split("::").at(-1)} ${change}`));
  }
  return svg;
}

// The picture stays as it is when it cannot be read: opened as a file, or drawn by something else.
for (const figure of document.querySelectorAll("figure.flame")) {
  const image = figure.querySelector("img");
  fetch(image.src).then(async (answer) => {
    if (answer.ok) image.replaceWith(draw(frames(await answer.text()), Math.max(900, figure.clientWidth), figure.dataset));
  }).catch(() => {});
}
