// The page is a view of its address: search, zoom and switches stand behind the #, and can be shared.

const details = document.getElementById("details");
const term = document.getElementById("term");
const hover = document.getElementById("hover");
const most = document.getElementById("most");
const percent = d3.format(",.2f");
const UNTOLD = "#f7f7f7";
// Colours: Okabe and Ito, "Color Universal Design"; black text is legible on each.
const COLORS = {
  grew: d3.interpolateRgb(UNTOLD, "#e69f00"),
  shrank: d3.interpolateRgb(UNTOLD, "#56b4e9"),
  only: d3.interpolateRgb(UNTOLD, "#f0e442"),
  untold: () => UNTOLD,
};
// So much of its colour has the frame that changed least.
const LEAST = 0.3;
const FOUND = "#cc79a7";
// A label that has no room loses its start, since functions of one class differ in the ends of their
// names: it is set from right to left, and these marks keep its signs in their places.
const MARK = "\u200e";

const asked = () => new URLSearchParams(location.hash.slice(1));

function ask(choices) {
  const next = asked();
  for (const [name, value] of Object.entries(choices)) {
    if (value) next.set(name, value);
    else next.delete(name);
  }
  history.replaceState(null, "", `#${next}`);
  show();
}

// The names of the frames from the outermost to a frame.
const pathOf = (node) => node.ancestors().reverse().slice(1).map(({ data }) => data.n).join(";");

// The frame at a path, or the last one on the way that a graph has.
function frameAt(root, path) {
  let node = root;
  for (const name of path ? path.split(";") : []) {
    const next = node.children?.find(({ data }) => data.n === name);
    if (!next) break;
    node = next;
  }
  return node;
}

const allNodes = (data) => d3.hierarchy(data, ({ c }) => c).descendants();

// A tree whose outermost frames are the functions that samples were in, each with its callers.
function invertedTree(data) {
  const words = new Map(allNodes(data).map(({ data: { n, w } }) => [n, w]));
  const made = (n) => ({ n, v: 0, w: words.get(n), c: [] });
  const top = { ...made(data.n), v: data.v, t: data.t };
  for (const frame of allNodes(data).slice(1)) {
    const { v, c } = frame.data;
    const own = v - d3.sum(c ?? [], (child) => child.v);
    let at = top;
    for (const { data: { n } } of own > 0 ? frame.ancestors().slice(0, -1) : []) {
      let next = at.c.find((child) => child.n === n);
      if (!next) at.c.push((next = made(n)));
      next.v += own;
      at = next;
    }
  }
  return top;
}

// Give each frame of a tree its change since another one, in points of the share of all samples.
function setChanges(data, other, sign) {
  const walk = (node, same) => {
    node.d = 100 * sign * (node.v / (data.t ?? data.v) - (same?.v ?? 0) / (other.t ?? other.v));
    for (const child of node.c) walk(child, same?.c.find(({ n }) => n === child.n));
  };
  walk(data, other);
}

const flames = [...document.querySelectorAll(".flame")].map((section, number) => {
  const place = section.querySelector(".chart");
  const stored = JSON.parse(section.querySelector("script").textContent);
  let data = stored.own ?? stored.all;

  const whole = () => data.t ?? data.v;
  const sentence = (node) => {
    const { n, v, d } = node.data;
    const change = d === undefined ? "" : `, ${d3.format("+,.2f")(d)} points`;
    return `${n}: ${percent((100 * v) / whole())} % of all samples${change}`;
  };
  const color = (node, original) => {
    if (node.highlight) return FOUND;
    const { d, w } = node.data;
    return w ? COLORS[w](LEAST + (1 - LEAST) * Math.sqrt(Math.abs(d) / (largest || 1))) : original;
  };
  const width = Math.max(320, place.clientWidth);
  const chart = flamegraph
    .default()
    .width(width)
    .minFrameSize(0.5)
    .transitionDuration(0)
    .sort(true)
    // Towers of hundreds of frames end far below their base, which says most and is read first.
    .inverted(true)
    .getName(({ data: { n } }) => `${MARK}${n}${MARK}`)
    .setLabelHandler(sentence)
    .setDetailsElement(details)
    .setColorMapper((node) => color(node, d3.interpolateYlOrBr(0.15 + 0.3 * fraction(node.data.n))))
    .setSearchMatch((node, text) => node.data.n.toLowerCase().includes(text.toLowerCase()))
    .onClick((node) => {
      if (isMoving) return;
      choose(node);
      ask({ zoom: pathOf(node) });
      details.textContent = sentence(node);
    });
  let share = 0;
  chart.setSearchHandler((_, sum, total) => (share = ((sum / total) * data.v) / whole()));

  let current = null;
  const choose = (node) => {
    current = node;
    d3.select(place).selectAll("g").classed("current", (each) => each === current);
    if (current) details.textContent = sentence(current);
  };
  const root = () => d3.select(place).datum();
  const drawn = (nodes) => (nodes ?? []).filter((node) => (node.x1 - node.x0) * width > 0.5);
  const beside = (node, step) => {
    const siblings = drawn(node.parent?.children).sort((a, b) => a.x0 - b.x0);
    return siblings[siblings.indexOf(node) + step] ?? node;
  };
  const moves = {
    ArrowDown: (node) => d3.greatest(drawn(node.children), (child) => child.x1 - child.x0) ?? node,
    ArrowUp: (node) => node.parent ?? node,
    ArrowLeft: (node) => beside(node, -1),
    ArrowRight: (node) => beside(node, 1),
    Enter: (node) => (ask({ zoom: pathOf(node) }), node),
    Escape: () => (ask({ zoom: "" }), root()),
  };
  place.addEventListener("keydown", (event) => {
    const move = moves[event.key];
    if (!move) return;
    event.preventDefault();
    choose(move(current ?? root()));
  });
  place.addEventListener("pointermove", ({ target, clientX, clientY }) => {
    const frame = target.closest("g.frame");
    hover.hidden = !frame;
    if (!frame) return;
    hover.textContent = sentence(d3.select(frame).datum());
    const left = Math.min(clientX + 12, document.documentElement.clientWidth - hover.offsetWidth - 4);
    hover.style.translate = `${Math.max(4, left)}px ${clientY + 18}px`;
  });
  place.addEventListener("pointerleave", () => (hover.hidden = true));

  return {
    sign: stored.sign,
    choose: (isOwn, isInverted) => {
      data = (isOwn && stored.own) || stored.all;
      if (isInverted) data = invertedTree(data);
      return data;
    },
    // A tree that another graph draws, too, has its changes since that one.
    compare: (others) => {
      const other = others.find((each) => each !== data);
      if (data.w && data.d === undefined && other) setChanges(data, other, stored.sign);
      return d3.max(allNodes(data), (node) => Math.abs(node.data.d ?? 0));
    },
    draw: () => {
      const svg = place.querySelector("svg");
      if (svg) chart.height(null).update(data);
      else d3.select(place).datum(data).call(chart);
      const graph = place.querySelector("svg");
      // A printed page scales the graph.
      graph.setAttribute("viewBox", `0 0 ${width} ${graph.getAttribute("height")}`);
      graph.setAttribute("aria-hidden", "true");
      current = null;
    },
    look: (text, path) => {
      chart.resetZoom();
      if (text) chart.search(text);
      else chart.clear();
      if (path) chart.zoomTo(frameAt(root(), path));
      return `${percent(100 * share)} % of ${section.dataset.name}`;
    },
  };
});

// A number from 0 to 1 that a name always has: neighbours of one colour would look like one frame.
function fraction(name) {
  let hash = 0;
  for (const letter of name) hash = (hash * 31 + letter.codePointAt(0)) % 1009;
  return hash / 1009;
}

let largest = 0; // change in any graph [points]
let isMoving = false;
let drawnFor = "";

function show() {
  const choices = asked();
  const [text, path] = ["search", "zoom"].map((name) => choices.get(name) ?? "");
  const switches = {};
  for (const box of document.querySelectorAll("form [type=checkbox]")) {
    box.checked = choices.has(box.id) ? choices.get(box.id) === "yes" : box.defaultChecked;
    switches[box.id] = box.checked;
  }
  if (term.value !== text) term.value = text;
  isMoving = true;
  if (drawnFor !== JSON.stringify(switches)) {
    drawnFor = JSON.stringify(switches);
    const trees = flames.map((flame) => flame.choose(switches.own, switches.inverted));
    largest = d3.max(flames.map((flame) => flame.compare(trees)));
    for (const flame of flames) flame.draw();
    if (most) most.textContent = `The strongest colour is ${percent(largest)} points.`;
  }
  const found = flames.map((flame) => flame.look(text, path));
  isMoving = false;
  details.textContent = text ? `“${text}”: ${found.join(", ")}` : "";
}

const form = document.getElementById("search");
form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("reset", (event) => {
  event.preventDefault();
  ask({ search: "", zoom: "" });
});
form.addEventListener("change", ({ target }) => {
  if (target.type !== "checkbox") return;
  const chosen = target.checked ? "yes" : "no";
  ask({ [target.id]: target.checked === target.defaultChecked ? "" : chosen, zoom: "" });
});
term.addEventListener("input", () => ask({ search: term.value }));
addEventListener("hashchange", show);
show();
