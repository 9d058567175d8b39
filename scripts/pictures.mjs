// All pictures of docs/images that come from runs: node scripts/pictures.mjs [BUILD] [plots|pages|film|gallery ...]
//   plots    the SVG plots of guide and tutorials, by the commands of their pages (scripts/walk.mjs)
//   pages    reports as they look in a browser
//   film     the three couplings of the crane, moving, for the README
//   gallery  a moving thumbnail per example, or of the examples named after it
// Needs Chromium, and img2webp of Debian's package webp for what moves. Look at each picture before you commit it.
// SPDX-License-Identifier: Apache-2.0
import { execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { Browser } from "../tests/web/browser.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), ".."), images = join(root, "docs/images");
const [build = join(root, "build"), ...chosen] = process.argv.slice(2);
const interim = resolve(build, "interim");
const work = mkdtempSync(join(tmpdir(), "interim-pictures-"));
const example = (name) => join(root, "examples", `${name}.yaml`);
const wait = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

/** Runs the command; a run may break down only where that is the point. */
function call(args, { mayBreak = false } = {}) {
  const { status, stderr } = spawnSync(interim, args, { cwd: work, encoding: "utf8" });
  if (status !== 0 && !(mayBreak && status === 2)) throw new Error(`interim ${args.join(" ")} ended with status ${status}: ${stderr}`);
}

// ---------------------------------------------------------------------------- reports as they look

async function open(browser, file, options = {}) {
  const page = await browser.open(`file://${join(work, file)}`, { width: 1240, height: 780, ...options });
  await page.until("window.interim?.isReady", 180);
  return page;
}

/** Where an element is on the page, as captureScreenshot wants it. */
async function placeOf(page, selector) {
  return page.evaluate(`(() => { const b = document.querySelector('${selector}').getBoundingClientRect(); return { x: b.left + scrollX, y: b.top + scrollY, width: b.width, height: b.height, scale: 1 }; })()`);
}

/** A report at a time: the window, scrolled to a section, or one element of it; `before` is run in the page first. */
async function photograph(browser, file, picture, { time, section, element, before, ...options }) {
  const page = await open(browser, file, options);
  if (before) await page.evaluate(before);
  if (section) await page.evaluate(`document.querySelector('#section-${section}').scrollIntoView()`);
  if (time !== undefined) await page.evaluate(`interim.clock.setTime(${time})`);
  await wait(1500); // the camera glides, numbers follow
  await page.screenshot(join(images, picture), element && (await placeOf(page, element)));
  await page.close();
}

const press = (name) => `[...document.querySelectorAll('.stage button')].find((b) => b.textContent === '${name}').click()`;

/** The three couplings as ./do run has them. */
function runCouplings() {
  const files = ["monolithic", "rim", "zoh"].map((coupling) => {
    call(["run", "-q", example("crane-single"), "--set", `cosim.coupling=${coupling}`, "--set", "run.bounds.breakdown=0", "-o", `${coupling}.csv`], { mayBreak: coupling === "zoh" });
    return `${coupling}.csv`;
  });
  call(["compare", "-q", ...files, "--signals", "crane.cyl1.length,crane.cyl1.force,energy.coupling_error", "--report", "couplings.html",
    "--title", "Crane, data exchanged every 10 ms: interface model (rim) and zero-order hold (zoh)"]);
}

async function takePages(browser) {
  runCouplings();
  for (const name of ["manipulator", "log-crane", "arm-capture"]) call(["run", "-q", example(name), "--report", `${name}.html`]);
  await photograph(browser, "couplings.html", "couplings.png", { height: 1010 });
  await photograph(browser, "manipulator.html", "report.png", { time: 1.6 });
  await photograph(browser, "manipulator.html", "report-contact.png", { time: 1.6, section: "contact", dark: true });
  await photograph(browser, "arm-capture.html", "report-mass.png", { time: 7.44, section: "coupling", dark: true, before: press("effective mass") });
  await photograph(browser, "arm-capture.html", "arm-capture.png", { time: 7.44, element: ".stage" });
  await photograph(browser, "log-crane.html", "log-crane.png", { time: 8.5, element: ".stage" });
}

// ---------------------------------------------------------------------------- what moves

/** PNG files, each with its milliseconds, as an animated WebP that repeats for ever. */
function writeFilm(file, frames, quality) {
  execFileSync("img2webp", ["-loop", "0", "-lossy", "-q", String(quality), "-m", "6", ...frames.flatMap(({ path, milliseconds }) => ["-d", String(milliseconds), path]), "-o", file], { stdio: "ignore" });
  return statSync(file).size;
}

/** The crane: slowly until it breaks down, faster what the other couplings do afterwards. */
async function takeFilm(browser) {
  runCouplings();
  const page = await open(browser, "couplings.html", { width: 1240, height: 1010 });
  // machines above, the three plots below, nothing to press
  await page.evaluate(`document.head.append(Object.assign(document.createElement('style'), { textContent:
    '.machines .tools, .transport, .panel nav, section.own { display: none !important; } #section-selection .plots { grid-template-columns: repeat(3, minmax(0, 1fr)) !important; }' }))`);
  await wait(500);
  const end = await page.evaluate("interim.runs.find((run) => run.hasBroken).time.at(-1)");
  const slow = Array.from({ length: 24 }, (_, i) => end - 0.01 * (23 - i)), fast = Array.from({ length: 32 }, (_, i) => end + 0.05 * (i + 1));
  const top = await placeOf(page, ".machines"), plots = await placeOf(page, "#section-selection .plots");
  const clip = { ...top, height: Math.min(plots.y + plots.height, 1010) - top.y, scale: 0.75 };
  const frames = [];
  for (const time of [...slow, ...fast]) {
    await page.evaluate(`interim.clock.setTime(${time})`);
    await wait(120);
    const path = join(work, `film-${frames.length}.png`);
    await page.screenshot(path, clip);
    frames.push({ path, milliseconds: time === end ? 1600 : time < end ? 90 : 60 });
  }
  frames.at(-1).milliseconds = 1500;
  console.log("couplings.webp", writeFilm(join(images, "couplings.webp"), frames, 55));
  await page.close();
}

const THUMBNAIL_SIZE = [320, 240], MOST_BYTES = 30000;

/** A plot of three pressures that change, or the first plot. */
const PLOT_WHAT_MOVES = `
  const range = (s) => { let low = Infinity, high = -Infinity; for (const x of s.values) { low = Math.min(low, x); high = Math.max(high, x); } return high - low; };
  const names = interim.runs[0].signals.filter((s) => s.name.endsWith('.pressure') && range(s) > 1e4).slice(0, 3).map((s) => s.name);
  const plots = () => [...interim.board.plots.values()];
  if (names.length > 0) interim.board.addOwn(names);
  const plot = plots().find((p) => p.own) ?? plots()[0];
  return plot.picture(${THUMBNAIL_SIZE[0]}).toDataURL('image/png').split(',')[1];`;

/** Pictures of the machine over its run as PNG data, or of the first plot where there is no machine. */
async function takeFrames(page, count) {
  const [width, height] = THUMBNAIL_SIZE;
  const resize = `stage.renderer.setPixelRatio(1); stage.renderer.setSize(${width}, ${height}); stage.camera.resize(${width / height});`; // the page has its own idea, in between
  if (!(await page.evaluate(`(() => { const { stage } = interim; if (!stage) return false; ${resize} stage.camera.fit(); return true; })()`))) {
    await page.until("document.querySelector('.plot .now')"); // at the top of the page, because there is no machine
    return [await page.evaluate(`(() => { ${PLOT_WHAT_MOVES} })()`)];
  }
  await wait(1200); // the camera glides
  const frames = [];
  for (let i = 0; i < count; i++) {
    frames.push(await page.evaluate(`(() => { const { stage, clock } = interim; clock.setTime(clock.start + ${i / (count - 1)} * (clock.end - clock.start));
      ${resize} stage.draw(); return stage.renderer.domElement.toDataURL('image/png').split(',')[1]; })()`));
  }
  return frames;
}

/** As good as the size allows: fewer frames of lower quality where there is much to see. */
function writeThumbnail(file, data) {
  const paths = data.map((frame, i) => {
    const path = join(work, `frame-${i}.png`);
    writeFileSync(path, Buffer.from(frame, "base64"));
    return path;
  });
  for (const [every, quality] of [[1, 60], [1, 40], [2, 45], [2, 25], [4, 30], [8, 30], [paths.length, 40]]) {
    const frames = paths.filter((_, i) => i % every === 0).map((path) => ({ path, milliseconds: 100 * every }));
    if (writeFilm(join(work, "thumbnail.webp"), frames, quality) <= MOST_BYTES) break;
  }
  copyFileSync(join(work, "thumbnail.webp"), file);
  console.log(basename(file), statSync(file).size);
}

/** A browser per example: WebGL of some dozen pages is too much for one that draws without a graphics card. */
async function takeGallery() {
  mkdirSync(join(images, "gallery"), { recursive: true });
  const named = chosen.filter((name) => !PARTS.includes(name));
  for (const name of readdirSync(join(root, "examples")).filter((file) => file.endsWith(".yaml")).map((file) => basename(file, ".yaml"))) {
    if (named.length > 0 && !named.includes(name)) continue;
    call(["run", "-q", example(name), "--report", "thumbnail.html"]);
    const browser = await Browser.start(), page = await open(browser, "thumbnail.html", { width: 900, height: 700 });
    writeThumbnail(join(images, "gallery", `${name}.webp`), await takeFrames(page, 24));
    await browser.stop();
  }
}

// ---------------------------------------------------------------------------- which

const PARTS = ["plots", "pages", "film", "gallery"];
const isWanted = (part) => chosen.length === 0 || chosen.includes(part);
if (isWanted("plots")) spawnSync("node", [join(root, "scripts/walk.mjs"), build, "--pictures"], { stdio: "inherit" });
const browser = await Browser.start();
if (isWanted("pages")) await takePages(browser);
if (isWanted("film")) await takeFilm(browser);
await browser.stop();
if (isWanted("gallery")) await takeGallery();
rmSync(work, { recursive: true });
