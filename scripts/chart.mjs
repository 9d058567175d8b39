// Curves as a small SVG picture, for pages: axes linear or logarithmic, colours of the page's style sheet.
// SPDX-License-Identifier: Apache-2.0

const WIDTH = 560, HEIGHT = 260, LEFT = 62, RIGHT = 12, TOP = 14, BOTTOM = 40;
const escape = (text) => String(text).replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);

/** 1, 2 or 5 times a power of ten, about `count` of them between the ends. */
function linearTicks(low, high, count) {
  const raw = (high - low) / count, power = 10 ** Math.floor(Math.log10(raw));
  const step = power * [1, 2, 5, 10].find((f) => f * power >= raw);
  const ticks = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) ticks.push(k * step);
  return ticks;
}

/** Powers of ten; where there are few of them also their multiples by 2 and 5. */
function logTicks(low, high) {
  const first = Math.floor(Math.log10(low)), last = Math.ceil(Math.log10(high));
  const every = Math.ceil((last - first) / 6), factors = last - first < 3 ? [1, 2, 5] : [1];
  const ticks = [];
  for (let p = first; p <= last; p += every) ticks.push(...factors.map((f) => f * 10 ** p));
  return ticks.filter((t) => t >= low * 0.999 && t <= high * 1.001);
}

function label(value) {
  if (value === 0) return "0";
  const size = Math.abs(value), short = Number(value.toPrecision(6));
  return size >= 1e5 || size < 1e-3 ? short.toExponential().replace("e+", "e") : String(short);
}

function axisOf(values, { log = false, from, to }) {
  const shown = values.filter((v) => Number.isFinite(v) && (!log || v > 0));
  let low = from ?? Math.min(...shown), high = to ?? Math.max(...shown);
  if (!shown.length && from === undefined) [low, high] = [log ? 1 : 0, 10];
  if (low === high) [low, high] = log ? [low / 2, high * 2] : [low - Math.abs(low || 1) / 2, high + Math.abs(high || 1) / 2];
  const share = log ? (v) => Math.log(v / low) / Math.log(high / low) : (v) => (v - low) / (high - low);
  return { share, ticks: log ? logTicks(low, high) : linearTicks(low, high, 5), isIn: (v) => Number.isFinite(v) && (!log || v > 0) };
}

/**
 * lines: [{name, points: [[x, y], ...], dashed, dots}]; a point that is not finite breaks its line. x, y: {label, log, from, to}.
 */
export function chart({ title = "", x = {}, y = {}, lines }) {
  const points = lines.flatMap((l) => l.points);
  const ax = axisOf(points.map((p) => p[0]), x), ay = axisOf(points.map((p) => p[1]), y);
  const px = (v) => LEFT + ax.share(v) * (WIDTH - LEFT - RIGHT);
  const py = (v) => Math.min(HEIGHT - BOTTOM, Math.max(TOP - 4, HEIGHT - BOTTOM - ay.share(v) * (HEIGHT - TOP - BOTTOM)));
  const grid = [
    ...ax.ticks.map((t) => `<path d="M${px(t).toFixed(1)} ${TOP}V${HEIGHT - BOTTOM}"/><text x="${px(t).toFixed(1)}" y="${HEIGHT - BOTTOM + 15}" text-anchor="middle">${label(t)}</text>`),
    ...ay.ticks.map((t) => `<path d="M${LEFT} ${py(t).toFixed(1)}H${WIDTH - RIGHT}"/><text x="${LEFT - 6}" y="${(py(t) + 4).toFixed(1)}" text-anchor="end">${label(t)}</text>`),
  ].join("");
  const curves = lines.map((line, i) => {
    let pen = "M", d = "";
    const dots = [];
    for (const [a, b] of line.points) {
      if (!ax.isIn(a) || !ay.isIn(b)) {
        pen = "M";
        continue;
      }
      d += `${pen}${px(a).toFixed(1)} ${py(b).toFixed(1)}`;
      pen = "L";
      if (line.dots) dots.push(`<circle cx="${px(a).toFixed(1)}" cy="${py(b).toFixed(1)}" r="2.6" fill="var(--s${i % 8})"/>`);
    }
    return `<path d="${d}" fill="none" stroke="var(--s${i % 8})" stroke-width="1.8"${line.dashed ? ' stroke-dasharray="6 4"' : ""}/>${dots.join("")}`;
  }).join("");
  const key = lines.map((line, i) => `<span><i class="key${line.dashed ? " dashed" : ""}" style="color: var(--s${i % 8})"></i>${escape(line.name)}</span>`).join(" ");
  return `<figure class="chart"><figcaption>${title ? `<b>${escape(title)}</b><br>` : ""}${key}</figcaption>
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escape(title || y.label)}"><g class="grid">${grid}</g>${curves}
<text x="${WIDTH - RIGHT}" y="${HEIGHT - 6}" text-anchor="end">${escape(x.label ?? "time, s")}</text><text x="4" y="10">${escape(y.label ?? "")}</text></svg></figure>`;
}
