// Which signals belong together: names are [subsystem.]element.quantity[.component].
// SPDX-License-Identifier: Apache-2.0

const COMPONENT = /^([wxyz]|[tr][xyz]|roll|pitch|yaw|\d+)$/;

/**
 * Sections of the page, the first that fits takes a signal. Plots are made for an element, or (byQuantity) show one quantity of
 * all elements beside each other; first: quantities that people look for.
 */
const SECTIONS = [
  { id: "energy", title: "Energy balance", test: /(^|\.)energy\./ },
  {
    id: "coupling", title: "Coupling", test: /(^|\.)(bond|rim|coupling|cosim|interface)\.|residual_(power|energy)|coupling_error/, byQuantity: true,
    first: ["residual_power", "coupling_error", "condition", "rank", "effective_mass", "drift", "turn", "slip", "coupling_error_share", "residual_energy", "throughput", "impulse"],
  },
  {
    id: "solver", title: "Solver and steps", test: /(^|\.)(solver|stepper|step|joints)\.(iterations|residual|fallbacks|unsolved|size|gap|order|error|rejected)/,
    byQuantity: true, first: ["size", "iterations", "fallbacks", "unsolved", "residual", "gap"],
  },
  { id: "contact", title: "Contact", test: /^contact\./ },
  { id: "signals", title: "Signals", test: /./ },
];
const ORDER = ["signals", "contact", "energy", "coupling", "solver"]; // on the page
const TITLES = { size: "step size", gap: "joint gap", condition: "condition of the interface mobility", rank: "rank of the interface mobility", effective_mass: "effective mass at the interface", fallbacks: "solver fallbacks so far", unsolved: "unsolved islands so far" };
const ON_LOG = new Set(["condition", "effective_mass"]);
const MOST_LINES = 8;
const SMALL = 1 / 25; // of the largest line of a plot: what stays below it gets a plot of its own

export function parseName(name) {
  const parts = name.split(".");
  const component = parts.length > 2 && COMPONENT.test(parts.at(-1)) ? parts.pop() : "";
  const quantity = parts.length > 1 ? parts.pop() : "";
  return { element: parts.join("."), quantity, component };
}

/** Largest magnitude of a signal. */
export function sizeOf(signal) {
  if (signal.size === undefined) {
    signal.size = 0;
    for (const x of signal.values) if (Math.abs(x) > signal.size) signal.size = Math.abs(x);
  }
  return signal.size;
}

const isZero = (signals) => signals.every((signal) => !signal || sizeOf(signal) === 0);

/** Which plot of which group a signal goes to. */
function findPlot(section, name, unit) {
  const { element, quantity, component } = parseName(name);
  // components of a quantity share a plot, and so do scalars of one unit
  if (!section.byQuantity || component) {
    const words = component ? quantity : "";
    return { element, key: `${words}|${unit}`, quantity: words, label: component || quantity || element, title: [element, words] };
  }
  const label = element.replace(/^(bond|rim)\./, "");
  const rank = section.first.indexOf(quantity);
  return { element: "", key: `${quantity}|${unit}`, quantity, label, title: [TITLES[quantity] ?? quantity], rank: rank < 0 ? section.first.length : rank };
}

/**
 * Sections with groups (elements) with plots: {title, unit, isLog, series: [{label, signals: [signal a run or undefined]}]}, and what
 * stayed zero and is not plotted. The order is that of the first run; what only other runs have follows.
 */
export function groupSignals(runs, isSelection = false) {
  const rows = new Map(); // name -> signals by run
  runs.forEach((run, k) => {
    for (const signal of run.signals) {
      if (!rows.has(signal.name)) rows.set(signal.name, new Array(runs.length));
      rows.get(signal.name)[k] = signal;
    }
  });
  if (isSelection) return [{ id: "selection", title: "Signals", groups: [{ element: "", plots: [...rows].map(([name, signals]) => plotOf(name, signals)) }], zero: [] }];
  const sections = SECTIONS.map((section) => ({ ...section, groups: new Map(), zero: [] }));
  for (const [name, signals] of rows) {
    if (signals.every((signal) => !signal || signal.isReplaced)) continue;
    const section = sections.find((s) => s.test.test(name));
    if (section.id !== "signals" && isZero(signals)) {
      section.zero.push(name);
      continue;
    }
    const { unit } = signals.find(Boolean);
    const { element, key, ...plot } = findPlot(section, name, unit);
    if (!section.groups.has(element)) section.groups.set(element, { element, plots: new Map() });
    const { plots } = section.groups.get(element);
    if (!plots.has(key)) plots.set(key, { ...plot, unit, isLog: ON_LOG.has(plot.quantity), series: [] });
    plots.get(key).series.push({ name, label: plot.label, signals });
  }
  return sections
    .map((section) => ({ ...section, groups: [...section.groups.values()].sort((a, b) => isFirst(section, b) - isFirst(section, a)).map((group) => ({ ...group, plots: finishPlots(section, [...group.plots.values()]) })) }))
    .filter((section) => section.groups.length > 0 || section.zero.length > 0)
    .sort((a, b) => ORDER.indexOf(a.id) - ORDER.indexOf(b.id));
}

/** A plot of one signal, as the reader chose it. Energy that a coupling created goes over decades from run to run. */
function plotOf(name, signals) {
  const isLog = name.endsWith("coupling_error") && signals.some((signal) => signal && sizeOf(signal) > 0);
  const { unit } = signals.find(Boolean);
  return { title: isLog ? `${name}, magnitude` : name, unit, isLog, floor: 1e-12, quantity: "", series: [{ name, label: name, signals }] };
}

/** The whole before its parts, all elements beside each other before single ones. */
function isFirst(section, { element }) {
  return element === (section.byQuantity ? "" : "energy");
}

function finishPlots(section, plots) {
  return plots
    .sort((a, b) => (a.rank ?? 0) - (b.rank ?? 0)) // stable
    .flatMap((plot) => (section.id === "energy" ? splitBySize(plot) : [plot]))
    .flatMap(splitByCount)
    .map((plot) => ({ ...plot, title: titleOf(plot) }));
}

/** Lines that would lie flat on the axis beside the others get a plot of their own. */
function splitBySize(plot) {
  const size = (series) => Math.max(...series.signals.filter(Boolean).map(sizeOf));
  const parts = [];
  let rest = plot.series;
  while (rest.length) {
    const most = Math.max(...rest.map(size));
    parts.push({ ...plot, series: rest.filter((series) => size(series) >= SMALL * most) });
    rest = rest.filter((series) => size(series) < SMALL * most);
  }
  return parts;
}

function splitByCount(plot) {
  const parts = [];
  for (let i = 0; i < plot.series.length; i += MOST_LINES) parts.push({ ...plot, series: plot.series.slice(i, i + MOST_LINES) });
  return parts;
}

function titleOf({ title, series }) {
  const words = title.filter(Boolean);
  if (title.length === 2 && words.length === 1 && series.length === 1 && series[0].label !== words[0]) words.push(series[0].label);
  return words.map((word) => word.replaceAll("_", " ")).join(" · ");
}
