// Curves on axes: which numbers an axis shows, where a point is, and the drawing of it all on a surface.
// SPDX-License-Identifier: Apache-2.0
import { formatNumber } from "./data.js";

const LEFT = 58, RIGHT = 10, TOP = 18, BOTTOM = 30, EXTRA = 54; // of every axis on the right

/** Round numbers in a range, about `count` of them, however large or small they are. */
function ticks(lo, hi, count) {
  const raw = (hi - lo) / Math.max(2, count);
  if (!(raw > 0) || !Number.isFinite(raw)) return [lo];
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * ([1, 2, 2.5, 5].find((x) => x * power >= raw) ?? 10);
  const first = Math.ceil(lo / step - 1e-9);
  return Array.from({ length: Math.max(0, Math.floor(hi / step + 1e-9) - first + 1) }, (_, i) => (first + i) * step);
}

/** Powers of ten in a range, at most six; where there are few also their multiples by 2 and 5. */
function decades(lo, hi) {
  const first = Math.ceil(Math.log10(lo) - 1e-9), count = Math.floor(Math.log10(hi) + 1e-9) - first + 1, step = Math.max(1, Math.ceil(count / 6));
  const powers = Array.from({ length: Math.max(0, Math.ceil(count / step)) }, (_, i) => 10 ** (first + i * step));
  return count > 2 ? powers : [...new Set(Array.from({ length: count + 2 }, (_, i) => 10 ** (first - 1 + i)).flatMap((p) => [p, 2 * p, 5 * p]))].filter((x) => x >= lo && x <= hi);
}

/** Whole decades around a range. */
function decadesOf(lo, hi) {
  if (!(hi > 0)) return [1, 10];
  const from = Math.floor(Math.log10(Math.max(lo, 1e-30)) + 1e-9), to = Math.ceil(Math.log10(hi) - 1e-9);
  return [10 ** from, 10 ** Math.max(to, from + 1)];
}

/** A little room above and below; a constant gets some, too. */
function rangeOf(lo, hi) {
  if (!(lo <= hi)) return [0, 1];
  const width = hi - lo;
  const room = width > 1e-9 * Math.max(Math.abs(lo), Math.abs(hi)) ? 0.06 * width : lo !== 0 ? 0.5 * Math.abs(lo) : 0.5;
  return [lo - room, hi + room];
}

/** Numbers at ticks with as many digits as tell them apart. */
function tickText(x, step) {
  const a = Math.abs(x);
  if (a < 1e-9 * step) return "0";
  if (Math.max(a, step) >= 1e5 || (a < 1e-3 && step < 1e-3)) return formatNumber(x);
  return String(Number(x.toFixed(Math.min(9, Math.max(0, 1 - Math.floor(Math.log10(step)))))));
}

/** An axis over [min, max] of data (isLog: of magnitudes), shown with `factor` in a unit. */
export function makeAxis({ min, max, isLog = false, isTight = false, floor = 0, label = "", factor = 1 }) {
  const [lo, hi] = isTight ? [min, max] : isLog ? decadesOf(Math.max(min, floor * max), max) : rangeOf(min, max);
  const a = isLog ? Math.log(lo) : lo, b = isLog ? Math.log(hi) : hi;
  return {
    min: lo, max: hi, isLog, label, factor,
    /** 0 at min, 1 at max */
    share: isLog ? (v) => (Math.log(v) - a) / (b - a) : (v) => (v - a) / (b - a),
    valueAt: isLog ? (s) => Math.exp(a + s * (b - a)) : (s) => a + s * (b - a),
  };
}

/** [value in data, text] of the ticks of an axis. */
function ticksOf(axis, count) {
  const { min, max, isLog, factor } = axis;
  const list = isLog ? decades(min * factor, max * factor) : ticks(min * factor, max * factor, count);
  const step = list.length > 1 ? Math.abs(list[1] - list[0]) : Math.abs(list[0] ?? 1);
  return list.map((v) => [v / factor, isLog ? formatNumber(v) : tickText(v, step)]);
}

/** Where curves go inside a picture. */
export function boxOf(width, height, naxis, top = 0) {
  const right = RIGHT + EXTRA * Math.max(0, naxis - 1);
  return { left: LEFT, top: TOP + top, width: Math.max(20, width - LEFT - right), height: Math.max(20, height - TOP - BOTTOM - top) };
}

/**
 * Points of a line on the screen, in pieces without gaps: [[x0, y0, ...]]. Of a line whose x rises, a column of pixels keeps its
 * first, least, largest and last point: a spike of one sample is never lost.
 */
export function traceLine({ x, y, isRising = true, isLog = false }, xAxis, yAxis, box) {
  const pieces = [];
  let piece = [];
  const end = () => {
    if (piece.length) pieces.push(piece);
    piece = [];
  };
  const px = (v) => box.left + box.width * xAxis.share(v), py = (v) => box.top + box.height * (1 - yAxis.share(v));
  const clamp = (v) => Math.max(-1e5, Math.min(1e5, v));
  const value = (i) => (isLog ? Math.abs(y[i]) : y[i]);
  let from = 0, to = x.length - 1;
  if (isRising) {
    while (from < to && x[from + 1] < xAxis.min) from++;
    while (to > from && x[to - 1] > xAxis.max) to--;
  }
  let column = NaN, least = 0, most = 0, last = 0, at = 0;
  const flush = () => {
    if (Number.isNaN(column)) return;
    if (least !== piece.at(-1)) piece.push(at, least);
    if (most !== least) piece.push(at, most);
    if (last !== most) piece.push(at, last);
    column = NaN;
  };
  for (let i = from; i <= to; i++) {
    const v = value(i), X = clamp(px(x[i])), Y = clamp(py(v));
    if (!Number.isFinite(X) || !Number.isFinite(Y) || (isLog && !(v > 0))) {
      flush();
      end();
    } else if (!isRising) {
      piece.push(X, Y);
    } else if (Math.floor(X) === column) {
      least = Math.min(least, Y);
      most = Math.max(most, Y);
      last = Y;
    } else {
      flush();
      piece.push(X, Y);
      column = Math.floor(X);
      at = X;
      least = most = last = Y;
    }
  }
  flush();
  end();
  return pieces;
}

/** Frame, grid, numbers and units of the axes. */
function drawAxes(surface, { x, ys }, box, theme) {
  const { left, top, width, height } = box, bottom = top + height, text = { fill: theme.muted };
  for (const [v, label] of ticksOf(x, width / 80)) {
    const at = left + width * x.share(v);
    if (at < left - 0.5 || at > left + width + 0.5) continue;
    surface.line([at, top, at, bottom], { stroke: theme.grid });
    surface.text(at, bottom + 13, label, { ...text, align: "middle" });
  }
  surface.text(left + width, bottom + 26, x.label, { ...text, align: "end" });
  ys.forEach((axis, k) => {
    const right = left + width + EXTRA * (k - 1), fill = axis.color ?? theme.muted;
    for (const [v, label] of ticksOf(axis, height / 38)) {
      const at = bottom - height * axis.share(v);
      if (at < top - 0.5 || at > bottom + 0.5) continue;
      if (k === 0) surface.line([left, at, left + width, at], { stroke: theme.grid });
      else surface.line([right, at, right + 4, at], { stroke: fill });
      surface.text(k === 0 ? left - 6 : right + 7, at + 4, label, { fill, align: k === 0 ? "end" : "start" });
    }
    if (k > 0) surface.line([right, top, right, bottom], { stroke: fill });
    surface.text(k === 0 ? left - 6 : right + 7, top - 6, axis.label, { fill, align: k === 0 ? "end" : "start", isBold: true });
  });
}

/**
 * chart: {x: axis, ys: [axis], lines: [{x, y, axis, color, width, dash, isRising, isLog, isPoint}], ends: [{x, y, text}]};
 * theme: {muted, grid, bad}
 */
export function drawChart(surface, chart, box, theme) {
  drawAxes(surface, chart, box, theme);
  surface.clip(box.left, box.top - 1, box.width, box.height + 2);
  for (const line of chart.lines) {
    for (const points of traceLine(line, chart.x, chart.ys[line.axis], box)) {
      if (points.length === 2 || line.isPoint) surface.dot(points[0], points[1], 2.5, line.color);
      else surface.line(points, { stroke: line.color, width: line.width, dash: line.dash });
    }
  }
  for (const { x, y, axis, text } of chart.ends ?? []) {
    const size = 5, X = box.left + box.width * chart.x.share(x), Y = box.top + box.height * (1 - chart.ys[axis].share(y));
    const at = Math.min(box.top + box.height - 1.5 * size, Math.max(box.top + 1.5 * size, Number.isFinite(Y) ? Y : box.top));
    for (const s of [-1, 1]) surface.line([X - size, at - s * size, X + size, at + s * size], { stroke: theme.bad, width: 2.5 });
    surface.text(X + 2 * size, at + 4, text, { fill: theme.bad });
  }
  surface.unclip();
}
