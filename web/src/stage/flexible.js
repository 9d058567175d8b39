// Bodies that bend: modes of the run times their shapes, as it is or exaggerated.
//
// A beam is a section swept along its axis; a finite element model is its nodes and what joins them. With an exaggeration
// bodies that hang on a flexible one are moved along with it (not turned), so that the machine stays in one piece.
// SPDX-License-Identifier: Apache-2.0
import { BufferAttribute, BufferGeometry, DynamicDrawUsage, LineBasicMaterial, LineSegments, Mesh, MeshLambertMaterial, Points, PointsMaterial, Quaternion, Vector3 } from "three";

const ROUND = 16; // corners of a round section

/** One flexible body. */
class Bent {
  constructor(info, motion, body, size) {
    this.info = info;
    this.motion = motion;
    this.count = info.points.length / 3;
    this.width = info.kind === "beam" ? 6 : 3; // displacements, for beams rotations too
    this.u = new Float32Array(6 * this.count);
    this.geometry = new BufferGeometry();
    if (info.kind === "beam") this.makeBeam(body, size);
    else this.makeNodes(body, size);
    this.positions.setUsage(DynamicDrawUsage);
    this.deform(0, 0, 0, 1);
  }

  makeBeam(body, size) {
    const { section: [wide, tall], round } = this.info;
    const [a, b] = [wide, tall].map((w) => Math.max(0.5 * w, 0.002 * size)); // a thin blade stays visible
    this.ring = round
      ? Array.from({ length: ROUND }, (_, k) => [a * Math.cos((2 * Math.PI * k) / ROUND), b * Math.sin((2 * Math.PI * k) / ROUND)])
      : [[a, b], [-a, b], [-a, -b], [a, -b]];
    const n = this.ring.length, index = [];
    for (let i = 0; i + 1 < this.count; i++) {
      for (let k = 0; k < n; k++) {
        const p = i * n + k, q = i * n + ((k + 1) % n);
        index.push(p, q, q + n, p, q + n, p + n);
      }
    }
    for (let k = 1; k + 1 < n; k++) {
      const end = (this.count - 1) * n;
      index.push(0, k + 1, k, end, end + k, end + k + 1);
    }
    this.positions = new BufferAttribute(new Float32Array(3 * n * this.count), 3);
    this.geometry.setAttribute("position", this.positions);
    this.geometry.setIndex(index);
    this.node = new Mesh(this.geometry, new MeshLambertMaterial({ color: body.color, flatShading: !round }));
    this.node.castShadow = this.node.receiveShadow = true;
  }

  makeNodes(body, size) {
    this.positions = new BufferAttribute(new Float32Array(3 * this.count), 3);
    this.geometry.setAttribute("position", this.positions);
    const dots = new Points(this.geometry, new PointsMaterial({ color: body.color, size: 0.008 * size }));
    if (this.info.edges.length) {
      this.geometry.setIndex(this.info.edges);
      this.node = new LineSegments(this.geometry, new LineBasicMaterial({ color: body.color }));
      dots.geometry = new BufferGeometry().setAttribute("position", this.positions);
      this.node.add(dots);
    } else {
      this.node = dots;
    }
  }

  /** u: displacement and rotation of every point between frames f and g, times a factor. */
  deform(f, g, s, factor) {
    const { modes, nmode } = this.motion, { first, modes: shapes } = this.info;
    this.u.fill(0);
    shapes.forEach((shape, k) => {
      const a = modes[f * nmode + first + k], b = modes[g * nmode + first + k], eta = factor * (a + s * (b - a));
      for (let i = 0; i < this.count; i++) {
        for (let c = 0; c < this.width; c++) this.u[6 * i + c] += eta * shape[this.width * i + c];
      }
    });
    if (this.info.stiffening) this.shorten();
    if (this.ring) this.sweep();
    else for (let i = 0; i < this.count; i++) for (let c = 0; c < 3; c++) this.positions.array[3 * i + c] = this.info.points[3 * i + c] + this.u[6 * i + c];
    this.positions.needsUpdate = true;
    if (this.info.round) this.geometry.computeVertexNormals();
  }

  /** Bending draws the points together: every piece keeps its length, counted from the point that stays. */
  shorten() {
    const { points } = this.info, u = this.u, n = this.count;
    const isHeld = (i) => this.info.modes.every((shape) => Math.abs(shape[6 * i]) + Math.abs(shape[6 * i + 1]) + Math.abs(shape[6 * i + 2]) < 1e-9);
    const fromEnd = !isHeld(0) && isHeld(n - 1);
    let sum = 0;
    for (let k = 1; k < n; k++) {
      const i = fromEnd ? n - 1 - k : k, j = fromEnd ? i + 1 : i - 1;
      const dx = points[3 * k] - points[3 * k - 3], dv = u[6 * i + 1] - u[6 * j + 1], dw = u[6 * i + 2] - u[6 * j + 2];
      sum += dx - Math.sqrt(Math.max(0, dx * dx - dv * dv - dw * dw));
      u[6 * i] += fromEnd ? sum : -sum;
    }
  }

  sweep() {
    const { points } = this.info, u = this.u, out = this.positions.array;
    let at = 0;
    for (let i = 0; i < this.count; i++) {
      const x = points[3 * i] + u[6 * i], y = u[6 * i + 1], z = u[6 * i + 2];
      const [p, q, r] = [u[6 * i + 3], u[6 * i + 4], u[6 * i + 5]];
      for (const [b, c] of this.ring) {
        // (0, b, c) and what a small rotation (p, q, r) adds
        out[at++] = x + q * c - r * b;
        out[at++] = y + b - p * c;
        out[at++] = z + c + p * b;
      }
    }
  }

  /** How a point of the body follows: between which points, and how far along. */
  attach(point) {
    const { points } = this.info;
    let best = 0, least = Infinity;
    for (let i = 0; i < this.count; i++) {
      const d = this.ring ? Math.abs(points[3 * i] - point[0]) : Math.hypot(points[3 * i] - point[0], points[3 * i + 1] - point[1], points[3 * i + 2] - point[2]);
      if (d < least) [best, least] = [i, d];
    }
    let next = best, t = 0;
    if (this.ring) {
      next = point[0] > points[3 * best] ? Math.min(best + 1, this.count - 1) : Math.max(best - 1, 0);
      if (next !== best) t = Math.min(1, (point[0] - points[3 * best]) / (points[3 * next] - points[3 * best]));
    }
    return { bent: this, i: best, j: next, t, arm: this.ring ? new Vector3(0, point[1], point[2]) : new Vector3() };
  }
}

const turn = new Vector3(), moved = new Vector3(), small = new Quaternion();

function mix({ bent: { u }, i, j, t }, c) {
  return u[6 * i + c] + t * (u[6 * j + c] - u[6 * i + c]);
}

/** Rotation vector of an attached point in the frame of its body. */
function rotation(attachment, target) {
  return target.set(mix(attachment, 3), mix(attachment, 4), mix(attachment, 5));
}

/** Its displacement. */
function displacement(attachment, target) {
  rotation(attachment, turn).cross(attachment.arm);
  return target.set(mix(attachment, 0), mix(attachment, 1), mix(attachment, 2)).add(turn);
}

export class Flexible {
  /** bodies: Bodies; size: of the scene */
  constructor(run, bodies, size) {
    this.bodies = bodies;
    this.factor = 1;
    this.byBody = new Map();
    this.riders = []; // shapes on flexible bodies
    for (const info of run.scene.flexible) {
      const bent = new Bent(info, run.motion, bodies.list[info.body], size);
      this.byBody.set(info.body, bent);
      for (const mesh of bodies.list[info.body].meshes) {
        this.riders.push({ mesh, at: mesh.position.clone(), turn: mesh.quaternion.clone(), attachment: bent.attach(mesh.position.toArray()) });
      }
      bodies.add(bent.node, info.body);
      bodies.bound(bodies.list[info.body]);
    }
    this.chain = this.byBody.size ? this.findChain(run.scene) : [];
    this.shifts = bodies.list.map(() => new Vector3());
  }

  /** How a point of a body follows its bending; null where it does not bend. */
  attach(body, point) {
    return this.byBody.get(body)?.attach(point.slice(0, 3)) ?? null;
  }

  /** A point of a body in the world, bending included. attachment: of that point */
  toWorld(body, point, attachment, target) {
    target.set(point[0], point[1], point[2]);
    if (attachment) target.add(displacement(attachment, moved));
    return this.bodies.toWorld(body, target);
  }

  /** Bodies in the order in which they hang on each other, with the two ends of the joint. */
  findChain({ joints, interfaces }) {
    const chain = [], seen = new Set([-1]);
    const links = joints.filter((joint) => joint.type !== "distance");
    // mechanisms that are joined at frames hang on each other, too
    for (const a of interfaces) {
      const b = interfaces.find((it) => it !== a && a.kind === "frame" && a.bond && it.bond === a.bond);
      if (b) links.push({ bodies: [a.body, b.body], frame_a: a.point, frame_b: b.point });
    }
    for (let isGrowing = true; isGrowing; ) {
      isGrowing = false;
      for (const { bodies: [a, b], frame_a: pa, frame_b: pb } of links) {
        if (seen.has(a) === seen.has(b)) continue;
        const [parent, child, at, on] = seen.has(a) ? [a, b, pa, pb] : [b, a, pb, pa];
        chain.push({ parent, child, above: this.attach(parent, at), below: this.attach(child, on) });
        seen.add(child);
        isGrowing = true;
      }
    }
    return chain;
  }

  /** Between frames f and g; after the bodies are placed. */
  update(f, g, s) {
    if (!this.byBody.size) return;
    for (const bent of this.byBody.values()) bent.deform(f, g, s, this.factor);
    for (const { mesh, at, turn: base, attachment } of this.riders) {
      mesh.position.copy(at).add(displacement(attachment, moved));
      const angle = rotation(attachment, moved).length();
      mesh.quaternion.copy(base);
      if (angle > 0) mesh.quaternion.premultiply(small.setFromAxisAngle(moved.divideScalar(angle), angle));
    }
    if (this.factor === 1) return;
    // hung on a point that is drawn (factor - 1) / factor of its displacement too far
    const extra = 1 - 1 / this.factor;
    this.shifts.forEach((shift) => shift.set(0, 0, 0));
    for (const { parent, child, above, below } of this.chain) {
      const { group } = this.bodies.list[child], shift = this.shifts[child];
      if (parent >= 0) shift.copy(this.shifts[parent]);
      if (above) shift.addScaledVector(displacement(above, moved).applyQuaternion(this.bodies.list[parent].group.quaternion), extra);
      if (below) shift.addScaledVector(displacement(below, moved).applyQuaternion(group.quaternion), -extra);
      group.position.add(shift);
    }
  }
}
