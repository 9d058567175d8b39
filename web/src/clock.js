// The one time that the 3-D view, the plots and the scrubber share, and the range of it that is looked at.
// SPDX-License-Identifier: Apache-2.0

const NUMBERS_EVERY = 120; // ms

export class Clock {
  constructor(start, end) {
    this.start = start;
    this.end = end > start ? end : start + 1e-9;
    this.time = start;
    this.range = [this.start, this.end]; // what plots show
    this.isPlaying = false;
    this.speed = 1;
    this.cursors = null; // [a, b]: two times to compare
    this.listeners = { time: [], numbers: [], range: [], play: [], cursors: [] };
    this.told = -Infinity;
  }

  on(what, listener) {
    this.listeners[what].push(listener);
  }

  tell(what) {
    for (const listener of this.listeners[what]) listener(this);
  }

  setTime(t) {
    const time = Math.min(this.end, Math.max(this.start, t));
    if (time !== this.time) {
      this.time = time;
      this.tell("time");
      this.tellNumbers();
    }
  }

  /** Nobody reads numbers that change sixty times a second: those who show them hear of it less often, and at last. */
  tellNumbers() {
    clearTimeout(this.later);
    const now = performance.now(), wait = this.told + NUMBERS_EVERY - now;
    if (wait > 0) {
      this.later = setTimeout(() => this.tellNumbers(), wait);
    } else {
      this.told = now;
      this.tell("numbers");
    }
  }

  /** Two cursors: on at a third and two thirds of the visible range, off, or where a link has them. */
  setCursors(cursors) {
    this.cursors = cursors;
    this.tell("cursors");
  }

  toggleCursors() {
    const [a, b] = this.range;
    this.setCursors(this.cursors ? null : [a + (b - a) / 3, a + (2 * (b - a)) / 3]);
  }

  setCursor(which, t) {
    const cursors = [...this.cursors];
    cursors[which] = Math.min(this.end, Math.max(this.start, t));
    this.setCursors(cursors);
  }

  setRange(from, to) {
    const least = (this.end - this.start) * 1e-6;
    from = Math.max(this.start, from);
    to = Math.min(this.end, to);
    if (!(to - from >= least)) return;
    if (from !== this.range[0] || to !== this.range[1]) {
      this.range = [from, to];
      this.tell("range");
    }
  }

  /** Zoom by a factor about a time; factor < 1 looks closer. */
  zoom(factor, about = this.time) {
    const [a, b] = this.range;
    this.setRange(about - (about - a) * factor, about + (b - about) * factor);
  }

  /** Shift the range by a share of its width. */
  pan(share) {
    const [a, b] = this.range;
    const width = b - a;
    const from = Math.min(this.end - width, Math.max(this.start, a + share * width));
    this.setRange(from, from + width);
  }

  setSpeed(speed) {
    this.speed = speed;
    this.tell("play");
  }

  play() {
    if (this.isPlaying) return;
    if (this.time >= this.end) this.setTime(this.start);
    this.isPlaying = true;
    this.tell("play");
    let before = performance.now();
    const tick = (now) => {
      if (!this.isPlaying) return;
      this.setTime(this.time + ((now - before) / 1000) * this.speed);
      before = now;
      if (this.time >= this.end) this.pause();
      else requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  }

  pause() {
    if (!this.isPlaying) return;
    this.isPlaying = false;
    this.tell("play");
  }

  toggle() {
    if (this.isPlaying) this.pause();
    else this.play();
  }
}
