// tests/support/page/report.mjs PAGE REPORT.json REPORT.txt: what the page of a profile shows is what `heapprof report`
// says, in every view; and everything on it can be reached by keys.
import { readFileSync } from "node:fs";
import { go, expect, expectThat, fail, flameSums, inBrowser, keepPicture, plain, rootValue } from "./browser.mjs";

const [file, jsonFile, textFile] = process.argv.slice(2);
const report = JSON.parse(readFileSync(jsonFile, "utf8"));
const text = readFileSync(textFile, "utf8");
const kOfMetric = { peak: "peak_bytes", total: "total_bytes", leaked: "leaked_bytes", allocations: "allocations_count", temporary: "temporary_count" };
const withSeparators = (value) => String(value).replace(/\B(?=(\d{3})+$)/g, ",");

/** The device's number; of leaks without those that a rule suppresses, which no view counts. */
function total(device, metric) {
  const value = device[kOfMetric[metric]];
  return metric === "leaked" ? value - (device.suppressed_leaked_bytes ?? 0) : value;
}

await inBrowser(async (open) => {
  const page = await open(file);
  const metrics = await page.evaluate(() => JSON.parse(document.getElementById("summary").textContent).sides[0].metrics);
  await keepPicture(page, `${file}.first`);

  // Cards: the exact numbers, and the words of the text.
  for (const device of report.devices) {
    const card = page.locator(`.card[data-device="${device.name}"]`);
    if ((await card.count()) === 0) continue; // below 1 %
    if (device.peak_bytes === undefined) continue;
    expect(`peak of ${device.name}`, plain(await card.locator(".peak").getAttribute("title")), `${withSeparators(device.peak_bytes)} B`);
    const words = plain(await card.innerText());
    const peak = plain(await card.locator(".peak").innerText());
    const at = /peak at (.*)/.exec(words)?.[1];
    if (at !== undefined) expectThat(`the text report does not say "peak ${peak} at ${at}"`, text.includes(`peak ${peak} at ${at}`));
    const allocations = /([\d,.]+(?: [MGT])? allocs?) of (.*)/.exec(words);
    expectThat(`the text report does not say "${allocations?.[0]}"`, text.includes(allocations?.[0] ?? "no allocations on the card"));
  }

  // Every view of every device: the root, the boxes below it, the table.
  for (let number = 0; number < report.devices.length; number++) {
    const device = report.devices[number];
    for (const metric of metrics) {
      for (const up of ["down", "up"]) {
        for (const all of ["", "1"]) {
          const want = total(device, metric);
          await go(page, `device=${number}&metric=${metric}&up=${up}&all=${all}`);
          await page.waitForFunction((wanted) => document.querySelector(".flame").flame.value[0] === wanted, want, { timeout: 60_000 }).catch(async () => fail(`root of ${device.name} ${metric} ${up} ${all}: got ${await rootValue(page)}, want ${want}`));
          const sums = await flameSums(page);
          expect(`boxes below the root of ${device.name} ${metric} ${up} ${all}`, sums.first, want);
          expectThat(`a box of ${device.name} ${metric} ${up} has less than those below it: ${sums.least}`, sums.least >= 0);
        }
      }
    }
    const footer = await page.locator(".foot [title]").evaluateAll((cells) => cells.map((cell) => cell.title));
    for (const metric of metrics.filter((one) => ["peak", "total", "leaked"].includes(one)))
      expectThat(`the table of ${device.name} does not sum to ${total(device, metric)}: ${footer}`, footer.map(plain).includes(`${withSeparators(total(device, metric))} B`));
    expect(`places of ${device.name}`, plain(await page.locator(".foot > div").first().innerText()).replace(/,/g, ""), `${device.places_count} place${device.places_count === 1 ? "" : "s"}`);
  }

  // Sorting: the first row is the one that has most.
  await go(page, "device=0");
  const host = report.devices[0];
  if (host.places.length > 1) {
    const most = Math.max(...host.places.map((place) => place.total_bytes));
    await page.getByRole("columnheader", { name: "total" }).getByRole("button").click();
    await page.waitForFunction((want) => [...document.querySelectorAll(".body .row:first-child [title]")].some((cell) => cell.title === want), `${withSeparators(most)}\u00a0B`, { timeout: 60_000 });
    expect("order of total", await page.getByRole("columnheader", { name: "total" }).getAttribute("aria-sort"), "descending");

    // Finding: only what has it in its name is left, Escape brings the rest back.
    const place = host.places.find((one) => one.function && !one.function.startsWith("0x"));
    await page.keyboard.press("/");
    await page.keyboard.type(place.function);
    await page.waitForFunction((name) => [...document.querySelectorAll(".body .row .name")].every((one) => one.textContent.toLowerCase().includes(name.toLowerCase())), place.function, { timeout: 60_000 });
    expectThat("it does not say what was found", plain(await page.locator("[data-found]").innerText()).includes("%"));
    await keepPicture(page, `${file}.found`);
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    await page.waitForFunction(() => document.querySelector('input[type="search"]').value === "");
  }

  // Keys.
  const hashIs = (want) => page.waitForFunction((wanted) => location.hash.includes(wanted), want, { timeout: 60_000 }).catch(() => fail(`no ${want} in the address after a key`));
  await page.keyboard.press("u");
  await hashIs("up=up");
  await page.keyboard.press("u");
  await page.keyboard.press("a");
  await hashIs("all=1");
  await page.keyboard.press("a");
  await page.keyboard.press("?");
  await page.waitForSelector(".help");
  await page.keyboard.press("Escape");
  await page.waitForSelector(".help", { state: "detached" });
  if (metrics.length > 1) {
    await page.keyboard.press("2");
    await hashIs(`metric=${metrics[1]}`);
  }
  if (report.devices.length > 1) {
    await page.keyboard.press("d");
    await page.waitForSelector(`.card.chosen[data-device="${report.devices[1].name}"]`);
    await page.keyboard.press("1");
  }

  // The flame graph: arrows, Enter, Escape; what was widened is as wide as the root.
  await go(page, "device=0");
  await page.waitForTimeout(50);
  await page.locator(".flame").focus();
  await page.keyboard.press("ArrowDown");
  await page.waitForSelector(".tip");
  expectThat("a tooltip without a number", /\d/.test(await page.locator(".tip").innerText()));
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.waitForTimeout(50);
  const widened = await page.evaluate(() => {
    const { boxes } = document.querySelector(".flame");
    return boxes.filter((box) => box.x === 0 && Math.abs(box.width - boxes[0].width) < 0.01).length;
  });
  expectThat(`Enter widened nothing: ${widened} boxes are as wide as the root`, widened >= 2);
  await page.keyboard.press("Escape");

  // Tabs.
  for (const tab of ["findings", "scopes", "threads", "processes", "sizes", "coverage", "places"]) {
    await page.getByRole("tab", { name: new RegExp(`^${tab}`) }).click();
    expectThat(`the tab ${tab} is empty`, (await page.locator(".tab").innerText()).trim() !== "");
    if (tab === "coverage") expectThat("coverage does not say what was lost", (await page.locator(".coverage").innerText()).includes("events lost"));
    await keepPicture(page, `${file}.${tab}`, true);
  }

  // The address shows the same view again; dark is dark.
  await go(page, "metric=total&up=up&find=main&theme=dark");
  await page.waitForFunction(() => document.documentElement.dataset.theme === "dark");
  const before = await rootValue(page);
  const again = await open(file, { hash: "metric=total&up=up&find=main&theme=dark" });
  expect("root after opening the address again", await rootValue(again), before);
  expect("what is looked for after that", await again.locator('input[type="search"]').inputValue(), "main");
  await keepPicture(again, `${file}.dark`);
  const narrow = await open(file, { width: 800, height: 600 });
  expectThat("the page is wider than a small window", await narrow.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth));
  await keepPicture(narrow, `${file}.narrow`);
});
