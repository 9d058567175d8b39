// When shapes touched: a line a pair, sticking and sliding told apart by colour and height.
// SPDX-License-Identifier: Apache-2.0
import { css, el } from "./dom.js";

const ROW = 20;
const MOST_ROWS = 60;

export class Timeline {
  constructor(run, clock) {
    const { intervals, intervalPairs } = run.motion;
    this.clock = clock;
    const byPair = new Map();
    for (let i = 0; i < intervalPairs.length / 2; i++) {
      const pair = intervalPairs[2 * i];
      if (!byPair.has(pair)) byPair.set(pair, []);
      byPair.get(pair).push({ from: intervals[2 * i], to: intervals[2 * i + 1], state: intervalPairs[2 * i + 1] });
    }
    const length = (list) => list.reduce((sum, x) => sum + x.to - x.from, 0);
    const all = [...byPair.entries()].sort((a, b) => length(b[1]) - length(a[1]));
    const subsystems = new Set(run.scene.pairs.flat().map((name) => (name.includes(".") ? name.split(".")[0] : "")));
    // the subsystem where there are several; the shape of a body is called after it
    const shorten = (name) => (subsystems.size === 1 ? name.split(".").at(-1) : name).replace(/-shape$/, "");
    this.rows = all.slice(0, MOST_ROWS).map(([pair, list]) => {
      const names = run.scene.pairs[pair] ?? ["?"];
      return { name: names.map(shorten).join(" – "), title: names.join(" – "), list };
    });
    this.rows.sort((a, b) => a.name.localeCompare(b.name, undefined, { numeric: true }));
    const lost = run.scene.lost_intervals ?? 0;
    this.canvas = el("canvas", { role: "img", "aria-label": "contact timeline", tabindex: 0 });
    this.marker = el("div.now");
    this.holder = el("div.rows", {}, this.canvas, this.marker);
    this.node = el(
      "figure.timeline",
      {},
      el("figcaption", {}, el("b", {}, "Contact timeline"),
        el("span.legend", {}, el("i.state.sticking"), "sticking ", el("i.state.sliding"), "sliding")),
      el("div.body", {}, el("div.names", {}, ...this.rows.map((row) => el("div", { title: row.title }, row.name))), this.holder),
      all.length > MOST_ROWS ? el("p.note", {}, `The ${MOST_ROWS} longest contacts of ${all.length} pairs.`) : null,
      lost > 0 ? el("p.note", {}, `${lost} later changes are not shown.`) : null,
    );
    this.canvas.addEventListener("click", (event) => {
      const box = this.canvas.getBoundingClientRect();
      const [a, b] = clock.range;
      clock.setTime(a + ((event.clientX - box.left) / box.width) * (b - a));
    });
    clock.on("time", () => this.showTime());
    clock.on("range", () => this.draw());
    new ResizeObserver(() => this.draw()).observe(this.holder);
  }

  place(t) {
    const [a, b] = this.clock.range;
    return ((t - a) / (b - a)) * this.width;
  }

  showTime() {
    const x = this.place(this.clock.time);
    this.marker.style.transform = `translateX(${x}px)`;
    this.marker.style.opacity = x < 0 || x > this.width ? 0 : 1;
  }

  draw() {
    const width = this.holder.clientWidth, height = this.rows.length * ROW;
    this.width = width;
    if (width === 0) return;
    const ratio = window.devicePixelRatio || 1;
    this.canvas.width = width * ratio;
    this.canvas.height = height * ratio;
    this.canvas.style.height = `${height}px`;
    const g = this.canvas.getContext("2d");
    g.scale(ratio, ratio);
    const colors = ["", css("--sticking"), css("--sliding")], line = css("--grid");
    this.rows.forEach((row, i) => {
      g.fillStyle = line;
      g.fillRect(0, i * ROW + ROW - 1, width, 1);
      for (const { from, to, state } of row.list) {
        const x = this.place(from), end = this.place(to);
        if (end < 0 || x > width) continue;
        g.fillStyle = colors[state];
        const tall = state === 1 ? 12 : 7;
        g.fillRect(x, i * ROW + (ROW - tall) / 2, Math.max(1, end - x), tall);
      }
    });
    this.showTime();
  }
}
