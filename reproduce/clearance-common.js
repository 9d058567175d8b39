// What the entries of the loose joints share.
// SPDX-License-Identifier: Apache-2.0

/** Largest residual of m v' = F + joint force over the steps of a run that has a row a step, N. */
export function residual(rows, body, mass, force) {
  return Math.max(...rows.slice(1).flatMap((r, k) => ["x", "y", "z"].map((c, i) =>
    Math.abs((mass * (r[`${body}.velocity.${c}`] - rows[k][`${body}.velocity.${c}`])) / (r.time - rows[k].time) - force[i] - r[`joint.force.${c}`]))));
}

/** A point of a body in the world; the body's orientation is a unit quaternion. */
export function place(row, body, [x, y, z]) {
  const [w, a, b, c] = ["w", "x", "y", "z"].map((k) => row[`${body}.orientation.${k}`]);
  const t = [2 * (b * z - c * y), 2 * (c * x - a * z), 2 * (a * y - b * x)];
  const turned = [x + w * t[0] + b * t[2] - c * t[1], y + w * t[1] + c * t[0] - a * t[2], z + w * t[2] + a * t[1] - b * t[0]];
  return turned.map((v, i) => v + row[`${body}.position.${"xyz"[i]}`]);
}

/** Height of the point on a body's z axis at z. */
export function tilt(row, body, z) {
  return place(row, body, [0, 0, z])[1];
}

/** Steps and wall time of a run from its summary. */
export function readSummary(text) {
  return { steps: Number(/steps\s+(\d+)/.exec(text)[1]), impacts: Number(/: (\d+) impacts/.exec(text)?.[1] ?? 0), wall: Number(/wall time\s+([\d.e+-]+)/.exec(text)[1]) };
}
