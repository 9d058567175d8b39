// The page of a report: the machine and its plots on one clock.
// SPDX-License-Identifier: Apache-2.0
import { Clock } from "./clock.js";
import { formatNumber, readData } from "./data.js";
import { el } from "./dom.js";
import { Ledger } from "./ledger.js";
import { followLink, linkButton } from "./link.js";
import { OwnPlots, makeSearch } from "./own.js";
import { PlotBoard } from "./plots.js";
import { groupSignals } from "./signals.js";
import { makeStage } from "./stage/tools.js";
import { Timeline } from "./timeline.js";
import { Units } from "./units.js";

const SPEEDS = [0.02, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10];
const KEYS = [
  ["Space", "play or pause"], ["← →", "a frame back or on; with Shift ten"], ["Home End", "to the start or the end"],
  ["< >", "slower or faster"], ["+ − 0", "zoom the plots about the cursor; show all"], ["[ ]", "pan the plots"],
  ["N P", "next or previous event: a contact begins or ends, a run breaks down"], ["C", "two cursors with differences"],
  ["U", "machine units (mm, deg, bar, kN, L/min) or SI"],
  ["F 1 2 3 4", "fit the machine; isometric, front, side, top"], ["/", "find a signal"], ["T", "light or dark"], ["?", "this list"],
];

// ---------------------------------------------------------------------------- theme

function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

// ---------------------------------------------------------------------------- transport

/** Times at which something happens: a contact begins, changes or ends, a run breaks down. */
function eventTimes(runs) {
  const times = runs.flatMap((run) => [...(run.motion?.intervals ?? []), ...(run.hasBroken ? [run.time.at(-1)] : [])]).sort((a, b) => a - b);
  return times.filter((t, i) => i === 0 || t > times[i - 1]);
}

function makeTransport(clock, frameTimes, events) {
  const play = el("button.play", { type: "button", title: "play or pause (space)", onclick: () => clock.toggle() });
  const scrub = el("input", { type: "range", min: 0, max: 10000, step: 1, value: 0, "aria-label": "time", title: "time" });
  const speed = el("select", { title: "speed of playing", "aria-label": "speed", onchange: () => clock.setSpeed(Number(speed.value)) },
    ...SPEEDS.map((s) => el("option", { value: s, selected: s === 1 }, `${s}×`)));
  const now = el("output", { title: "time" });
  scrub.addEventListener("input", () => clock.setTime(clock.start + (scrub.value / 10000) * (clock.end - clock.start)));
  scrub.addEventListener("keydown", (event) => {
    if (event.key.startsWith("Arrow")) event.preventDefault(); // the page's own keys step frames
  });
  const decimals = Math.max(0, Math.min(6, 4 - Math.ceil(Math.log10(clock.end - clock.start))));
  const show = () => {
    scrub.value = Math.round(((clock.time - clock.start) / (clock.end - clock.start)) * 10000);
  };
  const showNumbers = () => {
    now.textContent = `${clock.time.toFixed(decimals)} / ${clock.end.toFixed(decimals)} s`;
    scrub.setAttribute("aria-valuetext", `${clock.time.toFixed(decimals)} seconds`);
  };
  const showPlay = () => {
    play.textContent = clock.isPlaying ? "❚❚" : "►";
    play.setAttribute("aria-label", clock.isPlaying ? "pause" : "play");
    speed.value = String(clock.speed);
  };
  clock.on("time", show);
  clock.on("numbers", showNumbers);
  clock.on("play", showPlay);
  show();
  showNumbers();
  showPlay();
  const step = (n) => {
    clock.pause();
    let lo = 0;
    while (lo + 1 < frameTimes.length && frameTimes[lo + 1] <= clock.time + 1e-12) lo++;
    const i = Math.min(frameTimes.length - 1, Math.max(0, lo + n));
    clock.setTime(frameTimes[i]);
  };
  const faster = (by) => {
    const i = Math.min(SPEEDS.length - 1, Math.max(0, SPEEDS.indexOf(clock.speed) + by));
    clock.setSpeed(SPEEDS[i]);
  };
  const jump = (by) => {
    clock.pause();
    const next = by > 0 ? events.find((t) => t > clock.time + 1e-9) : events.findLast((t) => t < clock.time - 1e-9);
    if (next !== undefined) clock.setTime(next);
  };
  const jumps = events.length === 0 ? [] : [
    el("button.jump", { type: "button", title: "previous event (P): a contact begins or ends, a run breaks down", "aria-label": "previous event", onclick: () => jump(-1) }, "|◂"),
    el("button.jump", { type: "button", title: "next event (N)", "aria-label": "next event", onclick: () => jump(1) }, "▸|"),
  ];
  return { node: el("div.transport", { role: "toolbar", "aria-label": "playback" }, play, ...jumps, scrub, now, speed), step, faster, jump };
}

// ---------------------------------------------------------------------------- sections of plots

/** A group of plots that opens and closes; its plots exist while it is open. */
function makeGroup(group, board, isOpen) {
  const node = el("details.group", { "data-element": group.element },
    el("summary", {}, el("b", {}, group.element || "signals"), el("span.count", {}, quantitiesOf(group))));
  const plots = el("div.plots");
  node.append(plots);
  const fill = () => {
    if (node.open && !plots.childElementCount) plots.append(...group.plots.map((plot) => board.add(plot)));
    else if (!node.open) [...plots.children].forEach((child) => board.remove(child));
  };
  node.addEventListener("toggle", fill);
  node.openNow = () => { // the browser tells of a toggle only later
    node.open = true;
    fill();
  };
  if (isOpen) node.openNow();
  return node;
}

function quantitiesOf(group) {
  const words = new Set(group.plots.flatMap((plot) => (plot.quantity ? [plot.quantity] : plot.series.map((s) => s.label))));
  return [...words].map((w) => w.replaceAll("_", " ")).slice(0, 7).join(", ") + (words.size > 7 ? ", …" : "");
}

function makeSection(section, page) {
  const { runs, board, clock } = page;
  const node = el("section.signals", { id: `section-${section.id}` }, section.id === "selection" ? null : el("h2", {}, section.title));
  if (section.id === "energy") {
    const ledger = new Ledger(runs[0].signals, clock);
    if (ledger.node) node.append(ledger.node);
  }
  if (section.id === "contact" && runs[0].motion?.intervals.length) node.append(new Timeline(runs[0], clock).node);
  if (section.id === "signals") {
    page.search = makeSearch(board, () => node.querySelectorAll("details.group"));
    node.append(page.search.node);
    const groups = sortGroups(section.groups, runs[0]);
    node.append(...groups.map((group, i) => makeGroup(group, board, i === 0 || groups.length <= 2)));
  } else {
    node.append(el("div.plots", {}, ...section.groups.flatMap((group) => group.plots).map((plot) => board.add(plot))));
  }
  if (section.zero.length) {
    node.append(el("details.note", {}, el("summary", {}, `${section.zero.length} more stayed zero`), section.zero.join(", ")));
  }
  return node;
}

/** What moves the machine first, then its bodies, the one that goes farthest first, then the rest as it comes. */
function sortGroups(groups, { scene, motion }) {
  const lines = new Set((scene?.lines ?? []).map((line) => line.name));
  const ways = new Map((scene?.bodies ?? []).map((body, i) => {
    const r = motion.ranges.subarray(14 * i, 14 * i + 6);
    return [body.name, Math.hypot(r[1] - r[0], r[3] - r[2], r[5] - r[4])];
  }));
  const rank = ({ element }) => (lines.has(element) ? -Infinity : ways.has(element) ? -ways.get(element) : 1);
  return [...groups].sort((a, b) => (rank(a) === rank(b) ? 0 : rank(a) - rank(b))); // stable
}

/** Which unit each quantity of the page is shown in. */
function makeUnitsMenu(units, runs) {
  const present = [...new Set(runs.flatMap((run) => run.signals.map((signal) => signal.unit)))].filter((unit) => units.choicesOf(unit).length > 1);
  if (present.length === 0) return null;
  const selects = present.map((unit) => el("select", { "aria-label": `unit for ${unit}`, onchange: (event) => units.choose(unit, event.currentTarget.value) },
    ...units.choicesOf(unit).map((text) => el("option", { value: text }, text))));
  const switcher = el("button", { type: "button", onclick: () => units.toggleEngineering() });
  const show = () => {
    switcher.textContent = units.isSI ? "machine units" : "SI units";
    present.forEach((unit, i) => (selects[i].value = units.of(unit).text));
  };
  units.listeners.push(show);
  show();
  return el("details.menu.units", {}, el("summary", { title: "units that numbers are shown in (U)" }, "units"),
    el("div.items", {}, switcher, ...selects.map((select, i) => el("label", {}, `${present[i]} as `, select))));
}

function makeRunSwitches(runs, board) {
  return el("div.switches", { role: "toolbar", "aria-label": "runs" }, ...runs.map((run, i) =>
    el("button.chip", { type: "button", "aria-pressed": "true", onclick: (event) => event.currentTarget.setAttribute("aria-pressed", String(board.toggleRun(i))) },
      el(`i.key.run${i % 8}`), run.label)));
}

// ---------------------------------------------------------------------------- keys

function listen(page) {
  const { clock, transport } = page;
  const help = el("dialog.help", {}, el("h2", {}, "Keys"), el("dl", {}, ...KEYS.flatMap(([key, what]) => [el("dt", {}, key), el("dd", {}, what)])),
    el("p", {}, "In plots: drag across to zoom the time, up or down to zoom the values, diagonally for both. Shift-drag pans. Ctrl-wheel zooms the time, with Shift the values. Click to go to a time, double-click to show everything. Drag a name from a legend into your own plot. ⋯ has log axes, spectra, x-y plots and files.",
      "Drag a name of a legend into a plot of your own. ⋯ has log axes, spectra, x-y plots and files."),
    el("form", { method: "dialog" }, el("button", {}, "close")));
  document.body.append(help);
  const keys = {
    " ": () => clock.toggle(),
    ArrowLeft: (e) => transport.step(e.shiftKey ? -10 : -1),
    ArrowRight: (e) => transport.step(e.shiftKey ? 10 : 1),
    Home: () => clock.setTime(clock.start),
    End: () => clock.setTime(clock.end),
    "<": () => transport.faster(-1),
    ">": () => transport.faster(1),
    "+": () => clock.zoom(0.6),
    "=": () => clock.zoom(0.6),
    "-": () => clock.zoom(1 / 0.6),
    0: () => clock.setRange(clock.start, clock.end),
    "[": () => clock.pan(-0.25),
    "]": () => clock.pan(0.25),
    f: () => page.stage?.camera.fit(),
    1: () => page.stage?.camera.fit("iso"),
    2: () => page.stage?.camera.fit("front"),
    3: () => page.stage?.camera.fit("side"),
    4: () => page.stage?.camera.fit("top"),
    n: () => transport.jump(1),
    p: () => transport.jump(-1),
    c: () => clock.toggleCursors(),
    u: () => page.units.toggleEngineering(),
    "/": () => document.querySelector("input.search")?.focus(),
    t: () => page.toggleTheme(),
    "?": () => help.showModal(),
  };
  document.addEventListener("keydown", (event) => {
    const inField = event.target.matches?.("input[type=search], input[type=text], select, dialog[open] *") || event.ctrlKey || event.metaKey || event.altKey;
    const onButton = event.key === " " && event.target.matches?.("button, summary");
    if (inField || onButton || !keys[event.key]) return;
    event.preventDefault();
    keys[event.key](event);
  });
  return help;
}

// ---------------------------------------------------------------------------- page

/** The machines of all runs side by side, with one camera; one that broke down is marked from there on. */
function makeMachines(page, runs) {
  const { clock } = page;
  const machines = runs.filter((run) => run.motion?.frames).map((run) => ({ run, ...makeStage(run, page, runs[0]) }));
  const row = el("div.machines", {}, ...machines.map(({ run, node, label }) => {
    const flag = el("div.flag", { hidden: true }, run.hasBroken ? `broke down at ${formatNumber(run.time.at(-1))} s` : "");
    const showFlag = () => {
      flag.hidden = !(run.hasBroken && clock.time >= run.time.at(-1) - 1e-9);
      node.classList.toggle("broken", !flag.hidden);
    };
    clock.on("time", showFlag);
    showFlag();
    node.append(el("div.caption", {}, el(`i.key.run${runs.indexOf(run) % 8}`), run.label), flag);
    label?.remove();
    return node;
  }));
  const cameras = machines.filter(({ stage }) => stage).map(({ stage }) => stage.camera);
  cameras.forEach((camera) => camera.controls.addEventListener("change", () => cameras.forEach((other) => other !== camera && other.copy(camera))));
  page.stages = machines.map(({ stage }) => stage).filter(Boolean);
  page.stage = page.stages[0];
  row.style.setProperty("--count", machines.length);
  addGhosts(machines);
  return row;
}

/** Each machine can have that of another run as a ghost: the reference, and in the reference the one beside it. */
function addGhosts(machines) {
  const list = machines.filter(({ stage }) => stage);
  const node = el("button", {
    type: "button", "aria-pressed": "false", title: "show the machine of the reference pale in the others, and in the reference that of the second run",
    onclick: () => {
      const isOn = node.getAttribute("aria-pressed") !== "true";
      node.setAttribute("aria-pressed", String(isOn));
      list.forEach(({ stage }, i) => stage.setGhost(isOn ? list[i === 0 ? 1 : 0].run : null));
    },
  }, "ghost");
  if (list.length > 1) list[0].node.querySelector(".tools")?.append(node);
}

/** Where a run broke down, look there: the time of the first that did, and about three times as much around it. */
function lookAtBreak(clock, runs) {
  const ends = runs.filter((run) => run.hasBroken && run.time.length > 1).map((run) => run.time.at(-1));
  if (runs.length < 2 || ends.length === 0) return;
  clock.setRange(clock.start, Math.min(clock.end, clock.start + 3 * (Math.max(...ends) - clock.start)));
  clock.setTime(Math.min(...ends));
}

/** The machine of one run beside its plots, or those of several runs in a row; made after the plots are on the screen. */
function makeScene(page, runs, holder) {
  const first = runs[0];
  if (runs.filter((run) => run.motion?.frames).length > 1) {
    holder.replaceWith(makeMachines(page, runs));
  } else {
    const { node, stage, label } = makeStage(first, page);
    holder.replaceWith(node);
    page.stage = stage;
    if (stage) stage.onSelect = (body) => showBody(page, label, body);
  }
}

function makePanel(page, isSelection) {
  const { runs, board, units } = page, first = runs[0];
  const sections = groupSignals(runs, isSelection);
  if (!isSelection && first.motion?.intervals.length && !sections.some((s) => s.id === "contact")) {
    sections.splice(1, 0, { id: "contact", title: "Contact", groups: [], zero: [] });
  }
  const cursors = el("button", { type: "button", title: "two cursors with differences (C)", onclick: () => page.clock.toggleCursors() }, "cursors");
  page.clock.on("cursors", () => cursors.setAttribute("aria-pressed", String(Boolean(page.clock.cursors))));
  page.own = new OwnPlots(board);
  return el("div.panel", {},
    el("nav", { "aria-label": "sections" }, ...(isSelection ? [] : sections.map((s) => el("a", { href: `#section-${s.id}` }, s.title))),
      runs.length > 1 ? makeRunSwitches(runs, board) : null,
      el("div.actions", {}, cursors, makeUnitsMenu(units, runs), linkButton(page),
        el("button", { type: "button", title: "light or dark (T)", onclick: () => page.toggleTheme() }, "◐"),
        el("button", { type: "button", title: "keys (?)", onclick: () => page.help.showModal() }, "?"))),
    page.own.node,
    ...sections.map((section) => makeSection(section, page)));
}

/** Print what is on the page: plots as drawings, in light colours, groups open. */
function listenToPrinting(page) {
  let before = null;
  window.addEventListener("beforeprint", () => {
    before = { theme: document.documentElement.dataset.theme, closed: [...document.querySelectorAll("details.group:not([open])")] };
    document.documentElement.dataset.theme = "light";
    if (before.closed.length <= 40) before.closed.forEach((node) => node.openNow?.());
  });
  page.afterPrint = () => {
    if (!before) return;
    if (before.theme) document.documentElement.dataset.theme = before.theme;
    else delete document.documentElement.dataset.theme;
    before.closed.forEach((node) => (node.open = false));
    before = null;
  };
  window.addEventListener("afterprint", page.afterPrint);
}

async function main() {
  const app = document.getElementById("app");
  const { runs, isSelection } = await readData();
  const first = runs[0];
  const times = runs.flatMap((run) => (run.time.length ? [run.time[0], run.time.at(-1)] : []));
  const clock = new Clock(Math.min(...times, Infinity === Math.min(...times) ? 0 : Infinity), Math.max(...times, times.length ? -Infinity : 1));
  const units = new Units(), page = { runs, clock, units, formatNumber };
  listenToPrinting(page); // before the plots: groups open first
  page.board = new PlotBoard(runs, clock, units);
  const nmachine = runs.filter((run) => run.motion?.frames).length;
  const holder = nmachine > 0 ? el(nmachine > 1 ? "div.machines.waiting" : "section.stage.waiting", {}, el("p.note", {}, "drawing the machine …")) : null;
  const layout = el(nmachine === 1 && first.motion?.frames ? "div.layout" : "div.layout.no-stage", {}, holder, makePanel(page, isSelection));
  page.transport = makeTransport(clock, first.motion?.frames ? first.motion.time : first.time, eventTimes(runs));
  page.toggleTheme = () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    page.restyle();
  };
  page.restyle = () => {
    page.board.restyle();
    (page.stages ?? [page.stage]).forEach((stage) => stage?.restyle());
    clock.tell("range");
  };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", page.restyle);
  app.replaceChildren(page.transport.node, layout); // first for those who come by Tab, though it stands at the bottom
  lookAtBreak(clock, runs);
  page.help = listen(page);
  // plots first: WebGL may take seconds to start
  page.board.drawFirst();
  page.plotsDrawn = performance.now();
  await new Promise((resolve) => setTimeout(resolve, 0));
  if (holder) makeScene(page, runs, holder);
  page.stageDrawn = performance.now();
  followLink(page, location.hash);
  window.addEventListener("hashchange", () => followLink(page, location.hash));
  page.isReady = true;
  window.interim = page; // for those who want to script the page, and for its tests
}

/** A body that was clicked: its name and its plots. */
function showBody(page, label, body) {
  label.replaceChildren();
  if (body < 0) return;
  const { name, mass } = page.runs[0].scene.bodies[body];
  label.append(el("b", {}, name), ` ${formatNumber(mass)} kg`);
  const group = [...document.querySelectorAll("details.group")].find((node) => node.dataset.element === name);
  if (group) {
    group.open = true;
    group.scrollIntoView({ block: "start", behavior: "smooth" });
  }
}

main().catch((error) => {
  document.getElementById("app").replaceChildren(el("p.note.error", {}, `This report cannot be shown: ${error.message}`));
  console.error(error);
});
