// Figures and tables: what a visual shows of its rows, as elements of the page.

function made(name, properties = {}, ...children) {
  const found = document.createElement(name);
  for (const [property, value] of Object.entries(properties)) found.setAttribute(property, value);
  found.append(...children);
  return found;
}

// A browser takes its time for thousands of lines, and nobody reads them.
const MOST_LINES = 500;

function kpi({ value, target }, rows) {
  const [is, was] = [value, target].map(
    (field) => field && figure(rows, field.column.name, field.aggregation),
  );
  const parts = [made("p", { class: "figure" }, written(is, value.format))];
  if (target) {
    const against = `${target.label} ${written(was, target.format)}`;
    parts.push(made("p", {}, `${change(is, was)} ${against}`));
  }
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
function sortable({ title }, fields, lines) {
  const drawn = made("table");
  const sort = (at, descending) => {
    const sorted =
      at === null ? lines : lines.toSorted((a, b) => compare(a[at], b[at], descending));
    const heads = fields.map((field, column) => {
      const button = made("button", { type: "button" }, field.label);
      button.addEventListener("click", () => {
        sort(column, column === at && !descending);
        drawn.querySelectorAll("thead button")[column].focus();
      });
      const state = column === at ? { "aria-sort": descending ? "descending" : "ascending" } : {};
      return made("th", { scope: "col", class: field.format.kind, ...state }, button);
    });
    const shown = sorted.slice(0, MOST_LINES).map((line) =>
      made("tr", {}, ...line.map((value, column) => cell(value, fields[column], column))),
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
  const more = lines.length > MOST_LINES ? `; here are the first ${MOST_LINES}` : "";
  const missing = lines.flat().includes(null) ? "; – is no value" : "";
  const name = made("span", { class: "unseen" }, `${title}: `);
  return made("caption", {}, name, count + more + missing);
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
