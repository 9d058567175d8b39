// The path of the centre of mass of a body over the whole run.
// SPDX-License-Identifier: Apache-2.0
import { BufferAttribute, BufferGeometry, Color, Line, LineBasicMaterial, Vector3 } from "three";

export class Trail {
  constructor({ run, root }, bodies) {
    Object.assign(this, { run, bodies });
    this.line = new Line(new BufferGeometry(), new LineBasicMaterial({ transparent: true, opacity: 0.9 }));
    this.line.visible = false;
    this.line.frustumCulled = false;
    root.add(this.line);
  }

  show(body, isShown, css) {
    const { motion, scene } = this.run;
    this.line.visible = isShown && body >= 0;
    if (!this.line.visible) return;
    const positions = new Float32Array(3 * motion.frames), point = new Vector3();
    for (let f = 0; f < motion.frames; f++) this.bodies.pointAt(f, body, scene.bodies[body].com, point).toArray(positions, 3 * f);
    this.line.geometry.dispose();
    this.line.geometry = new BufferGeometry().setAttribute("position", new BufferAttribute(positions, 3));
    this.line.material.color = new Color(css("--accent"));
  }
}
