// What entries share: numbers of columns, words for the page.
// SPDX-License-Identifier: Apache-2.0

/** [[time, value], ...] of a column. */
export function curve(rows, name, scale = 1) {
  return rows.map((r) => [r.time, r[name] * scale]);
}

/** Largest value of a column within a time. */
export function largest(rows, name, from = -Infinity, to = Infinity) {
  return Math.max(...rows.filter((r) => r.time >= from && r.time <= to).map((r) => r[name]));
}

/** Distance of two runs with the same rows in the components of a vector: [[time, distance], ...]. */
export function distances(rows, reference, names) {
  return rows.slice(0, reference.length).map((r, k) => [r.time, Math.hypot(...names.map((n) => r[n] - reference[k][n]))]);
}

/** Largest of such points within a time. */
export function peak(points, from = -Infinity, to = Infinity) {
  return Math.max(...points.filter(([t]) => t >= from && t <= to).map(([, x]) => x));
}

/** Root mean square of such points. */
export function rms(points) {
  return Math.sqrt(points.reduce((sum, [, x]) => sum + x * x, 0) / points.length);
}

/** Order of convergence from errors at steps: slope of the line through their logarithms. */
export function orderOf(steps, errors) {
  const x = steps.map(Math.log), y = errors.map(Math.log);
  const mean = (list) => list.reduce((a, b) => a + b, 0) / list.length;
  const [mx, my] = [mean(x), mean(y)];
  return x.reduce((sum, v, i) => sum + (v - mx) * (y[i] - my), 0) / x.reduce((sum, v) => sum + (v - mx) ** 2, 0);
}

/** Correlation of two lists of numbers. */
export function correlation(a, b) {
  const mean = (x) => x.reduce((s, v) => s + v, 0) / x.length, ma = mean(a), mb = mean(b);
  const dot = (f) => a.reduce((s, _, k) => s + f(k), 0);
  return dot((k) => (a[k] - ma) * (b[k] - mb)) / Math.sqrt(dot((k) => (a[k] - ma) ** 2) * dot((k) => (b[k] - mb) ** 2));
}

/** When a column first is not zero in any of the runs. */
export function firstTime(name, ...runs) {
  return Math.min(...runs.map((rows) => rows.find((r) => r[name] > 0)?.time ?? Infinity));
}

/** Of what `interim check` prints on a coupling, "zoh 1.0473 unstable 16.2 ms": growth of a disturbance over one macro step, the largest stable one in words. */
export function readAdvice(text, coupling) {
  const [, radius, limit] = new RegExp(`^\\s*${coupling}\\s+([\\d.]+)\\s+\\w+\\s+(.*)$`, "m").exec(text);
  return { radius: Number(radius), limit };
}

export const vector = (name) => ["x", "y", "z"].map((c) => `${name}.${c}`);
export const mm = (metres) => `${(metres * 1e3).toPrecision(2)} mm`;
export const set = (...pairs) => pairs.flatMap((pair) => ["--set", pair]);
