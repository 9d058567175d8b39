// The documentation site and the page of a sweep in Chromium: search, copy, menu of the phone, gallery; figures that can be saved.
// node test_site.mjs SITE SWEEP.html CHROMIUM
// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { Browser } from "./browser.mjs";
import { findPages } from "./pages.mjs";

const [site, sweep, chromium] = process.argv.slice(2);
const browser = await Browser.start(chromium);

async function open(path, options) {
  const page = await browser.open(`file://${path}`, options);
  await page.until("document.readyState === 'complete'");
  return page;
}

/** Nothing from elsewhere, nothing on the console, no page wider than its window. */
async function assertSound(page, name = "the page") {
  assert.deepEqual(page.requests.filter((url) => !/^(file|data):/.test(url)), [], name);
  assert.deepEqual(page.errors, [], name);
  assert.ok(await page.evaluate("document.documentElement.scrollWidth <= innerWidth"), `${name} does not scroll sideways`);
}

const type = (words) => `(() => { const field = document.querySelector('nav input[type=search]'); field.value = '${words}'; field.dispatchEvent(new Event('input')); })()`;
const hits = "[...document.querySelectorAll('.hits a')].map((a) => [a.querySelector('b').textContent, a.getAttribute('href')])";

const cases = {
  async search_finds_pages_sections_and_names_of_the_api() {
    const page = await open(`${site}/guide/sweep.html`);
    await page.key("/", "Slash", "/");
    assert.equal(await page.evaluate("document.activeElement.type"), "search", "/ goes to the search");
    await page.evaluate(type("restitution clearance"));
    await page.until("document.querySelectorAll('.hits a').length > 0");
    assert.ok((await page.evaluate(hits)).some(([, href]) => /clearance/.test(href)), "all words count");
    await page.evaluate(type("itm_cosim_step"));
    await page.until("document.querySelector('.hits a b')?.textContent === 'itm_cosim_step'");
    await page.evaluate("document.querySelector('.hits a').click()");
    await page.until("location.href.endsWith('/api/cosim.h.html#itm_cosim_step') && document.readyState === 'complete'");
    await page.evaluate(type("xyzzy"));
    await page.until("document.querySelector('.hits p')?.textContent === 'nothing found'");
    await page.evaluate(type(""));
    await page.until("document.querySelector('.hits').hidden");
    await assertSound(page);
    await page.close();
  },

  async code_can_be_copied_and_the_menu_folds_on_a_phone() {
    const page = await open(`${site}/guide/getting-started.html`, { width: 390, height: 844, dark: true });
    assert.ok(await page.evaluate("document.querySelectorAll('.code button.copy').length > 3"));
    await page.evaluate("document.querySelector('.code button.copy').click()");
    await page.until("document.querySelector('.code button.copy').textContent === 'copied'");
    const height = "document.querySelector('nav .pages').getBoundingClientRect().height";
    assert.equal(await page.evaluate(height), 0);
    await page.evaluate("document.querySelector('label[for=fold]').click()");
    assert.ok((await page.evaluate(height)) > 500, "the menu unfolds");
    await assertSound(page);
    await page.close();
  },

  async the_gallery_and_the_first_page_have_their_pictures() {
    for (const file of ["index.html", "gallery.html"]) {
      const page = await open(`${site}/${file}`);
      await page.evaluate("document.querySelectorAll('img').forEach((image) => (image.loading = 'eager'))");
      await page.until("document.images.length > 0 && [...document.images].every((image) => image.complete)");
      assert.deepEqual(await page.evaluate("[...document.images].filter((image) => image.naturalWidth === 0).map((image) => image.src)"), []);
      await assertSound(page);
      await page.close();
    }
  },

  async every_page_fits_a_phone() {
    const files = findPages(site);
    assert.ok(files.length > 50);
    const page = await open(`${site}/${files[0]}`, { width: 390, height: 844 });
    for (const file of files) {
      await page.send("Page.navigate", { url: `file://${site}/${file}` });
      await page.until(`location.pathname.endsWith('/${file}') && document.readyState === 'complete'`);
      await assertSound(page, file);
    }
    // the reference of keys is a list there: nothing of it is hidden at the right
    await page.send("Page.navigate", { url: `file://${site}/reference/model-file.html` });
    await page.until("document.querySelector('table.keys') !== null && document.readyState === 'complete'");
    assert.deepEqual(await page.evaluate("[...document.querySelectorAll('table.keys')].filter((table) => table.scrollWidth > table.clientWidth).length"), 0);
    await page.close();
  },

  async curves_of_a_sweep_have_units_and_can_be_saved() {
    for (const options of [{}, { width: 390, height: 844, dark: true }]) {
      const page = await open(sweep, options);
      const words = await page.evaluate("[...document.querySelectorAll('figure svg')].map((svg) => svg.textContent).join('|')");
      assert.match(words, /run\.step, s/);
      assert.match(words, /coincides/, "a curve on another is named");
      assert.ok(await page.evaluate("document.querySelector('svg polyline[stroke-dasharray]') !== null"), "and dashed");
      assert.match(await page.evaluate("document.querySelector('thead').textContent"), /rod\.velocity\.x \[m\/s\]/);
      assert.equal(await page.evaluate("document.querySelector('h1').textContent"), "Pendulum");
      const [type, ok, text] = await page.evaluate(`(() => { const [head, body] = document.querySelector('a.save').href.split(','), text = atob(body);
        return [head, new DOMParser().parseFromString(text, 'image/svg+xml').querySelector('parsererror') === null, text]; })()`);
      assert.ok(type === "data:image/svg+xml;base64" && ok && !text.includes("var(--"), "the saved figure is whole and has its own colours");
      assert.ok(await page.evaluate("[...document.querySelectorAll('.figures figure:has(svg)')].every((figure) => figure.scrollWidth <= figure.clientWidth)"), "figures fit");
      await assertSound(page);
      await page.close();
    }
  },
};

let failed = 0;
for (const [name, run] of Object.entries(cases)) {
  console.log(`[ RUN      ] ${name}`);
  try {
    await run();
    console.log(`[       OK ] ${name}`);
  } catch (error) {
    failed++;
    console.log(`[  FAILED  ] ${name}\n${error.stack}`);
  }
}
await browser.stop();
process.exitCode = failed ? 1 : 0;
