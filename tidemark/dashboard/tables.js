// Figures and tables of the rows of a visual, as elements of the page.

function made(name, properties = {}, ...children) {
  const found = document.createElement(name);
  for (const [property, value] of Object.entries(properties)) found.setAttribute(property, value);
  found.append(...children);
  return found;
}

const EXTREMES = ["MIN", "MAX"];

// A browser is slow with thousands of lines, which nobody reads.
const MOST_LINES = 500;

// A least or largest figure is shown with the name of its metric.
function kpi({ value }, rows) {
  const name = value.column.name;
  const found = figure(rows, name, value.aggregation);
  const isExtreme = EXTREMES.includes(value.aggregation) && found !== null;
  const of = isExtreme ? rows.find((row) => row[name] === found) : undefined;
  const series = of?.series ? [made("p", { class: "of" }, of.series)] : [];
  return [made("p", { class: "figure" }, writtenIn(of, value, found)), ...series];
}

function table(visual, rows) {
  const { fields, orders } = visual;
  const lines = inOrder(rows.map((row) => ({ rows: [row] })), orders).map(({ rows: [row] }) => ({
    row,
    values: fields.map((field) => row[field.column.name]),
  }));
  return [sortable(visual, fields, lines)];
}

function pivotTable(visual, rows) {
  const { rows: dimensions, column, value, orders } = visual;
  const names = grouped(rows, [column.column.name])
    .map((group) => group.rows[0][column.column.name])
    .toSorted((a, b) => compare(a, b, false));
  const columns = dimensions.map((field) => field.column.name);
  const lines = inOrder(grouped(rows, columns), orders).map((group) => ({
    values: [
      ...columns.map((name) => group.rows[0][name]),
      ...names.map((name) => {
        const cell = group.rows.filter((row) => row[column.column.name] === name);
        return cell.length ? figure(cell, value.column.name, value.aggregation) : null;
      }),
    ],
  }));
  const heads = names.map((name) => ({ ...value, label: name, heat: visual.heat }));
  return [sortable(visual, [...dimensions, ...heads], lines)];
}

// A table in the dashboard's order, which a reader can sort by any column. A line has its values and,
// if it shows one, its row.
function sortable({ title }, fields, lines) {
  const drawn = made("table");
  const sort = (at, descending) => {
    const sorted =
      at === null
        ? lines
        : lines.toSorted((a, b) => compare(a.values[at], b.values[at], descending));
    const heads = fields.map((field, column) => {
      const button = made("button", { type: "button" }, field.label);
      button.addEventListener("click", () => {
        sort(column, column === at && !descending);
        drawn.querySelectorAll("thead button")[column].focus();
      });
      const state = column === at ? { "aria-sort": descending ? "descending" : "ascending" } : {};
      return made("th", { scope: "col", class: classOf(field.format), ...state }, button);
    });
    const shown = sorted.slice(0, MOST_LINES).map((line) =>
      made("tr", {}, ...line.values.map((value, at) => cell(value, line.row, fields[at], at))),
    );
    drawn.replaceChildren(
      caption(title, lines),
      made("thead", {}, made("tr", {}, ...heads)),
      made("tbody", {}, ...shown),
    );
  };
  sort(null, false);
  return scrolling(drawn, `Table: ${title}`);
}

function caption(title, lines) {
  const count = `${decimal(lines.length, 0)} ${lines.length === 1 ? "row" : "rows"}`;
  const more = lines.length > MOST_LINES ? `; the first ${MOST_LINES} are shown` : "";
  const missing = lines.some(({ values }) => values.includes(null)) ? "; – means no value" : "";
  const name = made("span", { class: "unseen" }, `${title}: `);
  return made("caption", {}, name, count + more + missing);
}

const classOf = ({ kind }) => (kind === "percentage" ? "number" : kind);

// The address of a run's sheet, null if the run is not on the page.
function runAddress(run_id, suite) {
  const found = rowsOf.newest_runs?.find((row) => row.run_id === run_id && row.suite === suite);
  return found ? `#${new URLSearchParams({ sheet: "run", Run: found.run, Suite: suite })}` : null;
}

function runLink(run_id, suite) {
  const href = runAddress(run_id, suite);
  return href ? made("a", { href }, run_id) : run_id;
}

const RUNS = ["run_id", "changed_run"]; // columns

function content(value, row, field) {
  if (isVerdict(value)) return verdict(value);
  if (RUNS.includes(field.column.name)) return runLink(value, row.suite);
  return writtenIn(row, field, value);
}

const FULL_HEAT = 0.3; // the gain or loss whose cell has the whole colour
const MOST_MIXED = 45; // of the colour, so that its text stays readable [%]

// The colour behind a gain: worse and better as in verdicts.
function heatOf(gain) {
  const share = MOST_MIXED * least([1, Math.abs(gain) / FULL_HEAT]);
  const color = gain < 0 ? "var(--worse)" : "var(--better)";
  return { style: `background: color-mix(in srgb, ${color} ${share.toFixed(0)}%, transparent)` };
}

function cell(value, row, field, at) {
  const long = field.format.kind === "text" && String(value).length > 40 ? " long" : "";
  const heat = field.heat && value !== null ? heatOf(value) : {};
  const properties = { class: classOf(field.format) + long, ...heat };
  const shown = content(value, row, field);
  return at ? made("td", properties, shown) : made("th", { ...properties, scope: "row" }, shown);
}

// A scrolling region has to be reachable by keyboard, and so needs a name.
function scrolling(content, name) {
  return made("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": name }, content);
}
