// A locale of d3-format, which writes figures as the texts of the page have them.
const LOCALE = {
  decimal: ".",
  thousands: ",",
  grouping: [3],
  currency: ["", ""],
  percent: "\u00a0%",
};
// Vega evaluates its expressions without eval (ast), which the page's policy forbids. It also names
// each chart "Vega visualization": the chart is again an image with the name that it had.
async function embed(place, spec) {
  const { role, ariaLabel } = place;
  await vegaEmbed(place, spec, { actions: false, ast: true, renderer: "svg", formatLocale: LOCALE });
  Object.assign(place, { role, ariaLabel, ariaRoleDescription: null });
}
