// Plots of the reader: several signals together, dropped here or found by name; and the search, which shows curves at once.
// SPDX-License-Identifier: Apache-2.0
import { el } from "./dom.js";

const MOST_FOUND = 48; // curves that a search draws
const MOST_LINES = 8;  // of a plot
const TYPE = "application/x-interim-signal";

/** What differs between names, for a legend: the part that all share is in the title. */
function labelOf(name) {
  return name.replaceAll("_", " ");
}

/** Something that signals can be dropped on. */
function acceptDrops(node, take) {
  node.addEventListener("dragover", (event) => {
    if (![...event.dataTransfer.types].includes(TYPE)) return;
    event.preventDefault();
    node.classList.add("target");
  });
  node.addEventListener("dragleave", () => node.classList.remove("target"));
  node.addEventListener("drop", (event) => {
    const name = event.dataTransfer.getData(TYPE);
    node.classList.remove("target");
    if (!name) return;
    event.preventDefault();
    event.stopPropagation();
    take(name);
  });
}

export class OwnPlots {
  constructor(board) {
    this.board = board;
    this.list = el("div.plots");
    const names = el("datalist", { id: "signal-names" }, ...[...board.rows.keys()].map((name) => el("option", { value: name })));
    this.input = el("input.add", {
      type: "text", list: "signal-names", placeholder: "new plot: name of a signal, or drop one here", "aria-label": "new plot of your own",
      onchange: () => {
        if (board.rows.has(this.input.value)) this.add([this.input.value]);
        this.input.value = "";
      },
    });
    this.zone = el("div.zone", {}, this.input, names);
    acceptDrops(this.zone, (name) => this.add([name]));
    this.node = el("section.own", { id: "section-own", "aria-label": "plots of your own" }, this.zone, this.list);
    board.addOwn = (list) => this.add(list);
  }

  seriesOf(name) {
    return { name, label: labelOf(name), signals: this.board.rows.get(name) };
  }

  /** A new plot of these signals; further ones can be dropped on it. */
  add(names, state = null) {
    const known = names.filter((name) => this.board.rows.has(name));
    if (known.length === 0) return null;
    const title = `my plot ${this.list.childElementCount + 1}`;
    const node = this.board.add({ title, series: known.map((name) => this.seriesOf(name)) }, { title });
    const plot = this.board.plots.get(node);
    acceptDrops(node, (name) => this.addTo(plot, name));
    const more = el("input.add", {
      type: "text", list: "signal-names", placeholder: "add a signal", "aria-label": `add a signal to ${title}`,
      onchange: () => {
        this.addTo(plot, more.value);
        more.value = "";
      },
    });
    node.querySelector("figcaption .space").replaceWith(more, el("span.space"));
    if (state) plot.restore(state);
    this.list.append(node);
    return plot;
  }

  addTo(plot, name) {
    if (!this.board.rows.has(name) || plot.series.some((series) => series.name === name)) return;
    plot.addSeries(this.seriesOf(name));
    plot.redraw();
  }

  describe() {
    return [...this.list.children].map((node) => this.board.plots.get(node).describe());
  }

  restore(list) {
    [...this.list.children].forEach((node) => this.board.remove(node));
    list.forEach((state) => this.add(state.s ?? [], state));
  }
}

/** Signals that have all words in their name, by unit: [[unit, names]]. */
function find(board, text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean), byUnit = new Map();
  let count = 0;
  if (words.length === 0) return { byUnit, count };
  for (const [name, signals] of board.rows) {
    const full = name.toLowerCase();
    if (!words.every((word) => full.includes(word) || full.replaceAll("_", " ").includes(word))) continue;
    const { unit } = signals.find(Boolean);
    if (++count > MOST_FOUND) continue;
    if (!byUnit.has(unit)) byUnit.set(unit, []);
    byUnit.get(unit).push(name);
  }
  return { byUnit, count };
}

/** The field that finds signals, and what it found as plots, one for each unit. others: what makes room for them. */
export function makeSearch(board, others) {
  const found = el("div.plots.found"), note = el("p.note", { hidden: true });
  const show = () => {
    [...found.children].forEach((node) => board.remove(node));
    const { byUnit, count } = find(board, input.value), isSearching = input.value.trim() !== "";
    others().forEach((node) => (node.hidden = isSearching));
    note.hidden = !isSearching || (count > 0 && count <= MOST_FOUND);
    note.textContent = count === 0 ? "No signal has this in its name." : `The first ${MOST_FOUND} of ${count} signals.`;
    for (const [unit, names] of byUnit) {
      for (let i = 0; i < names.length; i += MOST_LINES) {
        const part = names.slice(i, i + MOST_LINES), symbol = board.units.of(unit).text;
        found.append(board.add({ title: `“${input.value.trim()}”${symbol ? `, ${symbol}` : ""}`, series: part.map((name) => ({ name, label: labelOf(name), signals: board.rows.get(name) })) }));
      }
    }
  };
  let later;
  const input = el("input.search", {
    type: "search", placeholder: "find: boom, force, pressure …", "aria-label": "find signals",
    oninput: () => {
      clearTimeout(later);
      later = setTimeout(show, 120);
    },
  });
  return { node: el("div", {}, input, note, found), input, show };
}
