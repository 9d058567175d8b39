// The machine of another run, pale, in the same place: how far two runs are apart at a glance.
// SPDX-License-Identifier: Apache-2.0
import { Group } from "three";
import { findTime } from "../data.js";
import { Bodies } from "./bodies.js";

export class Ghost {
  constructor(space, run) {
    this.run = run;
    this.root = new Group();
    space.root.add(this.root);
    this.bodies = new Bodies({ ...space, run: { ...run, scene: { ...run.scene, shapes: run.scene.shapes.filter((shape) => shape.body >= 0) } }, root: this.root, isLarge: false }, new Set());
    this.root.traverse((node) => {
      if (!node.material) return;
      node.material = node.material.clone();
      Object.assign(node.material, { transparent: true, opacity: node.isLineSegments ? 0.15 : 0.32, depthWrite: false });
      node.castShadow = node.receiveShadow = false;
      node.raycast = () => {};
    });
  }

  update(t) {
    if (!this.root.visible) return;
    const { motion } = this.run, f = findTime(motion.time, t), g = Math.min(f + 1, motion.frames - 1), width = motion.time[g] - motion.time[f];
    this.bodies.place(f, g, width > 0 ? Math.min(1, Math.max(0, (t - motion.time[f]) / width)) : 0);
  }
}
