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
      orders.map(({ column, aggregation }) => figure(group.rows, column.name, aggregation)),
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
  if (kind === "percentage") return percent(value, places);
  if (kind === "number") return places === null ? figureText(value) : decimal(value, places);
  return value;
}

// The columns of changes. A gain is a change with its sign, so that what is lost is below zero: its
// text has the sign of the change, and a latency that rises by 18 % has +18 %.
const CHANGES = ["change", "effect", "effect_gain", "low", "high"];
const ENDS = ["low", "high"]; // of an interval

// The value of a column in a row.
function writtenIn(row, { column: { name }, format }, value = row[name]) {
  if (value === null || !CHANGES.includes(name)) return written(value, format);
  const { direction, unit, low } = row ?? {};
  const change = name === "effect_gain" && direction === "lower" ? -value : value;
  if (!ENDS.includes(name)) return delta(change, direction, unit, format.places);
  return isTimes(low, direction) ? `${times(change)} times` : percentChange(change, format.places);
}
