// The answer of a sheet in words: the metrics of each verdict, slower ones first.

const MOST_METRICS = 3; // of a verdict; the table has all
const SIZED = /^(slower|faster)/; // the verdicts with the size of the change
const percentage = (name, places) => ({ column: { name }, format: { kind: "percentage", places } });
const CHANGE = percentage("change", 1);

// An answer for each pair of versions in the rows of a comparison.
function answers(rows) {
  return grouped(rows, ["suite", "base_version", "new_version"]).map(({ rows: own }) => {
    const { suite, base_version, new_version } = own[0];
    const verdicts = Object.keys(marks)
      .map((word) => [word, own.filter((row) => row.qualified_verdict === word)])
      .filter(([, found]) => found.length)
      .flatMap(([word, found], at) => [at ? "; " : "", verdict(word), `: ${namesOf(found)}`]);
    const unlike = own.some((row) => row.unlike) ? " The two were not measured alike." : "";
    return made("p", {}, `${suite} ${new_version} against ${base_version}: `, ...verdicts, `.${unlike}`);
  });
}

const isVerdict = (word) => Object.hasOwn(marks, word);
const verdict = (word) => made("b", { class: word.replaceAll(" ", "-") }, `${marks[word]} ${word}`);
const withoutUnit = (rate) => rate.replace(/ \([^(]*\)$/, "");

// The places that an interval supports: two digits of its half-width, as reports have them.
function supportedPlaces({ low, high }) {
  if (low == null || low === high) return 2;
  return least([2, most([0, 1 - Math.floor(Math.log10(50 * (high - low)))])]);
}

function namesOf(found) {
  const names = found.slice(0, MOST_METRICS).map((row) => {
    const change = percentage("effect", supportedPlaces(row));
    const size = SIZED.test(row.qualified_verdict) ? ` (${writtenIn(row, change)})` : "";
    return withoutUnit(row.rate) + size;
  });
  const more = found.length - names.length;
  return names.join(", ") + (more > 0 ? ` and ${more} more` : "");
}
