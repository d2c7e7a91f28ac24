// Charts of the rows of a visual, drawn by Vega, and the same figures as a table.

const HEIGHT = 240;
const BAR = 56; // the height of a bar with its label above it
const UNCLEAR = "cannot tell"; // verdicts without a colour of their own have this colour
const isUnclear = (word) => isVerdict(word) && (word === UNCLEAR || !(word in words.colors)); // its bars are hollow
const colorOf = (word) => words.colors[isUnclear(word) ? UNCLEAR : word];
const LEAST_END = 0.05; // of an axis around zero
const MOST_END = 1; // the bar of a change of more than 100 % ends there, in an arrow
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
const ALONE = "M-1,-0.15H1V0.15H-1Z"; // a dash: a point of a line without a line on either side

const valuesOf = (rows, { column }) => [...new Set(rows.map((row) => row[column.name]))];

function charts(visual, rows) {
  const { panels, category, columns, orders } = visual;
  const names = panels
    ? valuesOf(rows, panels).toSorted((a, b) => compare(a, b, false))
    : [""];
  const drawn = names.map((name) => {
    const own = panels ? rows.filter((row) => row[panels.column.name] === name) : rows;
    const all = panels ? kin(rows, own[0]) : rows;
    const ordered = inOrder(grouped(all, [category.column.name]), orders);
    const categories = ordered.map((group) => group.rows[0][category.column.name]);
    return chart(visual, name, own, category.days === WEEK ? everyWeek(categories) : categories);
  });
  const style = `--panels: ${Math.min(columns, drawn.length)}`;
  return [made("div", { class: "panels", style }, ...drawn)];
}

// The rows whose categories belong in the chart of a row. This chart has no gap for a category that
// only another suite or size has, or another value of a label such as a database.
function kin(rows, { suite, sizes, labels }) {
  const own = labelsOf(labels);
  const agrees = ([name, value]) => (own[name] ?? value) === value;
  return rows
    .filter((row) => row.suite === suite && row.sizes === sizes)
    .filter((row) => Object.entries(labelsOf(row.labels)).every(agrees));
}

const labelsOf = remembered((text) => (text ? JSON.parse(text) : {}));

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

// A name for people: its labels stand behind the unit, as in "latency p99 (ms), database: mariadb".
const plainName = (name) => name.replace(/ \{([^{}]+)\}( \([^()]+\))?/, "$2, $1");

function chart(visual, name, rows, categories) {
  const caption = plainName(name);
  const title = [visual.title, caption].filter(Boolean).join(": ");
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
    { "data-series": name },
    made("figcaption", {}, caption),
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
  const own = here[0] ?? rows[0]; // of the same suite, if the category has no row
  return { category: name, measured, values, rows: ofSeries, ends, own };
}

// By the column of a category, the one in which a change of level names its place.
const PLACES = { version: "version", run_id: "changed_run" };

// The changes of level of the metric and size of a chart. Levels may be shares of a canary's rate:
// their unit says so, in place of the metric's.
function changesIn({ category }, [{ suite, rate, sizes }]) {
  const place = PLACES[category.column.name];
  if (!place || !rate) return [];
  const isOf = (row) =>
    row.unit.startsWith("of ") ? withoutUnit(row.rate) === withoutUnit(rate) : row.rate === rate;
  return (rowsOf.level_changes ?? [])
    .filter((row) => row.suite === suite && row.sizes === sizes && isOf(row))
    .map((row) => ({ at: row[place], row }));
}

const levels = ({ level_before, level_after }) =>
  `${figureText(level_before)} → ${figureText(level_after)}`;

function toldChange({ at, row }) {
  const run = runLink(row.changed_run, row.suite);
  // A level of zero has no share that it changed by.
  const size = row.change === null ? "" : `, ${delta(row.change, row.direction, row.unit, 1)}`;
  const place = at === row.changed_run ? [run] : [`${at}, run `, run];
  const words = ["Level since ", ...place, ": ", verdict(row.verdict), `${size}, ${levels(row)}`];
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
function legend({ color, interval, legend: title }, series) {
  if (!color && series.length < 2) return "";
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
    style: `min-width: ${widthOf(visual, stops)}ch; min-height: ${heightOf(visual, stops)}px`,
  });
  specifications.set(holder, specified(visual, series, stops, moved));
  return scrolling(holder, `Chart: ${title}`);
}

// Vega takes a chart's width from its element, which has a width only within the page.
const specifications = new WeakMap();
const drawChart = (holder) => embed(holder, specifications.get(holder));

const heightOf = ({ horizontal }, stops) => (horizontal ? BAR * stops.length : HEIGHT);

const CHARACTER = 0.85; // of a label [ch]

// If there are many categories, or long names, some have no label. Above bars, each has a line.
function widthOf({ category, horizontal }, stops) {
  if (horizontal) return CHARACTER * most(stops.map(({ category }) => category.length));
  if (stops.length > MOST_LABELS || category.column.name === "run_id") return stops.length;
  return 8 + stops.reduce((width, { category }) => width + CHARACTER * category.length + 1.2, 0);
}

function specified(visual, series, stops, moved) {
  const { specification, interval } = visual;
  const tooltips = stops.map((one) => tooltipOf(one, series, moved));
  const beyond = [];
  const changes = moved.map(({ at, row }) => ({ category: at, color: colorOf(row.verdict) }));
  const points = stops.flatMap((_, place) => pointsOf(stops, place, series));
  const params = [{ name: "categories", value: stops.map(({ category }) => category) }];
  if (interval.length) {
    params.push({ name: "far", value: farthest(points) });
    beyond.push(...points.flatMap(arrows));
    for (const point of points) {
      for (const end of ["value", "low", "high"]) point[end] = within(point[end]);
    }
  }
  const whiskers = points.filter(({ low }) => !isNone(low));
  const rowsOfLayers = { whiskers, beyond, changes };
  const layer = specification.layer.filter(({ name }) => rowsOfLayers[name]?.length !== 0);
  const datasets = { points, tooltips, beyond, changes };
  return { ...specification, height: heightOf(visual, stops), params, layer, datasets };
}

const isNone = (value) => value === undefined || value === null;

// The points of a category. The first series comes last, and so is drawn above the others.
function pointsOf(stops, place, series) {
  const { category, values, ends } = stops[place];
  const beside = [stops[place - 1], stops[place + 1]];
  const points = values.map((value, at) => {
    const { label, color, line, dash } = series[at];
    const [low, high] = ends[at];
    const fill = isUnclear(label) ? "transparent" : color;
    const alone = beside.every((stop) => isNone(stop?.values[at]));
    const shape = series[at].shape ?? (alone ? ALONE : null);
    return { category, value, low, high, series: label, color, fill, shape, line, dash };
  });
  return points.toReversed();
}

function tooltipOf({ category, values, rows, ends, own }, series, moved) {
  const figures = series.map(({ label, field }, at) => {
    const { low, high, direction } = rows[at] ?? {};
    const interval = isNone(ends[at][0]) ? "" : `, ${span(low, high, direction, field.format.places)}`;
    return [label, writtenIn(rows[at], field, values[at]) + interval];
  });
  const href = runAddress(category, own.suite);
  const version = own.run_id === category ? { Version: own.version } : {};
  const level = moved.find(({ at }) => at === category);
  const told = level ? { Level: `${words.marks[level.row.verdict]} ${levels(level.row)}` } : {};
  const tooltip = { title: category, ...version, ...Object.fromEntries(figures), ...told };
  return { category, tooltip, href };
}

// The end of an axis around zero: every value and interval is within it, or ends at MOST_END.
function farthest(points) {
  const ends = points.flatMap(({ value, low, high }) => [value, low, high]).map(Math.abs);
  return 1.05 * least([MOST_END, most([LEAST_END, ...ends])]);
}

const within = (value) => (value === null ? null : most([-MOST_END, least([MOST_END, value])]));

// The arrows at the ends of a bar, or of its whisker, that go on beyond MOST_END.
function arrows({ category, value, low, high, color, fill }) {
  const at = 1.02 * MOST_END;
  const whisker = { color: "var(--ink)", fill: "var(--ink)" };
  return [
    { at: -at, shape: "triangle-left", bar: -value, end: -(low ?? value) },
    { at, shape: "triangle-right", bar: value, end: high ?? value },
  ]
    .filter(({ bar, end }) => most([bar, end]) > MOST_END)
    .map(({ at, shape, bar }) => ({
      category,
      at,
      shape,
      ...(bar > MOST_END ? { color, fill } : whisker),
    }));
}

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
  const lines = stops.map(({ category, values, own }) => ({
    values: [category, ...values],
    row: own,
  }));
  const details = made("details", {}, made("summary", {}, "Figures"));
  // Few readers open them, and a page has dozens.
  details.addEventListener("toggle", () => details.append(sortable({ title }, heads, lines)), {
    once: true,
  });
  return details;
}
