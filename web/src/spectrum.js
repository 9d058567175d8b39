// Amplitude spectrum of a signal over a window of time.
// SPDX-License-Identifier: Apache-2.0
import { valueAt } from "./data.js";

/** In-place radix-2 transform of re + i im; their length is a power of two. */
function transform(re, im) {
  const n = re.length;
  for (let i = 1, j = 0; i < n; i++) {
    let bit = n >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) {
      [re[i], re[j]] = [re[j], re[i]];
      [im[i], im[j]] = [im[j], im[i]];
    }
  }
  for (let size = 2; size <= n; size *= 2) {
    const angle = (-2 * Math.PI) / size;
    for (let k = 0; k < size / 2; k++) {
      const c = Math.cos(angle * k), s = Math.sin(angle * k);
      for (let i = k; i < n; i += size) {
        const j = i + size / 2, x = re[j] * c - im[j] * s, y = re[j] * s + im[j] * c;
        re[j] = re[i] - x;
        im[j] = im[i] - y;
        re[i] += x;
        im[i] += y;
      }
    }
  }
}

/**
 * Amplitudes of a signal between two times: {x: frequencies, Hz, y}. Samples are equally spaced, at least as dense as the signal's
 * (256 to 8192), the mean is taken off, and a Hann window keeps the ends from leaking; a sine of amplitude a shows a peak near a.
 */
export function spectrumOf(signal, from, to) {
  const { time } = signal;
  const [a, b] = [Math.max(from, time[0]), Math.min(to, time.at(-1))];
  let count = 0;
  for (const t of time) count += t >= a && t <= b ? 1 : 0;
  if (!(b > a) || count < 4) return { x: new Float64Array(), y: new Float64Array() };
  let n = 256;
  while (n < count && n < 8192) n *= 2;
  const re = new Float64Array(n), im = new Float64Array(n), step = (b - a) / n;
  let mean = 0;
  for (let i = 0; i < n; i++) {
    const v = valueAt(signal, a + i * step);
    re[i] = Number.isFinite(v) ? v : 0;
    mean += re[i] / n;
  }
  for (let i = 0; i < n; i++) re[i] = (re[i] - mean) * (1 - Math.cos((2 * Math.PI * i) / n)); // Hann, of mean 1/2: doubled
  transform(re, im);
  // beyond half the rate of the samples there is nothing but what interpolation made
  const most = Math.min(n / 2, Math.floor(count / 2)), x = new Float64Array(most), y = new Float64Array(most);
  for (let k = 0; k < most; k++) {
    x[k] = k / (b - a);
    y[k] = ((k === 0 ? 1 : 2) * Math.hypot(re[k], im[k])) / n;
  }
  return { x, y };
}
