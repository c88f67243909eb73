// browse.js CHROMIUM PAGE FOLDER: looks at a report as readers do, in light and
// dark, with and without scripts and on paper, and leaves screenshots in FOLDER.
const assert = require("assert");
const puppeteer = require("puppeteer-core");
const look = require("./look.js");

const [chromium, page, folder] = process.argv.slice(2);

async function visible(tab) {
  return tab.$$eval("article", (all) => all.filter((a) => a.offsetParent).length);
}

(async () => {
  const browser = await puppeteer.launch({
    executablePath: chromium,
    args: ["--no-sandbox", "--disable-gpu"],
  });
  try {
    for (const scheme of ["light", "dark"]) {
      const { tab, judge } = await look.open(browser, page, scheme, 1100);
      await tab.screenshot({ path: `${folder}/${scheme}.png`, fullPage: true });
      await judge();

      const total = await tab.$$eval("article", (all) => all.length);
      assert.ok(total >= 4, "too few findings");
      assert.strictEqual(await visible(tab), total);
      await tab.click("#filter input[value='2']");
      const strong = await visible(tab);
      assert.ok(strong > 0 && strong < total, `${strong} of ${total}`);
      await tab.select("#filter-check", "libtorch-pad-packed-total-length");
      assert.strictEqual(await visible(tab), 0);
      await tab.click("#filter input[value='2']");
      const ofCheck = await tab.$$eval(
        "article[data-check='libtorch-pad-packed-total-length']", (all) => all.length);
      assert.ok(ofCheck > 0 && ofCheck < total);
      assert.strictEqual(await visible(tab), ofCheck);

      // Words of a message, a file or the code, all of which must be there.
      await tab.select("#filter-check", "");
      await tab.type("#filter-text", "train.cpp ACCUM");
      const said = await visible(tab);
      assert.ok(said > 0 && said < total, `${said} of ${total} found`);
      await tab.$eval("#filter-text", (field) => {
        field.value = "";
        field.dispatchEvent(new Event("input"));
      });
      assert.strictEqual(await visible(tab), total);

      // Known bytes: the most first, the others after them as they were.
      const bytes = () =>
        tab.$$eval("article", (all) => all.map((a) => Number(a.dataset.bytes || -1)));
      const ids = () => tab.$$eval("article", (all) => all.map((a) => a.id));
      const firstOrder = await ids();
      const known = (await bytes()).filter((b) => b >= 0);
      assert.ok(known.length >= 3, "too few findings have bytes");
      await tab.select("#filter-order", "bytes");
      for (const file of await tab.$$("section.file")) {
        const inFile = await file.$$eval("article", (all) =>
          all.map((a) => Number(a.dataset.bytes || -1)));
        assert.deepStrictEqual(inFile, [...inFile].sort((a, b) => b - a));
      }
      assert.strictEqual((await bytes())[0], Math.max(...known));
      assert.notDeepStrictEqual(await ids(), firstOrder);
      await tab.select("#filter-order", "");
      assert.deepStrictEqual(await ids(), firstOrder);

      // What scrolls under the filter does not show through it.
      const through = await tab.evaluate(() => {
        const filter = document.querySelector("#filter");
        const from = filter.getBoundingClientRect().top + scrollY;
        for (let y = from + 50; y < from + 1500; y += 7) {
          scrollTo(0, y);
          const box = filter.getBoundingClientRect();
          for (let x = box.left + 2; x < box.right; x += 20) {
            const there = document.elementFromPoint(x, (box.top + box.bottom) / 2);
            if (!filter.contains(there)) return there.outerHTML;
          }
        }
        return "";
      });
      assert.strictEqual(through, "");
      await tab.close();
    }

    const plain = await browser.newPage();
    await plain.setJavaScriptEnabled(false);
    await plain.goto("file://" + page);
    assert.ok((await visible(plain)) >= 4, "nothing is shown without scripts");
    assert.strictEqual(await plain.$eval("#filter", (f) => f.offsetHeight), 0);
    await plain.setViewport({ width: 380, height: 800 });
    await plain.screenshot({ path: `${folder}/phone.png` });
    const wide = await plain.$eval("html", (e) => e.scrollWidth - e.clientWidth);
    assert.ok(wide <= 0, `wider than a phone by ${wide}`);
    await plain.pdf({ path: `${folder}/paper.pdf`, format: "A4" });
  } finally {
    await browser.close();
  }
})().catch((error) => {
  console.error(error);
  process.exit(1);
});
