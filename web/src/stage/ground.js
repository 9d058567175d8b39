// Light, and the grid that the machine stands on.
// SPDX-License-Identifier: Apache-2.0
import { AmbientLight, Color, DirectionalLight, GridHelper, HemisphereLight, Mesh, PlaneGeometry, ShadowMaterial, Vector3 } from "three";
import { Y, Z } from "./shapes.js";

/** Two directions across the up direction. */
export function sidesOf(up) {
  const right = Math.abs(up.y) < 0.9 ? new Vector3().crossVectors(Y, up).normalize() : new Vector3(1, 0, 0);
  return [right, new Vector3().crossVectors(up, right)];
}

export function addLights({ root, up, size, box, hasShadows }) {
  const sky = new HemisphereLight(0xffffff, 0x8899aa, 0.95);
  sky.position.copy(up);
  const sun = new DirectionalLight(0xffffff, 1.9);
  const centre = box.getCenter(new Vector3()), [right, ahead] = sidesOf(up);
  sun.position.copy(centre).addScaledVector(up, 1.2 * size).addScaledVector(right, 0.5 * size).addScaledVector(ahead, -0.7 * size);
  sun.target.position.copy(centre);
  sun.castShadow = hasShadows;
  sun.shadow.mapSize.set(2048, 2048);
  const half = 0.75 * size;
  Object.assign(sun.shadow.camera, { left: -half, right: half, top: half, bottom: -half, near: 0.01 * size, far: 4 * size });
  sun.shadow.bias = -0.0005;
  sun.shadow.normalBias = 0.004 * size;
  root.add(new AmbientLight(0xffffff, 0.35), sky, sun, sun.target);
}

export class Ground {
  constructor({ run, root, up, size, box, hasShadows }, bodies) {
    const extent = box.getSize(new Vector3());
    const span = 2.2 * Math.max(extent.x, extent.y, extent.z, 1e-3);
    const step = 10 ** Math.floor(Math.log10(span / 4));
    const cell = span / step > 40 ? 5 * step : span / step > 20 ? 2 * step : step;
    const n = 2 * Math.ceil(span / cell / 2);
    this.grid = new GridHelper(n * cell, n);
    this.grid.material.transparent = true;
    this.grid.quaternion.setFromUnitVectors(Y, up);
    // on whole cells, at the height of the floor
    const centre = box.getCenter(new Vector3()), [right, ahead] = sidesOf(up);
    const snap = (v) => cell * Math.round(centre.dot(v) / cell);
    const floor = run.scene.shapes.find((shape) => shape.body < 0 && bodies.isFloor(shape));
    const level = floor ? new Vector3(...floor.pose.slice(0, 3)).dot(up) + 0.0005 * size : lowest(box, up);
    this.grid.position.set(0, 0, 0).addScaledVector(right, snap(right)).addScaledVector(ahead, snap(ahead)).addScaledVector(up, level);
    root.add(this.grid);
    if (!hasShadows) return;
    const shade = new Mesh(new PlaneGeometry(n * cell, n * cell), new ShadowMaterial({ opacity: 0.2 }));
    shade.quaternion.setFromUnitVectors(Z, up);
    shade.position.copy(this.grid.position).addScaledVector(up, 0.0004 * size);
    shade.receiveShadow = true;
    root.add(shade);
  }

  restyle(css) {
    const { material } = this.grid;
    material.color = new Color(css("--stage-grid"));
    Object.assign(material, { vertexColors: false, opacity: 0.7, needsUpdate: true });
  }
}

function lowest(box, up) {
  const corners = [box.min, box.max];
  return Math.min(...Array.from({ length: 8 }, (_, i) => new Vector3(corners[i & 1].x, corners[(i >> 1) & 1].y, corners[(i >> 2) & 1].z).dot(up)));
}
