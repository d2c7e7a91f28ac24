for (const chart of document.querySelectorAll(".chart")) {
  embed(chart, JSON.parse(chart.closest("figure").querySelector("script").textContent));
}
