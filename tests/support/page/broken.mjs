// tests/support/page/broken.mjs PAGE…: of a page that was cut short or damaged a sentence says so.
import { expectThat, inBrowser } from "./browser.mjs";

await inBrowser(async (open) => {
  for (const file of process.argv.slice(2)) {
    const page = await open(file, { isReady: false });
    await page.waitForFunction(() => document.getElementById("app")?.textContent.includes("could not be read"), null, { timeout: 60_000 });
    expectThat(`${file} does not say what to do`, (await page.locator("#app").innerText()).includes("heapprof report --html"));
    page.complaints.length = 0; // the console has the reason
  }
});
