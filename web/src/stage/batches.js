// Many meshes at once: everything of the same geometry is one call to the graphics card, instead of one each.
// SPDX-License-Identifier: Apache-2.0
import { Color, InstancedMesh, Matrix4, MeshLambertMaterial } from "three";

const SELECTED = new Color(0xffb020);

export class Batches {
  /** items: [{mesh, group, body}]; takes the meshes out of their groups and draws them with these. */
  constructor(root, items) {
    this.groups = [...new Set(items.map((item) => item.group))];
    const sets = new Map(items.map(({ mesh }) => [mesh.geometry, []]));
    for (const item of items) sets.get(item.mesh.geometry).push(item);
    this.list = [...sets.entries()].map(([geometry, parts]) => {
      const first = parts[0].mesh;
      const all = new InstancedMesh(geometry, new MeshLambertMaterial({ side: first.material.side }), parts.length);
      all.frustumCulled = false; // the sphere around all of them would have to be found anew every time
      all.castShadow = first.castShadow;
      all.receiveShadow = first.receiveShadow;
      parts.forEach(({ mesh, group }, i) => {
        mesh.updateMatrix();
        group.remove(mesh);
        all.setColorAt(i, mesh.material.color);
      });
      root.add(all);
      return { all, parts };
    });
    this.matrix = new Matrix4();
  }

  update() {
    for (const group of this.groups) group.updateMatrix();
    for (const { all, parts } of this.list) {
      parts.forEach(({ group, mesh }, i) => all.setMatrixAt(i, this.matrix.multiplyMatrices(group.matrix, mesh.matrix)));
      all.instanceMatrix.needsUpdate = true;
    }
  }

  select(body) {
    for (const { all, parts } of this.list) {
      parts.forEach((part, i) => all.setColorAt(i, part.body === body ? SELECTED : part.mesh.material.color));
      all.instanceColor.needsUpdate = true;
    }
  }

  setSolid(isSolid) {
    for (const { all } of this.list) all.material.wireframe = !isSolid;
  }

  pick(ray) {
    for (const { all } of this.list) all.computeBoundingSphere();
    const hit = ray.intersectObjects(this.list.map(({ all }) => all), false)[0];
    return hit ? this.list.find(({ all }) => all === hit.object).parts[hit.instanceId].body : -1;
  }
}
