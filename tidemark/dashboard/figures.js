// The rows of a visual, the figures computed from them, and the texts of figures.

const least = (values) => values.reduce((a, b) => (b < a ? b : a));
const most = (values) => values.reduce((a, b) => (b > a ? b : a));
const sum = (values) => values.reduce((a, b) => a + b, 0);

// As in SQL, an aggregation over no values gives null.
const AGGREGATIONS = {
  SUM: (values) => (values.length ? sum(values) : null),
  AVERAGE: (values) => (values.length ? sum(values) / values.length : null),
  MIN: (values) => (values.length ? least(values) : null),
  MAX: (values) => (values.length ? most(values) : null),
};

// The figure of a group in a column: the first value, or the aggregation over all values.
function figure(rows, column, aggregation) {
  if (!aggregation) return rows[0][column];
  const values = rows.map((row) => row[column]).filter((value) => value !== null);
  return AGGREGATIONS[aggregation](values);
}

function passes(row, { column, equals, differs, parameter, since, until }, chosen) {
  const value = row[column.name];
  if (value === null) return false;
  if (equals !== null) return value === equals;
  if (differs !== null) return value !== differs;
  if (parameter !== null) return chosen[parameter] === "" || value === chosen[parameter];
  const day = value.slice(0, 10);
  const [first, last] = [chosen[since], chosen[until]];
  return (!first || first <= day) && (!last || day <= last);
}

// The places of versions, texts that sort by their code points as versions do.
const places = new Map();
const ungrouped = (text) => text.replace(/(?<=\d),(?=\d{3})/g, "");

// A missing value comes last in either direction; 9.10 comes after 9.9, and 1,000 after 200.
function compare(a, b, descending) {
  if (a === b) return 0;
  if (a === null || b === null) return a === null ? 1 : -1;
  const found = typeof a === "string" ? compareTexts(a, b) : a - b;
  return descending ? -found : found;
}

function compareTexts(a, b) {
  const [one, other] = [places.get(a), places.get(b)];
  if (one && other && one !== other) return one < other ? -1 : 1;
  return ungrouped(a).localeCompare(ungrouped(b), "en", { numeric: true });
}

function inOrder(groups, orders) {
  const keys = new Map(
    groups.map((group) => [
      group,
      orders.map(({ column, aggregation }) => figure(group.rows, column, aggregation)),
    ]),
  );
  return groups.toSorted((a, b) => {
    const found = orders.map((order, at) =>
      compare(keys.get(a)[at], keys.get(b)[at], order.descending),
    );
    return found.find((difference) => difference !== 0) ?? 0;
  });
}

// Groups of rows that have the same values in some columns: { key, rows }.
function grouped(rows, columns) {
  const groups = new Map();
  for (const row of rows) {
    const key = JSON.stringify(columns.map((column) => row[column]));
    if (!groups.has(key)) groups.set(key, { key, rows: [] });
    groups.get(key).rows.push(row);
  }
  return [...groups.values()];
}

// Formats are slow to make. A rounded zero has no sign.
const formatOf = remembered((digits, significant) => {
  const fixed = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  const kind = significant ? { maximumSignificantDigits: digits } : fixed;
  return new Intl.NumberFormat("en", { signDisplay: "negative", ...kind });
});

// Numbers of 100 or more have one decimal, smaller numbers four significant digits.
function decimal(value, places) {
  const short = places === null && Math.abs(value) < 100;
  const format = short ? formatOf(4, true) : formatOf(places ?? 1, false);
  return format.format(value).replace("-", "−");
}

function remembered(make) {
  const known = new Map();
  return (...given) => {
    const key = given.join();
    if (!known.has(key)) known.set(key, make(...given));
    return known.get(key);
  };
}

function written(value, { kind, places }) {
  if (value === null) return "–";
  if (kind === "time") return value.slice(0, places);
  if (kind === "percentage") return `${decimal(100 * value, places)} %`;
  return kind === "number" ? decimal(value, places) : value;
}

// The text of a change with its sign; a rounded zero has none.
function signed(value, format) {
  const text = written(value, format);
  return value > 0 && /[1-9]/.test(text) ? `+${text}` : text;
}

const TIMES = ["h", "min", "s", "ms", "us", "µs", "ns"];
// By column, the change of which it is a figure: a gain is a change with its sign, so that what is
// lost is below zero. A text has the sign of the change: a latency that rises by 18 % has +18 %.
const isTurned = (row, name) => name === "effect_gain" && row?.direction === "lower";
const CHANGES = {
  change: (row) => row.change,
  effect: (row) => row.effect,
  effect_gain: (row) => -row.effect_gain,
  low: (row) => row.low,
  high: (row) => (row.low >= 1 ? row.high : 0),
};

// The value of a column in a row. A change of 100 % or more of which less is better is 13.8 times as
// long, as in every text of Tidemark, and the ends of its interval are times.
function writtenIn(row, { column, format }, value = row[column.name]) {
  const change = row?.direction === "lower" ? CHANGES[column.name]?.(row) : 0;
  if (value === null || !(change >= 1)) {
    const own = value !== null && isTurned(row, column.name) ? -value : value;
    return column.name in CHANGES ? signed(own, format) : written(own, format);
  }
  const times = `${decimal(1 + change, 1)} times`;
  if (["low", "high"].includes(column.name)) return times;
  return `${times} as ${TIMES.includes(row.unit) ? "long" : "much"}`;
}
