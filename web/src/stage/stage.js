// The machine in 3-D: its parts, drawn at the time of the clock.
// SPDX-License-Identifier: Apache-2.0
import { Box3, Color, PCFSoftShadowMap, Raycaster, Scene, Vector2, Vector3, WebGLRenderer } from "three";
import { findTime } from "../data.js";
import { css } from "../dom.js";
import { Bodies } from "./bodies.js";
import { Camera } from "./camera.js";
import { Contacts } from "./contacts.js";
import { Flexible } from "./flexible.js";
import { Ghost } from "./ghost.js";
import { Ground, addLights } from "./ground.js";
import { Interfaces } from "./interfaces.js";
import { Joints, Lines } from "./lines.js";
import { Labels, Measure, Triad } from "./marks.js";
import { Z } from "./shapes.js";
import { Trail } from "./trail.js";

const MANY_BODIES = 100;
const HURRIED = 0.6;   // pixels to a pixel while the time moves, where the processor draws
const REST_AFTER = 700; // ms without a change: all pixels again

/** Whether the browser draws 3-D with the processor; throws where it does not at all. */
function hasSoftwareWebGL() {
  const gl = document.createElement("canvas").getContext("webgl2");
  if (!gl) throw new Error("no WebGL 2");
  const info = gl.getExtension("WEBGL_debug_renderer_info");
  const name = String(info ? gl.getParameter(info.UNMASKED_RENDERER_WEBGL) : gl.getParameter(gl.RENDERER));
  gl.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|software|basic render/i.test(name);
}

/** Farthest that a body is from the origin at the start: what a run that broke down threw farther is not looked for. */
function farthestStart({ poses, bodies }) {
  let farthest = 1;
  for (let i = 0; i < 7 * bodies; i++) if (i % 7 < 3 && Number.isFinite(poses[i])) farthest = Math.max(farthest, Math.abs(poses[i]));
  return farthest;
}

export class Stage {
  /** Throws where there is no WebGL. */
  constructor(holder, run, { clock, units }, reference = null) {
    Object.assign(this, { holder, run, clock, units, reference });
    this.show = { shapes: true, joints: true, forces: true, trail: true, masses: false, labels: false, measure: false, ghost: false };
    this.selected = -1;
    this.onSelect = () => {};
    this.onShown = () => {};
    this.scene = new Scene();
    this.makeRenderer(holder);
    this.makeSpace();
    this.makeParts();
    this.pick();
    clock.on("time", () => {
      this.hurry();
      this.update();
    });
    new ResizeObserver(() => this.resize()).observe(holder);
    this.applyShown();
    this.restyle();
    this.resize();
  }

  makeRenderer(holder) {
    // without a graphics card every pixel counts: no smoothing of edges, and no shadows in large scenes
    this.isSlow = hasSoftwareWebGL();
    const isLarge = this.run.motion.bodies > MANY_BODIES;
    const canvas = document.createElement("canvas");
    // opaque: the browser need not blend it with the page
    const context = canvas.getContext("webgl2", { alpha: false, depth: true, stencil: false, antialias: !(this.isSlow && isLarge), powerPreference: "high-performance" });
    this.renderer = new WebGLRenderer({ canvas, context });
    this.renderer.setPixelRatio(this.isSlow ? 1 : Math.min(2, window.devicePixelRatio || 1));
    this.renderer.shadowMap.enabled = !isLarge || !this.isSlow;
    this.renderer.shadowMap.type = PCFSoftShadowMap;
    canvas.tabIndex = 0;
    canvas.setAttribute("aria-label", "the machine in 3-D");
    holder.append(canvas);
  }

  /** What the parts share. size and box are first those of the places of the bodies, then of what is drawn. */
  makeSpace() {
    const { motion, scene } = this.run;
    const g = new Vector3(...(scene.gravity ?? [0, 0, -1]));
    const up = g.lengthSq() > 0 ? g.normalize().negate() : Z.clone();
    this.space = { run: this.run, root: this.scene, up, isLarge: motion.bodies > MANY_BODIES, hasShadows: this.renderer.shadowMap.enabled };
    this.limit = 1000 * farthestStart(motion);
    const box = new Box3();
    for (let body = 0; body < motion.bodies; body++) {
      const r = motion.ranges.subarray(14 * body, 14 * body + 6).map((x) => Math.min(this.limit, Math.max(-this.limit, x)));
      box.expandByPoint(new Vector3(r[0], r[2], r[4])).expandByPoint(new Vector3(r[1], r[3], r[5]));
    }
    for (const { bodies, frame_a: point, frame_b: other } of scene.joints) {
      if (bodies[0] < 0) box.expandByPoint(new Vector3(...point.slice(0, 3)));
      box.expandByScalar(0.2 * Math.hypot(...other.slice(0, 3)));
    }
    for (const shape of scene.shapes) if (shape.size && shape.body >= 0) box.expandByScalar(0.02 * Math.max(...shape.size));
    this.setBox(box.isEmpty() ? new Box3(new Vector3(-1, -1, -1), new Vector3(1, 1, 1)) : box);
  }

  setBox(box) {
    this.space.box = box;
    this.space.size = Math.max(1e-3, box.getSize(new Vector3()).length());
  }

  makeParts() {
    const { run, space } = this;
    this.bodies = new Bodies(space, new Set(run.scene.flexible.map((info) => info.body)));
    this.flexible = new Flexible(run, this.bodies, space.size);
    // beside other runs: all look at the same space, that of the first
    const drawn = this.reference && this.reference !== run && this.reference.drawn ? this.reference.drawn.clone() : this.bodies.boundMotion(this.limit);
    run.drawn = drawn;
    if (!drawn.isEmpty()) this.setBox(drawn);
    addLights(space);
    this.joints = new Joints(space, this.bodies, this.flexible);
    this.lines = new Lines(space, this.bodies, this.flexible);
    this.interfaces = new Interfaces(space, this);
    this.contacts = new Contacts(space);
    this.ground = new Ground(space, this.bodies);
    this.trail = new Trail(space, this.bodies);
    this.triad = new Triad(this.holder);
    this.labels = new Labels(this.holder, run, this.bodies);
    this.measure = new Measure(this.holder, this.scene, this.bodies, this.units);
    this.camera = new Camera(space, this.bodies, this.renderer.domElement, () => this.invalidate());
  }

  // -------------------------------------------------------------------------- time

  update() {
    const { motion } = this.run, t = this.clock.time;
    const f = findTime(motion.time, t), g = Math.min(f + 1, motion.frames - 1);
    const width = motion.time[g] - motion.time[f];
    const s = width > 0 ? Math.min(1, Math.max(0, (t - motion.time[f]) / width)) : 0;
    this.bodies.place(f, g, s);
    this.flexible.update(f, g, s);
    this.bodies.finish();
    this.joints.update();
    this.lines.update();
    this.interfaces.update(f, g, s);
    this.contacts.update(s < 0.5 ? f : g);
    this.ghost?.update(t);
    this.camera.update();
    this.invalidate();
  }

  /** Fewer pixels for as long as the time moves, where the processor draws them. */
  hurry() {
    if (!this.isSlow) return;
    clearTimeout(this.rest);
    this.rest = setTimeout(() => {
      this.renderer.setPixelRatio(1);
      this.draw();
    }, REST_AFTER);
    if (this.renderer.getPixelRatio() !== HURRIED) this.renderer.setPixelRatio(HURRIED);
  }

  // -------------------------------------------------------------------------- looking

  setShown(what, isShown) {
    this.show[what] = isShown;
    this.applyShown();
    this.update();
    this.onShown();
  }

  applyShown() {
    this.bodies.setSolid(this.show.shapes);
    this.joints.setShown(this.show.joints);
    this.lines.setShown(this.show.joints);
    this.interfaces.setFramesShown(this.show.joints);
    this.interfaces.setMassesShown(this.show.masses);
    this.contacts.isShown = this.show.forces;
    this.labels.setShown(this.show.labels);
    if (this.measure.isOn !== this.show.measure) this.measure.setOn(this.show.measure);
    if (this.ghost) this.ghost.root.visible = this.show.ghost;
    this.trail.show(this.selected, this.show.trail, css);
  }

  /** The machine of another run, or null. */
  setGhost(run) {
    this.show.ghost = run !== null;
    if (run && this.ghost?.run !== run) {
      this.ghost?.root.removeFromParent();
      this.ghost = new Ghost(this.space, run);
    }
    this.applyShown();
    this.update();
  }

  /** Arrows of forces so many times as long. */
  setArrowScale(factor) {
    this.contacts.scale = factor;
    this.update();
    this.onShown();
  }

  setExaggeration(factor) {
    this.flexible.factor = factor;
    this.update();
  }

  select(body) {
    this.selected = body;
    this.bodies.select(body);
    this.trail.show(body, this.show.trail, css);
    this.invalidate();
    this.onSelect(body);
  }

  /** A click that is no drag selects the body under it. */
  pick() {
    const canvas = this.renderer.domElement, ray = new Raycaster();
    let down = null;
    canvas.addEventListener("pointerdown", (event) => (down = [event.clientX, event.clientY]));
    canvas.addEventListener("pointerup", (event) => {
      if (!down || Math.hypot(event.clientX - down[0], event.clientY - down[1]) > 4) return;
      const box = canvas.getBoundingClientRect();
      const at = new Vector2(((event.clientX - box.left) / box.width) * 2 - 1, 1 - ((event.clientY - box.top) / box.height) * 2);
      ray.setFromCamera(at, this.camera.eye);
      if (this.show.measure) this.addMeasured(ray);
      else this.select(this.bodies.pick(ray));
    });
  }

  addMeasured(ray) {
    const hit = this.bodies.pickPoint(ray);
    if (!hit) return;
    this.measure.add(hit);
    this.invalidate();
  }

  restyle() {
    this.measure.restyle(new Color(css("--warn")));
    this.scene.background = new Color(css("--stage"));
    for (const plane of this.bodies.planes) plane.material.color = new Color(css("--stage-grid"));
    for (const part of [this.ground, this.contacts, this.interfaces]) part.restyle(css);
    this.lines.restyle(new Color(css("--accent")));
    this.trail.show(this.selected, this.show.trail, css);
    this.update();
  }

  resize() {
    const width = this.holder.clientWidth, height = this.holder.clientHeight;
    if (width === 0 || height === 0) return;
    this.renderer.setSize(width, height);
    this.camera.resize(width / height);
    this.invalidate();
  }

  invalidate() {
    if (this.isDue) return;
    this.isDue = true;
    requestAnimationFrame(() => this.draw());
  }

  draw() {
    this.isDue = false;
    this.renderer.render(this.scene, this.camera.eye);
    const width = this.holder.clientWidth, height = this.holder.clientHeight;
    this.triad.draw(this.camera.eye);
    this.labels.draw(this.camera.eye, width, height);
    this.measure.draw(this.camera.eye, width, height);
    this.drawn = (this.drawn ?? 0) + 1;
  }
}
