// What is written over the machine: the axes of the world, names of bodies, and the distance between two points.
// SPDX-License-Identifier: Apache-2.0
import { BufferAttribute, BufferGeometry, Line, LineBasicMaterial, Vector3 } from "three";
import { formatNumber } from "../data.js";
import { el } from "../dom.js";

const AXES = [["x", "#d63a3a", new Vector3(1, 0, 0)], ["y", "#2f9e44", new Vector3(0, 1, 0)], ["z", "#2b6fe3", new Vector3(0, 0, 1)]];
const MOST_LABELS = 60;

/** Pixels of a point of the world in a view of this size; null behind the eye. */
export function project(point, eye, width, height) {
  const p = point.clone().project(eye);
  return p.z > 1 ? null : [((p.x + 1) / 2) * width, ((1 - p.y) / 2) * height];
}

/** Axes of the world as they are seen, in a corner. */
export class Triad {
  constructor(holder) {
    this.canvas = el("canvas.triad", { role: "img", "aria-label": "axes of the world" });
    holder.append(this.canvas);
    const ratio = window.devicePixelRatio || 1;
    this.canvas.width = this.canvas.height = 72 * ratio;
    this.g = this.canvas.getContext("2d");
    this.g.setTransform(ratio, 0, 0, ratio, 36 * ratio, 36 * ratio);
  }

  draw(eye) {
    const { g } = this, turn = eye.quaternion.clone().invert();
    const key = turn.toArray().map((x) => x.toFixed(3)).join();
    if (key === this.key) return;
    this.key = key;
    g.clearRect(-36, -36, 72, 72);
    g.lineWidth = 2.5;
    g.font = "600 12px system-ui, sans-serif";
    g.textAlign = "center";
    g.textBaseline = "middle";
    const list = AXES.map(([name, color, axis]) => ({ name, color, at: axis.clone().applyQuaternion(turn) }));
    for (const { name, color, at } of list.sort((a, b) => a.at.z - b.at.z)) { // the nearest last
      g.strokeStyle = g.fillStyle = color;
      g.beginPath();
      g.moveTo(0, 0);
      g.lineTo(22 * at.x, -22 * at.y);
      g.stroke();
      g.fillText(name, 30 * at.x, -30 * at.y);
    }
  }
}

/** Names of bodies at their centres of mass. */
export class Labels {
  constructor(holder, run, bodies) {
    Object.assign(this, { run, bodies });
    this.isShown = false;
    this.node = el("div.labels", { hidden: true });
    const names = run.scene.bodies.slice(0, MOST_LABELS), systems = new Set(names.map(({ name }) => name.split(".")[0]));
    this.list = names.map(({ name }) => el("span", {}, systems.size === 1 ? name.split(".").slice(-1)[0] : name));
    this.node.append(...this.list);
    holder.append(this.node);
    this.at = new Vector3();
  }

  setShown(isShown) {
    this.isShown = isShown;
    this.node.hidden = !isShown;
  }

  draw(eye, width, height) {
    if (!this.isShown) return;
    this.list.forEach((node, i) => {
      const at = project(this.bodies.toWorld(i, this.at.fromArray(this.run.scene.bodies[i].com)), eye, width, height);
      node.style.opacity = at ? 1 : 0;
      if (at) node.style.transform = `translate(${at[0].toFixed(1)}px, ${at[1].toFixed(1)}px) translate(-50%, -50%)`;
    });
  }
}

/** The distance of two points, each fixed to the body that was clicked: it changes as the machine moves. */
export class Measure {
  constructor(holder, root, bodies, units) {
    Object.assign(this, { bodies, units });
    this.isOn = false;
    this.points = []; // {body, local}
    this.positions = new BufferAttribute(new Float32Array(6), 3);
    this.line = new Line(new BufferGeometry().setAttribute("position", this.positions), new LineBasicMaterial({ depthTest: false }));
    Object.assign(this.line, { visible: false, frustumCulled: false, renderOrder: 3, raycast: () => {} });
    root.add(this.line);
    this.node = el("div.distance", { hidden: true });
    this.dots = [0, 1].map(() => el("i.end", { hidden: true }));
    holder.append(...this.dots, this.node);
    this.ends = [new Vector3(), new Vector3()];
  }

  setOn(isOn) {
    this.isOn = isOn;
    this.points = [];
    this.line.visible = false;
    this.node.hidden = true;
    this.dots.forEach((dot) => (dot.hidden = true));
  }

  /** hit: {body, point} in the world; a third click starts anew. */
  add({ body, point }) {
    if (this.points.length === 2) this.points = [];
    const local = point.clone();
    if (body >= 0) {
      const { position, quaternion } = this.bodies.list[body].group;
      local.sub(position).applyQuaternion(quaternion.clone().invert());
    }
    this.points.push({ body, local });
  }

  /** Distance now, m, with its components; null without two points. */
  compute() {
    this.points.forEach(({ body, local }, k) => this.bodies.toWorld(body, this.ends[k].copy(local)));
    if (this.points.length < 2) return null;
    const [a, b] = this.ends, d = b.clone().sub(a);
    return { distance: d.length(), components: d.toArray() };
  }

  draw(eye, width, height) {
    if (!this.isOn) return;
    const result = this.compute();
    this.dots.forEach((dot, k) => {
      const at = k < this.points.length ? project(this.ends[k], eye, width, height) : null;
      dot.hidden = !at;
      if (at) dot.style.transform = `translate(${at[0] - 4}px, ${at[1] - 4}px)`;
    });
    this.node.hidden = this.line.visible = false;
    if (!result) return;
    this.ends.forEach((end, k) => end.toArray(this.positions.array, 3 * k));
    this.positions.needsUpdate = true;
    this.line.visible = true;
    const at = project(this.ends[0].clone().add(this.ends[1]).multiplyScalar(0.5), eye, width, height);
    const { text, factor } = this.units.of("m");
    this.node.hidden = !at;
    this.node.textContent = `${formatNumber(result.distance * factor)} ${text} (${result.components.map((x) => formatNumber(x * factor)).join(", ")})`;
    if (at) this.node.style.transform = `translate(${at[0].toFixed(1)}px, ${(at[1] - 14).toFixed(1)}px) translate(-50%, -100%)`;
  }

  restyle(color) {
    this.line.material.color = color;
  }
}
