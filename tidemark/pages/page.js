// A locale of d3-format, which writes figures as the texts of the page have them.
const LOCALE = {
  decimal: ".",
  thousands: ",",
  grouping: [3],
  currency: ["", ""],
  percent: "\u00a0%",
};
// Vega evaluates its expressions without eval (ast), which the page's policy forbids.
const embed = (place, spec) =>
  vegaEmbed(place, spec, { actions: false, ast: true, renderer: "svg", formatLocale: LOCALE });
