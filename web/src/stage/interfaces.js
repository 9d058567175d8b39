// Frames of interfaces, and how heavy the mechanism is there along each direction.
//
// Along a unit vector u the effective mass is 1 / (u' W u); drawn as a radius over all directions it is the belted ellipsoid
// [flexible-rim, section IV]. From a point x of the ellipsoid x' W x = 1 along u = x / |x| it is |x|^2: the surface is |x| x, and
// with n on the unit sphere x = sum n_i / sqrt(value_i) along the principal axes.
// Where the mechanism cannot move, the radius would be infinite: it is cut off and the cut has another colour. Along a single
// direction, as at a line actuator, there is one number: a spindle.
// SPDX-License-Identifier: Apache-2.0
import { BufferAttribute, BufferGeometry, Color, CylinderGeometry, DoubleSide, DynamicDrawUsage, Group, Mesh, MeshLambertMaterial, OctahedronGeometry, SphereGeometry, Vector3 } from "three";
import { countTranslations, principalMasses, readMobility } from "../mass.js";
import { X, Y, Z, alongZ } from "./shapes.js";

const TYPICAL = 0.055, MOST = 0.15; // radii as shares of the scene
const AXES = [["tx", 0xd63a3a, X], ["ty", 0x2f9e44, Y], ["tz", 0x2b6fe3, Z]];

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[sorted.length >> 1];
}

class Interface {
  constructor(info, index, space, { bodies, lines, flexible }) {
    Object.assign(this, { info, index, space, bodies, flexible });
    this.count = countTranslations(info);
    this.line = info.kind === "line" ? lines.list.find((line) => line.name === info.name) : null;
    this.attachment = this.line ? null : flexible.attach(info.body, info.point);
    this.at = new Vector3();
    this.W = new Float64Array(6);
    this.group = new Group(); // of the surface
    if (!this.line) this.addFrame();
    this.findScale();
    if (this.reference > 0) this.count === 1 ? this.addSpindle() : this.addSurface();
    space.root.add(this.group);
  }

  /** Axes of the world that the interface has, at its point. */
  addFrame() {
    const { size, root } = this.space, r = 0.0022 * size, length = 0.07 * size;
    this.frame = new Group();
    for (const [name, color, axis] of AXES) {
      if (!this.info.directions.includes(name)) continue;
      const rod = new Mesh(alongZ(new CylinderGeometry(r, r, length, 8)).translate(0, 0, length / 2), new MeshLambertMaterial({ color, emissive: color, emissiveIntensity: 0.4 }));
      rod.quaternion.setFromUnitVectors(Z, axis);
      this.frame.add(rod);
    }
    this.frame.add(new Mesh(new SphereGeometry(2 * r, 12, 8), new MeshLambertMaterial({ color: 0x39424e })));
    root.add(this.frame);
  }

  /** Principal effective masses; the axis of a line is where it is drawn. */
  principal(W) {
    return principalMasses(this.info, W).map(({ mass, vector }) => ({ mass, vector: vector ?? this.line.axis.toArray() }));
  }

  /** A mass that is typical of the run: it gets the typical radius. 0: it never moves. */
  findScale() {
    const { frames } = this.space.run.motion, step = Math.max(1, Math.floor(frames / 50)), masses = [];
    for (let f = 0; f < frames; f += step) {
      const finite = this.principal(readMobility(this.space.run.motion, this.index, f, this.W)).map((p) => p.mass).filter(Number.isFinite);
      if (finite.length) masses.push(Math.exp(finite.reduce((sum, m) => sum + Math.log(m), 0) / finite.length));
    }
    this.reference = masses.length ? median(masses) : 0;
  }

  addSpindle() {
    const geometry = new OctahedronGeometry(1);
    this.spindle = new Mesh(geometry, new MeshLambertMaterial({ transparent: true, opacity: 0.55 }));
    this.group.add(this.spindle);
  }

  addSurface() {
    const sphere = new SphereGeometry(1, 48, 40); // its poles along y
    this.normals = sphere.getAttribute("position").array;
    this.geometry = new BufferGeometry();
    this.positions = new BufferAttribute(new Float32Array(this.normals.length), 3).setUsage(DynamicDrawUsage);
    this.colors = new BufferAttribute(new Float32Array(this.normals.length), 3).setUsage(DynamicDrawUsage);
    this.geometry.setAttribute("position", this.positions);
    this.geometry.setAttribute("color", this.colors);
    this.geometry.setIndex(sphere.index);
    this.surface = new Mesh(this.geometry, new MeshLambertMaterial({ vertexColors: true, transparent: true, opacity: 0.55, side: DoubleSide, depthWrite: false }));
    this.surface.renderOrder = 1;
    this.surface.frustumCulled = false;
    this.group.add(this.surface);
  }

  update(f, g, s) {
    if (this.line) this.at.copy(this.line.end);
    else this.flexible.toWorld(this.info.body, this.info.point, this.attachment, this.at);
    this.frame?.position.copy(this.at);
    if (!this.group.visible) return;
    this.group.position.copy(this.at);
    const { motion } = this.space.run, a = readMobility(motion, this.index, f), b = readMobility(motion, this.index, g, this.W);
    for (let k = 0; k < 6; k++) this.W[k] = a[k] + s * (b[k] - a[k]);
    const axes = this.principal(this.W);
    this.masses = axes.map((axis) => axis.mass);
    if (this.spindle) this.stretch(axes[0]);
    else if (this.surface) this.inflate(axes);
  }

  stretch({ mass, vector }) {
    const { size } = this.space, isCut = TYPICAL * mass > MOST * this.reference;
    this.spindle.scale.set(0.018 * size, 0.018 * size, isCut ? MOST * size : (TYPICAL * size * mass) / this.reference);
    this.spindle.quaternion.setFromUnitVectors(Z, new Vector3(...vector));
    this.spindle.material.color.copy(isCut ? this.cut : this.color);
  }

  inflate(axes) {
    const { size } = this.space, n = this.normals, out = this.positions.array, colors = this.colors.array;
    // radii of the ellipsoid; what cannot move is far beyond the cut
    const scale = Math.sqrt((TYPICAL * size) / this.reference), most = MOST * size;
    const radii = axes.map(({ mass }) => Math.min(scale * Math.sqrt(mass), 50 * Math.sqrt(most)));
    // the heaviest axis through the poles, where the points are dense
    const order = [0, 2, 1];
    const x = new Vector3(), axis = axes.map(({ vector }) => new Vector3(...vector));
    for (let i = 0; i < n.length; i += 3) {
      x.set(0, 0, 0);
      axes.forEach((_, k) => x.addScaledVector(axis[k], radii[k] * n[i + order[k]]));
      const square = x.lengthSq(), isCut = square > most;
      x.multiplyScalar(isCut ? most / Math.sqrt(square) : Math.sqrt(square)).toArray(out, i);
      (isCut ? this.cut : this.color).toArray(colors, i);
    }
    this.positions.needsUpdate = this.colors.needsUpdate = true;
    this.geometry.computeVertexNormals();
  }
}

export class Interfaces {
  /** parts: {bodies, lines, flexible} */
  constructor(space, parts) {
    // an actuator along a joint has no line to be drawn at
    const isDrawn = ({ kind, name }) => kind === "frame" || parts.lines.list.some((line) => line.name === name);
    this.list = space.run.scene.interfaces.flatMap((info, i) => (isDrawn(info) ? [new Interface(info, i, space, parts)] : []));
    this.hasMasses = this.list.some((it) => it.reference > 0);
  }

  update(f, g, s) {
    for (const it of this.list) it.update(f, g, s);
  }

  setFramesShown(isShown) {
    for (const { frame } of this.list) if (frame) frame.visible = isShown;
  }

  setMassesShown(isShown) {
    for (const { group } of this.list) group.visible = isShown;
  }

  restyle(css) {
    this.list.forEach((it, i) => {
      it.color = new Color(css(`--s${(i + 4) % 8}`));
      it.cut = new Color(css("--bad"));
    });
  }

  /** [{name, masses, color}] as they are now, for a legend. */
  describe() {
    return this.list.filter((it) => it.reference > 0).map((it, i) => ({ name: it.info.name, masses: it.masses ?? [], isLine: it.line !== null, color: (i + 4) % 8 }));
  }
}
