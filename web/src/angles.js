// Orientations as angles. A quaternion and its negative are the same orientation, so that plots of components jump; angles that
// are continued past half a turn do not.
// SPDX-License-Identifier: Apache-2.0

const FIXED = 1e-3; // largest part of a turn across its axis that counts as rounding of stored floats

/** Angles continued past half a turn. */
function unwrap(values) {
  let turns = 0;
  for (let i = 1; i < values.length; i++) {
    const jump = values[i] + turns - values[i - 1];
    turns -= 2 * Math.PI * Math.round(jump / (2 * Math.PI));
    values[i] += turns;
  }
  return values;
}

/** q * p', in w x y z */
function relative(q, p) {
  const [a, b, c, d] = q, [w, x, y, z] = [p[0], -p[1], -p[2], -p[3]];
  return [a * w - b * x - c * y - d * z, a * x + b * w + c * z - d * y, a * y - b * z + c * w + d * x, a * z + b * y - c * x + d * w];
}

/** The coordinate axis that the body turns about all the time, 0 to 2; -1: it turns about several. */
function fixedAxis(components) {
  const first = components.map((values) => values[0]);
  const most = [0, 0, 0];
  for (let i = 0; i < components[0].length; i++) {
    const r = relative(components.map((values) => values[i]), first);
    for (let k = 0; k < 3; k++) most[k] = Math.max(most[k], Math.abs(r[k + 1]));
  }
  const axis = most.indexOf(Math.max(...most));
  return most.every((x, k) => k === axis || x < FIXED * Math.max(most[axis], 1e-2)) ? axis : -1;
}

/** Rotation about z, then the new y, then the new x: yaw, pitch, roll; or the turn about one axis of the world since the start. */
function anglesOf(components, axis) {
  const n = components[0].length;
  if (axis >= 0) {
    const values = new Float32Array(n), first = components.map((c) => c[0]);
    for (let i = 0; i < n; i++) {
      const r = relative(components.map((c) => c[i]), first);
      values[i] = 2 * Math.atan2(r[axis + 1], r[0]);
    }
    return [{ name: "xyz"[axis], description: `turn of the body about the world's ${"xyz"[axis]} axis since the start`, values: unwrap(values) }];
  }
  const list = [
    { name: "roll", description: "third angle of yaw, pitch, roll: about the body's x axis", values: new Float32Array(n) },
    { name: "pitch", description: "second angle of yaw, pitch, roll: about the turned y axis", values: new Float32Array(n) },
    { name: "yaw", description: "first angle of yaw, pitch, roll: about the world's z axis", values: new Float32Array(n) },
  ];
  for (let i = 0; i < n; i++) {
    const [w, x, y, z] = components.map((c) => c[i]);
    list[0].values[i] = Math.atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y));
    list[1].values[i] = Math.asin(Math.max(-1, Math.min(1, 2 * (w * y - z * x))));
    list[2].values[i] = Math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z));
  }
  unwrap(list[0].values);
  unwrap(list[2].values);
  return list;
}

/** A quaternion whose sign does not jump. */
function continueSign(components) {
  for (let i = 1; i < components[0].length; i++) {
    const dot = components.reduce((sum, c) => sum + c[i] * c[i - 1], 0);
    if (dot < 0) for (const c of components) c[i] = -c[i];
  }
}

/**
 * Every orientation among the signals gets angles, X.rotation.*, and is itself plotted only where it is searched for.
 * axes: orientation -> its fixed axis or -1, as the first run has it, so that all runs have the same angles.
 */
export function addAngles(signals, axes) {
  const byName = new Map(signals.map((signal) => [signal.name, signal]));
  for (const signal of [...signals]) {
    const [, stem] = /^(.*\.orientation)\.w$/.exec(signal.name) ?? [];
    const parts = stem ? ["w", "x", "y", "z"].map((c) => byName.get(`${stem}.${c}`)) : [];
    if (parts.length < 4 || parts.some((part) => !part || part.time !== signal.time)) continue;
    const components = parts.map((part) => part.values);
    continueSign(components);
    parts.forEach((part) => (part.isReplaced = true));
    if (!axes.has(stem)) axes.set(stem, fixedAxis(components));
    const at = signals.indexOf(signal), angles = anglesOf(components, axes.get(stem));
    signals.splice(at, 0, ...angles.map(({ name, ...rest }) => ({ ...rest, name: stem.replace(/orientation$/, `rotation.${name}`), unit: "rad", time: signal.time })));
  }
}
