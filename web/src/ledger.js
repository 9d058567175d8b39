// The energy ledger as a table: every store, every loss, what couplings made up, at the cursor and over the run.
// SPDX-License-Identifier: Apache-2.0
import { el } from "./dom.js";
import { formatNumber, valueAt } from "./data.js";

/** Accounts of the whole system first, then those of its parts. */
function rank(signal) {
  return signal.name.startsWith("energy.") ? 0 : 1;
}

export class Ledger {
  constructor(signals, clock) {
    this.clock = clock;
    const moved = signals.filter((signal) => signal.values.some((x) => x !== 0)).sort((a, b) => rank(a) - rank(b));
    const still = signals.length - moved.length;
    this.rows = moved.map((signal) => {
      let lo = Infinity, hi = -Infinity;
      for (const x of signal.values) {
        if (x < lo) lo = x;
        if (x > hi) hi = x;
      }
      const cell = el("td.num");
      const bar = el("i");
      const row = el(
        "tr",
        { title: signal.description },
        el("th", { scope: "row" }, signal.name),
        cell,
        el("td.num", {}, formatNumber(lo)),
        el("td.num", {}, formatNumber(hi)),
        el("td.num", {}, formatNumber(signal.values.at(-1))),
        el("td.bar", {}, bar),
      );
      return { signal, cell, bar, row, part: signal.name.replace(/energy\..*/, ""), size: Math.max(Math.abs(lo), Math.abs(hi)) };
    });
    // bars compare the accounts of one part
    this.sizes = new Map();
    for (const { part, size } of this.rows) this.sizes.set(part, Math.max(size, this.sizes.get(part) ?? 1e-300));
    const table = el(
      "table.ledger",
      {},
      el("thead", {}, el("tr", {}, ...["account", "now, J", "least, J", "largest, J", "at the end, J", ""].map((x) => el("th", { scope: "col" }, x)))),
      el("tbody", {}, ...this.rows.map((row) => row.row)),
    );
    this.node = el("div.wide", {}, table, still > 0 ? el("p.note", {}, `${still} more accounts stayed zero.`) : null);
    clock.on("time", () => this.show());
    this.show();
  }

  show() {
    for (const { signal, cell, bar, part } of this.rows) {
      const x = valueAt(signal, this.clock.time);
      cell.textContent = formatNumber(x);
      const share = Math.min(1, Math.abs(x) / this.sizes.get(part));
      bar.style.width = `${50 * share}%`;
      bar.style.marginLeft = x < 0 ? `${50 - 50 * share}%` : "50%";
      bar.className = x < 0 ? "minus" : "plus";
    }
  }
}
