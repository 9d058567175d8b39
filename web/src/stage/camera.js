// Where one looks from: standard views, following a body, turning by hand.
// SPDX-License-Identifier: Apache-2.0
import { PerspectiveCamera, Vector3 } from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { sidesOf } from "./ground.js";

export class Camera {
  /** onChange: to be drawn again */
  constructor({ up, box }, bodies, canvas, onChange) {
    Object.assign(this, { up, box, bodies, onChange });
    this.eye = new PerspectiveCamera(35, 1, 0.01, 1000);
    this.eye.up.copy(up);
    this.controls = new OrbitControls(this.eye, canvas);
    this.controls.addEventListener("change", onChange);
    this.controls.addEventListener("start", () => (this.isMoved = true)); // by the user
    this.follow = -1;
    this.before = new Vector3();
    this.fit("iso");
  }

  /** "iso", "front", "side", "top", or all of it from where one is. */
  fit(view) {
    this.view = view;
    const centre = this.box.getCenter(new Vector3()), [right, ahead] = sidesOf(this.up);
    const directions = {
      iso: new Vector3().addScaledVector(right, 0.55).addScaledVector(ahead, -0.95).addScaledVector(this.up, 0.5),
      front: ahead.clone().negate(),
      side: right.clone(),
      top: this.up.clone().addScaledVector(ahead, -0.001),
    };
    this.isMoved = this.isMoved && !directions[view];
    const direction = (directions[view] ?? this.eye.position.clone().sub(this.controls.target)).normalize();
    const distance = this.distanceFor(direction, centre);
    this.eye.position.copy(centre).addScaledVector(direction, distance);
    this.eye.near = 0.002 * distance;
    this.eye.far = 20 * distance;
    this.eye.updateProjectionMatrix();
    this.controls.target.copy(centre);
    this.controls.update();
    this.onChange();
  }

  /** How far away along a direction all corners of the box are seen. */
  distanceFor(direction, centre) {
    const across = new Vector3().crossVectors(this.eye.up, direction).normalize();
    const upwards = new Vector3().crossVectors(direction, across);
    const tall = 0.88 * Math.tan(((this.eye.fov / 2) * Math.PI) / 180), wide = tall * this.eye.aspect;
    const { min, max } = this.box;
    let distance = 1e-3;
    for (let i = 0; i < 8; i++) {
      const corner = new Vector3(i & 1 ? max.x : min.x, i & 2 ? max.y : min.y, i & 4 ? max.z : min.z).sub(centre);
      const near = corner.dot(direction);
      distance = Math.max(distance, near + Math.abs(corner.dot(upwards)) / tall, near + Math.abs(corner.dot(across)) / wide);
    }
    return distance;
  }

  resize(aspect) {
    this.eye.aspect = aspect;
    this.eye.updateProjectionMatrix();
    if (!this.isMoved && this.follow < 0) this.fit(this.view);
  }

  /** The view of another camera. */
  copy(other) {
    if (this.eye.position.equals(other.eye.position) && this.controls.target.equals(other.controls.target)) return;
    this.eye.position.copy(other.eye.position);
    this.controls.target.copy(other.controls.target);
    Object.assign(this.eye, { near: other.eye.near, far: other.eye.far });
    this.isMoved = other.isMoved;
    this.eye.lookAt(this.controls.target);
    this.eye.updateProjectionMatrix();
    this.onChange();
  }

  /** Eye and target, for links. */
  describe() {
    return [...this.eye.position.toArray(), ...this.controls.target.toArray()];
  }

  restore(list) {
    this.eye.position.fromArray(list);
    this.controls.target.fromArray(list, 3);
    this.isMoved = true;
    const distance = this.eye.position.distanceTo(this.controls.target);
    Object.assign(this.eye, { near: 0.002 * distance, far: 20 * distance });
    this.eye.updateProjectionMatrix();
    this.controls.update();
    this.onChange();
  }

  setFollow(body) {
    this.follow = body;
    if (body >= 0) {
      this.shift(this.bodies.list[body].group.position.clone().sub(this.controls.target));
      this.controls.update();
      this.before.copy(this.bodies.list[body].group.position);
    }
    this.onChange();
  }

  shift(by) {
    this.eye.position.add(by);
    this.controls.target.add(by);
  }

  /** After bodies have moved. */
  update() {
    if (this.follow < 0) return;
    const { position } = this.bodies.list[this.follow].group;
    this.shift(position.clone().sub(this.before));
    this.before.copy(position);
  }
}
