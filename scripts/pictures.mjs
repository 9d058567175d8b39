// Pictures of the manipulator and of the crane's couplings in docs/images, from the examples as they are: node scripts/pictures.mjs build/interim
// SPDX-License-Identifier: Apache-2.0
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { Browser } from "../tests/web/browser.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const images = join(root, "docs/images"), example = join(root, "examples/manipulator.yaml");
const interim = resolve(process.argv[2] ?? join(root, "build/interim"));
const work = mkdtempSync(join(tmpdir(), "interim-pictures-"));
const call = (...args) => execFileSync(interim, args, { cwd: work, stdio: "inherit" });

/** The page at a time; with a section, scrolled to it. */
async function photograph(browser, file, picture, { time, section, dark = false }) {
  const page = await browser.open(`file://${join(work, file)}`, { width: 1240, height: 780, dark });
  await page.until("window.interim?.isReady && document.querySelector('.plot .now')", 30);
  if (section) await page.evaluate(`document.querySelector('#section-${section}').scrollIntoView()`);
  if (time !== undefined) await page.evaluate(`interim.clock.setTime(${time})`);
  await new Promise((done) => setTimeout(done, 1500)); // the camera glides, numbers follow
  await page.screenshot(join(images, picture));
  await page.close();
}

// as docs/tutorials/manipulator.md has them
call("run", "-q", example, "-o", "manipulator.csv", "--report", "manipulator.html");
call("run", "-q", example, "--set", "cosim.coupling=zoh", "-o", "zoh.csv");
call("run", "-q", example, "--set", "cosim.coupling=monolithic", "-o", "whole.csv");
call("plot", "manipulator.csv", "whole.csv", "zoh.csv", "--signals", "arm.cyl2.rate", "--range", "1:2", "-o", join(images, "manipulator-rate.svg"));
// as ./do run has them
const couplings = ["monolithic", "rim", "zoh"].map((coupling) => {
  const run = ["run", "-q", join(root, "examples/crane-single.yaml"), "--set", `cosim.coupling=${coupling}`, "--set", "run.bounds.breakdown=0", "-o", `${coupling}.csv`];
  const { status } = spawnSync(interim, run, { cwd: work });
  if (status !== (coupling === "zoh" ? 2 : 0)) throw new Error(`${coupling} ended with status ${status}`);
  return `${coupling}.csv`;
});
call("compare", "-q", ...couplings, "--signals", "crane.cyl1.length,crane.cyl1.force,energy.coupling_error", "--report", "couplings.html",
  "--title", "Crane, data exchanged every 10 ms: interface model (rim) and zero-order hold (zoh)");
const browser = await Browser.start();
await photograph(browser, "couplings.html", "couplings.png", {});
await photograph(browser, "manipulator.html", "report.png", { time: 1.6 });
await photograph(browser, "manipulator.html", "report-contact.png", { time: 1.6, section: "contact", dark: true });
await browser.stop();
rmSync(work, { recursive: true });
