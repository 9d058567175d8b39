// The energy ledger as a table: every store, every loss, what couplings made up, at the cursor and over the run.
// SPDX-License-Identifier: Apache-2.0
import { el } from "./dom.js";
import { formatNumber, valueAt } from "./data.js";

export class Ledger {
  constructor(signals, clock) {
    this.signals = signals;
    this.clock = clock;
    this.rows = signals.map((signal) => {
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
      return { signal, cell, bar, row, size: Math.max(Math.abs(lo), Math.abs(hi)) };
    });
    this.size = Math.max(...this.rows.map((row) => row.size), 1e-300);
    this.node = el(
      "table.ledger",
      {},
      el("thead", {}, el("tr", {}, ...["account", "now, J", "least, J", "largest, J", "at the end, J", ""].map((x) => el("th", { scope: "col" }, x)))),
      el("tbody", {}, ...this.rows.map((row) => row.row)),
    );
    clock.on("time", () => this.show());
    this.show();
  }

  show() {
    for (const { signal, cell, bar } of this.rows) {
      const x = valueAt(signal, this.clock.time);
      cell.textContent = formatNumber(x);
      const share = Math.min(1, Math.abs(x) / this.size);
      bar.style.width = `${50 * share}%`;
      bar.style.marginLeft = x < 0 ? `${50 - 50 * share}%` : "50%";
      bar.className = x < 0 ? "minus" : "plus";
    }
  }
}
