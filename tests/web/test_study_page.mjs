// The page of a study as people use it: opened from a file, looked at in two widths and both themes, a run clicked.
// node test_study_page.mjs PAGE CHROMIUM
// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { Browser } from "./browser.mjs";

const [path, chromium] = process.argv.slice(2);
const browser = await Browser.start(chromium);
let status = 0;
try {
  for (const [width, dark] of [[1440, false], [390, true]]) {
    const page = await browser.open(`file://${path}`, { width, height: 900, dark });
    await page.until(`document.readyState === "complete"`);
    const look = await page.evaluate(`(() => {
      const inside = (element) => { const box = element.getBoundingClientRect(); return box.width > 0 && box.height > 0; };
      const sections = [...document.querySelectorAll("section")];
      return {
        ids: sections.map((s) => s.id),
        drawn: [...document.querySelectorAll("svg")].filter(inside).length,
        svgs: document.querySelectorAll("svg").length,
        bars: document.querySelectorAll("#responses rect").length,
        dots: document.querySelectorAll("#scatter circle").length,
        lines: document.querySelectorAll("#parallel polyline").length,
        // marks must lie inside their picture
        outside: [...document.querySelectorAll("svg circle, svg rect")].filter((mark) => {
          const box = mark.getBoundingClientRect(), frame = mark.closest("svg").getBoundingClientRect();
          return box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1 || box.bottom > frame.bottom + 1;
        }).length,
        overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
        rows: document.querySelectorAll("#runs tbody tr").length,
        links: [...document.querySelectorAll("#extremes a")].map((a) => a.getAttribute("href")),
        commands: [...document.querySelectorAll("#extremes code")].map((c) => c.textContent),
        text: document.body.innerText,
        // pictures that can be saved: whole, with colours of their own
        saved: [...document.querySelectorAll("a.save")].map((a) => atob(a.href.split(",")[1])).filter((svg) =>
          new DOMParser().parseFromString(svg, "image/svg+xml").querySelector("parsererror") === null && !svg.includes("var(--") && svg.includes('fill="#')).length,
        cut: [...document.querySelectorAll(".figures figure:not(.broad)")].filter((figure) => figure.scrollWidth > figure.clientWidth).length,
      };
    })()`);
    assert.deepEqual(look.ids, ["responses", "extremes", "effects", "main-effects", "scatter", "parallel", "runs"]);
    // 3 histograms, 3 correlations, 3 main effects, 3 x 8 scatter plots, parallel coordinates
    assert.equal(look.svgs, 3 + 3 + 3 + 24 + 1);
    assert.equal(look.drawn, look.svgs);
    assert.equal(look.saved, look.svgs);
    assert.equal(look.cut, 0);
    assert.equal(look.dots, 24 * 24);
    assert.equal(look.rows, 24);
    assert.ok(look.bars >= 15, `${look.bars} bars`);
    assert.ok(look.lines >= 24, `${look.lines} lines`);
    assert.equal(look.outside, 0);
    assert.ok(look.overflow <= 1, `the page is ${look.overflow} px wider than the window`);
    assert.ok(!/\b(nan|null|inf)\b/i.test(look.text), "numbers that are none");
    assert.ok(look.commands.every((c) => c.startsWith("interim run ") && c.includes("--report run")));
    assert.ok(page.requests.every((url) => url.startsWith("file:")), "the page fetches something");
    assert.ok(look.links.length >= 2);
    for (const link of look.links) assert.ok(existsSync(join(dirname(path), link)), link);
    if (process.env.PICTURES) await page.screenshot(join(process.env.PICTURES, `study-${width}.png`));
  }
} catch (error) {
  console.error(error.message);
  status = 1;
}
await browser.stop();
process.exit(status);
