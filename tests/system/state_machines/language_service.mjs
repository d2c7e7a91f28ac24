// Print the findings of AWS's language service for the definitions in standard input, by their names.
import { readFileSync } from "node:fs";
import states from "amazon-states-language-service";
import { TextDocument } from "vscode-languageserver-textdocument";

const service = states.getLanguageService({});
const findings = {};
for (const [name, text] of Object.entries(JSON.parse(readFileSync(0, "utf8")))) {
  const document = TextDocument.create(`file:///${name}.asl.json`, "json", 1, text);
  const found = await service.doValidation(document, service.parseJSONDocument(document));
  findings[name] = found.map((each) => each.message);
}
console.log(JSON.stringify(findings));
