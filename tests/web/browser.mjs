// Debian's Chromium, headless, spoken to over a pipe: the little of the DevTools protocol that the tests need.
// SPDX-License-Identifier: Apache-2.0
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const FLAGS = [
  "--headless=new", "--no-sandbox", "--disable-gpu-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
  "--hide-scrollbars", "--no-first-run", "--disable-extensions", "--disable-background-networking", "--disable-sync",
  "--disable-component-update", "--disable-default-apps", "--mute-audio", "--force-device-scale-factor=1",
  "--remote-debugging-pipe",
];

export class Browser {
  static async start(program = "chromium") {
    const browser = new Browser();
    browser.folder = mkdtempSync(join(tmpdir(), "interim-browser-"));
    browser.process = spawn(program, [...FLAGS, `--user-data-dir=${browser.folder}`, "about:blank"], {
      stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"],
      env: { ...process.env, HOME: browser.folder },
    });
    browser.pending = new Map();
    browser.sessions = new Map();
    browser.number = 0;
    let rest = "";
    browser.process.stdio[4].on("data", (data) => {
      const parts = (rest + data).split("\0");
      rest = parts.pop();
      parts.forEach((part) => browser.receive(JSON.parse(part)));
    });
    browser.process.on("exit", () => browser.pending.forEach(({ reject }) => reject(new Error("the browser ended"))));
    return browser;
  }

  send(method, params = {}, sessionId = undefined) {
    const id = ++this.number;
    this.process.stdio[3].write(JSON.stringify({ id, method, params, sessionId }) + "\0");
    return new Promise((resolve, reject) => this.pending.set(id, { resolve, reject, method }));
  }

  receive(message) {
    if (message.id) {
      const { resolve, reject, method } = this.pending.get(message.id);
      this.pending.delete(message.id);
      if (message.error) reject(new Error(`${method}: ${message.error.message}`));
      else resolve(message.result);
    } else {
      this.sessions.get(message.sessionId)?.receive(message.method, message.params);
    }
  }

  async open(url, { width = 1440, height = 900, dark = false } = {}) {
    const { targetId } = await this.send("Target.createTarget", { url: "about:blank" });
    const { sessionId } = await this.send("Target.attachToTarget", { targetId, flatten: true });
    const page = new Page(this, sessionId, targetId);
    this.sessions.set(sessionId, page);
    await Promise.all(["Page.enable", "Runtime.enable", "Network.enable", "Log.enable"].map((method) => page.send(method)));
    await page.send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: false });
    await page.send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: dark ? "dark" : "light" }] });
    page.started = performance.now();
    await page.send("Page.navigate", { url });
    return page;
  }

  async stop() {
    const ended = new Promise((resolve) => this.process.on("exit", resolve));
    await this.send("Browser.close").catch(() => {});
    await ended;
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

class Page {
  constructor(browser, sessionId, targetId) {
    Object.assign(this, { browser, sessionId, targetId, requests: [], errors: [] });
  }

  send(method, params) {
    return this.browser.send(method, params, this.sessionId);
  }

  receive(method, params) {
    if (method === "Network.requestWillBeSent") this.requests.push(params.request.url);
    if (method === "Runtime.exceptionThrown") this.errors.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
    if (method === "Runtime.consoleAPICalled" && ["error", "warning", "assert"].includes(params.type)) {
      this.errors.push(params.args.map((a) => a.value ?? a.description).join(" "));
    }
    if (method === "Log.entryAdded" && params.entry.level === "error") this.errors.push(params.entry.text);
  }

  /** Value of an expression in the page; promises are awaited. */
  async evaluate(expression) {
    const { result, exceptionDetails } = await this.send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }

  /** Wait until an expression is true. */
  async until(expression, seconds = 20) {
    const end = performance.now() + 1000 * seconds;
    while (performance.now() < end) {
      if (await this.evaluate(expression).catch(() => false)) return;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    throw new Error(`after ${seconds} s still not: ${expression}; the page said: ${this.errors.join("; ")}`);
  }

  async key(key, code = key, text = undefined) {
    await this.send("Input.dispatchKeyEvent", { type: text ? "keyDown" : "rawKeyDown", key, code, text, windowsVirtualKeyCode: KEY_CODES[key] ?? 0 });
    await this.send("Input.dispatchKeyEvent", { type: "keyUp", key, code });
  }

  async mouse(type, x, y, more = {}) {
    await this.send("Input.dispatchMouseEvent", { type, x, y, button: "left", clickCount: 1, ...more });
  }

  async click(x, y) {
    await this.mouse("mouseMoved", x, y, { button: "none" });
    await this.mouse("mousePressed", x, y);
    await this.mouse("mouseReleased", x, y);
  }

  async drag(x1, y1, x2, y2) {
    await this.mouse("mouseMoved", x1, y1, { button: "none" });
    await this.mouse("mousePressed", x1, y1);
    for (let i = 1; i <= 5; i++) await this.mouse("mouseMoved", x1 + ((x2 - x1) * i) / 5, y1 + ((y2 - y1) * i) / 5, { buttons: 1 });
    await this.mouse("mouseReleased", x2, y2);
  }

  /** What the window shows, or a part of the page: {x, y, width, height, scale}. */
  async screenshot(path, clip = undefined) {
    const { data } = await this.send("Page.captureScreenshot", { format: "png", clip });
    const bytes = Buffer.from(data, "base64");
    if (path) writeFileSync(path, bytes);
    return bytes;
  }

  close() {
    return this.browser.send("Target.closeTarget", { targetId: this.targetId });
  }
}

const KEY_CODES = { " ": 32, ArrowLeft: 37, ArrowUp: 38, ArrowRight: 39, Home: 36, End: 35, Tab: 9, Escape: 27 };
