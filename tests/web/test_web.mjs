// Reports as people meet them: opened from a file in Chromium, played, scrubbed, zoomed, clicked.
// node test_web.mjs SOURCE INTERIM CHROMIUM
// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { availableParallelism, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { Browser } from "./browser.mjs";

const [source, interim, chromium] = process.argv.slice(2);
const work = mkdtempSync(join(tmpdir(), "interim-web-"));
const browser = await Browser.start(chromium);
// times are those of a machine that does nothing else; on a busy one they count by what it is loaded with
const SLOW = Math.max(1, loadavg()[0] / availableParallelism());

// ---------------------------------------------------------------------------- making reports

function run(model, name, ...options) {
  const out = join(work, `${name}.html`);
  const result = spawnSync(interim, ["run", "-q", model, "--report", out, ...options], { encoding: "utf8" });
  return { out, status: result.status, stderr: result.stderr };
}

function example(name) {
  return join(source, "examples", `${name}.yaml`);
}

function write(name, text) {
  const path = join(work, name);
  writeFileSync(path, text);
  return path;
}

async function open(path, options) {
  const page = await browser.open(`file://${path}`, options);
  await page.until("window.interim?.isReady || document.querySelector('main.static, .note.error')", 30);
  page.opened = performance.now() - page.started;
  await page.until("!window.interim || !document.querySelector('.plot') || document.querySelector('.plot .now')");
  return page;
}

/** Nothing fetched but the file itself, and nothing said on the console. */
function assertQuiet(page) {
  assert.deepEqual(page.requests.filter((url) => !/^(file|data|blob):/.test(url)), []);
  assert.equal(page.requests.filter((url) => url.startsWith("file:")).length, 1);
  assert.deepEqual(page.errors, []);
}

const markerAt = "Number(/translateX\\(([-\\d.e]+)px/.exec(document.querySelector('.plot .now').style.transform)[1])";

/** Centre of an element in the window. */
async function centreOf(page, selector) {
  return page.evaluate(`(() => { const b = document.querySelector(${JSON.stringify(selector)}).getBoundingClientRect();
    return { x: b.left + b.width / 2, y: b.top + b.height / 2, width: b.width, height: b.height }; })()`);
}

// ---------------------------------------------------------------------------- cases

const cases = {
  async report_opens_from_a_file_and_fetches_nothing() {
    // the flagship: what ./do run shows
    const page = await open(run(example("manipulator"), "manipulator").out);
    assert.match(await page.evaluate("document.querySelector('header').innerText"), /Hydraulic manipulator[\s\S]*finished/);
    for (const section of ["signals", "contact", "energy", "coupling", "solver"]) {
      assert.ok(await page.evaluate(`document.querySelector('#section-${section} .plot') !== null`), `there are plots of ${section}`);
    }
    assert.ok(await page.evaluate("interim.stage.drawn > 0"), "the machine is drawn");
    assert.ok(await page.evaluate("document.querySelectorAll('.plot canvas').length > 0"), "plots are drawn");
    assertQuiet(page);
    await page.close();
  },

  async machine_plays_and_plots_follow() {
    const page = await open(run(example("crane"), "crane").out);
    await page.key(" ", "Space", " ");
    await page.until("interim.clock.time > 0.2");
    const at = await page.evaluate(markerAt);
    await page.until(`${markerAt} > ${at} + 5`);
    await page.key(" ", "Space", " ");
    assert.equal(await page.evaluate("interim.clock.isPlaying"), false);
    await page.key("End");
    assert.equal(await page.evaluate("interim.clock.time"), 5);
    await page.key("ArrowLeft");
    assert.ok(await page.evaluate("interim.clock.time < 5 && interim.clock.time > 4.9"), "a frame back");
    assertQuiet(page);
    await page.close();
  },

  async scrubbing_moves_the_machine_and_the_cursors() {
    const page = await open(run(example("four-bar"), "four-bar").out);
    const pixels = async (t) => {
      await page.evaluate(`(() => { const s = document.querySelector('.transport input'); s.value = ${t} / 5 * 10000; s.dispatchEvent(new Event('input')); })()`);
      await page.evaluate("new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r)))");
      const text = await page.evaluate("document.querySelector('.plot .chip .value').textContent");
      return { image: await page.evaluate("(() => { interim.stage.draw(); return interim.stage.renderer.domElement.toDataURL(); })()"), text, at: await page.evaluate(markerAt) };
    };
    const a = await pixels(1), b = await pixels(1.4);
    assert.notEqual(a.image, b.image, "the picture of the machine changes");
    assert.notEqual(a.text, b.text, "the values at the cursor change");
    assert.ok(b.at > a.at, "the cursor moves");
    // the crank's frame in the scene is where the results have it
    const pose = await page.evaluate("interim.stage.bodies[0].group.position.toArray()");
    const table = await page.evaluate("['x','y','z'].map((c) => { const s = interim.runs[0].signals.find((s) => s.name === interim.runs[0].scene.bodies[0].name + '.position.' + c); const i = Math.round(1.4 / 5 * (s.time.length - 1)); return s.values[i]; })");
    // 16 bits over the range of the motion, and results every 10 ms: 0.01 m is two pixels
    pose.forEach((x, i) => assert.ok(Math.abs(x - table[i]) < 0.01, `axis ${i}: ${x} is not ${table[i]}`));
    await page.close();
  },

  async dragging_in_a_plot_zooms_all_and_double_click_shows_all() {
    const page = await open(run(example("crane"), "crane").out);
    const over = await centreOf(page, ".plot .u-over");
    await page.drag(over.x - 40, over.y, over.x + 60, over.y);
    await page.until("interim.clock.range[1] - interim.clock.range[0] < 2.5");
    const scales = await page.evaluate("[...interim.board.seen].map((p) => p.uplot.scales.x.max)");
    assert.ok(scales.length > 1 && scales.every((x) => Math.abs(x - scales[0]) < 1e-9), "all plots have the same range");
    await page.key("0", "Digit0", "0");
    assert.deepEqual(await page.evaluate("interim.clock.range"), [0, 5]);
    await page.click(over.x, over.y);
    const share = await page.evaluate("interim.clock.time / 5");
    assert.ok(Math.abs(share - 0.5) < 0.02, `a click in the middle goes there, not to ${share}`);
    await page.close();
  },

  async clicking_a_body_shows_its_plots() {
    const page = await open(run(example("stack"), "stack").out);
    const view = await centreOf(page, ".stage canvas");
    await page.click(view.x, view.y);
    const name = await page.evaluate("document.querySelector('.picked b')?.textContent");
    assert.match(name, /^box\d+$/);
    assert.ok(await page.evaluate(`document.querySelector('details.group[data-element="${name}"]').open`), "its group is open");
    assert.ok((await page.evaluate("document.querySelectorAll('.timeline .names div').length")) === 10, "a line a pair of boxes");
    await page.evaluate("interim.clock.setTime(1)");
    assert.equal(await page.evaluate("interim.stage.dots.count"), 40, "contact points are drawn");
    await page.close();
  },

  async a_run_that_broke_down_says_so_on_top() {
    const { out, status } = run(join(source, "tests/cli/breaks-down.yaml"), "broken");
    assert.equal(status, 2);
    const page = await open(out);
    const box = await centreOf(page, ".verdict.broke-down");
    assert.ok(box.y < 200 && box.height > 0, "it is seen without scrolling");
    assert.match(await page.evaluate("document.querySelector('.outcome').innerText"), /broke down at [\d.e-]+ s/);
    assertQuiet(page);
    await page.close();
  },

  async names_from_models_are_text() {
    const body = "<svg><g\tonload>&amp;'`".replace("\t", "-");
    const model = write("hostile.yaml", `title: "</script><script>window.hacked = 1</script><img src=x onerror='window.hacked=2'>"
multibody:
  bodies:
    "<script>": {mass: 1 kg, inertia: [1, 1, 1]}
    "${body}": {mass: 1 kg, inertia: [1, 1, 1]}
run: {duration: 0.1 s, step: 10 ms}
`);
    const made = run(model, "hostile");
    assert.equal(made.status, 0, made.stderr);
    for (const flags of [[], ["--static"]]) {
      execFileSync(interim, ["run", "-q", model, "-o", join(work, "hostile.csv")]);
      execFileSync(interim, ["report", "-q", join(work, "hostile.csv"), "-o", join(work, "hostile2.html"), ...flags]);
      const page = await open(flags.length ? join(work, "hostile2.html") : made.out);
      assert.equal(await page.evaluate("window.hacked === undefined && document.images.length === 0"), true);
      assert.match(await page.evaluate("document.querySelector('h1').textContent"), /<script>window\.hacked = 1<\/script>/);
      const wanted = flags.length ? "[...document.querySelectorAll('svg text')]" : "[...document.querySelectorAll('details.group b')]";
      assert.ok(await page.evaluate(`${wanted}.some((n) => n.textContent.startsWith('<script>'))`), "the name is shown");
      assertQuiet(page);
      await page.close();
    }
  },

  async two_runs_are_laid_over_each_other() {
    const out = join(work, "both.html");
    for (const [name, step] of [["coarse", "4ms"], ["fine", "1ms"]]) {
      execFileSync(interim, ["run", "-q", example("pendulum"), "-o", join(work, `${name}.csv`), "--set", `run.step=${step}`, "--every", "20ms"]);
    }
    execFileSync(interim, ["compare", join(work, "fine.csv"), join(work, "coarse.csv"), "--report", out]);
    const page = await open(out);
    assert.equal(await page.evaluate("interim.runs.length"), 2);
    assert.equal(await page.evaluate("[...interim.board.plots.values()][0].lines.length % 2"), 0);
    assert.match(await page.evaluate("document.querySelector('table.errors').textContent"), /position/);
    await page.evaluate("document.querySelectorAll('.switches .chip')[1].click()");
    assert.ok(await page.evaluate("[...interim.board.seen][0].uplot.series.slice(1).some((s) => !s.show)"), "a run can be hidden");
    assertQuiet(page);
    await page.close();
  },

  async dark_and_light_differ_and_can_be_switched() {
    const page = await open(run(example("crane"), "crane").out, { dark: true });
    const color = () => page.evaluate("getComputedStyle(document.body).backgroundColor");
    const dark = await color();
    await page.key("t", "KeyT", "t");
    assert.notEqual(await color(), dark);
    assertQuiet(page);
    await page.close();
  },

  async page_without_scripts_has_its_plots_as_pictures() {
    execFileSync(interim, ["run", "-q", example("crane"), "-o", join(work, "crane.h5")]);
    execFileSync(interim, ["report", "-q", join(work, "crane.h5"), "--static", "-o", join(work, "static.html")]);
    const page = await open(join(work, "static.html"));
    assert.equal(await page.evaluate("document.scripts.length"), 0);
    assert.ok((await page.evaluate("document.querySelectorAll('svg polyline').length")) > 20);
    assertQuiet(page);
    await page.close();
  },

  async a_minute_of_two_hundred_bodies_opens_and_scrubs_at_once() {
    const model = write("large.yaml", largeModel());
    const { out, status, stderr } = run(model, "large");
    assert.equal(status, 0, stderr);
    const bytes = statSync(out).size;
    const page = await open(out);
    const count = await page.evaluate("[interim.runs[0].scene.bodies.length, interim.runs[0].signals.length, interim.clock.end]");
    // from the event to the pixels: what the browser draws is read back
    const times = await page.evaluate(`(async () => {
      const scrub = document.querySelector('.transport input'), gl = interim.stage.renderer.getContext(), times = [];
      for (let i = 0; i < 40; i++) {
        await new Promise((r) => requestAnimationFrame(r));
        const start = performance.now();
        scrub.value = (i * 2617) % 10000;
        scrub.dispatchEvent(new Event('input'));
        await new Promise((r) => requestAnimationFrame(() => { gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4)); r(); }));
        times.push(performance.now() - start);
      }
      return times.sort((a, b) => a - b);
    })()`);
    console.log(`    ${count[0]} bodies, ${count[1]} signals, ${count[2]} s: ${(bytes / 1e6).toFixed(2)} MB, opens in ${page.opened.toFixed(0)} ms, ` +
      `scrub ${times[20].toFixed(0)} ms (slowest of 40: ${times[39].toFixed(0)} ms)`);
    assert.ok(count[0] >= 200 && count[1] >= 1000 && count[2] === 60);
    if (SLOW > 1) console.log(`    the machine is busy: times may be ${SLOW.toFixed(1)} times as long`);
    assert.ok(bytes < 10e6, `${bytes} bytes`);
    assert.ok(page.opened < 3000 * SLOW, `${page.opened} ms to open`);
    assert.ok(times[20] < 100 * SLOW, `${times[20]} ms to scrub`);
    assertQuiet(page);
    await page.close();
  },
};

/** A wave of pendulums, and balls that bounce on a floor below. */
function largeModel() {
  let bodies = "", joints = "";
  for (let i = 0; i < 190; i++) {
    const x = (i % 14) * 0.5, y = Math.floor(i / 14) * 0.3, length = 0.4 + 0.002 * i;
    bodies += `    rod${i}: {mass: 1 kg, shape: {box: [${length}, 0.05, 0.05]}, position: [${x + length / 2}, ${y}, 3]}\n`;
    joints += `    hinge${i}: {type: revolute, bodies: [ground, rod${i}], at: [${x}, ${y}, 3], axis: [0, 1, 0]}\n`;
  }
  for (let i = 0; i < 10; i++) {
    bodies += `    ball${i}: {mass: 1 kg, shape: {sphere: 0.2, collide: true, material: rubber}, position: [${0.6 * i}, 2, ${0.5 + 0.15 * i}], velocity: [0.02, 0, 0]}\n`;
  }
  return `title: Two hundred bodies
multibody:
  materials: {rubber: {friction: 0.3, restitution: 0.8}}
  bodies:
${bodies}  shapes:
    floor: {body: ground, plane: [0, 0, 1], material: rubber}
  joints:
${joints}run: {duration: 60 s, step: 10 ms, output: 60 ms}
`;
}

// ---------------------------------------------------------------------------- running

let failed = 0;
const only = process.env.ITM_TEST_ONLY;
for (const [name, test] of Object.entries(cases)) {
  if (only && !name.includes(only)) continue;
  console.log(`[ RUN      ] ${name}`);
  const started = performance.now();
  try {
    await test();
    console.log(`[       OK ] ${name}`);
  } catch (error) {
    failed++;
    console.log(`    ${error.stack}\n[  FAILED  ] ${name}`);
  }
  if (process.env.ITM_TEST_TIMES) console.log(`    ${((performance.now() - started) / 1000).toFixed(1)} s`);
}
await browser.stop();
rmSync(work, { recursive: true, force: true });
process.exit(failed ? 1 : 0);
