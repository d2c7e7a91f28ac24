// Vega evaluates its expressions without eval (ast), which the page's policy forbids.
const embed = (place, spec) =>
  vegaEmbed(place, spec, { actions: false, ast: true, renderer: "svg" });
