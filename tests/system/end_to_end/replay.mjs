// Evaluates each line of standard input, {expression, bindings}, with the reference implementation
// of JSONata, and prints a line for it: {value}, {} if the value is undefined, or {error}.
import jsonata from "jsonata";
import { createInterface } from "node:readline";

for await (const line of createInterface({ input: process.stdin })) {
  const { expression, bindings } = JSON.parse(line);
  let answer;
  try {
    answer = { value: await jsonata(expression).evaluate(undefined, bindings) };
  } catch (error) {
    answer = { error: error.message };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
