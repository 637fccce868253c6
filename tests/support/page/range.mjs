// tests/support/page/range.mjs PAGE BOOKS.json: a range of time is what the program's own books say: of each of their
// marks what each function allocated since an earlier one and still has.
import { readFileSync } from "node:fs";
import { go, expect, expectThat, fail, inBrowser, keepPicture, plain, rootValue } from "./browser.mjs";

const [file, booksFile] = process.argv.slice(2);
/** ranges: [{from: mark or null, to: mark or null, bytes: {function: bytes}}]; null: the start, the end. */
const books = JSON.parse(readFileSync(booksFile, "utf8"));

await inBrowser(async (open) => {
  const page = await open(file, { hash: "device=0" });
  const { marks, bounds, duration } = await page.evaluate(() => {
    const { texts, scopes, devices, summary } = window.heapprof.profiles[0];
    return { marks: Array.from(scopes.markAt, (at, i) => [texts[scopes.markName[i]], at]), bounds: Array.from(devices[0].sites.bounds), duration: summary.duration };
  });
  const timeOf = (name) => marks.find((mark) => mark[0] === name)?.[1] ?? fail(`no mark ${name}`);
  for (const range of books.ranges) {
    const from = range.from === null ? 0 : timeOf(range.from);
    const to = range.to === null ? duration : timeOf(range.to);
    for (const at of [from, to]) expectThat(`no bound is at ${at}`, bounds.some((bound) => Math.abs(bound - at) <= 2));
    await go(page, `device=0&range=${Math.round(from)}-${Math.round(to)}`);
    const want = Object.values(range.bytes).reduce((sum, bytes) => sum + bytes, 0);
    const own = await page
      .waitForFunction(
        ({ names, wanted }) => {
          const sums = {};
          for (const row of document.querySelectorAll(".body .row")) {
            const name = row.querySelector(".name")?.textContent ?? "";
            if (names.includes(name)) sums[name] = (sums[name] ?? 0) + Number(row.querySelectorAll("[role=cell]")[1].querySelector("[title]").title.replace(/\D/g, ""));
          }
          return Object.values(sums).reduce((a, b) => a + b, 0) === wanted && document.querySelector(".segments .on")?.textContent === "in range" ? sums : false;
        },
        { names: books.functions, wanted: want },
        { timeout: 60_000 },
      )
      .catch(async () => fail(`from ${range.from} to ${range.to}: want ${JSON.stringify(range.bytes)}, the page has ${plain(await page.locator(".body").innerText())}`));
    const sums = await own.jsonValue();
    for (const name of books.functions) expect(`${name} from ${range.from} to ${range.to}`, sums[name] ?? 0, range.bytes[name] ?? 0);
    const footer = await page.locator(".foot [title]").first().getAttribute("title");
    expect("the table's sum and the flame graph's root", Number(footer.replace(/\D/g, "")), await rootValue(page));
    const card = await page.locator(".card.chosen .in-range [title]").getAttribute("title");
    expect("the card of a range", Number(card.replace(/\D/g, "")), await rootValue(page));
  }

  // By hand: a drag over the panel, a chip, Escape. The root is the table's sum all the while.
  await go(page, "device=0");
  await page.waitForTimeout(100);
  const whole = await rootValue(page);
  const plot = await page.locator(".panel .u-over").first().boundingBox();
  await page.mouse.move(plot.x + plot.width * 0.3, plot.y + plot.height / 2);
  await page.mouse.down();
  await page.mouse.move(plot.x + plot.width * 0.5, plot.y + plot.height / 2, { steps: 5 });
  await page.mouse.move(plot.x + plot.width * 0.8, plot.y + plot.height / 2, { steps: 5 });
  await page.mouse.up();
  await page.waitForSelector(".chip:has-text('live at its end')");
  const footer = await page.locator(".foot [title]").first().getAttribute("title");
  expect("the table's sum and the root of a dragged range", Number(footer.replace(/\D/g, "")), await rootValue(page));
  await keepPicture(page, `${file}.range`);
  await page.keyboard.press("Escape");
  await page.waitForFunction((want) => document.querySelector(".flame").flame.value[0] === want, whole);

  // Zoom and pan: the address follows, and a double click shows all again.
  await page.mouse.move(plot.x + plot.width / 2, plot.y + plot.height / 2);
  for (let i = 0; i < 4; i++) await page.mouse.wheel(0, -120);
  await page.waitForFunction(() => location.hash.includes("zoom="));
  const zoomOf = async () => /zoom=(\d+)-(\d+)/.exec(await page.evaluate(() => location.hash))?.slice(1).map(Number);
  const [first, last] = await zoomOf();
  expectThat("the wheel did not zoom in", last - first < duration * 0.6);
  await page.keyboard.down("Shift");
  await page.mouse.wheel(0, 120);
  await page.keyboard.up("Shift");
  await page.waitForFunction((was) => !location.hash.includes(`zoom=${was}-`), first);
  expectThat("moving changed the length", Math.abs((await zoomOf())[1] - (await zoomOf())[0] - (last - first)) <= 2);
  await page.mouse.dblclick(plot.x + plot.width / 2, plot.y + plot.height / 2);
  await page.waitForFunction(() => !location.hash.includes("zoom="));
});
