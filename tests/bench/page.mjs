// tests/bench/page.mjs: what the page of a large profile costs a browser: its size, until it can be used, a zoom, its
// memory. Medians of five, in headless Chromium; nothing is asserted.
// usage: PAGE_TOOLS=$(scripts/page --tools) node tests/bench/page.mjs BUILD-FOLDER
//   (BUILD-FOLDER: build/release, with bin/heapprof and tests/make_profile)
import { execFileSync } from "node:child_process";
import { createRequire } from "node:module";
import { mkdtempSync, openSync, rmSync, statSync } from "node:fs";
import os from "node:os";
import path from "node:path";

const build = path.resolve(process.argv[2] ?? "build/release");
const { chromium } = createRequire(path.join(process.env.PAGE_TOOLS, "package.json"))("playwright-core");
const folder = mkdtempSync(path.join(os.tmpdir(), "heapprof-page-"));
const kRounds = 5;
const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
const shown = (values, unit) => `${Math.round(median(values))} ${unit} (${Math.round(Math.min(...values))} to ${Math.round(Math.max(...values))})`;

const profile = path.join(folder, "page.json");
execFileSync(path.join(build, "tests/make_profile"), ["page", "100000"], { stdio: ["ignore", openSync(profile, "w"), "inherit"] });
const page = path.join(folder, "page.html");
const begin = Date.now();
execFileSync(path.join(build, "bin/heapprof"), ["report", "--html", page, profile], { stdio: "ignore" });
console.log(`written      ${Date.now() - begin} ms, of a profile of ${(statSync(profile).size / 2 ** 20).toFixed(1)} MiB`);
console.log(`page         ${(statSync(page).size / 2 ** 20).toFixed(2)} MiB`);

const samples = { ready: [], zoom: [], metric: [], search: [], range: [], heap: [] };
for (let round = 0; round < kRounds; round++) {
  const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--enable-precise-memory-info", "--js-flags=--expose-gc"] });
  const tab = await browser.newPage({ viewport: { width: 1500, height: 900 } });
  await tab.goto(`file://${page}`);
  await tab.waitForSelector("html[data-ready]");
  // Until the first drawing after everything is there, since the navigation began.
  samples.ready.push(await tab.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(() => done(performance.now()), 0)))));
  // From a change of the address until the browser has drawn it.
  const timed = (hash) => tab.evaluate((to) => new Promise((done) => {
    const from = performance.now();
    location.hash = to;
    requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => done(performance.now() - from), 0)));
  }), hash);
  const duration = await tab.evaluate(() => window.heapprof.summary.sides[0].duration);
  for (let i = 1; i <= 5; i++) samples.zoom.push(await timed(`zoom=${Math.round((duration * i) / 20)}-${Math.round(duration * (1 - i / 20))}`));
  samples.metric.push(await timed("metric=total"));
  samples.search.push(await timed("metric=total&find=f1"));
  samples.range.push(await timed(`range=${Math.round(duration / 4)}-${Math.round(duration / 2)}`));
  samples.heap.push(await tab.evaluate(() => { window.gc?.(); return performance.memory.usedJSHeapSize / 2 ** 20; }));
  await browser.close();
}
console.log(`to first use ${shown(samples.ready, "ms")}`);
console.log(`a zoom       ${shown(samples.zoom, "ms")}`);
console.log(`metric       ${shown(samples.metric, "ms")}`);
console.log(`search       ${shown(samples.search, "ms")}`);
console.log(`range        ${shown(samples.range, "ms")}`);
console.log(`heap         ${shown(samples.heap, "MiB")}`);
rmSync(folder, { recursive: true });
