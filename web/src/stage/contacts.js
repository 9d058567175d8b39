// Contact points and forces. The length of an arrow goes with the square root of the force: a resting weight stays visible
// beside an impact.
// SPDX-License-Identifier: Apache-2.0
import { Color, ConeGeometry, CylinderGeometry, InstancedMesh, Matrix4, MeshBasicMaterial, Quaternion, SphereGeometry, Vector3 } from "three";
import { Z, alongZ } from "./shapes.js";

const MOST_CONTACTS = 200;

export class Contacts {
  constructor({ run, root, size }) {
    const { motion, scene } = run;
    Object.assign(this, { motion, size });
    this.largest = 0;
    for (let i = 0; i < motion.contacts.length; i += 6) {
      this.largest = Math.max(this.largest, Math.hypot(motion.contacts[i + 3], motion.contacts[i + 4], motion.contacts[i + 5]));
    }
    const bodyOf = new Map(scene.shapes.map((shape) => [shape.name, shape.body]));
    this.isWorldSecond = (scene.pairs ?? []).map(([, second]) => bodyOf.get(second) === -1);
    const r = 0.006 * size;
    const make = (geometry) => {
      const mesh = new InstancedMesh(geometry, new MeshBasicMaterial({ depthTest: false, transparent: true }), MOST_CONTACTS);
      Object.assign(mesh, { frustumCulled: false, count: 0, renderOrder: 2, raycast: () => {} });
      root.add(mesh);
      return mesh;
    };
    this.dots = make(new SphereGeometry(r, 12, 8));
    this.shafts = make(alongZ(new CylinderGeometry(0.3 * r, 0.3 * r, 1, 8)).translate(0, 0, 0.5));
    this.heads = make(alongZ(new ConeGeometry(0.9 * r, 2.6 * r, 12)));
    this.isShown = true;
    this.scale = 1; // of arrows, by the reader
  }

  /** Length of the arrow of a force, m. */
  lengthOf(force) {
    return this.largest > 0 ? 0.22 * this.scale * this.size * Math.sqrt(force / this.largest) : 0;
  }

  /** A round force, for a legend, about as large as the largest. */
  get typical() {
    return this.largest > 0 ? 10 ** Math.floor(Math.log10(this.largest)) : 0;
  }

  update(frame) {
    const { contactStart, contacts, contactPairs } = this.motion;
    const from = contactStart[frame];
    const n = this.isShown ? Math.min(MOST_CONTACTS, contactStart[frame + 1] - from) : 0;
    const meshes = [this.dots, this.shafts, this.heads];
    const matrix = new Matrix4(), at = new Vector3(), force = new Vector3(), turn = new Quaternion(), one = new Vector3(1, 1, 1), scale = new Vector3(1, 1, 1);
    for (let i = 0; i < n; i++) {
      const c = 6 * (from + i);
      at.set(contacts[c], contacts[c + 1], contacts[c + 2]);
      force.set(contacts[c + 3], contacts[c + 4], contacts[c + 5]);
      if (this.isWorldSecond[contactPairs[from + i] >> 2]) force.negate(); // show what the machine feels, not the ground
      const color = contactPairs[from + i] % 4 === 2 ? this.sliding : this.sticking;
      this.dots.setMatrixAt(i, matrix.makeTranslation(at));
      const strength = force.length(), length = this.lengthOf(strength);
      turn.setFromUnitVectors(Z, strength > 0 ? force.divideScalar(strength) : Z);
      this.shafts.setMatrixAt(i, matrix.compose(at, turn, scale.setZ(length)));
      this.heads.setMatrixAt(i, matrix.compose(at.addScaledVector(force, length), turn, one));
      for (const mesh of meshes) mesh.setColorAt(i, color);
    }
    for (const mesh of meshes) {
      mesh.count = n;
      mesh.instanceMatrix.needsUpdate = true;
      if (mesh.instanceColor) mesh.instanceColor.needsUpdate = true;
    }
  }

  restyle(css) {
    this.sticking = new Color(css("--sticking"));
    this.sliding = new Color(css("--sliding"));
  }
}
