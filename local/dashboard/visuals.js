// Drawing visuals: each kind fills the body of its section with what its rows give.

function made(name, properties = {}, ...children) {
  const found = document.createElement(name);
  for (const [property, value] of Object.entries(properties)) found.setAttribute(property, value);
  found.append(...children);
  return found;
}

const HEIGHT = 240;
const BAR = 36; // from one to the next below it
const MOST_NAMED = 8;
const MOST_LABELS = 30;
const DASHES = { SOLID: [1, 0], DASHED: [6, 4], DOTTED: [2, 3] };
const SHAPES = { circle: "●", square: "■", diamond: "◆", "triangle-up": "▲", "triangle-down": "▼", cross: "✚" };

const DRAWN = { Kpi: kpi, Table: table, PivotTable: pivotTable, Chart: charts };

function kpi({ value, target }, rows) {
  const [is, was] = [value, target].map(
    (field) => field && figure(rows, field.column.name, field.aggregation),
  );
  const parts = [made("p", { class: "figure" }, written(is, value.format))];
  if (target) parts.push(made("p", {}, `${change(is, was)} ${target.label} ${written(was, target.format)}`));
  return parts;
}

// Without something to compare with there is no change, least of all one by −100 %.
function change(is, was) {
  if (is === null || !was) return "Nothing to compare with:";
  const percent = 100 * (is / was - 1);
  return `${percent > 0 ? "+" : ""}${decimal(percent, 2)} % against`;
}

function table(visual, rows) {
  const { fields, grouped: isGrouped, orders } = visual;
  const dimensions = fields.filter((field) => !field.aggregation).map((field) => field.column.name);
  const groups = isGrouped ? grouped(rows, dimensions) : rows.map((row) => ({ rows: [row] }));
  const lines = inOrder(groups, orders).map((group) =>
    fields.map((field) => figure(group.rows, field.column.name, field.aggregation)),
  );
  return [sortable(visual, fields, lines)];
}

function pivotTable(visual, rows) {
  const { rows: dimensions, column, value, orders } = visual;
  const names = grouped(rows, [column.column.name])
    .map((group) => group.rows[0][column.column.name])
    .toSorted((a, b) => compare(a, b, false));
  const columns = dimensions.map((field) => field.column.name);
  const lines = inOrder(grouped(rows, columns), orders).map((group) => [
    ...columns.map((name) => group.rows[0][name]),
    ...names.map((name) => {
      const cell = group.rows.filter((row) => row[column.column.name] === name);
      return cell.length ? figure(cell, value.column.name, value.aggregation) : null;
    }),
  ]);
  const heads = names.map((name) => ({ label: name, format: value.format }));
  return [sortable(visual, [...dimensions, ...heads], lines)];
}

// A table that its reader may sort by any column; lines come in the dashboard's own order.
function sortable(visual, fields, lines) {
  const drawn = made("table");
  const sort = (at, descending) => {
    const sorted = at === null ? lines : lines.toSorted((a, b) => compare(a[at], b[at], descending));
    const heads = fields.map((field, column) => {
      const button = made("button", { type: "button" }, field.label);
      button.addEventListener("click", () => {
        sort(column, column === at && !descending);
        drawn.querySelectorAll("thead button")[column].focus();
      });
      const state = column === at ? { "aria-sort": descending ? "descending" : "ascending" } : {};
      return made("th", { scope: "col", class: field.format.kind, ...state }, button);
    });
    drawn.replaceChildren(
      caption(visual.title, lines),
      made("thead", {}, made("tr", {}, ...heads)),
      made("tbody", {}, ...sorted.map((line) => made("tr", {}, ...line.map((value, column) => cell(value, fields[column], column))))),
    );
  };
  sort(null, false);
  return scrolling(drawn, `Table: ${visual.title}`);
}

function caption(title, lines) {
  const missing = lines.flat().includes(null) ? "; – is no value" : "";
  const count = `${lines.length} ${lines.length === 1 ? "row" : "rows"}${missing}`;
  return made("caption", {}, made("span", { class: "unseen" }, `${title}: `), count);
}

function cell(value, { format }, column) {
  const long = format.kind === "text" && String(value).length > 40 ? " long" : "";
  const properties = { class: format.kind + long };
  return column
    ? made("td", properties, written(value, format))
    : made("th", { ...properties, scope: "row" }, written(value, format));
}

// What scrolls must be reached by the keyboard, and needs a name then.
function scrolling(content, name) {
  return made("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": name }, content);
}

function charts(visual, rows) {
  const { panels, columns } = visual;
  const all = panels ? inOrder(grouped(rows, [panels.column.name]), [ascending(panels)]) : [{ rows }];
  const drawn = all.map((panel) => {
    const name = panels ? panel.rows[0][panels.column.name] : "";
    // The versions of one suite are no gaps in the charts of another.
    const kin = rows.filter((row) => row.suite === panel.rows[0].suite);
    return chart(visual, name, panel.rows, inOrder(grouped(kin, [visual.category.column.name]), visual.orders));
  });
  const style = `--panels: ${Math.min(columns, drawn.length)}`;
  return [made("div", { class: "panels", style }, ...drawn)];
}

const ascending = ({ column }) => ({ column: column.name, aggregation: null, descending: false });

function chart(visual, name, rows, categories) {
  const { category } = visual;
  const series = seriesOf(visual, rows);
  const own = new Set(rows.map((row) => row[category.column.name]));
  const stops = categories.map((group) => {
    const value = group.rows[0][category.column.name];
    const here = rows.filter((row) => row[category.column.name] === value);
    return {
      category: written(value, category.format),
      measured: own.has(value),
      values: series.map(({ field, only }) => {
        const found = here.filter(only);
        return found.length ? figure(found, field.column.name, field.aggregation) : null;
      }),
    };
  });
  const title = [visual.title, name].filter(Boolean).join(": ");
  // What is missing between others is a gap; what is at the ends is only told.
  const drawn = stops.slice(
    stops.findIndex(({ measured }) => measured),
    stops.findLastIndex(({ measured }) => measured) + 1,
  );
  const holder = made("div", {
    class: "chart",
    role: "img",
    "aria-label": [title, visual.alternative].filter(Boolean).join(". "),
    style: `min-width: ${widthOf(drawn)}ch`,
  });
  vegaEmbed(holder, specified(visual, series, drawn), { actions: false, ast: true, renderer: "svg" });
  return made(
    "figure",
    {},
    made("figcaption", {}, name),
    legend(visual, series),
    scrolling(holder, `Chart: ${title}`),
    missing(stops),
    figures(title, visual, series, stops),
  );
}

// Of many categories not every label is drawn.
const widthOf = (stops) =>
  10 + stops.reduce((width, { category }, at) => width + (at < MOST_LABELS ? category.length + 1.5 : 2), 0);

function missing(stops) {
  const names = stops.filter(({ measured }) => !measured).map(({ category }) => category);
  return names.length ? made("p", { class: "missing" }, `No value for ${listed(names)}.`) : "";
}

function listed(names) {
  const rest = names.length - MOST_NAMED;
  return names.slice(0, MOST_NAMED).join(", ") + (rest > 0 ? ` and ${rest} more` : "");
}

function figures(title, { category }, series, stops) {
  const heads = [
    { ...category, format: { kind: "text" } },
    ...series.map(({ label, field }) => ({ ...field, label })),
  ];
  const lines = stops.map((stop) => [stop.category, ...stop.values]);
  return made("details", {}, made("summary", {}, "Figures"), sortable({ title }, heads, lines));
}

// A series for each value, or for each colour of the one value; told apart by shape, too.
function seriesOf({ color, values, styles }, rows) {
  const all = color
    ? grouped(rows, [color.column.name])
        .map((group) => group.rows[0][color.column.name])
        .toSorted((a, b) => compare(a, b, false))
        .map((value) => ({ label: String(value), field: values[0], only: (row) => row[color.column.name] === value }))
    : values.map((field) => ({ label: field.label, field, only: () => true }));
  const shapes = Object.keys(SHAPES);
  return all.map((one, at) => {
    const { dash, markers } = styles[one.field.id] ?? { dash: "SOLID", markers: true };
    const plain = { dash: DASHES[dash], label: one.label };
    // A line without markers goes along with another.
    const look = markers
      ? { color: `var(--series-${(at % shapes.length) + 1})`, shape: shapes[at % shapes.length] }
      : { color: "var(--quiet)", shape: null };
    return { ...one, ...plain, ...look };
  });
}

function specified({ specification, horizontal }, series, stops) {
  const points = stops.flatMap(({ category, values }) =>
    values.map((value, at) => ({ category, value, ...pick(series[at]), alone: stops.length === 1 })),
  );
  const told = stops.map(({ category, values }) => ({
    category,
    told: { title: category, ...Object.fromEntries(series.map(({ label, field }, at) => [label, written(values[at], field.format)])) },
  }));
  const height = horizontal ? BAR * stops.length : HEIGHT;
  // Of what is counted there are no halves.
  const tickMinStep = points.every(({ value }) => Number.isInteger(value ?? 0)) ? 1 : 0;
  const config = { ...specification.config, axisQuantitative: { tickMinStep } };
  return { ...specification, config, height, datasets: { points, told } };
}

const pick = ({ label, color, shape, dash }) => ({ series: label, color, shape, dash });

function legend({ legend: { visible, title } }, series) {
  if (!visible || series.length < 2) return "";
  const items = series.map(({ label, color, shape }) =>
    made("li", {}, made("span", { "aria-hidden": "true", style: `color: ${color}` }, SHAPES[shape] ?? "┅"), ` ${label}`),
  );
  return made("ul", { class: "legend" }, ...(title ? [made("li", {}, `${title}:`)] : []), ...items);
}
