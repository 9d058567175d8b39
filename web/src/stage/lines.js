// What holds bodies together: joints, cylinders that extend, springs, ropes.
// SPDX-License-Identifier: Apache-2.0
import {
  BoxGeometry, BufferAttribute, BufferGeometry, Curve, CylinderGeometry, DynamicDrawUsage, Group, Mesh, MeshLambertMaterial, Points, PointsMaterial,
  Quaternion, SphereGeometry, TorusGeometry, TubeGeometry, Vector3,
} from "three";
import { Z, alongZ } from "./shapes.js";

const COLOR = 0x39424e; // of joints

class Helix extends Curve {
  getPoint(t, target = new Vector3()) {
    const turns = 8, r = t < 0.06 || t > 0.94 ? 0 : 1;
    return target.set(r * Math.cos(2 * Math.PI * turns * t), r * Math.sin(2 * Math.PI * turns * t), t);
  }
}

/** Marks of joints, at their place on the first body; dots where there are very many. */
export class Joints {
  constructor({ run, root, size, isLarge }, bodies, flexible) {
    this.flexible = flexible;
    this.list = run.scene.joints.filter((joint) => joint.type !== "distance").map((joint) => {
      const [body] = joint.bodies;
      return { joint, body, point: joint.frame_a, attachment: flexible.attach(body, joint.frame_a) };
    });
    this.marks = new Group();
    root.add(this.marks);
    if (isLarge) this.addDots(size);
    else this.addMeshes(bodies, size);
  }

  addDots(size) {
    this.positions = new BufferAttribute(new Float32Array(3 * this.list.length), 3).setUsage(DynamicDrawUsage);
    const dots = new Points(new BufferGeometry().setAttribute("position", this.positions), new PointsMaterial({ color: COLOR, size: 0.008 * size }));
    dots.frustumCulled = false;
    this.marks.add(dots);
  }

  addMeshes(bodies, size) {
    const material = new MeshLambertMaterial({ color: COLOR });
    const unit = {
      revolute: alongZ(new CylinderGeometry(1, 1, 3.4, 20)),
      cylindrical: alongZ(new CylinderGeometry(1, 1, 5, 20)),
      screw: alongZ(new CylinderGeometry(1, 1, 5, 8)),
      prismatic: new BoxGeometry(1.8, 1.8, 4),
      planar: new BoxGeometry(4, 4, 0.6),
      fixed: new BoxGeometry(1.8, 1.8, 1.8),
      other: new SphereGeometry(1.25, 20, 14),
    };
    for (const item of this.list) {
      const { joint, body } = item;
      item.mesh = new Mesh(unit[joint.type] ?? unit.other, material);
      // no larger than what it joins
      item.mesh.scale.setScalar(Math.min(0.011 * size, ...joint.bodies.filter((b) => b >= 0).map((b) => 0.05 * reachOf(bodies.list[b], size))));
      item.turn = new Quaternion(joint.frame_a[4], joint.frame_a[5], joint.frame_a[6], joint.frame_a[3]);
      item.carrier = body >= 0 ? bodies.list[body].group.quaternion : new Quaternion();
      this.marks.add(item.mesh);
    }
  }

  update() {
    if (!this.marks.visible) return;
    const at = new Vector3();
    this.list.forEach(({ body, point, attachment, mesh, carrier, turn }, i) => {
      this.flexible.toWorld(body, point, attachment, at);
      if (mesh) {
        mesh.position.copy(at);
        mesh.quaternion.multiplyQuaternions(carrier, turn);
      } else {
        at.toArray(this.positions.array, 3 * i);
      }
    });
    if (this.positions) this.positions.needsUpdate = true;
  }

  setShown(isShown) {
    this.marks.visible = isShown;
  }
}

function reachOf(body, size) {
  return body.box.isEmpty() ? 0.2 * size : Math.max(0.02 * size, body.box.getSize(new Vector3()).length());
}

/** Actuators as barrel and rod, springs as coils, ropes and distances as thin lines. */
export class Lines {
  constructor({ run, root, size }, bodies, flexible) {
    Object.assign(this, { run, bodies, flexible });
    const r = 0.011 * size;
    const materials = Object.fromEntries(Object.entries({ barrel: 0xd9a400, rod: 0xc9d1da, spring: 0x6b7f99, rope: 0x444b55 })
      .map(([name, color]) => [name, new MeshLambertMaterial({ color })]));
    this.list = [];
    // where another subsystem acts on the line: the interface
    const bonded = new Set(run.scene.interfaces.filter((it) => it.kind === "line").map((it) => it.name));
    const tube = (thick, length, material) => new Mesh(alongZ(new CylinderGeometry(thick, thick, length, 20)).translate(0, 0, length / 2), material);
    for (const line of run.scene.lines) {
      const item = this.add(line.name, line.bodies, line.point_a, line.point_b);
      if (line.kind === "spring") {
        item.stretched = new Mesh(new TubeGeometry(new Helix(), 160, 0.16, 5), materials.spring);
        item.stretched.scale.set(1.1 * r, 1.1 * r, 1);
      } else if (line.kind === "rope") {
        item.stretched = tube(0.25 * r, 1, materials.rope);
        item.isRope = true;
      } else {
        item.stretched = tube(0.5 * r, 1, materials.rod);
        item.group.add(tube(r, 0.72 * this.shortest(item), materials.barrel));
      }
      item.group.add(item.stretched);
      // a rope is a line per stretch between two sheaves: the interface is at the first, its winch
      if (bonded.delete(line.name)) {
        item.ring = new Mesh(new TorusGeometry(1.9 * r, 0.35 * r, 10, 28), new MeshLambertMaterial());
        item.group.add(item.ring);
      }
    }
    for (const joint of run.scene.joints.filter((it) => it.type === "distance")) {
      const item = this.add(joint.name, joint.bodies, joint.frame_a, joint.frame_b);
      item.stretched = tube(0.25 * r, 1, materials.rope);
      item.group.add(item.stretched);
    }
    for (const { group } of this.list) {
      group.traverse((node) => (node.castShadow = true));
      root.add(group);
    }
    this.a = new Vector3();
    this.b = new Vector3();
  }

  add(name, [a, b], pa, pb) {
    const item = { name, a, b, pa, pb, at: this.flexible.attach(a, pa), bt: this.flexible.attach(b, pb), group: new Group(), end: new Vector3(), axis: Z.clone() };
    this.list.push(item);
    return item;
  }

  /** Least length over the run: the barrel must not be longer. */
  shortest({ a, b, pa, pb }) {
    const { motion } = this.run, step = Math.max(1, Math.floor(motion.frames / 200));
    const from = new Vector3(), to = new Vector3();
    let least = Infinity;
    for (let f = 0; f < motion.frames; f += step) {
      least = Math.min(least, this.bodies.pointAt(f, a, pa, from).distanceTo(this.bodies.pointAt(f, b, pb, to)));
    }
    return least;
  }

  update() {
    for (const item of this.list) {
      this.flexible.toWorld(item.a, item.pa, item.at, item.group.position);
      this.flexible.toWorld(item.b, item.pb, item.bt, item.end);
      const length = this.b.copy(item.end).sub(item.group.position).length();
      if (length > 0) item.group.quaternion.setFromUnitVectors(Z, item.axis.copy(this.b).divideScalar(length));
      item.stretched.scale.z = Math.max(length, 1e-9);
      if (item.ring) item.ring.position.z = item.isRope ? 0 : length;
    }
  }

  setShown(isShown) {
    for (const { ring } of this.list) if (ring) ring.visible = isShown;
  }

  restyle(accent) {
    for (const { ring } of this.list) ring?.material.color.copy(accent);
  }
}
