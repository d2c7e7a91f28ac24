// Numbers as texts, by the rules of the Python module numerals, whose functions have these names. A
// test compares both.

// The decimal exponent of a number above zero.
const exponent = (size) => Number(size.toExponential().split("e")[1]);

// As Python, half to even; JavaScript rounds a tie up. More places show whether it is a tie.
const MORE = 25;

function rounded(size, places) {
  const exact = size.toFixed(Math.min(100, places + MORE));
  const below = exact.slice(0, exact.indexOf(".") + (places && places + 1));
  const rest = exact.slice(below.length).replace(".", "");
  return /^50*$/.test(rest) && /[02468]$/.test(below) ? below : size.toFixed(places);
}

const withThousands = (text) => text.replace(/\d(?=(\d{3})+(?!\d))(?<!\.\d*)/g, "$&,");

// A rounded zero has no sign.
function decimal(value, places) {
  const text = withThousands(rounded(Math.abs(value), places));
  return value < 0 && /[1-9]/.test(text) ? rules.minus + text : text;
}

function signed(value, places) {
  const text = decimal(value, places);
  return value > 0 && /[1-9]/.test(text) ? `+${text}` : text;
}

function figureText(value) {
  const [sign, size] = [value < 0 ? rules.minus : "", Math.abs(value)];
  if (value !== 0 && !(rules.least_counted <= size && size < rules.most_counted)) {
    return sign + size.toExponential(rules.power_places).replace(/e([+-])(\d)$/, "e$10$2");
  }
  const places = value ? rules.digits - 1 - exponent(size) : 0;
  return sign + withThousands(rounded(size, Math.max(rules.least_places, places)));
}

function percentPlaces(low, high) {
  if (low === null || high === null || low === high) return rules.change_places;
  const places = rules.change_digits - 1 - exponent(50 * (high - low));
  return Math.min(rules.change_places, Math.max(0, places));
}

const percent = (share, places) => decimal(100 * share, places) + rules.percent;
const percentChange = (share, places) => signed(100 * share, places) + rules.percent;

const isTimes = (share, direction) => direction === "lower" && share >= 1;
const times = (share) => decimal(1 + share, rules.times_places);

function delta(share, direction, unit, places) {
  if (!isTimes(share, direction)) return percentChange(share, places);
  return `${times(share)} times as ${rules.times_units.includes(unit) ? "long" : "much"}`;
}

function span(low, high, direction, places) {
  if (isTimes(low, direction)) return `${times(low)} to ${times(high)} times`;
  return `${percentChange(low, places)} to ${percentChange(high, places)}`;
}
