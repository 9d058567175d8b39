// The data that src/io/report_data.c put into the page, unpacked.
// SPDX-License-Identifier: Apache-2.0

import { addAngles } from "./angles.js";
import { countTranslations, principalMasses, readMobility } from "./mass.js";

function bytesOf(base64) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

async function inflate(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Undo add_packed: base64, deflate, bytes sorted by significance. */
async function unpack(Type, base64) {
  const sorted = await inflate(bytesOf(base64));
  const size = Type.BYTES_PER_ELEMENT;
  const count = sorted.length / size;
  const bytes = new Uint8Array(sorted.length);
  for (let k = 0; k < size; k++) {
    for (let i = 0, at = k, from = k * count; i < count; i++, at += size) bytes[at] = sorted[from + i];
  }
  return new Type(bytes.buffer);
}

/** Undo add_coded: {ranges, values}, values frame by frame (Float32Array). */
async function decode({ ranges: r, codes: c }, frames) {
  const [ranges, codes] = await Promise.all([unpack(Float32Array, r), unpack(Uint16Array, c)]);
  const columns = ranges.length / 2, values = new Float32Array(frames * columns);
  for (let k = 0; k < columns; k++) {
    const lo = ranges[2 * k], scale = (ranges[2 * k + 1] - lo) / 65535;
    let code = 0;
    for (let i = 0, from = k * frames; i < frames; i++) {
      code = (code + codes[from + i]) & 0xffff;
      values[i * columns + k] = lo + scale * code;
    }
  }
  return { ranges, values };
}

/** Poses and modes frame by frame; poses body by body, x y z qw qx qy qz. Mobilities interface by interface, entry by entry. */
async function readMotion(m) {
  const [time, { ranges, values: poses }, { values: modes }, mobility, contactStart, contacts, contactPairs, channelTime, channels, intervals, intervalPairs] =
    await Promise.all([
      unpack(Float64Array, m.time),
      decode(m.poses, m.frames),
      decode(m.modes, m.frames),
      unpack(Float32Array, m.mobility),
      unpack(Int32Array, m.contactStart),
      unpack(Float32Array, m.contacts),
      unpack(Int32Array, m.contactPairs),
      unpack(Float64Array, m.channelTime),
      unpack(Float32Array, m.channels),
      unpack(Float64Array, m.intervals),
      unpack(Int32Array, m.intervalPairs),
    ]);
  return {
    frames: m.frames, bodies: m.bodies, nmode: modes.length / Math.max(1, m.frames), time, ranges, poses, modes, mobility, contactStart, contacts, contactPairs, channelTime, channels,
    intervals, intervalPairs,
  };
}

/** A run: label, title, verdict, reason, rows, time, signals [{name, unit, description, values}], scene, motion. */
async function readRun(raw, isSelection) {
  const [time, values] = await Promise.all([unpack(Float64Array, raw.time), unpack(Float32Array, raw.values)]);
  const n = raw.points;
  const signals = raw.columns.map(([name, unit, description], i) => ({
    name, unit, description, time, values: values.subarray(i * n, (i + 1) * n),
  }));
  const run = { label: raw.label, hasBroken: raw.verdict === "broke-down", title: raw.title, verdict: raw.verdict, reason: raw.reason, rows: raw.rows, time, signals };
  if (raw.scene && raw.motion) {
    run.scene = JSON.parse(raw.scene);
    run.motion = await readMotion(raw.motion);
    if (!isSelection) {
      addChannels(run);
      addMasses(run);
    }
  }
  return run;
}

/** What the record has on every frame joins the signals, if it says anything and the table does not have it. */
function addChannels(run) {
  const { channelTime, channels } = run.motion;
  const list = run.scene.channels ?? [];
  const known = new Set(run.signals.map((s) => s.name));
  list.forEach((info, k) => {
    const values = new Float32Array(channelTime.length);
    let says = false;
    for (let i = 0; i < values.length; i++) {
      values[i] = channels[i * list.length + k];
      says ||= values[i] !== 0;
    }
    if (says && !known.has(info.name)) run.signals.push({ ...info, time: channelTime, values, isChannel: true });
  });
}

/** Effective masses at interfaces as signals; they have gaps where the mechanism cannot move. */
function addMasses(run) {
  const { motion, scene } = run;
  scene.interfaces.forEach((info, index) => {
    const n = countTranslations(info), W = new Float64Array(6);
    const columns = Array.from({ length: n }, () => new Float32Array(motion.frames));
    for (let f = 0; f < motion.frames; f++) {
      const list = principalMasses(info, readMobility(motion, index, f, W));
      for (let k = 0; k < n; k++) columns[k][f] = Number.isFinite(list[k]?.mass) ? list[k].mass : NaN;
    }
    const where = info.kind === "line" ? "along the line" : "along a principal axis";
    columns.forEach((values, k) => run.signals.push({
      name: `rim.${info.name}.effective_mass${info.kind === "line" ? "" : `.${k + 1}`}`, unit: "kg", description: `effective mass ${where}, contacts left out`,
      time: motion.time, values, hasGaps: true,
    }));
  });
}

export async function readData() {
  const raw = JSON.parse(document.getElementById("itm-data").textContent);
  const runs = await Promise.all(raw.runs.map((run) => readRun(run, raw.selection))), axes = new Map();
  if (!raw.selection) runs.forEach((run) => addAngles(run.signals, axes));
  return { version: raw.version, isSelection: Boolean(raw.selection), runs };
}

/** Index of the last element of sorted `times` that is <= t, at least 0. */
export function findTime(times, t) {
  let lo = 0, hi = times.length - 1;
  while (lo < hi) {
    const mid = (lo + hi + 1) >> 1;
    if (times[mid] <= t) lo = mid;
    else hi = mid - 1;
  }
  return lo;
}

/** Value of a signal at a time, linear between points. */
export function valueAt(signal, t) {
  const { time, values } = signal;
  if (time.length === 0) return NaN;
  const i = findTime(time, t);
  const j = Math.min(i + 1, time.length - 1);
  const width = time[j] - time[i];
  const s = width > 0 ? Math.min(1, Math.max(0, (t - time[i]) / width)) : 0;
  return s === 0 ? values[i] : values[i] + s * (values[j] - values[i]);
}

/** Four significant digits, short. */
export function formatNumber(x) {
  if (!Number.isFinite(x)) return "–";
  const a = Math.abs(x);
  if (a === 0) return "0";
  if (a >= 1e5 || a < 1e-3) return x.toExponential(3).replace(/\.?0+e/, "e").replace("e+", "e");
  return String(Number(x.toPrecision(4)));
}
