// Plots over time, all on one clock: a line marks the present, dragging zooms, shift and drag pans, a click goes there.
// SPDX-License-Identifier: Apache-2.0
import uPlot from "uplot";
import style from "uplot/dist/uPlot.min.css";
import { css, el } from "./dom.js";
import { formatNumber, valueAt } from "./data.js";

const DASHES = [[], [7, 4], [2, 3], [9, 3, 2, 3]];
const HEIGHT = 190;

document.head.append(el("style", {}, style));

function unitText(unit) {
  return unit && unit !== "1" ? unit : "";
}

/** Columns of a plot on one time axis. */
function alignData(lines) {
  const times = lines.map((line) => line.signal.time);
  const values = lines.map(({ signal, isLog }) => (isLog ? Array.from(signal.values, (x) => Math.abs(x) || null) : signal.hasGaps ? Array.from(signal.values, (x) => (Number.isNaN(x) ? null : x)) : signal.values));
  if (times.every((t) => t === times[0])) return [times[0], ...values];
  return uPlot.join(lines.map((line, i) => [Array.from(line.signal.time), Array.from(values[i])]));
}

export class Plot {
  /** plot: of groupSignals; runs: [{label}]; clock; isHidden: Set of runs that are switched off */
  constructor(plot, runs, clock, hiddenRuns) {
    this.clock = clock;
    this.hiddenRuns = hiddenRuns;
    this.isLog = plot.isLog;
    this.floor = plot.floor ?? 0; // of a log axis, as a share of its top: rounding stays below
    this.lines = [];
    plot.series.forEach((series, i) => {
      series.signals.forEach((signal, run) => {
        if (!signal || signal.time.length === 0) return;
        const isOnly = plot.series.length === 1;
        const color = (isOnly ? run : i) % 8, hasBroken = Boolean(runs[run].hasBroken) && runs.length > 1;
        const label = runs.length > 1 ? (isOnly ? runs[run].label : `${series.label} (${runs[run].label})`) : series.label;
        this.lines.push({ signal, run, hasBroken, isLog: plot.isLog, color, dash: isOnly ? [] : DASHES[run % DASHES.length], label, isShown: true });
      });
    });
    this.node = el("figure.plot", { tabindex: 0, "aria-label": plot.title });
    this.legend = el("div.legend");
    this.canvas = el("div.canvas");
    this.canvas.style.minHeight = `${HEIGHT}px`;
    const unit = unitText(plot.unit);
    this.node.append(
      el("figcaption", {}, el("b", {}, plot.title), unit ? el("span.unit", {}, unit) : null),
      this.legend,
      this.canvas,
    );
    // rounding of what is otherwise zero is no number to read
    this.noise = 1e-12 * this.lines.reduce((size, { signal }) => signal.values.reduce((a, x) => Math.max(a, Math.abs(x) || 0), size), 0);
    this.addLegend();
    this.uplot = null;
  }

  addLegend() {
    for (const line of this.lines) {
      line.value = el("span.value");
      line.chip = el(
        "button.chip",
        { type: "button", title: `${line.signal.name}: ${line.signal.description}`, "aria-pressed": "true", onclick: () => this.toggle(line) },
        el(`i.key.run${line.color}${line.dash.length ? ".dashed" : ""}`),
        el("span", {}, line.label),
        line.value,
      );
      this.legend.append(line.chip);
    }
  }

  toggle(line) {
    line.isShown = !line.isShown;
    line.chip.setAttribute("aria-pressed", String(line.isShown));
    this.applyShown();
  }

  applyShown() {
    this.lines.forEach((line, i) => {
      const show = line.isShown && !this.hiddenRuns.has(line.run);
      line.chip.hidden = this.hiddenRuns.has(line.run);
      if (this.uplot && this.uplot.series[i + 1].show !== show) this.uplot.setSeries(i + 1, { show });
    });
  }

  /** Draw it, when it is first seen. */
  open() {
    if (this.uplot) return;
    const width = Math.max(200, this.canvas.clientWidth);
    this.marker = el("div.now");
    this.uplot = new uPlot(this.options(width), alignData(this.lines), this.canvas);
    this.uplot.over.append(this.marker);
    this.applyShown();
    this.listen();
  }

  close() {
    this.uplot?.destroy();
    this.uplot = null;
  }

  options(width) {
    const text = css("--muted"), grid = css("--grid");
    const axis = { stroke: text, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid, width: 1 }, font: "11px system-ui, sans-serif" };
    return {
      width,
      height: HEIGHT,
      legend: { show: false },
      cursor: { drag: { x: true, y: false, setScale: false }, points: { size: 6 }, sync: { key: "interim" }, y: false },
      scales: {
        x: { time: false, range: () => this.clock.range },
        y: this.isLog ? { distr: 3, range: (u, lo, hi) => decadesOf(Math.max(lo, this.floor * hi), hi) } : { range: (u, lo, hi) => rangeOf(...this.boundsOf(lo, hi)) },
      },
      axes: [
        { ...axis, size: 28, splits: (u, i, lo, hi) => ticks(lo, hi, width / 80), values: (u, at) => at.map(formatNumber) },
        { ...axis, size: 62, splits: (u, i, lo, hi) => (this.isLog ? decades(lo, hi) : ticks(lo, hi, 4)), filter: (u, splits) => splits, values: (u, at) => at.map(formatNumber) },
      ],
      series: [
        {},
        ...this.lines.map((line) => ({
          stroke: css(`--s${line.color}`),
          width: 1.6,
          pxAlign: 0, // slopes without steps
          dash: line.dash,
          points: { show: line.signal.time.length < 2 },
          spanGaps: !line.signal.hasGaps,
        })),
      ],
      hooks: { setSelect: [(u) => this.takeSelection(u)], draw: [() => this.showTime(), () => this.showNumbers(), (u) => this.drawEnds(u)] },
    };
  }

  /** A run that broke down must not squash the others: the axis is that of the runs beside it, where there are any. */
  boundsOf(lo, hi) {
    const good = this.lines.filter((line) => !line.hasBroken && line.isShown && !this.hiddenRuns.has(line.run));
    if (good.length === 0 || good.length === this.lines.length) return [lo, hi];
    const [from, to] = this.clock.range;
    let least = Infinity, most = -Infinity;
    for (const { signal: { time, values } } of good) {
      for (let i = 0; i < time.length; i++) {
        if (time[i] < from || time[i] > to || !Number.isFinite(values[i])) continue;
        least = Math.min(least, values[i]);
        most = Math.max(most, values[i]);
      }
    }
    return least <= most ? [least - 0.25 * (most - least), most + 0.25 * (most - least)] : [lo, hi];
  }

  /** A cross where the line of a run that broke down ends, or leaves the axis for the last time. */
  drawEnds(u) {
    const { ctx, bbox } = u, size = 5 * uPlot.pxRatio;
    this.lines.forEach((line, i) => {
      if (!line.hasBroken || !u.series[i + 1].show) return;
      const t = line.signal.time.at(-1), [from, to] = this.clock.range, last = line.signal.values.at(-1);
      if (t < from || t > to) return;
      const x = u.valToPos(t, "x", true), y = u.valToPos(this.isLog ? Math.abs(last) : last, "y", true);
      const at = Math.min(bbox.top + bbox.height - 1.5 * size, Math.max(bbox.top + 1.5 * size, Number.isFinite(y) ? y : bbox.top));
      ctx.save();
      ctx.strokeStyle = css("--bad");
      ctx.fillStyle = css("--bad");
      ctx.lineWidth = 2.5 * uPlot.pxRatio;
      ctx.beginPath();
      ctx.moveTo(x - size, at - size);
      ctx.lineTo(x + size, at + size);
      ctx.moveTo(x - size, at + size);
      ctx.lineTo(x + size, at - size);
      ctx.stroke();
      ctx.font = `${11 * uPlot.pxRatio}px system-ui, sans-serif`;
      ctx.textBaseline = "middle";
      ctx.textAlign = "left";
      ctx.fillText(`broke down at ${formatNumber(t)} s`, x + 2 * size, at);
      ctx.restore();
    });
  }

  takeSelection(u) {
    if (u.select.width > 4) {
      this.clock.setRange(u.posToVal(u.select.left, "x"), u.posToVal(u.select.left + u.select.width, "x"));
    }
    u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
  }

  /** A click goes there; shift and drag pans; ctrl and wheel zooms; a double click shows all. */
  listen() {
    const over = this.uplot.over;
    let down = null;
    over.addEventListener("mousedown", (event) => {
      down = event.clientX;
      if (!event.shiftKey) return;
      event.stopImmediatePropagation();
      const [a, b] = this.clock.range;
      const scale = (b - a) / over.clientWidth;
      const from = event.clientX;
      const move = (e) => {
        const shift = (from - e.clientX) * scale;
        const start = Math.min(this.clock.end - (b - a), Math.max(this.clock.start, a + shift));
        this.clock.setRange(start, start + (b - a));
      };
      window.addEventListener("mousemove", move);
      window.addEventListener("mouseup", () => window.removeEventListener("mousemove", move), { once: true });
    }, true);
    over.addEventListener("click", (event) => {
      if (Math.abs(event.clientX - down) < 4 && !event.shiftKey) {
        this.clock.setTime(this.uplot.posToVal(event.clientX - over.getBoundingClientRect().left, "x"));
      }
    });
    over.addEventListener("dblclick", () => this.clock.setRange(this.clock.start, this.clock.end));
    over.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const about = this.uplot.posToVal(event.clientX - over.getBoundingClientRect().left, "x");
      this.clock.zoom(event.deltaY > 0 ? 1.25 : 0.8, about);
    }, { passive: false });
  }

  showTime() {
    if (!this.uplot) return;
    // nothing here asks the browser for sizes: that would make it lay out the page anew for every plot
    const x = this.uplot.valToPos(this.clock.time, "x"), width = this.uplot.bbox.width / uPlot.pxRatio;
    this.marker.style.transform = `translateX(${x}px)`;
    this.marker.style.opacity = x < 0 || x > width ? 0 : 1;
  }

  showNumbers() {
    for (const line of this.lines) {
      const x = valueAt(line.signal, this.clock.time), text = formatNumber(Math.abs(x) < this.noise ? 0 : x);
      if (text !== line.shown) line.value.textContent = line.shown = text;
    }
  }

  showRange() {
    if (!this.uplot) return;
    this.uplot.setScale("x", { min: this.clock.range[0], max: this.clock.range[1] });
  }

  resize() {
    if (!this.uplot) return;
    const width = Math.max(200, this.canvas.clientWidth);
    if (width !== this.uplot.width) {
      this.uplot.setSize({ width, height: HEIGHT });
      this.showTime();
    }
  }

  restyle() {
    if (!this.uplot) return;
    this.close();
    this.canvas.replaceChildren();
    this.open();
  }
}

/** Round numbers in a range, about `count` of them, however large or small they are. */
function ticks(lo, hi, count) {
  const raw = (hi - lo) / Math.max(2, count);
  if (!(raw > 0) || !Number.isFinite(raw)) return [lo];
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * ([1, 2, 2.5, 5].find((x) => x * power >= raw) ?? 10);
  const first = Math.ceil(lo / step);
  return Array.from({ length: Math.floor(hi / step) - first + 1 }, (_, i) => (first + i) * step);
}

/** Powers of ten in a range, at most six. */
function decades(lo, hi) {
  const first = Math.ceil(Math.log10(lo) - 1e-9), count = Math.floor(Math.log10(hi) + 1e-9) - first + 1, step = Math.ceil(count / 6);
  return Array.from({ length: Math.ceil(count / step) }, (_, i) => 10 ** (first + i * step));
}

/** Whole decades around a range. */
function decadesOf(lo, hi) {
  if (!(hi > 0)) return [1, 10];
  const from = Math.floor(Math.log10(Math.max(lo, 1e-30)) + 1e-9), to = Math.ceil(Math.log10(hi) - 1e-9);
  return [10 ** from, 10 ** Math.max(to, from + 1)];
}

/** A little room above and below; a constant gets some, too. */
function rangeOf(lo, hi) {
  if (lo == null || hi == null) return [0, 1];
  const width = hi - lo;
  const room = width > 1e-9 * Math.max(Math.abs(lo), Math.abs(hi)) ? 0.06 * width : lo !== 0 ? 0.5 * Math.abs(lo) : 0.5;
  return [lo - room, hi + room];
}

/** All plots of the page: drawn when they come into sight, kept on the clock while they are. */
export class PlotBoard {
  constructor(runs, clock) {
    this.runs = runs;
    this.clock = clock;
    this.hiddenRuns = new Set();
    this.plots = new Map(); // node -> plot
    this.seen = new Set();
    this.watcher = new IntersectionObserver((entries) => {
      for (const entry of entries) {
        const plot = this.plots.get(entry.target);
        if (!plot) continue;
        if (entry.isIntersecting) {
          this.seen.add(plot);
          plot.open();
          plot.showRange();
        } else {
          this.seen.delete(plot);
        }
      }
    }, { rootMargin: "120px" });
    new ResizeObserver(() => this.plots.forEach((plot) => plot.resize())).observe(document.body);
    clock.on("time", () => this.seen.forEach((plot) => plot.showTime()));
    clock.on("numbers", () => this.seen.forEach((plot) => plot.showNumbers()));
    clock.on("range", () => this.seen.forEach((plot) => plot.showRange()));
  }

  add(description) {
    const plot = new Plot(description, this.runs, this.clock, this.hiddenRuns);
    this.plots.set(plot.node, plot);
    this.watcher.observe(plot.node);
    return plot.node;
  }

  remove(node) {
    const plot = this.plots.get(node);
    this.watcher.unobserve(node);
    this.seen.delete(plot);
    this.plots.delete(node);
    plot?.close();
    node.remove();
  }

  toggleRun(run) {
    if (this.hiddenRuns.has(run)) this.hiddenRuns.delete(run);
    else this.hiddenRuns.add(run);
    this.plots.forEach((plot) => plot.applyShown());
    return !this.hiddenRuns.has(run);
  }

  restyle() {
    this.plots.forEach((plot) => plot.restyle());
  }
}
