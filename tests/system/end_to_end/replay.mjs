// Evaluates what standard input lists, [{expression, bindings}, …], with the reference
// implementation of JSONata, and prints the values; an undefined one as {"undefined": true}.
import jsonata from "jsonata";
import { readFileSync } from "node:fs";

const values = [];
for (const { expression, bindings } of JSON.parse(readFileSync(0, "utf8"))) {
  const value = await jsonata(expression).evaluate(undefined, bindings);
  values.push(value === undefined ? { undefined: true } : value);
}
process.stdout.write(JSON.stringify(values));
