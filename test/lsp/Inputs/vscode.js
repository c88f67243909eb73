// vscode.js CHROMIUM SERVER EXTENSION PROGRAM WORKSPACE FOLDER: uses the extension as people
// do, in a real VS Code in a browser. SERVER is VS Code's server-main.js, EXTENSION the
// .vsix, PROGRAM libtorch-tidy. WORKSPACE has trainer.cpp and validate.cpp, and settings
// that name another program, which must not run as the workspace is not trusted. FOLDER is
// an empty one for what VS Code writes, and for screenshots.
const assert = require("assert");
const { execFileSync, spawn } = require("child_process");
const fs = require("fs");
const path = require("path");
const puppeteer = require("puppeteer-core");

const [chromium, server, extension, program, workspace, folder] = process.argv.slice(2);
const patience = Number(process.env.PATIENCE || 240_000);

const data = path.join(folder, "data");
const own = [
  "--server-data-dir", data, "--extensions-dir", path.join(folder, "extensions"),
  "--accept-server-license-terms", "--disable-telemetry",
];
const settings = {
  "libtorchTidy.path": program,
  "telemetry.telemetryLevel": "off",
  "workbench.startupEditor": "none",
  "workbench.tips.enabled": false,
  "window.commandCenter": false,
  "editor.minimap.enabled": false,
  "extensions.ignoreRecommendations": true,
  "git.enabled": false,
  "files.autoSave": "off",
};

// Its address, when it answers.
function start() {
  const child = spawn(
    process.execPath,
    [server, "--host", "127.0.0.1", "--port", "0", "--without-connection-token", ...own],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  const address = new Promise((resolve, reject) => {
    let said = "";
    child.stdout.setEncoding("utf8").on("data", (text) => {
      said += text;
      const port = /listening on (\d+)/.exec(said);
      if (port) resolve(`http://127.0.0.1:${port[1]}`);
    });
    child.on("exit", () => reject(new Error("the server ended: " + said)));
  });
  return { child, address };
}

class Window {
  constructor(tab) {
    this.tab = tab;
  }

  // A part of the window whose text has WORDS in it.
  async sees(selector, words, absent = false) {
    await this.tab.waitForFunction(
      (selector, words, absent) =>
        absent !==
        [...document.querySelectorAll(selector)].some((one) =>
          // Non-breaking spaces are everywhere.
          (one.textContent + " " + (one.ariaLabel ?? "")).replace(/\u00a0/g, " ").includes(words),
        ),
      { timeout: patience, polling: 200 },
      selector, words, absent,
    ).catch((problem) => {
      throw new Error(`${absent ? "still" : "no"} '${words}' in ${selector}: ${problem.message}`);
    });
  }

  async press(...keys) {
    for (const key of keys.slice(0, -1)) await this.tab.keyboard.down(key);
    await this.tab.keyboard.press(keys.at(-1));
    for (const key of keys.slice(0, -1).reverse()) await this.tab.keyboard.up(key);
  }

  // What Ctrl+P takes: a file, ":LINE:COLUMN", or ">" and a command.
  async quick(text) {
    const input = () =>
      this.tab.waitForSelector(".quick-input-box input", { visible: true, timeout: patience / 20 });
    for (let tries = 1; ; ++tries) {
      await this.press("F1");
      // What has the focus may have been about to lose it.
      const problem = await input().then(() => undefined, (problem) => problem);
      if (!problem) break;
      if (tries === 20) throw problem;
    }
    await this.press("Control", "a");
    await this.tab.keyboard.type(text);
    const shown = text.replace(/^>/, "").split(":").at(-1).trim();
    if (!text.startsWith(":")) await this.sees(".quick-input-list .monaco-list-row", shown);
    await this.press("Enter");
    await this.tab.waitForSelector(".quick-input-widget", { hidden: true, timeout: patience });
  }

  async open(file) {
    await this.quick(file);
    await this.sees(".tab.active", file);
  }

  async click(selector, words) {
    await this.sees(selector, words);
    const all = await this.tab.$$(selector);
    for (const one of all)
      if ((await one.evaluate((e) => e.textContent.replace(/\u00a0/g, " "))).includes(words))
        return one.click();
    throw new Error(`'${words}' in ${selector} is gone`);
  }

  text() {
    return this.tab.$eval(".editor-instance .view-lines", (e) =>
      e.innerText.replace(/\u00a0/g, " "));
  }

  shoot(name) {
    return this.tab.screenshot({ path: path.join(folder, name + ".png") });
  }
}

const problems = ".markers-panel .monaco-list-row";
const status = ".statusbar-item";

async function use(window) {
  await window.click(".monaco-dialog-box .monaco-button", "No, I don't trust");
  console.log("-- a file is opened");
  await window.open("trainer.cpp");
  await window.sees(status, "libtorch-tidy 1");
  await window.quick(">Problems: Focus on Problems View");
  await window.sees(problems, "libtorch-accumulated-history");
  console.log("the finding is there");
  await window.sees(problems, "'total' is declared here");
  await window.sees(problems, "[Ln 9, Col 10]");
  console.log("its story is there");
  await window.shoot("finding");

  console.log("-- its fix is applied");
  await window.open("trainer.cpp");
  await window.quick(":11:12");
  await window.press("Control", ".");
  await window.sees(".action-widget", "Explain libtorch-accumulated-history");
  await window.sees(".action-widget", "[libtorch-accumulated-history]");
  await window.shoot("fixes");
  await window.click(".action-widget .monaco-list-row", "[libtorch-accumulated-history]");
  await window.sees(status, "libtorch-tidy 1", true);
  await window.sees(problems, "libtorch-accumulated-history", true);
  assert.match(await window.text(), /total \+= loss\.detach\(\);/);
  console.log("the finding is gone");
  await window.shoot("fixed");

  console.log("-- a check is explained");
  await window.quick(">libtorch-tidy: Explain a Check");
  await window.sees(".quick-input-list .monaco-list-row", "libtorch-accumulated-history");
  await window.tab.keyboard.type("accumulated-history");
  await window.press("Enter");
  await window.sees(".tab.active", "libtorch-accumulated-history.md");
  console.log("its page is open");

  console.log("-- why is a line not reported, in a text that is not saved?");
  // The page would take keys for itself.
  await window.click(".tab", "trainer.cpp");
  await window.click(".editor-instance .view-line", "optimizer.step");
  await window.quick(":11:12");
  await window.quick(">libtorch-tidy: Why Is This Line Reported");
  await window.sees(".view-lines", "trainer.cpp:11: total += loss.detach();");
  console.log("the program has answered");
  await window.shoot("why");

  console.log("-- the workspace");
  await window.quick(">libtorch-tidy: Run on Workspace");
  await window.sees(problems, "libtorch-ineffective-grad-guard");
  console.log("a finding in a file that is not open");
  await window.shoot("workspace");
}

(async () => {
  fs.mkdirSync(path.join(data, "data", "Machine"), { recursive: true });
  fs.writeFileSync(path.join(data, "data", "Machine", "settings.json"), JSON.stringify(settings));
  execFileSync(process.execPath, [server, ...own, "--install-extension", extension], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  const { child, address } = start();
  const browser = await puppeteer.launch({
    executablePath: chromium,
    args: ["--no-sandbox", "--disable-gpu"],
    protocolTimeout: patience,
  });
  try {
    const tab = await browser.newPage();
    await tab.setViewport({ width: 1100, height: 640 });
    await tab.goto(`${await address}/?folder=${encodeURI(workspace)}`, {
      waitUntil: "domcontentloaded",
      timeout: patience,
    });
    const window = new Window(tab);
    try {
      await use(window);
    } catch (problem) {
      await window.shoot("failed");
      throw problem;
    }
  } finally {
    await browser.close();
    child.kill();
  }
  assert.ok(!fs.existsSync(path.join(workspace, "ran")), "a program of the workspace ran");
  console.log("no program of the workspace has run");
})().catch((problem) => {
  console.error(problem);
  process.exit(1);
});
