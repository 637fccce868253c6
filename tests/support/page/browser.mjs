// tests/support/page/browser.mjs: opens a page of heapprof's in a Chromium without a network, and notes what it must not
// do: ask for anything, complain, run what a profile has in its names.
//
// PAGE_TOOLS: the folder of `scripts/page --tools`, which has playwright-core.
import { createRequire } from "node:module";
import { existsSync, mkdirSync } from "node:fs";
import path from "node:path";

const { chromium } = createRequire(path.join(process.env.PAGE_TOOLS, "package.json"))("playwright-core");
const kBrowsers = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const kQuiet = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--force-device-scale-factor=1"];

export function fail(text) {
  console.error(`FAIL: ${text}`);
  process.exitCode = 1;
  throw new Error(text);
}
export function expect(what, got, want) {
  if (got !== want) fail(`${what}: got ${JSON.stringify(got)}, want ${JSON.stringify(want)}`);
}
export function expectThat(what, is) {
  if (!is) fail(what);
}
/** No-break spaces are the page's, blanks the terminal's. */
export const plain = (text) => text.replaceAll("\u00a0", " ");

/** Calls with(open), where open(file, {hash, dark, width, height}) gives a page that is ready. */
export async function inBrowser(work) {
  const browser = await chromium.launch({ executablePath: kBrowsers.find(existsSync), args: kQuiet });
  const complaints = [];
  const open = async (file, { hash = "", dark = false, width = 1500, height = 900, isReady = true } = {}) => {
    const context = await browser.newContext({ viewport: { width, height }, colorScheme: dark ? "dark" : "light", offline: true });
    const page = await context.newPage();
    const url = "file://" + path.resolve(file);
    page.on("request", (request) => {
      if (request.url().split("#")[0] !== url && !request.url().startsWith("data:")) complaints.push(`${file}: asks for ${request.url()}`);
    });
    page.on("console", (message) => {
      if (["error", "warning"].includes(message.type())) complaints.push(`${file}: ${message.text()}`);
    });
    page.on("pageerror", (error) => complaints.push(`${file}: ${error.message}`));
    page.on("dialog", (dialog) => complaints.push(`${file}: it ran what a name holds: ${dialog.message()}`));
    await page.goto(url + (hash === "" ? "" : `#${hash}`));
    if (isReady) await page.waitForSelector("html[data-ready]", { timeout: 60_000 });
    page.complaints = complaints;
    return page;
  };
  try {
    await work(open);
    if (complaints.length > 0) fail(complaints.join("\n"));
  } finally {
    await browser.close();
  }
}

/** Changes the address behind its "#", and waits until that is drawn. */
export const go = (page, hash) =>
  page.evaluate((to) => new Promise((done) => {
    location.hash = to;
    requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 0)));
  }), hash);

/** What the flame graph's root has: the number itself. */
export const rootValue = (page) => page.evaluate(() => document.querySelector(".flame").flame.value[0]);
/** Sums of the boxes right below the root, and of those without a box below them, which is what stacks end in. */
export const flameSums = (page) =>
  page.evaluate(() => {
    const { parent, value } = document.querySelector(".flame").flame;
    const below = new Float64Array(parent.length);
    for (let i = 1; i < parent.length; i++) below[parent[i]] += value[i];
    let least = Infinity; // by which a box has more than those below it
    for (let i = 0; i < parent.length; i++) least = Math.min(least, value[i] - below[i]);
    return { first: below[0], least };
  });

/** Keeps a picture for review where HEAPPROF_SCREENSHOTS names a folder. */
export async function keepPicture(page, name, fullPage = false) {
  const folder = process.env.HEAPPROF_SCREENSHOTS;
  if (!folder) return;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: path.join(folder, `${name}.png`), fullPage });
}
