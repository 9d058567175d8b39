// Geometry of shapes. Boxes, balls and cylinders are one geometry each, scaled, so that many of them can be drawn at once.
// SPDX-License-Identifier: Apache-2.0
import { BoxGeometry, BufferAttribute, BufferGeometry, CapsuleGeometry, Color, CylinderGeometry, PlaneGeometry, SphereGeometry, Vector3 } from "three";

export const X = new Vector3(1, 0, 0), Y = new Vector3(0, 1, 0), Z = new Vector3(0, 0, 1);
const HUES = [212, 28, 158, 350, 262, 190, 322, 82, 46, 234];

export function bodyColor(i) {
  const hue = HUES[i % HUES.length];
  return new Color().setHSL(hue / 360, 0.58, 0.5 - 0.06 * (Math.floor(i / HUES.length) % 3));
}

/** [x, y, z, w, x, y, z] onto an object. */
export function place(object, pose) {
  object.position.set(pose[0], pose[1], pose[2]);
  object.quaternion.set(pose[4], pose[5], pose[6], pose[3]);
}

/** Cylinders, cones and capsules have their axis along z here, along y in three.js. */
export function alongZ(geometry) {
  return geometry.rotateX(Math.PI / 2);
}

/** Shared geometries of unit size. isLarge: the scene has many bodies, coarse ones will do. */
export class Units {
  constructor(isLarge) {
    this.isLarge = isLarge;
    this.box = new BoxGeometry(1, 1, 1);
    this.sphere = new SphereGeometry(1, isLarge ? 12 : 32, isLarge ? 8 : 20);
    this.cylinder = alongZ(new CylinderGeometry(1, 1, 1, isLarge ? 10 : 32));
  }

  /** {geometry, scale} of a shape of the scene, or null. */
  of(shape, planeSize) {
    const s = shape.size, one = [1, 1, 1];
    switch (shape.kind) {
      case "box":
        return { geometry: this.box, scale: s };
      case "sphere":
        return { geometry: this.sphere, scale: [s[0], s[0], s[0]] };
      case "cylinder":
        return { geometry: this.cylinder, scale: [s[0], s[0], s[1]] };
      case "capsule":
        return { geometry: alongZ(new CapsuleGeometry(s[0], s[1], this.isLarge ? 4 : 8, this.isLarge ? 12 : 24)), scale: one };
      case "plane":
        return { geometry: new PlaneGeometry(planeSize, planeSize), scale: one };
      case "hull":
      case "mesh":
        return { geometry: surface(shape.vertices, shape.triangles), scale: one };
      case "height field":
        return { geometry: heightsGeometry(shape), scale: one };
      case "bounds": {
        const size = shape.upper.map((x, i) => x - shape.lower[i]);
        return { geometry: new BoxGeometry(...size).translate(...shape.lower.map((x, i) => x + size[i] / 2)), scale: one };
      }
      default:
        return null;
    }
  }
}

function heightsGeometry({ grid: [nx, ny], spacing: [dx, dy], heights }) {
  const positions = new Float32Array(3 * nx * ny), index = [];
  for (let j = 0; j < ny; j++) {
    for (let i = 0; i < nx; i++) {
      positions.set([i * dx, j * dy, heights[j * nx + i]], 3 * (j * nx + i));
      if (i + 1 < nx && j + 1 < ny) {
        const a = j * nx + i, b = a + 1, c = a + nx, d = c + 1;
        index.push(a, b, d, a, d, c);
      }
    }
  }
  return surface(positions, index);
}

function surface(positions, index) {
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(Float32Array.from(positions), 3));
  geometry.setIndex(index);
  const flat = geometry.toNonIndexed();
  flat.computeVertexNormals();
  return flat;
}
