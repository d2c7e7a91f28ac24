// Charts of the rows of a visual, drawn by Vega, and the same figures as a table.

const HEIGHT = 240;
const BAR = 56; // the height of a bar with its label above it
// The colours of reports, in light and in dark; QuickSight's definition has those in light.
const DECIDED = { slower: "var(--worse)", faster: "var(--better)", same: "var(--ink)" };
const isUnclear = (word) => word in marks && !(word in DECIDED); // its bars are hollow
const colorOf = (word) => DECIDED[word] ?? (isUnclear(word) ? "var(--unclear)" : undefined);
const LEAST_END = 0.05; // of an axis around zero
const MOST_END = 1; // a change of 100 % or more is at the edge
const MOST_NAMED = 8;
const MOST_LABELS = 30;
const WEEK = 7;
const DASHES = { SOLID: [1, 0], DOTTED: [2, 3] };
const SHAPES = {
  circle: "●",
  square: "■",
  diamond: "◆",
  "triangle-up": "▲",
  "triangle-down": "▼",
  cross: "✚",
};

const valuesOf = (rows, { column }) => [...new Set(rows.map((row) => row[column.name]))];

function charts(visual, rows) {
  const { panels, category, columns, orders } = visual;
  const names = panels
    ? valuesOf(rows, panels).toSorted((a, b) => compare(a, b, false))
    : [""];
  const drawn = names.map((name) => {
    const own = panels ? rows.filter((row) => row[panels.column.name] === name) : rows;
    // A category that only another suite or size has is no gap in this chart.
    const kin = rows.filter(({ suite, sizes }) => suite === own[0].suite && sizes === own[0].sizes);
    const ordered = inOrder(grouped(kin, [category.column.name]), orders);
    const categories = ordered.map((group) => group.rows[0][category.column.name]);
    return chart(visual, name, own, category.days === WEEK ? everyWeek(categories) : categories);
  });
  const style = `--panels: ${Math.min(columns, drawn.length)}`;
  return [made("div", { class: "panels", style }, ...drawn)];
}

// Every week from the first to the last, also a week without a row.
function everyWeek(weeks) {
  const [first, last] = [weeks[0], weeks.at(-1)].map((week) => Date.parse(week.slice(0, 10)));
  const found = new Map(weeks.map((week) => [week.slice(0, 10), week]));
  const step = WEEK * 24 * 3600 * 1000;
  return Array.from({ length: 1 + Math.abs(last - first) / step }, (_, at) => {
    const day = new Date(first + Math.sign(last - first) * at * step).toISOString().slice(0, 10);
    return found.get(day) ?? day;
  });
}

function chart(visual, name, rows, categories) {
  const title = [visual.title, name].filter(Boolean).join(": ");
  const series = seriesOf(visual, rows);
  const stops = categories.map((category) => stop(visual, rows, category, series));
  // The chart has a gap for a category without values, but leaves it out at its ends.
  const first = stops.findIndex(({ measured }) => measured);
  const drawn = stops.slice(first, stops.findLastIndex(({ measured }) => measured) + 1);
  const places = new Set(drawn.map(({ category }) => category));
  const moved = changesIn(visual, rows).filter(({ at }) => places.has(at));
  const parts = drawn.length
    ? [legend(visual, series), picture(visual, title, series, drawn, moved), ...moved.map(toldChange)]
    : [];
  return made(
    "figure",
    {},
    made("figcaption", {}, name),
    ...parts,
    missing(stops),
    figures(title, visual, series, stops),
  );
}

function stop({ category, interval }, rows, value, series) {
  const here = rows.filter((row) => row[category.column.name] === value);
  const values = series.map(({ field, only }) => {
    const found = here.filter(only);
    return found.length ? figure(found, field.column.name, field.aggregation) : null;
  });
  const ofSeries = series.map(({ only }) => here.find(only));
  const ends = ofSeries.map((row) => interval.map(({ name }) => row?.[name] ?? null));
  const measured = values.some((each) => each !== null);
  const name = written(value, category.format);
  return { category: name, measured, values, rows: ofSeries, ends, own: here[0] };
}

// By the column of a category, the one in which a change of level names its place.
const PLACES = { version: "version", run_id: "changed_run" };

// The changes of level of the metric and size of a chart.
function changesIn({ category }, [{ suite, rate, sizes }]) {
  const place = PLACES[category.column.name];
  if (!place || !rate) return [];
  return (rowsOf.level_changes ?? [])
    .filter((row) => row.suite === suite && row.sizes === sizes)
    .filter((row) => withoutUnit(row.rate) === withoutUnit(rate))
    .map((row) => ({ at: row[place], row }));
}

const levels = ({ level_before, level_after }) =>
  `${decimal(level_before, null)} → ${decimal(level_after, null)}`;

function toldChange({ at, row }) {
  const [run, size] = [runLink(row.changed_run, row.suite), writtenIn(row, CHANGE)];
  const place = at === row.changed_run ? [run] : [`${at}, run `, run];
  const words = ["Level since ", ...place, ": ", verdict(row.verdict), `, ${size}, ${levels(row)}`];
  return made("p", { class: "level" }, ...words);
}

// A series for each value, or for each colour of the only value. Series differ in shape, too.
function seriesOf({ color, values, styles }, rows) {
  const all = color
    ? valuesOf(rows, color)
        .toSorted((a, b) => compare(a, b, false))
        .map((value) => ({
          label: written(value, color.format),
          field: values[0],
          only: (row) => row[color.column.name] === value,
          own: colorOf(value) ?? color.colors?.[value],
        }))
    : values.map((field) => ({ label: field.label, field, only: () => true }));
  const shapes = Object.keys(SHAPES);
  return all.map((one, at) => {
    const plain = { line: true, dash: "SOLID", markers: true };
    const { line, dash, markers } = styles[one.field.id] ?? plain;
    const place = at % shapes.length;
    // A line without markers accompanies another line.
    const look = markers
      ? { color: one.own ?? `var(--series-${place + 1})`, shape: shapes[place] }
      : { color: "var(--quiet)", shape: null };
    return { ...one, ...look, line, dash: DASHES[dash] };
  });
}

// A legend explains colours even if there is only one colour.
function legend({ color, interval, legend: { visible, title } }, series) {
  if (!visible || (!color && series.length < 2)) return "";
  const items = series.map(({ label, color, shape }) => {
    const bar = isUnclear(label) ? "□" : "■";
    const symbol = interval.length ? bar : (SHAPES[shape] ?? "┅");
    const mark = made("span", { "aria-hidden": "true", style: `color: ${color}` }, symbol);
    return made("li", {}, mark, ` ${label}`);
  });
  return made("ul", { class: "legend" }, ...(title ? [made("li", {}, `${title}:`)] : []), ...items);
}

function picture(visual, title, series, stops, moved) {
  const holder = made("div", {
    class: "chart",
    role: "img",
    "aria-label": [title, visual.alternative].filter(Boolean).join(". "),
    style: `min-width: ${visual.horizontal ? 0 : widthOf(visual, stops)}ch; min-height: ${heightOf(visual, stops)}px`,
  });
  specifications.set(holder, specified(visual, series, stops, moved));
  return scrolling(holder, `Chart: ${title}`);
}

// Vega takes a chart's width from its element, which has a width only within the page.
const specifications = new WeakMap();
const drawChart = (holder) => embed(holder, specifications.get(holder));

const heightOf = ({ horizontal }, stops) => (horizontal ? BAR * stops.length : HEIGHT);

// If there are many categories, or long ones, some have no label.
function widthOf({ category }, stops) {
  if (stops.length > MOST_LABELS || category.column.name === "run_id") return stops.length;
  return 8 + stops.reduce((width, { category }) => width + 0.85 * category.length + 1.2, 0);
}

function specified(visual, series, stops, moved) {
  const { specification, interval } = visual;
  const changes = moved.map(({ at, row }) => ({ category: at, color: colorOf(row.verdict) }));
  const points = stops.flatMap(({ category, values, ends }) =>
    values.map((value, at) => {
      const { label, color, shape, line, dash } = series[at];
      const [low, high] = ends[at];
      const fill = isUnclear(label) ? "transparent" : color;
      const alone = stops.length === 1;
      return { category, value, low, high, series: label, color, fill, shape, line, dash, alone };
    }),
  );
  const tooltips = stops.map(({ category, values, rows, ends, own }) => {
    const figures = series.map(({ label, field }, at) => {
      const [low, high] = ends[at];
      const span = low == null ? "" : `, ${spanOf(rows[at], field, low, high)}`;
      return [label, writtenIn(rows[at], field, values[at]) + span];
    });
    const href = runAddress(category, own?.suite);
    const version = own?.run_id === category ? { Version: own.version } : {};
    const level = moved.find(({ at }) => at === category);
    const told = level ? { Level: `${marks[level.row.verdict]} ${levels(level.row)}` } : {};
    const tooltip = { title: category, ...version, ...Object.fromEntries(figures), ...told };
    return { category, tooltip, href };
  });
  const height = heightOf(visual, stops);
  if (!interval.length) {
    const layer = specification.layer.filter(({ name }) => changes.length || name !== "changes");
    return { ...specification, height, layer, datasets: { points, tooltips, changes } };
  }
  const far = farthest(points);
  for (const point of points) point.value = within(far, point.value);
  const spanned = points.some(({ low }) => low !== null);
  const layer = specification.layer.filter(({ name }) => spanned || name !== "whiskers");
  const params = [{ name: "far", value: far }];
  return { ...specification, height, params, layer, datasets: { points, tooltips } };
}

// The interval of a value, as times if the change is.
function spanOf(row, { format }, low, high) {
  if (row.direction === "lower" && row.low >= 1) {
    return `${decimal(1 + row.low, 1)} to ${decimal(1 + row.high, 1)} times`;
  }
  return `${signed(low, format)} to ${signed(high, format)}`;
}

// The end of an axis around zero, which every value and interval reaches or exceeds at the edge.
function farthest(points) {
  const ends = points.flatMap(({ value, low, high }) => [value, low, high]).map(Math.abs);
  return least([MOST_END, most([LEAST_END, 1.05 * most(ends)])]);
}

const within = (far, value) => (value === null ? null : most([-far, least([far, value])]));

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
  const lines = stops.map((stop) => ({ values: [stop.category, ...stop.values] }));
  const details = made("details", {}, made("summary", {}, "Figures"));
  // Few readers open them, and a page has dozens.
  details.addEventListener("toggle", () => details.append(sortable({ title }, heads, lines)), {
    once: true,
  });
  return details;
}
