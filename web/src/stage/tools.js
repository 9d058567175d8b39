// The view of the machine with its buttons and legends.
// SPDX-License-Identifier: Apache-2.0
import { formatNumber } from "../data.js";
import { el } from "../dom.js";
import { canRecord, saveBlob, saveCanvas, startRecording } from "../save.js";
import { Stage } from "./stage.js";

function button(text, title, act) {
  return el("button", { type: "button", title, onclick: act }, text);
}

/**
 * {node, stage, label}; stage null where the browser has no WebGL. page: {clock, units}; reference: a run beside it, whose space it
 * is shown in.
 */
export function makeStage(run, page, reference = null) {
  const holder = el("div.view"), label = el("div.picked");
  const node = el("section.stage", { "aria-label": "the machine" }, holder, label);
  let stage = null;
  try {
    stage = new Stage(holder, run, page, reference);
  } catch (error) {
    holder.append(el("p.note", {}, `The 3-D view needs WebGL, which this browser does not give: ${error.message}`));
    return { node, stage: null };
  }
  if (!reference) fillWindow(node);
  node.append(!reference || reference === run ? cameraTools(run, stage) : "", el("div.bottom", {}, massLegend(stage), signLegend(run, stage), shownTools(run, stage)));
  return { node, stage, label };
}

function cameraTools(run, stage) {
  const { camera } = stage;
  const follow = el("select", { title: "the camera goes with this body", "aria-label": "follow", onchange: () => camera.setFollow(Number(follow.value)) },
    el("option", { value: -1 }, "follow nothing"), ...run.scene.bodies.map((body, i) => el("option", { value: i }, body.name)));
  return el("div.tools", { role: "toolbar", "aria-label": "camera" },
    button("fit", "fit everything (F)", () => camera.fit()), button("iso", "isometric view (1)", () => camera.fit("iso")),
    button("front", "front view (2)", () => camera.fit("front")), button("side", "side view (3)", () => camera.fit("side")),
    button("top", "top view (4)", () => camera.fit("top")), follow,
    button("PNG", "save this picture", () => savePicture(stage)), canRecord() ? videoTool(stage) : null);
}

function savePicture(stage) {
  stage.draw(); // the buffer is only there right after
  saveCanvas("machine.png", stage.renderer.domElement);
}

/** Plays the visible time at the chosen speed and saves what is seen as a video. */
function videoTool(stage) {
  const { clock } = stage;
  let recording = null;
  const node = button("video", "record the visible range of time at the chosen speed, as WebM", () => (recording ? finish() : start()));
  const start = () => {
    recording = startRecording(stage.renderer.domElement);
    node.textContent = "stop";
    clock.pause();
    clock.setTime(clock.range[0]);
    clock.play();
  };
  const finish = async () => {
    const { video, stop } = recording;
    recording = null;
    node.textContent = "video";
    clock.pause();
    stop();
    saveBlob("machine.webm", await video);
  };
  clock.on("time", () => recording && clock.time >= clock.range[1] - 1e-9 && finish());
  clock.on("play", () => recording && !clock.isPlaying && clock.time >= clock.end && finish());
  return node;
}

/** What signs on the machine mean: rings, and how long an arrow is. */
function signLegend(run, stage) {
  const rings = run.scene.interfaces.some((it) => it.kind === "line") ? el("div", {}, el("i.ring"), "interface: another subsystem acts here") : null;
  const frames = run.scene.interfaces.some((it) => it.kind === "frame") ? el("div", {}, el("i.axes"), "interface at a frame: its axes") : null;
  const arrow = el("i.arrow"), text = el("span");
  const { contacts } = stage, hasForces = run.motion.contacts.length > 0;
  const factors = [0.1, 0.2, 0.5, 1, 2, 5, 10];
  const slider = el("input", { type: "range", min: 0, max: factors.length - 1, step: 1, value: 3, "aria-label": "length of arrows", oninput: () => stage.setArrowScale(factors[slider.value]) });
  const forces = hasForces ? el("div", { title: "the length of an arrow goes with the square root of the force" }, arrow, text, slider) : null;
  const node = el("div.signs", {}, rings, frames, forces);
  const show = () => {
    for (const it of [rings, frames]) if (it) it.hidden = !stage.show.joints;
    if (!forces) return;
    forces.hidden = !stage.show.forces;
    const { eye, controls } = stage.camera, { text: unit, factor } = stage.units.of("N");
    const high = stage.holder.clientHeight / (2 * Math.tan((eye.fov * Math.PI) / 360) * eye.position.distanceTo(controls.target)); // px to a metre at the target
    arrow.style.width = `${Math.max(6, Math.min(140, contacts.lengthOf(contacts.typical) * high)).toFixed(0)}px`;
    text.textContent = `${formatNumber(contacts.typical * factor)} ${unit}`;
  };
  stage.onSigns = show;
  stage.units.listeners.push(show);
  stage.camera.controls.addEventListener("change", show);
  requestAnimationFrame(show);
  return node;
}

function shownTools(run, stage) {
  const toggle = (text, what, title) => {
    const node = button(text, title, () => {
      stage.setShown(what, !stage.show[what]);
      node.setAttribute("aria-pressed", String(stage.show[what]));
    });
    node.setAttribute("aria-pressed", String(stage.show[what]));
    return node;
  };
  return el("div.tools.shown", { role: "toolbar", "aria-label": "what is shown" },
    run.scene.flexible.length ? bendingTool(stage) : null,
    toggle("solid", "shapes", "shapes solid or as wires"), toggle("joints", "joints", "joints and the frames of interfaces"),
    run.motion.contacts.length ? toggle("forces", "forces", "contact points and forces; the length of an arrow goes with the square root of the force") : null,
    stage.interfaces.hasMasses ? toggle("effective mass", "masses", "how heavy the machine is at its interfaces along each direction") : null,
    toggle("path", "trail", "path of the selected body"), toggle("labels", "labels", "names of bodies"),
    toggle("measure", "measure", "click two points: their distance, which follows the bodies"));
}

/** How much flexible bodies are drawn to bend: as they do, or 2, 5, 10 ... times that. */
function bendingTool(stage) {
  const factors = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];
  const text = el("span", {}, "bending 1×");
  const slider = el("input", {
    type: "range", min: 0, max: factors.length - 1, step: 1, value: 0, "aria-label": "exaggeration of bending",
    oninput: () => {
      const factor = factors[slider.value];
      text.textContent = `bending ${factor}×`;
      slider.setAttribute("aria-valuetext", `${factor} times`);
      stage.setExaggeration(factor);
    },
  });
  return el("label.bending", { title: "flexible bodies are drawn to bend so many times as much; what hangs on them goes along" }, text, slider);
}

/** What the ellipsoids are, and their principal masses at the cursor. */
function massLegend(stage) {
  const list = stage.interfaces.describe();
  const rows = list.map(({ name, color }) => ({ node: el("div", {}, el(`i.blob.run${color}`), el("b", {}, name), " "), value: el("span") }));
  rows.forEach(({ node, value }) => node.append(value));
  const node = el("div.masses", { hidden: true },
    el("p", {}, "Effective mass, kg: along a direction the distance to the surface (belted ellipsoid); contacts left out. ",
      el("i.blob.cut"), "cut off: heavier than drawn, or cannot move."),
    ...rows.map((row) => row.node));
  const show = () => {
    node.hidden = !stage.show.masses;
    if (node.hidden) return;
    stage.interfaces.describe().forEach(({ masses, isLine }, i) => {
      const text = masses.map((mass) => (Number.isFinite(mass) ? formatNumber(mass) : "immobile")).join(" · ");
      rows[i].value.textContent = isLine ? `${text} along the line` : text;
    });
  };
  stage.onShown = () => {
    show();
    stage.onSigns?.();
  };
  stage.clock.on("numbers", show);
  return node;
}

/** The view fills what the window leaves between the head of the page and the scrubber. */
function fillWindow(node) {
  let isDue = false;
  const fill = () => {
    isDue = false;
    if (matchMedia("(max-width: 1000px)").matches) node.style.height = "";
    else node.style.height = `${Math.max(320, window.innerHeight - Math.max(12, node.getBoundingClientRect().top) - 66)}px`;
  };
  const ask = () => {
    if (!isDue) requestAnimationFrame(fill);
    isDue = true;
  };
  window.addEventListener("scroll", ask, { passive: true });
  window.addEventListener("resize", ask);
  ask();
}
