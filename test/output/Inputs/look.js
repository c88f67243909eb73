// What the judges of pages have in common: a page is opened as a reader opens it, and
// nothing is fetched, axe finds nothing, and the console stays empty.
const fs = require("fs");
const assert = require("assert");

// A tab with PAGE in SCHEME, "light" or "dark", and WIDTH pixels wide.
exports.open = async (browser, page, scheme, width) => {
  const tab = await browser.newPage();
  const requests = [];
  tab.on("request", (request) => requests.push(request.url()));
  const complaints = [];
  tab.on("console", (message) => complaints.push(message.text()));
  tab.on("pageerror", (error) => complaints.push(String(error)));
  tab.on("dialog", (dialog) => complaints.push(dialog.message()));
  await tab.setViewport({ width, height: 900 });
  await tab.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
  // The page forbids scripts of others; the judge must be let in.
  await tab.setBypassCSP(true);
  await tab.goto("file://" + page);
  const judge = async () => {
    assert.deepStrictEqual(requests, ["file://" + page], "something was fetched");
    await tab.evaluate(fs.readFileSync(require.resolve("axe-core"), "utf8"));
    const found = await tab.evaluate(() => axe.run());
    assert.deepStrictEqual(
      found.violations.map((v) => `${v.id}: ${v.help}: ${v.nodes[0].html}`),
      [],
    );
    assert.deepStrictEqual(complaints, []);
  };
  return { tab, judge };
};
