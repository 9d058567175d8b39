// Which signals belong together: names are [subsystem.]element.quantity[.component].
// SPDX-License-Identifier: Apache-2.0

const COMPONENT = /^([wxyz]|[tr][xyz]|\d+)$/;

/** Sections of the page, the first that fits takes a signal. */
const SECTIONS = [
  { id: "energy", title: "Energy ledger", test: /(^|\.)energy\./ },
  { id: "coupling", title: "Coupling", test: /(^|\.)(bond|rim|coupling|cosim|interface)\.|residual_(power|energy)|spurious/ },
  { id: "solver", title: "Solver and steps", test: /(^|\.)(solver|stepper|step|joints)\.(iterations|residual|fallbacks|unsolved|size|gap|order|error|rejected)/ },
  { id: "contact", title: "Contact", test: /^contact\./ },
  { id: "signals", title: "Signals", test: /./ },
];

export function parseName(name) {
  const parts = name.split(".");
  const component = parts.length > 2 && COMPONENT.test(parts.at(-1)) ? parts.pop() : "";
  const quantity = parts.length > 1 ? parts.pop() : "";
  return { element: parts.join("."), quantity, component };
}

/**
 * Sections with groups (elements) with plots: {title, unit, series: [{label, signals: [signal a run or undefined]}]}.
 * The order is that of the first run; what only other runs have follows.
 */
export function groupSignals(runs) {
  const rows = new Map(); // name -> signals by run
  runs.forEach((run, k) => {
    for (const signal of run.signals) {
      if (!rows.has(signal.name)) rows.set(signal.name, new Array(runs.length));
      rows.get(signal.name)[k] = signal;
    }
  });
  const sections = SECTIONS.map(({ id, title }) => ({ id, title, groups: new Map() }));
  for (const [name, signals] of rows) {
    const section = sections[SECTIONS.findIndex((s) => s.test.test(name))];
    const { element, quantity, component } = parseName(name);
    if (!section.groups.has(element)) section.groups.set(element, { element, plots: new Map() });
    const group = section.groups.get(element);
    const any = signals.find(Boolean);
    // components of a quantity share a plot, and so do scalars of one unit
    const key = component ? `${quantity}|${any.unit}` : `|${any.unit}`;
    if (!group.plots.has(key)) group.plots.set(key, { key, element, quantity: component ? quantity : "", unit: any.unit, series: [] });
    const label = component || quantity || element;
    group.plots.get(key).series.push({ name, label, signals, description: any.description });
  }
  return sections
    .map((section) => ({
      ...section,
      groups: [...section.groups.values()].map((group) => ({
        element: group.element,
        plots: [...group.plots.values()].flatMap(splitPlot).map((plot) => ({ ...plot, title: titleOf(plot) })),
      })),
    }))
    .filter((section) => section.groups.length > 0);
}

/** At most eight lines a plot. */
function splitPlot(plot) {
  const parts = [];
  for (let i = 0; i < plot.series.length; i += 8) {
    parts.push({ ...plot, key: `${plot.key}|${i}`, series: plot.series.slice(i, i + 8) });
  }
  return parts;
}

function titleOf(plot) {
  const words = (plot.quantity || (plot.series.length === 1 ? plot.series[0].label : "")).replaceAll("_", " ");
  return [plot.element, words].filter(Boolean).join(" · ");
}
