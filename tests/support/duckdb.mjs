// tests/support/duckdb.mjs: runs queries in DuckDB (from npm: it lies beside node_modules), one a file, and prints rows
// with "|" between the columns.
// usage: node duckdb.mjs FILE.sql…
import { readFileSync } from 'node:fs';

import { DuckDBInstance } from '@duckdb/node-api';

const connection = await (await DuckDBInstance.create(':memory:')).connect();
for (const file of process.argv.slice(2)) {
  const result = await connection.runAndReadAll(readFileSync(file, 'utf8'));
  for (const row of result.getRows()) console.log(row.map((value) => (value === null ? '' : String(value))).join('|'));
}
