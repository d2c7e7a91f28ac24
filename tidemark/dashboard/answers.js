// The answer of a sheet in words: the metrics of each verdict, the slower metrics first.

// An answer for each pair of versions in the rows of a comparison.
function answers(rows) {
  return grouped(rows, ["suite", "base_version", "new_version"]).map(({ rows: own }) => {
    const { suite, base_version, new_version } = own[0];
    const verdicts = Object.keys(words.marks)
      .map((word) => [word, own.filter((row) => row.qualified_verdict === word)])
      .filter(([, found]) => found.length)
      .flatMap(([word, found], at) => [at ? "; " : "", verdict(word), `: ${namesOf(found)}`]);
    const unlike = own.some((row) => row.unlike) ? " The two were not measured alike." : "";
    return made("p", {}, `${suite} ${new_version} against ${base_version}: `, ...verdicts, `.${unlike}`);
  });
}

const isVerdict = (word) => Object.hasOwn(words.marks, word);
const verdict = (word) => made("b", { class: word.replaceAll(" ", "-") }, `${words.marks[word]} ${word}`);
const withoutUnit = (rate) => rate.replace(/ \([^(]*\)$/, "");

function namesOf(found) {
  const names = found.slice(0, words.most_names).map((row) => {
    const { qualified_verdict, effect, direction, unit, low, high } = row;
    const changed = words.changes.some((word) => qualified_verdict.startsWith(word));
    const size = changed ? ` (${delta(effect, direction, unit, percentPlaces(low, high))})` : "";
    return withoutUnit(row.rate) + size;
  });
  const more = found.length - names.length;
  return names.join(", ") + (more > 0 ? ` and ${more} more` : "");
}
