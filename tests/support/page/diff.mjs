// tests/support/page/diff.mjs PAGE DIFF.json: the page of a difference says what `heapprof diff --format json` says.
import { readFileSync } from "node:fs";
import { go, expect, expectThat, fail, inBrowser, keepPicture, plain } from "./browser.mjs";

const [file, jsonFile] = process.argv.slice(2);
const diff = JSON.parse(readFileSync(jsonFile, "utf8"));
const kOfMetric = { peak: "peak_bytes", total: "total_bytes", leaked: "leaked_bytes", allocations: "allocations_count", temporary: "temporary_count" };

await inBrowser(async (open) => {
  const page = await open(file);
  await keepPicture(page, `${file}.first`);
  expect("the first sentence", plain(await page.locator("h1").innerText()), diff.summary[0]);
  const metrics = await page.evaluate(() => {
    const [base, current] = JSON.parse(document.getElementById("summary").textContent).sides;
    return current.metrics.filter((metric) => base.metrics.includes(metric));
  });
  for (let number = 0; number < diff.devices.length; number++) {
    const device = diff.devices[number];
    for (const metric of metrics) {
      const change = device.metrics[kOfMetric[metric]];
      if (change === undefined) continue;
      const want = { base: change.base, current: change.current };
      await go(page, `device=${number}&metric=${metric}`);
      await page
        .waitForFunction(
          ({ name, word, base, current }) => {
            const of = window.heapprof.shown;
            return of.device === name && of.metric === word && of.base === base && of.current === current;
          },
          { name: device.name, word: metric, ...want },
          { timeout: 60_000 },
        )
        .catch(async () => fail(`${device.name} ${metric}: want ${JSON.stringify(want)}, got ${JSON.stringify(await page.evaluate(() => window.heapprof.shown))}`));
      const isBytes = !["allocations", "temporary"].includes(metric);
      if (isBytes) {
        const title = plain((await page.locator(".foot [title]").last().getAttribute("title")) ?? "");
        const net = want.current - want.base;
        const digits = `${net < 0 ? "−" : net > 0 ? "+" : "±"}${String(Math.abs(net)).replace(/\B(?=(\d{3})+$)/g, ",")}`;
        expect(`change of the table of ${device.name} ${metric}`, title.replace(" B", ""), digits);
      }
      // Each place, by name: what it had and has.
      const rows = await page.evaluate(() => window.heapprof.shown.rows.map((row) => [row.function, row.base, row.current]));
      for (const place of device.places) {
        const of = place[kOfMetric[metric]];
        if (of === undefined || (of.base === 0 && of.current === 0)) continue;
        expectThat(`no row ${place.function} ${of.base} ${of.current} of ${device.name} ${metric}`, rows.some((row) => row[1] === of.base && row[2] === of.current));
      }
    }
  }
  // Widths: of both sides the root is the side's number; of what changed it is what grew and what shrank together.
  await go(page, "device=0");
  for (const widths of ["base", "current"]) {
    await page.getByLabel("widths").selectOption(widths);
    await page.waitForFunction((side) => document.querySelector(".flame").flame.value[0] === window.heapprof.shown[side], widths);
  }
  await page.getByLabel("widths").selectOption("change");
  const [gross, net] = await page.evaluate(() => [document.querySelector(".flame").flame.value[0], window.heapprof.shown.current - window.heapprof.shown.base]);
  expectThat(`what changed is ${gross}, less than the change ${net}`, gross >= Math.abs(net));
  expectThat("the legend names no sign", /[+−±]/.test(await page.locator("[data-legend]").innerText()));
  for (const by of ["by marks", "by scopes", "by time"]) {
    const button = page.getByRole("radio", { name: by, exact: true });
    if (await button.isEnabled()) await button.click();
  }
  await keepPicture(page, `${file}.whole`, true);
  const dark = await open(file, { dark: true });
  await keepPicture(dark, `${file}.dark`);
});
