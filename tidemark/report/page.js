// A chart takes its width from its element, which has none while a fold hides it.
const waiting = new Set(document.querySelectorAll(".chart"));
function drawSeen() {
  for (const chart of waiting) {
    if (chart.closest("details:not([open])")) continue;
    waiting.delete(chart);
    embed(chart, JSON.parse(chart.closest("figure").querySelector("script").textContent));
  }
}
drawSeen();
document.addEventListener("toggle", drawSeen, true);

// A link to a folded section opens it.
function openLinked() {
  const fold = location.hash && document.querySelector(`${location.hash}.folded > details`);
  if (fold) fold.open = true;
}
openLinked();
addEventListener("hashchange", openLinked);
