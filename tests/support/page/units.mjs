// tests/support/page/units.mjs UNITS.mjs TABLE: the page writes numbers as the tool does.
import { readFileSync } from "node:fs";
import path from "node:path";

const [unitsFile, table] = process.argv.slice(2);
const units = await import(path.resolve(unitsFile));
let checked = 0;
for (const line of readFileSync(table, "utf8").split("\n")) {
  if (line === "" || line.startsWith("#")) continue;
  const [call, want] = line.split(" = ");
  const [name, ...values] = call.split(" ");
  const numbers = values.map(Number);
  if (name === "moment" || name === "length") numbers.push("ns");
  const got = units[name](...numbers).replaceAll("\u00a0", " ");
  checked++;
  if (got !== want) {
    console.error(`FAIL: ${call}: the page writes ${got}, the tool ${want}`);
    process.exitCode = 1;
  }
}
console.log(`${checked} numbers`);
if (checked < 1000) throw new Error("the table is not whole");
