// tests/support/page/cases.mjs PAGE…: pages of odd profiles open, without an error, and nothing that a name holds is run
// or becomes an element.
import { expectThat, inBrowser, keepPicture } from "./browser.mjs";

await inBrowser(async (open) => {
  for (const file of process.argv.slice(2)) {
    const page = await open(file);
    expectThat(`${file} has no sentence`, (await page.locator("h1").innerText()).trim() !== "");
    const foreign = await page.evaluate(() => document.querySelectorAll("img, iframe, object, embed, link, base, form, #app script, #app style, #app [onerror], #app [onload]").length);
    expectThat(`${file} has ${foreign} elements that it must not have`, foreign === 0);
    for (const tab of ["findings", "scopes", "threads", "processes", "sizes", "coverage", "places"]) {
      const button = page.getByRole("tab", { name: new RegExp(`^${tab}`) });
      if ((await button.count()) > 0) await button.click();
    }
    for (const key of ["a", "u", "2", "d", "3", "d"]) await page.keyboard.press(key);
    await page.waitForTimeout(100);
    expectThat(`${file} is gone after some keys`, (await page.locator("h1").count()) === 1);
    await keepPicture(page, `${file}.case`);
  }
});
