const details = document.getElementById("details");
const term = document.getElementById("term");
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

const flames = [...document.querySelectorAll(".flame")].map((section) => {
  const place = section.querySelector(".chart");
  const data = JSON.parse(section.querySelector("script").textContent);
  const largest = d3.max(d3.hierarchy(data, (node) => node.c), (node) => Math.abs(node.data.d ?? 0));

  const sentence = (node) => {
    const { n, v, d } = node.data;
    const change = d === undefined ? "" : `, ${d3.format("+,.2f")(d)} points`;
    return `${n}: ${percent((100 * v) / data.v)} % of all samples${change}`;
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
    .setLabelHandler(sentence)
    .setDetailsElement(details)
    .setColorMapper((node) => color(node, d3.interpolateYlOrBr(0.15 + 0.3 * fraction(node.data.n))))
    .setSearchMatch((node, text) => node.data.n.toLowerCase().includes(text.toLowerCase()))
    .onClick((node) => choose(node));
  let share = 0;
  chart.setSearchHandler((_, sum, total) => (share = sum / total));

  let current = null;
  const choose = (node) => {
    current = node;
    d3.select(place).selectAll("g").classed("current", (each) => each === current);
    if (current) details.textContent = sentence(current);
  };

  d3.select(place).datum(data).call(chart);
  const svg = place.querySelector("svg");
  // A printed page scales the graph.
  svg.setAttribute("viewBox", `0 0 ${width} ${svg.getAttribute("height")}`);
  svg.setAttribute("aria-hidden", "true");

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
    Enter: (node) => (chart.zoomTo(node), node),
    Escape: () => (chart.resetZoom(), root()),
  };
  place.addEventListener("keydown", (event) => {
    const move = moves[event.key];
    if (!move) return;
    event.preventDefault();
    choose(move(current ?? root()));
  });

  return {
    search: (text) => {
      chart.resetZoom();
      choose(null);
      if (!text) return chart.clear();
      chart.search(text);
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

function search() {
  const found = flames.map((flame) => flame.search(term.value));
  details.textContent = term.value ? `“${term.value}”: ${found.join(", ")}` : "";
}

document.getElementById("search").addEventListener("submit", (event) => event.preventDefault());
document.getElementById("search").addEventListener("reset", () => setTimeout(search));
term.addEventListener("input", search);
