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

// A missing value comes last in either direction; 9.10 comes after 9.9.
function compare(a, b, descending) {
  if (a === b) return 0;
  if (a === null || b === null) return a === null ? 1 : -1;
  const found = typeof a === "string" ? a.localeCompare(b, "en", { numeric: true }) : a - b;
  return descending ? -found : found;
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

// Numbers of 100 or more have one decimal, smaller numbers four significant digits.
function decimal(value, places) {
  const fixed = (digits) => ({ minimumFractionDigits: digits, maximumFractionDigits: digits });
  const fitting = Math.abs(value) < 100 ? { maximumSignificantDigits: 4 } : fixed(1);
  const digits = places === null ? fitting : fixed(places);
  // A rounded zero has no sign.
  return value.toLocaleString("en", { signDisplay: "negative", ...digits }).replace("-", "−");
}

function written(value, { kind, places }) {
  if (value === null) return "–";
  if (kind === "time") return value.slice(0, places);
  if (kind === "percentage") return `${decimal(100 * value, places)} %`;
  return kind === "number" ? decimal(value, places) : value;
}
