// What the entries of the seven-joint arm share.
// SPDX-License-Identifier: Apache-2.0

import { distances, firstTime, mm, peak, set, vector } from "./common.js";

/** A manoeuvre of the arm towards the wall, coupled and monolithic: their rows, the distance of their points P, and that in words. */
export function runManoeuvre({ run, measure }, model, options, suffix) {
  const common = ["--every", "(1/60) s", ...options];
  const coupled = run(model, common, suffix).rows, whole = measure(model, [...common, ...set("cosim.coupling=monolithic")], `${suffix}-monolithic`).rows;
  const error = distances(coupled, whole, vector("tool.P.position"));
  const touch = firstTime("tool.tool.contact_count", coupled, whole);
  const before = peak(error, 0, touch - 1e-9), after = peak(error, touch);
  return { coupled, whole, error, before, words: `${mm(before)} before the wall is touched at ${touch.toFixed(2)} s, ${mm(after)} after` };
}

/** Distance of P from the wall, [[time, m], ...]. */
export function toWall(rows) {
  return rows.map((r) => [r.time, 12.0445 - r["tool.P.position.x"]]);
}

/** Mobility, rank and condition number of an interface, from what `interim inspect` prints; condition Infinity where it is singular. */
export function readInterface(text, name) {
  const lines = text.slice(text.indexOf(`\n${name}\n`)).split("\n");
  const start = lines.findIndex((line) => /^\s+tx\s+-?\d/.test(line));
  const W = lines.slice(start, start + 6).map((line) => line.trim().split(/\s+/).slice(1).map(Number));
  const word = (key) => lines.find((line) => line.trim().startsWith(key)).trim().split(/\s+/)[1];
  const condition = Number(word("condition"));
  return { W, rank: Number(word("rank")), condition: Number.isFinite(condition) ? condition : Infinity };
}

/** Effective mass along a direction of translation, 1/(u' W u). */
export function massAlong(W, u) {
  return 1 / u.reduce((sum, ui, i) => sum + u.reduce((s, uj, j) => s + ui * W[i][j] * uj, 0), 0);
}

/** n directions, evenly spread over a half sphere. */
export function directions(n) {
  return Array.from({ length: n }, (_, k) => {
    const z = (k + 0.5) / n, r = Math.sqrt(1 - z * z), angle = k * Math.PI * (3 - Math.sqrt(5));
    return [r * Math.cos(angle), r * Math.sin(angle), z];
  });
}
