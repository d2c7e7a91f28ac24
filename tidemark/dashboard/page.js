// The page is a view of its address: the choices stand behind the #, and can be shared.

const { data, leftOut, parameters, rules, sheets, words } = JSON.parse(
  document.getElementById("dashboard").textContent,
);
// A packed column has its distinct values and, for each row, the index of its value.
function unpacked(columns) {
  const names = Object.keys(columns);
  return columns[names[0]].rows.map((_, at) =>
    Object.fromEntries(names.map((name) => [name, columns[name].values[columns[name].rows[at]]])),
  );
}

const rowsOf = Object.fromEntries(
  Object.entries(data).map(([name, columns]) => [name, unpacked(columns)]),
);
for (const row of Object.values(rowsOf).flat()) {
  if (row.version_order) places.set(row.version, row.version_order);
}
// By parameter, the first and the last day of the rows that it filters; null without rows.
const endsOf = Object.fromEntries(Object.keys(parameters).map((name) => [name, ends(name)]));
const tabs = [...document.querySelectorAll("[role=tab]")];
let chosen;

const asked = () => new URLSearchParams(location.hash.slice(1));

function ask(name, value) {
  const next = asked();
  next.set(name, value);
  history.replaceState(null, "", `#${next}`);
  update();
}

// The values that a control offers, given the choices in the controls that it depends on.
function offered({ column, sources }, controls) {
  const rows = rowsOf[column.data_set].filter((row) =>
    sources.every((source) => {
      const { parameter } = controls.find(({ id }) => id === source.control);
      return ["", row[source.column.name]].includes(chosen[parameter]);
    }),
  );
  const values = new Set(rows.map((row) => row[column.name]));
  return [...values].filter((value) => value !== null).toSorted((a, b) => compare(a, b, false));
}

// If another choice left this choice without rows, the shown sheet replaces it. Other sheets keep
// it, because they have rows of other kinds.
function offer(control, controls, isShown) {
  const input = document.getElementById(control.id);
  const value = () => chosen[control.parameter];
  if (control.column) {
    const all = control.everything ? [new Option("All", "")] : [];
    input.replaceChildren(...all, ...offered(control, controls).map((each) => new Option(each)));
    if (![...input.options].some((option) => option.value === value())) {
      const again = isShown && control.sources.length && input.options.length;
      if (again) chosen[control.parameter] = input.options[0].value;
      else input.append(new Option(value()));
    }
  }
  input.value = control.column ? value() : dayOf(control.parameter);
}

function ends(parameter) {
  const days = sheets
    .flatMap(({ visuals }) => visuals)
    .flatMap(({ data_set, filters }) =>
      filters
        .filter(({ since, until }) => [since, until].includes(parameter))
        .flatMap(({ column }) => rowsOf[data_set].map((row) => row[column.name])),
    )
    .filter((time) => time !== null)
    .map((time) => time.slice(0, 10));
  return days.length ? [least(days), most(days)] : null;
}

// The day that a picker shows: the chosen day or, for a default outside of the data, the nearest day
// of the data.
function dayOf(parameter) {
  const day = chosen[parameter];
  if (day !== parameters[parameter]) return day;
  if (endsOf[parameter] === null) return "";
  const [first, last] = endsOf[parameter];
  return most([least([day, last]), first]);
}

const DRAWN = { Kpi: kpi, Table: table, PivotTable: pivotTable, Chart: charts };

// Whether the page lacks rows of the choice. The left-out rows of a suite are older than its last
// row here, and the rows of a required choice (two versions, a run) are neighbours.
function isCut({ data_set, filters }) {
  const always = filters.filter(
    ({ equals, parameter }) => equals !== null || (parameter !== null && parameters[parameter] !== ""),
  );
  const ofSuite = filters.filter(({ column }) => column.name === "suite");
  return leftOut[data_set]
    .filter((suite) => ofSuite.every((filter) => passes({ suite }, filter, chosen)))
    .some((suite) => {
      const here = rowsOf[data_set].filter((row) => row.suite === suite);
      const own = here.filter((row) => always.every((filter) => passes(row, filter, chosen)));
      return !own.length || own.at(-1) === here.at(-1);
    });
}

const addsUp = ({ kind, values }) =>
  kind === "Kpi" || (kind === "Chart" && values.some(({ aggregation }) => aggregation === "SUM"));

const chosenRows = ({ data_set, filters }) =>
  rowsOf[data_set].filter((row) => filters.every((filter) => passes(row, filter, chosen)));

function tellAnswer({ id, answer, visuals }) {
  for (const each of document.querySelectorAll(`#${CSS.escape(id)} .open`)) {
    each.hidden = !["", each.dataset.suite].includes(chosen.Suite);
  }
  const table = visuals.find((visual) => visual.id === answer);
  const told = table && !isCut(table) ? answers(chosenRows(table)) : [];
  document.querySelector(`#${CSS.escape(id)} .answer`).replaceChildren(...told);
}

// Fill a visual, but for its charts.
function draw(visual) {
  const rows = chosenRows(visual);
  const body = document.querySelector(`#${CSS.escape(visual.id)} .body`);
  const nothing = (words) => body.replaceChildren(made("p", { class: "nothing" }, words));
  if (addsUp(visual) && isCut(visual)) return nothing("No sum: some rows of this choice are left out.");
  if (!rows.length && isCut(visual)) return nothing("No rows of this choice are on this page, which lacks older rows.");
  if (!rows.length) return nothing("No rows for this choice.");
  body.replaceChildren(...DRAWN[visual.kind](visual, rows));
}

function show({ id }) {
  for (const tab of tabs) {
    const shown = tab.getAttribute("aria-controls") === id;
    tab.setAttribute("aria-selected", shown);
    tab.tabIndex = shown ? 0 : -1;
    if (shown) tab.parentElement.scrollLeft = tab.offsetLeft - tab.parentElement.offsetLeft;
    document.getElementById(tab.getAttribute("aria-controls")).classList.toggle("shown", shown);
  }
}

// A value in the address that no row of the page has.
function unknown({ label, parameter, column }) {
  const value = chosen[parameter];
  const all = column ? new Set(rowsOf[column.data_set].map((row) => row[column.name])) : new Set();
  if (value === "" || !all.size || all.has(value)) return "";
  const known = listed([...all].filter((each) => each !== null).toSorted((a, b) => compare(a, b, false)));
  return `${label}: ${value} is not on this page; there are ${known}.`;
}

// By sheet, the choices that it is drawn for.
const drawnFor = {};
const turn = () => new Promise((done) => setTimeout(done));
const onScreen = (element) => element.getBoundingClientRect().top < innerHeight;

// Between visuals, and between charts, a reader has a turn; the answer and what is on the screen
// come first. A newer choice ends the drawing.
async function drawSheet(sheet, isShown) {
  const own = chosen;
  const section = document.getElementById(sheet.id);
  const said = sheet.controls.map(unknown).filter(Boolean).join(" ");
  section.querySelector(".unknown").textContent = said;
  for (const control of inTurn(sheet.controls)) offer(control, sheet.controls, isShown);
  const choices = JSON.stringify(chosen);
  if (drawnFor[sheet.id] === choices) return;
  delete drawnFor[sheet.id];
  tellAnswer(sheet);
  for (const visual of sheet.visuals) {
    draw(visual);
    if (!onScreen(document.getElementById(visual.id))) await turn();
    if (own !== chosen) return;
  }
  const waiting = new Set(section.querySelectorAll(".chart"));
  while (waiting.size) {
    const next = [...waiting].find(onScreen) ?? [...waiting][0];
    waiting.delete(next);
    await drawChart(next);
    await turn();
    if (own !== chosen) return;
  }
  drawnFor[sheet.id] = choices;
}

async function update() {
  const address = asked();
  chosen = Object.fromEntries(
    Object.entries(parameters).map(([name, first]) => [name, address.get(name) ?? first]),
  );
  const own = chosen;
  const shown = sheets.find(({ id }) => id === address.get("sheet")) ?? sheets[0];
  const main = document.querySelector("main");
  show(shown);
  main.ariaBusy = true;
  // The shown sheet decides the choices. The other sheets are drawn later, for printing.
  await drawSheet(shown, true);
  if (own === chosen) main.ariaBusy = null;
  for (const sheet of sheets.filter((each) => each !== shown)) {
    if (own !== chosen) return; // The choices have changed in the meantime.
    await drawSheet(sheet, false);
  }
}

// Controls in an order in which each follows the controls that it depends on.
function inTurn(controls) {
  const named = Object.fromEntries(controls.map((control) => [control.id, control]));
  const depth = ({ sources }) =>
    sources.reduce((most, { control }) => Math.max(most, 1 + depth(named[control])), 0);
  return controls.toSorted((a, b) => depth(a) - depth(b));
}

for (const control of sheets.flatMap(({ controls }) => controls)) {
  document
    .getElementById(control.id)
    .addEventListener("change", ({ target }) => {
      if (target.reportValidity()) ask(control.parameter, target.value);
    });
}
for (const [at, tab] of tabs.entries()) {
  tab.addEventListener("click", () => ask("sheet", tab.getAttribute("aria-controls")));
  tab.addEventListener("keydown", ({ key }) => {
    const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: -1 }[key];
    if (next === undefined) return;
    const to = tabs.at(next % tabs.length);
    to.focus();
    to.click();
  });
}
addEventListener("hashchange", update);
update();
