// browse_page.js CHROMIUM FOLDER PAGE...: looks at pages of --budget as readers do, in
// light and dark, on a phone and on paper, and leaves screenshots in FOLDER.
const assert = require("assert");
const path = require("path");
const puppeteer = require("puppeteer-core");
const look = require("../../output/Inputs/look.js");

const [chromium, folder, ...pages] = process.argv.slice(2);

(async () => {
  const browser = await puppeteer.launch({
    executablePath: chromium,
    args: ["--no-sandbox", "--disable-gpu"],
  });
  try {
    for (const page of pages)
      for (const [scheme, width] of [["light", 1100], ["dark", 1100], ["light", 390]]) {
        const { tab, judge } = await look.open(browser, page, scheme, width);
        await tab.$$eval("details", (all) => all.forEach((d) => (d.open = true)));
        await tab.screenshot({ path: `${folder}/${path.basename(page, ".html")}-${scheme}-${width}.png`, fullPage: true });
        await judge();

        // Nothing is wider than the page, and no words of a picture are cut.
        const cut = await tab.evaluate(() => {
          const end = document.documentElement.clientWidth;
          return [...document.querySelectorAll("main *")]
            .filter((e) => !e.closest("svg") || e.tagName === "text")
            .filter((e) => {
              const box = e.getBoundingClientRect();
              return box.width && (box.right > end + 1 || box.left < 0);
            })
            .map((e) => e.outerHTML.slice(0, 200));
        });
        assert.deepStrictEqual(cut, []);

        // A pointer over a picture is told what is there.
        for (const plot of await tab.$$(".plot")) {
          await plot.scrollIntoView();
          const box = await plot.boundingBox();
          const told = await tab.evaluate(
            (x, y) => document.elementFromPoint(x, y).querySelector("title").textContent,
            box.x + box.width / 2,
            box.y + box.height / 2,
          );
          assert.match(told, /^.+\nat most [0-9,]+ bytes \(.+\)\nthen [0-9,]+ bytes$/);
        }
        if (width === 1100) await tab.pdf({ path: `${folder}/${path.basename(page, ".html")}.pdf`, format: "A4" });
        await tab.close();
      }
  } finally {
    await browser.close();
  }
})().catch((error) => {
  console.error(error);
  process.exit(1);
});
