// Plots, all on one clock: over time, over another signal, or as a spectrum. A line marks the present, dragging zooms, shift and
// drag pans, a click goes there; values stand beside the mouse, and two cursors give differences.
// SPDX-License-Identifier: Apache-2.0
import { boxOf, drawChart, makeAxis } from "./chart.js";
import { findTime, formatNumber, valueAt } from "./data.js";
import { css, el } from "./dom.js";
import { saveCanvas, saveText } from "./save.js";
import { sizeOf } from "./signals.js";
import { spectrumOf } from "./spectrum.js";
import { CanvasSurface, SvgSurface } from "./surface.js";

const DASHES = [[], [7, 4], [2, 3], [9, 3, 2, 3]];
const HEIGHT = 204;
const FLAT = 1e-9;     // of the largest line of a plot: a component that is no more is folded away
const NEAR = 6;        // px to a cursor that is taken hold of
const MOST_AXES = 4;

function themeOf() {
  return { muted: css("--muted"), grid: css("--grid"), bad: css("--bad"), text: css("--text"), card: css("--card") };
}

export class Plot {
  /**
   * plot: {title, unit, isLog, floor, series: [{name, label, signals}]} of groupSignals; board: the plots it is one of.
   * own: a plot of the reader, which takes further signals and can be removed.
   */
  constructor(plot, board, own = null) {
    Object.assign(this, { board, clock: board.clock, title: plot.title, own });
    this.isLog = Boolean(plot.isLog);
    this.floor = plot.floor ?? 0; // of a log axis, as a share of its top: rounding stays below
    this.isSpectrum = false;
    this.xName = null;      // signal on the x axis; null: time
    this.yZoom = new Map(); // axis -> [lo, hi] of the reader
    this.xZoom = null;      // of a spectrum or an x-y plot
    this.series = [];
    this.node = el("figure.plot", { tabindex: 0, "aria-label": plot.title });
    this.head = el("b", {}, plot.title);
    this.legend = el("div.legend");
    this.differences = el("div.differences", { hidden: true });
    this.canvas = el("div.canvas");
    this.canvas.style.height = `${HEIGHT}px`;
    this.node.append(el("figcaption", {}, this.head, el("span.space"), this.makeMenu()), this.legend, this.differences, this.canvas);
    plot.series.forEach((series) => this.addSeries(series));
    this.foldFlat();
    this.showUnits();
  }

  // -------------------------------------------------------------------------- lines

  addSeries(series, isOnOwnAxis = false) {
    this.series.push(series);
    this.ownAxis = this.ownAxis ?? new Set();
    if (isOnOwnAxis) this.ownAxis.add(series.name);
    this.makeLines();
  }

  removeSeries(name) {
    this.series = this.series.filter((series) => series.name !== name);
    if (this.xName === name) this.xName = null;
    this.makeLines();
    this.redraw();
  }

  /** A line for each signal of each run. */
  makeLines() {
    const { runs } = this.board, hidden = new Set((this.lines ?? []).filter((line) => !line.isShown).map((line) => `${line.run} ${line.name}`));
    this.lines = [];
    const isOnly = this.series.length === 1;
    this.series.forEach((series, i) => {
      series.signals.forEach((signal, run) => {
        if (!signal || signal.time.length === 0) return;
        const color = (isOnly ? run : i) % 8, hasBroken = Boolean(runs[run].hasBroken) && runs.length > 1;
        const label = runs.length > 1 ? (isOnly ? runs[run].label : `${series.label} (${runs[run].label})`) : series.label;
        this.lines.push({
          signal, run, hasBroken, color, label, name: series.name, dash: isOnly ? [] : DASHES[run % DASHES.length],
          // curves that coincide: the first is wide, so that it shows below the others
          width: isOnly && runs.length > 1 && run === 0 ? 4 : 1.6, isShown: !hidden.has(`${run} ${series.name}`),
        });
      });
    });
    // rounding of what is otherwise zero is no number to read
    this.noise = 1e-12 * this.lines.reduce((size, { signal }) => Math.max(size, sizeOf(signal)), 0);
    this.addLegend();
  }

  addLegend() {
    const chips = this.lines.map((line) => {
      line.value = el("span.value");
      line.shown = null;
      line.chip = el(
        "button.chip",
        {
          type: "button", draggable: "true", title: `${line.signal.name}: ${line.signal.description}; click: hide or show; drag: into a plot of your own`,
          "aria-pressed": String(line.isShown), onclick: () => this.toggle(line),
          ondragstart: (event) => event.dataTransfer.setData("application/x-interim-signal", line.name),
        },
        el(`i.key.run${line.color}${line.dash.length ? ".dashed" : ""}`),
        el("span", {}, line.label),
        line.value,
        this.own ? el("span.drop", { role: "button", title: "take it out", onclick: (event) => { event.stopPropagation(); this.removeSeries(line.name); } }, "×") : null,
      );
      line.chip.hidden = this.isHidden(line);
      return line.chip;
    });
    this.legend.replaceChildren(...chips);
    this.showNumbers();
  }

  /** Components that stay zero beside others are folded away: y and z of a planar machine. */
  foldFlat() {
    const sizeOfName = (series) => Math.max(...series.signals.filter(Boolean).map(sizeOf), 0);
    const most = Math.max(...this.series.map(sizeOfName), 0);
    const flat = this.own || this.series.length < 2 ? [] : this.series.filter((series) => sizeOfName(series) <= FLAT * most);
    if (flat.length === 0 || flat.length === this.series.length) return;
    this.flat = new Set(flat.map((series) => series.name));
    const words = flat.map((series) => series.label).join(", ");
    this.foldButton = el("button.chip.folded", {
      type: "button", title: "show them", onclick: () => {
        this.flat = null;
        this.foldButton.remove();
        this.applyShown();
      },
    }, `${words} ${flat.length > 1 ? "stay" : "stays"} zero`);
    this.legend.append(this.foldButton);
    this.applyShown();
  }

  isHidden(line) {
    return this.board.hiddenRuns.has(line.run) || Boolean(this.flat?.has(line.name));
  }

  toggle(line) {
    line.isShown = !line.isShown;
    line.chip.setAttribute("aria-pressed", String(line.isShown));
    this.applyShown();
  }

  applyShown() {
    for (const line of this.lines) line.chip.hidden = this.isHidden(line);
    this.redraw();
  }

  get shownLines() {
    return this.lines.filter((line) => line.isShown && !this.isHidden(line) && (this.isSpectrum || line.name !== this.xName));
  }

  // -------------------------------------------------------------------------- what is drawn

  /** Units of the axes, the left one first: one for each unit, and one for each signal that the reader put on its own. */
  axisKeys() {
    const keys = [];
    for (const line of this.shownLines) {
      line.axisKey = this.ownAxis.has(line.name) ? `${line.signal.unit}|${line.name}` : line.signal.unit;
      if (!keys.includes(line.axisKey)) keys.push(line.axisKey);
    }
    if (keys.length > MOST_AXES) {
      for (const line of this.shownLines) if (keys.indexOf(line.axisKey) >= MOST_AXES) line.axisKey = keys[MOST_AXES - 1];
      keys.length = MOST_AXES;
    }
    return keys.length ? keys : [this.lines[0]?.signal.unit ?? ""];
  }

  /** Points of a line as it is plotted. */
  pointsOf(line) {
    if (this.isSpectrum) return { ...spectrumOf(line.signal, ...this.clock.range), isRising: true };
    if (this.xName) return this.pairOf(line);
    return { x: line.signal.time, y: line.signal.values, isRising: true };
  }

  /** A signal over another of the same run, in the visible range of time. */
  pairOf(line) {
    const other = this.lines.find((it) => it.name === this.xName && it.run === line.run)?.signal;
    if (!other) return { x: [], y: [], isRising: false };
    const { time, values } = line.signal, [from, to] = this.clock.range, x = [], y = [], t = [];
    for (let i = 0; i < time.length; i++) {
      if (time[i] < from || time[i] > to) continue;
      x.push(other.time === time ? other.values[i] : valueAt(other, time[i]));
      y.push(values[i]);
      t.push(time[i]);
    }
    return { x, y, t, isRising: false };
  }

  /** Least and largest of values on an axis. A run that broke down must not squash the others: theirs count, where there are any. By decades it does not. */
  boundsOf(curves, range) {
    const good = curves.filter(({ line }) => !line.hasBroken), list = good.length && !this.hasLogAxis ? good : curves;
    let lo = Infinity, hi = -Infinity;
    for (const { x, y, isRising } of list) {
      for (let i = 0; i < y.length; i++) {
        if (isRising && (x[i] < range[0] || x[i] > range[1])) continue;
        const v = this.hasLogAxis ? Math.abs(y[i]) : y[i];
        if (!Number.isFinite(v) || (this.hasLogAxis && v === 0)) continue;
        if (v < lo) lo = v;
        if (v > hi) hi = v;
      }
    }
    const room = good.length && good.length < curves.length && !this.hasLogAxis ? 0.25 * (hi - lo) : 0;
    return [lo - room, hi + room];
  }

  get hasLogAxis() {
    return this.isLog;
  }

  get isOverTime() {
    return !this.isSpectrum && !this.xName;
  }

  /** {x, ys, lines, ends} for drawChart. */
  makeChart() {
    const { units } = this.board, keys = this.axisKeys(), curves = this.shownLines.map((line) => ({ line, ...this.pointsOf(line) }));
    const x = this.makeXAxis(curves);
    const ys = keys.map((key) => {
      const [unit] = key.split("|"), { text, factor } = units.of(unit), own = curves.filter(({ line }) => line.axisKey === key);
      const zoom = this.yZoom.get(key), [min, max] = zoom ?? this.boundsOf(own, [x.min, x.max]);
      const isEmpty = !(min <= max);
      return Object.assign(makeAxis({ min: isEmpty ? (this.hasLogAxis ? 1 : 0) : min, max: isEmpty ? 1 : max, isLog: this.hasLogAxis, isTight: Boolean(zoom), floor: this.floor, label: text, factor }), {
        key, color: keys.length > 1 && own.length === 1 ? css(`--s${own[0].line.color}`) : undefined,
      });
    });
    const lines = curves.map(({ line, ...points }) => ({
      ...points, line, axis: keys.indexOf(line.axisKey), isLog: this.hasLogAxis, color: css(`--s${line.color}`), width: line.width, dash: line.dash, isPoint: points.x.length === 1,
    }));
    const ends = this.isOverTime ? lines.filter(({ line, x: time }) => line.hasBroken && time.at(-1) <= x.max).map(({ line, x: time, y, axis }) => ({
      x: time.at(-1), y: this.hasLogAxis ? Math.abs(y.at(-1)) : y.at(-1), axis, text: `broke down at ${formatNumber(time.at(-1))} s`,
    })) : [];
    return { x, ys, lines, ends };
  }

  makeXAxis(curves) {
    if (this.isOverTime) return makeAxis({ min: this.clock.range[0], max: this.clock.range[1], isTight: true, label: "time, s" });
    if (this.isSpectrum) {
      const most = Math.max(1e-9, ...curves.map(({ x }) => x.at(-1) ?? 0)), [min, max] = this.xZoom ?? [0, most];
      return makeAxis({ min, max, isTight: true, label: "frequency, Hz" });
    }
    const { signal, label } = this.lines.find((line) => line.name === this.xName), { text, factor } = this.board.units.of(signal.unit);
    const [min, max] = this.xZoom ?? this.boundsOf(curves.map((curve) => ({ ...curve, y: curve.x })), []);
    return makeAxis({ min, max, isTight: Boolean(this.xZoom), label: `${label}${text ? `, ${text}` : ""}`, factor });
  }

  /** Draw it, when it is first seen. */
  open() {
    if (this.screen) return;
    this.screen = el("canvas");
    this.marker = el("div.now");
    this.hair = el("div.hair", { hidden: true });
    this.tip = el("div.tip", { hidden: true });
    this.spot = el("div.spot", { hidden: true });
    this.selection = el("div.selection", { hidden: true });
    this.cursors = ["A", "B"].map((name) => el("div.cursor", { hidden: true, "data-name": name }));
    this.over = el("div.over", {}, this.marker, this.hair, this.spot, this.selection, ...this.cursors, this.tip);
    this.canvas.replaceChildren(this.screen, this.over);
    this.listen();
    this.draw();
  }

  close() {
    this.canvas.replaceChildren();
    this.screen = null;
  }

  redraw() {
    if (!this.screen) return;
    if (this.board.seen.has(this)) this.draw();
    else this.isStale = true;
  }

  draw() {
    this.isStale = false;
    this.width = Math.max(200, this.canvas.clientWidth);
    this.view = this.makeChart();
    this.box = boxOf(this.width, HEIGHT, this.view.ys.length);
    this.screen.style.width = `${this.width}px`;
    this.screen.style.height = `${HEIGHT}px`;
    drawChart(new CanvasSurface(this.screen, this.width, HEIGHT, window.devicePixelRatio || 1), this.view, this.box, themeOf());
    const { left, top, width, height } = this.box;
    Object.assign(this.over.style, { left: `${left}px`, top: `${top}px`, width: `${width}px`, height: `${height}px` });
    this.showTime();
    this.showNumbers();
    this.showCursors();
  }

  // -------------------------------------------------------------------------- the present, the mouse, two cursors

  showTime() {
    if (!this.screen || !this.view) return;
    // nothing here asks the browser for sizes: that would make it lay out the page anew for every plot
    const { width, height } = this.box;
    if (this.isOverTime) {
      const x = width * this.view.x.share(this.clock.time);
      this.marker.style.transform = `translateX(${x}px)`;
      this.marker.style.opacity = x < 0 || x > width ? 0 : 1;
      this.spot.hidden = true;
      return;
    }
    this.marker.style.opacity = 0;
    const line = this.isSpectrum ? null : this.view.lines[0];
    this.spot.hidden = !line || line.x.length === 0;
    if (this.spot.hidden) return;
    const i = findTime(line.t, this.clock.time), x = width * this.view.x.share(line.x[i]), y = height * (1 - this.view.ys[line.axis].share(line.y[i]));
    this.spot.style.transform = `translate(${x}px, ${y}px)`;
  }

  showNumbers() {
    for (const line of this.lines) {
      const x = valueAt(line.signal, this.clock.time), text = formatNumber(Math.abs(x) < this.noise ? 0 : x * this.board.units.of(line.signal.unit).factor);
      if (text !== line.shown) line.value.textContent = line.shown = text;
    }
  }

  /** Values under the mouse; at: px inside the axes, or null. */
  showTip(at, isUnderMouse) {
    if (!this.screen || !this.view) return;
    const isShown = at !== null && (this.isOverTime || isUnderMouse);
    this.hair.hidden = !isShown;
    this.tip.hidden = !(isShown && isUnderMouse);
    if (!isShown) return;
    this.hair.style.transform = `translateX(${at}px)`;
    if (!isUnderMouse) return;
    const { units } = this.board, x = this.view.x.valueAt(at / this.box.width);
    const rows = this.view.lines.slice(0, 12).map((curve) => {
      const { text, factor } = units.of(curve.line.signal.unit), [v, where] = this.valueNear(curve, at, x);
      return el("div", {}, el(`i.key.run${curve.line.color}`), `${curve.line.label} ${formatNumber(v * factor)}${text ? ` ${text}` : ""}${where}`);
    });
    this.tip.replaceChildren(el("b", {}, `${formatNumber(x * this.view.x.factor)} ${this.view.x.label.split(", ")[1] ?? ""}`), ...rows);
    const isRight = at > 0.55 * this.box.width;
    Object.assign(this.tip.style, { left: isRight ? "" : `${at + 10}px`, right: isRight ? `${this.box.width - at + 10}px` : "" });
  }

  /** Value of a curve at x, and more to say about the place. */
  valueNear(curve, at, x) {
    if (this.isOverTime) return [valueAt(curve.line.signal, x), ""];
    if (curve.isRising) {
      const i = findTime(curve.x, x), j = Math.min(i + 1, curve.x.length - 1);
      return [curve.y[Math.abs(curve.x[j] - x) < Math.abs(curve.x[i] - x) ? j : i], ""];
    }
    let best = 0, least = Infinity;
    curve.x.forEach((v, i) => {
      const dx = this.box.width * this.view.x.share(v) - at, dy = this.box.height * (1 - this.view.ys[curve.axis].share(curve.y[i])) - this.mouseY;
      if (dx * dx + dy * dy < least) [best, least] = [i, dx * dx + dy * dy];
    });
    return [curve.y[best], ` at ${formatNumber(curve.t[best])} s`];
  }

  showCursors() {
    const { cursors } = this.clock, isShown = Boolean(cursors) && this.isOverTime;
    this.cursors.forEach((node, k) => {
      node.hidden = !isShown;
      if (isShown) node.style.transform = `translateX(${this.box.width * this.view.x.share(cursors[k])}px)`;
    });
    this.differences.hidden = !isShown;
    if (!isShown) return;
    const { units } = this.board, [a, b] = cursors;
    const rows = this.shownLines.map((line) => {
      const { text, factor } = units.of(line.signal.unit), va = factor * valueAt(line.signal, a), vb = factor * valueAt(line.signal, b);
      return el("tr", {}, el("th", { scope: "row" }, el(`i.key.run${line.color}`), line.label), ...[va, vb, vb - va].map((v) => el("td.num", {}, formatNumber(v))), el("td", {}, text));
    });
    const wide = b - a;
    this.differences.replaceChildren(el("table", {}, el("thead", {}, el("tr", {}, ...["", "A", "B", "B − A", ""].map((x) => el("th", { scope: "col" }, x)))),
      el("tbody", {}, el("tr", {}, el("th", { scope: "row" }, "time"), ...[a, b, wide].map((v) => el("td.num", {}, formatNumber(v))), el("td", {}, `s, ${formatNumber(1 / Math.abs(wide))} Hz`)), ...rows)));
  }

  // -------------------------------------------------------------------------- by hand

  /** Drag across: time; up or down: this plot's values; both: a box. Shift pans, ctrl and wheel zoom, double click shows all. */
  listen() {
    const { over } = this;
    const place = (event) => {
      const box = over.getBoundingClientRect();
      return [Math.min(box.width, Math.max(0, event.clientX - box.left)), Math.min(box.height, Math.max(0, event.clientY - box.top))];
    };
    let down = null;
    over.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      const [x, y] = place(event);
      down = { x, y, range: [...this.clock.range], isTouch: event.pointerType === "touch", cursor: this.cursorNear(x), isPan: event.shiftKey };
      over.setPointerCapture(event.pointerId);
    });
    over.addEventListener("pointermove", (event) => {
      const [x, y] = place(event);
      this.mouseY = y;
      if (!down) return this.board.hover(this, x);
      if (down.cursor >= 0) this.clock.setCursor(down.cursor, this.timeAt(x));
      else if (down.isTouch) this.isOverTime && this.clock.setTime(this.timeAt(x));
      else if (down.isPan) this.panBy(down.range, down.x - x);
      else this.showSelection(down, x, y);
    });
    over.addEventListener("pointerup", (event) => {
      if (!down) return;
      const [x, y] = place(event), { isTouch, cursor, isPan } = down;
      const isClick = Math.hypot(x - down.x, y - down.y) < 4;
      if (isClick && cursor < 0 && !isPan && this.isOverTime) this.clock.setTime(this.timeAt(x));
      else if (!isClick && !isTouch && cursor < 0 && !isPan) this.zoomTo(down, x, y);
      this.selection.hidden = true;
      down = null;
    });
    over.addEventListener("pointercancel", () => {
      down = null;
      this.selection.hidden = true;
    });
    over.addEventListener("pointerleave", () => this.board.hover(null, null));
    over.addEventListener("dblclick", () => this.showAll());
    over.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const [x, y] = place(event), factor = event.deltaY > 0 ? 1.25 : 0.8;
      if (event.shiftKey) this.zoomValues(factor, 1 - y / this.box.height);
      else if (this.isOverTime) this.clock.zoom(factor, this.timeAt(x));
    }, { passive: false });
  }

  timeAt(x) {
    return this.view.x.valueAt(x / this.box.width);
  }

  cursorNear(x) {
    if (!this.clock.cursors || !this.isOverTime) return -1;
    const away = this.clock.cursors.map((t) => Math.abs(this.box.width * this.view.x.share(t) - x)), nearest = away[0] <= away[1] ? 0 : 1;
    return away[nearest] <= NEAR ? nearest : -1;
  }

  panBy([a, b], px) {
    if (!this.isOverTime) return;
    const start = Math.min(this.clock.end - (b - a), Math.max(this.clock.start, a + (px * (b - a)) / this.box.width));
    this.clock.setRange(start, start + (b - a));
  }

  /** Which directions a drag zooms. */
  directionsOf({ x, y }, toX, toY) {
    const dx = Math.abs(toX - x), dy = Math.abs(toY - y);
    return { isX: dx > 5 && dx > 0.35 * dy, isY: dy > 12 && dy > 0.9 * dx };
  }

  showSelection(down, x, y) {
    const { isX, isY } = this.directionsOf(down, x, y), { width, height } = this.box;
    this.selection.hidden = !isX && !isY;
    const [left, right] = isX ? [Math.min(x, down.x), Math.max(x, down.x)] : [0, width], [top, bottom] = isY ? [Math.min(y, down.y), Math.max(y, down.y)] : [0, height];
    Object.assign(this.selection.style, { left: `${left}px`, top: `${top}px`, width: `${right - left}px`, height: `${bottom - top}px` });
  }

  zoomTo(down, x, y) {
    const { isX, isY } = this.directionsOf(down, x, y), { height } = this.box;
    if (isY) for (const axis of this.view.ys) this.yZoom.set(axis.key, [1 - Math.max(y, down.y) / height, 1 - Math.min(y, down.y) / height].map(axis.valueAt));
    if (isX) {
      const range = [Math.min(x, down.x), Math.max(x, down.x)].map((at) => this.timeAt(at));
      if (this.isOverTime) this.clock.setRange(...range);
      else this.xZoom = range;
    }
    this.redraw();
  }

  zoomValues(factor, about) {
    for (const axis of this.view.ys) this.yZoom.set(axis.key, [about * (1 - factor), about + (1 - about) * factor].map(axis.valueAt));
    this.redraw();
  }

  showAll() {
    this.yZoom.clear();
    this.xZoom = null;
    if (this.isOverTime) this.clock.setRange(this.clock.start, this.clock.end);
    this.redraw();
  }

  // -------------------------------------------------------------------------- menu

  makeMenu() {
    const list = el("div.items");
    const node = el("details.menu", { ontoggle: () => node.open && list.replaceChildren(...this.menuItems(node)) }, el("summary", { title: "axes, spectrum, export", "aria-label": "more about this plot" }, "⋯"), list);
    node.addEventListener("focusout", (event) => {
      if (event.relatedTarget && !node.contains(event.relatedTarget)) node.open = false;
    });
    return node;
  }

  menuItems(menu) {
    const item = (text, act, pressed = null) => el("button", { type: "button", "aria-pressed": pressed === null ? null : String(pressed), onclick: () => { act(); menu.open = false; } }, text);
    const names = [...new Set(this.lines.map((line) => line.name))];
    const choose = el("select", { "aria-label": "x axis", onchange: () => this.setX(choose.value || null) },
      el("option", { value: "" }, "time"), ...names.map((name) => el("option", { value: name, selected: name === this.xName }, name)));
    return [
      item("log axis", () => this.set({ isLog: !this.isLog }), this.isLog),
      item("spectrum of the visible time", () => this.set({ isSpectrum: !this.isSpectrum }), this.isSpectrum),
      names.length > 1 ? el("label", {}, "x axis ", choose) : null,
      ...(names.length > 1 && names.length <= 8 ? names.map((name) => item(`own axis: ${name}`, () => this.toggleOwnAxis(name), this.ownAxis.has(name))) : []),
      item("fit", () => this.showAll()),
      this.own ? null : item("copy to my plots", () => this.board.addOwn(names)),
      el("span.row", {}, ...["PNG", "SVG", "CSV"].map((kind) => item(kind, () => this.save(kind)))),
      this.own ? item("remove this plot", () => this.board.remove(this.node)) : null,
    ].filter(Boolean);
  }

  set(what) {
    Object.assign(this, what);
    if (what.isSpectrum) this.xName = null;
    this.yZoom.clear();
    this.xZoom = null;
    this.redraw();
  }

  setX(name) {
    this.set({ xName: name, isSpectrum: false });
  }

  toggleOwnAxis(name) {
    if (this.ownAxis.has(name)) this.ownAxis.delete(name);
    else this.ownAxis.add(name);
    this.redraw();
  }

  // -------------------------------------------------------------------------- files

  /** The picture with title and legend, on a surface of this width. */
  drawFigure(makeSurface, width) {
    const theme = themeOf(), lines = this.shownLines, chart = this.makeChart(), rows = [[]];
    let used = 0;
    for (const line of lines) {
      const wide = 34 + 6.4 * line.label.length;
      if (used + wide > width - 20 && used > 0) {
        rows.push([]);
        used = 0;
      }
      rows.at(-1).push([line, used]);
      used += wide;
    }
    const top = 22 + 16 * rows.length, height = HEIGHT + 60 + top, surface = makeSurface(width, height);
    surface.rect(0, 0, width, height, theme.card);
    surface.text(10, 17, this.title, { fill: theme.text, size: 13, isBold: true });
    rows.forEach((row, k) => row.forEach(([line, x]) => {
      surface.line([10 + x, 30 + 16 * k, 28 + x, 30 + 16 * k], { stroke: css(`--s${line.color}`), width: 2, dash: line.dash });
      surface.text(33 + x, 34 + 16 * k, line.label, { fill: theme.text });
    }));
    drawChart(surface, chart, boxOf(width, height, chart.ys.length, top), theme);
    return surface;
  }

  svg(width = 720) {
    return this.drawFigure((w, h) => new SvgSurface(w, h), width).toString();
  }

  /** What is seen: visible lines in the visible range, in the units shown. */
  csv() {
    const { x, lines } = this.makeChart(), { units } = this.board, quote = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
    const heads = lines.map(({ line }) => {
      const { text } = units.of(line.signal.unit);
      return quote(`${line.name}${this.board.runs.length > 1 ? ` (${this.board.runs[line.run].label})` : ""}${text ? ` [${text}]` : ""}`);
    });
    const rows = new Map(); // x, or time of a pair -> values
    lines.forEach((line, k) => {
      const { factor } = units.of(line.line.signal.unit);
      for (let i = 0; i < line.x.length; i++) {
        if (line.isRising && (line.x[i] < x.min || line.x[i] > x.max)) continue;
        const key = line.t ? line.t[i] : line.x[i];
        if (!rows.has(key)) rows.set(key, { x: line.x[i] * x.factor, values: new Array(lines.length).fill("") });
        rows.get(key).values[k] = Number((line.y[i] * factor).toPrecision(8));
      }
    });
    const body = [...rows].sort((a, b) => a[0] - b[0]).map(([, row]) => [Number(row.x.toPrecision(12)), ...row.values].join(","));
    return [[quote(x.label.replace(/, ([^,]*)$/, " [$1]")), ...heads].join(","), ...body].join("\n") + "\n";
  }

  save(kind) {
    const name = this.title.replace(/[^\w.-]+/g, "-").replace(/^-+|-+$/g, "") || "plot";
    if (kind === "CSV") saveText(`${name}.csv`, this.csv(), "text/csv");
    else if (kind === "SVG") saveText(`${name}.svg`, this.svg(), "image/svg+xml");
    else saveCanvas(`${name}.png`, this.picture());
  }

  picture(width = 900) {
    const canvas = document.createElement("canvas");
    this.drawFigure((w, h) => new CanvasSurface(canvas, w, h, 2), width);
    return canvas;
  }

  showPrint(isPrinting) {
    this.print?.remove();
    this.print = null;
    if (!isPrinting) return;
    this.print = el("div.print");
    this.print.innerHTML = this.svg(720); // names are escaped by the surface
    this.node.append(this.print);
  }

  showUnits() {
    this.redraw();
    this.showNumbers();
  }

  resize() {
    if (this.screen && Math.max(200, this.canvas.clientWidth) !== this.width) this.redraw();
  }

  /** For links: what the reader made of it. */
  describe() {
    return {
      s: this.series.map((series) => series.name), title: this.own?.title, log: this.isLog || undefined, fft: this.isSpectrum || undefined, x: this.xName ?? undefined,
      own: this.ownAxis.size ? [...this.ownAxis] : undefined, y: this.yZoom.size ? [...this.yZoom] : undefined,
    };
  }

  restore({ log = false, fft = false, x = null, own = [], y = [] }) {
    Object.assign(this, { isLog: log, isSpectrum: fft, xName: x, ownAxis: new Set(own), yZoom: new Map(y) });
    this.redraw();
  }
}

/** All plots of the page: drawn when they come into sight, kept on the clock while they are. */
export class PlotBoard {
  constructor(runs, clock, units) {
    Object.assign(this, { runs, clock, units });
    this.hiddenRuns = new Set();
    this.plots = new Map(); // node -> plot
    this.seen = new Set();
    this.rows = new Map();  // name of a signal -> signals by run
    runs.forEach((run, k) => run.signals.forEach((signal) => {
      if (!this.rows.has(signal.name)) this.rows.set(signal.name, new Array(runs.length));
      this.rows.get(signal.name)[k] = signal;
    }));
    this.watcher = new IntersectionObserver((entries) => entries.forEach((entry) => this.see(this.plots.get(entry.target), entry.isIntersecting)), { rootMargin: "120px" });
    new ResizeObserver(() => this.seen.forEach((plot) => plot.resize())).observe(document.body);
    clock.on("time", () => this.seen.forEach((plot) => plot.showTime()));
    clock.on("numbers", () => this.seen.forEach((plot) => plot.showNumbers()));
    clock.on("cursors", () => this.plots.forEach((plot) => plot.screen && plot.showCursors()));
    clock.on("range", () => this.plots.forEach((plot) => plot.redraw()));
    units.listeners.push(() => this.plots.forEach((plot) => plot.showUnits()));
    window.addEventListener("beforeprint", () => this.plots.forEach((plot) => plot.showPrint(true)));
    window.addEventListener("afterprint", () => this.plots.forEach((plot) => plot.showPrint(false)));
  }

  see(plot, isSeen) {
    if (!plot) return;
    if (!isSeen) {
      this.seen.delete(plot);
      return;
    }
    this.seen.add(plot);
    if (!plot.screen) plot.open();
    else if (plot.isStale || plot.width !== Math.max(200, plot.canvas.clientWidth)) plot.draw();
    else plot.showTime();
    plot.showNumbers();
  }

  /** What is in the window now, without waiting for the browser to say so. */
  drawFirst() {
    for (const [node, plot] of this.plots) {
      const { top, bottom } = node.getBoundingClientRect();
      if (bottom > 0 && top < window.innerHeight) this.see(plot, true);
    }
  }

  hover(under, at) {
    const time = under?.isOverTime ? under.timeAt(at) : null;
    for (const plot of this.seen) {
      const x = plot === under ? at : time === null || !plot.isOverTime || !plot.view ? null : plot.box.width * plot.view.x.share(time);
      plot.showTip(x, plot === under);
    }
  }

  add(description, own = null) {
    const plot = new Plot(description, this, own);
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
    if (plot?.own) this.onOwn?.();
  }

  toggleRun(run) {
    if (this.hiddenRuns.has(run)) this.hiddenRuns.delete(run);
    else this.hiddenRuns.add(run);
    this.plots.forEach((plot) => plot.applyShown());
    return !this.hiddenRuns.has(run);
  }

  restyle() {
    this.plots.forEach((plot) => plot.redraw());
  }
}
