// The page of a report: the machine and its plots on one clock.
// SPDX-License-Identifier: Apache-2.0
import { Clock } from "./clock.js";
import { formatNumber, readData } from "./data.js";
import { el } from "./dom.js";
import { Ledger } from "./ledger.js";
import { PlotBoard } from "./plots.js";
import { groupSignals } from "./signals.js";
import { makeStage } from "./stage/tools.js";
import { Timeline } from "./timeline.js";

const SPEEDS = [0.02, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10];
const KEYS = [
  ["Space", "play or pause"], ["← →", "a frame back or on; with Shift ten"], ["Home End", "to the start or the end"],
  ["< >", "slower or faster"], ["+ − 0", "zoom the plots about the cursor; show all"], ["[ ]", "pan the plots"],
  ["F 1 2 3 4", "fit the machine; isometric, front, side, top"], ["/", "find a signal"], ["T", "light or dark"], ["?", "this list"],
];

// ---------------------------------------------------------------------------- theme

function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

// ---------------------------------------------------------------------------- transport

function makeTransport(clock, frameTimes) {
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
  return { node: el("div.transport", { role: "toolbar", "aria-label": "playback" }, play, scrub, now, speed), step, faster };
}

// ---------------------------------------------------------------------------- sections of plots

/** A group of plots that opens and closes; its plots exist while it is open. */
function makeGroup(group, board, isOpen) {
  const node = el("details.group", { "data-element": group.element },
    el("summary", {}, el("b", {}, group.element || "signals"), el("span.count", {}, quantitiesOf(group))));
  const plots = el("div.plots");
  node.append(plots);
  node.addEventListener("toggle", () => {
    if (node.open && !plots.childElementCount) plots.append(...group.plots.map((plot) => board.add(plot)));
    else if (!node.open) [...plots.children].forEach((child) => board.remove(child));
  });
  node.open = isOpen;
  return node;
}

function quantitiesOf(group) {
  const words = new Set(group.plots.flatMap((plot) => (plot.quantity ? [plot.quantity] : plot.series.map((s) => s.label))));
  return [...words].map((w) => w.replaceAll("_", " ")).slice(0, 7).join(", ") + (words.size > 7 ? ", …" : "");
}

function makeSection(section, runs, board, clock) {
  const node = el("section.signals", { id: `section-${section.id}` }, section.id === "selection" ? null : el("h2", {}, section.title));
  if (section.id === "energy") {
    const ledger = new Ledger(runs[0].signals, clock);
    if (ledger.node) node.append(ledger.node);
  }
  if (section.id === "contact" && runs[0].motion?.intervals.length) node.append(new Timeline(runs[0], clock).node);
  if (section.id === "signals") {
    node.append(makeSearch(node));
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

function makeSearch(section) {
  const none = el("p.note", { hidden: true }, "No signal has this in its name.");
  const input = el("input.search", {
    type: "search", placeholder: "find: boom, force, pressure …", "aria-label": "find signals",
    oninput: () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      for (const group of section.querySelectorAll("details.group")) {
        const text = group.querySelector("summary").textContent.toLowerCase();
        group.hidden = !words.every((word) => text.includes(word));
        shown += group.hidden ? 0 : 1;
      }
      none.hidden = shown > 0;
    },
  });
  return el("div", {}, input, none);
}

function makeRunSwitches(runs, board) {
  return el("div.switches", { role: "toolbar", "aria-label": "runs" }, ...runs.map((run, i) =>
    el("button.chip", { type: "button", "aria-pressed": "true", onclick: (event) => event.currentTarget.setAttribute("aria-pressed", String(board.toggleRun(i))) },
      el(`i.key.run${i % 8}`), run.label)));
}

// ---------------------------------------------------------------------------- keys

function listen(page) {
  const { clock, transport, stage } = page;
  const help = el("dialog.help", {}, el("h2", {}, "Keys"), el("dl", {}, ...KEYS.flatMap(([key, what]) => [el("dt", {}, key), el("dd", {}, what)])),
    el("p", {}, "In plots: drag to zoom, shift and drag to pan, ctrl and wheel to zoom, click to go there, double click to show all."),
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
    f: () => stage?.camera.fit(),
    1: () => stage?.camera.fit("iso"),
    2: () => stage?.camera.fit("front"),
    3: () => stage?.camera.fit("side"),
    4: () => stage?.camera.fit("top"),
    "/": () => document.querySelector("input.search")?.focus(),
    t: () => page.toggleTheme(),
    "?": () => help.showModal(),
  };
  document.addEventListener("keydown", (event) => {
    const inField = event.target.matches?.("input[type=search], select, dialog[open] *") || event.ctrlKey || event.metaKey || event.altKey;
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
  const machines = runs.filter((run) => run.motion?.frames).map((run) => ({ run, ...makeStage(run, clock, runs[0]) }));
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
  return row;
}

/** Where a run broke down, look there: the time of the first that did, and about three times as much around it. */
function lookAtBreak(clock, runs) {
  const ends = runs.filter((run) => run.hasBroken && run.time.length > 1).map((run) => run.time.at(-1));
  if (runs.length < 2 || ends.length === 0) return;
  clock.setRange(clock.start, Math.min(clock.end, clock.start + 3 * (Math.max(...ends) - clock.start)));
  clock.setTime(Math.min(...ends));
}

async function main() {
  const app = document.getElementById("app");
  const { runs, isSelection } = await readData();
  const first = runs[0];
  const times = runs.flatMap((run) => (run.time.length ? [run.time[0], run.time.at(-1)] : []));
  const clock = new Clock(Math.min(...times, Infinity === Math.min(...times) ? 0 : Infinity), Math.max(...times, times.length ? -Infinity : 1));
  const board = new PlotBoard(runs, clock);
  const page = { runs, clock, board, formatNumber };
  const layout = el("div.layout");
  const nmachine = runs.filter((run) => run.motion?.frames).length;
  if (nmachine > 1) {
    layout.classList.add("no-stage");
    layout.append(makeMachines(page, runs));
  } else if (first.motion?.frames) {
    const { node, stage, label } = makeStage(first, clock);
    layout.append(node);
    page.stage = stage;
    if (stage) stage.onSelect = (body) => showBody(page, label, body);
  } else {
    layout.classList.add("no-stage");
  }
  const panel = el("div.panel");
  const sections = groupSignals(runs, isSelection);
  if (!isSelection && first.motion?.intervals.length && !sections.some((s) => s.id === "contact")) {
    sections.splice(1, 0, { id: "contact", title: "Contact", groups: [], zero: [] });
  }
  panel.append(
    el("nav", { "aria-label": "sections" }, ...(isSelection ? [] : sections.map((s) => el("a", { href: `#section-${s.id}` }, s.title))),
      runs.length > 1 ? makeRunSwitches(runs, board) : null,
      el("span.space"),
      el("button", { type: "button", title: "light or dark (T)", onclick: () => page.toggleTheme() }, "◐"),
      el("button", { type: "button", title: "keys (?)", onclick: () => page.help.showModal() }, "?")),
  );
  panel.append(...sections.map((section) => makeSection(section, runs, board, clock)));
  layout.append(panel);
  page.transport = makeTransport(clock, first.motion?.frames ? first.motion.time : first.time);
  page.toggleTheme = () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    page.restyle();
  };
  page.restyle = () => {
    board.restyle();
    (page.stages ?? [page.stage]).forEach((stage) => stage?.restyle());
    clock.tell("range");
  };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", page.restyle);
  app.replaceChildren(page.transport.node, layout); // first for those who come by Tab, though it stands at the bottom
  lookAtBreak(clock, runs);
  page.help = listen(page);
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
