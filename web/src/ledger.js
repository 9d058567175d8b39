// The energy ledger as a table: energy supplied, coupling errors, every store, every loss, at the cursor and over the run.
// SPDX-License-Identifier: Apache-2.0
import { el } from "./dom.js";
import { formatNumber, valueAt } from "./data.js";
import { sizeOf } from "./signals.js";

const KINDS = [
  { title: "supplied", test: /^(supply|load_work|motion_work|constraint_work)$/ },
  { title: "couplings", test: /coupling[_ ]error/ },
  { title: "stored", test: /^(kinetic|potential|elastic|compression|mechanical)$/ },
  { title: "unaccounted", test: /^balance$/ },
  { title: "lost", test: /./ },
];
const ORDER = ["supplied", "couplings", "stored", "lost", "unaccounted"];
const NOISE = 1e-12; // of the largest account of a part: rounding

/** Signals of a ledger, and which part of the system and which account they are; null for others. */
function accountOf(signal) {
  const bond = /^bond\.(.+)\.coupling_error$/.exec(signal.name);
  if (bond) return { part: "", account: `coupling error, ${bond[1]}` };
  const parts = /^(?:(.*)\.)?energy\.([^.]+)$/.exec(signal.name);
  return parts && signal.unit === "J" ? { part: parts[1] ?? "", account: parts[2] } : null;
}

export class Ledger {
  /** signals: of a run; null node where it has no accounts */
  constructor(signals, clock) {
    this.clock = clock;
    const accounts = signals.map((signal) => ({ signal, ...accountOf(signal) })).filter((it) => it.account && sizeOf(it.signal) > 0);
    const names = [...new Set(accounts.map((it) => it.part))].sort((a, b) => (a !== "") - (b !== ""));
    this.rows = [];
    const bodies = names.map((part) => this.makePart(part, accounts.filter((it) => it.part === part), names.length));
    const head = ["", "account", "now, J", "largest, J", "end, J", "share, %"];
    this.node = accounts.length === 0 ? null : el("div.wide", {},
      el("table.ledger", {}, el("thead", {}, el("tr", {}, ...head.map((x) => el("th", { scope: "col" }, x)))), ...bodies));
    if (!this.node) return;
    new IntersectionObserver(([entry]) => {
      this.isSeen = entry.isIntersecting;
      this.show();
    }).observe(this.node);
    clock.on("numbers", () => this.show());
  }

  makePart(part, accounts, nparts) {
    const size = Math.max(...accounts.map((it) => sizeOf(it.signal))); // shares compare the accounts of one part
    const body = el("tbody");
    if (nparts > 1) body.append(el("tr.part", {}, el("th", { scope: "rowgroup", colspan: 6 }, part || "whole system")));
    for (const kind of ORDER) {
      const list = accounts.filter((it) => KINDS.find((k) => k.test.test(it.account)).title === kind);
      list.forEach((it, i) => body.append(this.makeRow(it, i === 0 ? kind : "", size)));
    }
    return body;
  }

  makeRow({ signal, account }, kind, size) {
    let largest = 0;
    for (const x of signal.values) if (Math.abs(x) > Math.abs(largest)) largest = x;
    const text = (x) => formatNumber(Math.abs(x) < NOISE * size ? 0 : x);
    const now = el("span.now-value");
    this.rows.push({ signal, now, text });
    const share = formatNumber(Math.abs(largest) < NOISE * size ? 0 : Number(((100 * Math.abs(largest)) / size).toPrecision(2)));
    return el("tr", { title: `${signal.name}: ${signal.description}` },
      el("td.kind", {}, kind), el("th", { scope: "row" }, account.replaceAll("_", " ")), el("td.num", {}, now),
      ...[text(largest), text(signal.values.at(-1))].map((x) => el("td.num", {}, x)),
      el("td.num", { title: "largest value as a share of the largest account in this section" }, share));
  }

  show() {
    if (!this.isSeen) return;
    for (const { signal, now, text } of this.rows) now.textContent = text(valueAt(signal, this.clock.time));
  }
}
