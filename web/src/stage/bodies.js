// Bodies: their shapes, rods where they have none, and where they are at a time.
// SPDX-License-Identifier: Apache-2.0
import { Box3, Color, DoubleSide, EdgesGeometry, FrontSide, Group, LineBasicMaterial, LineSegments, Mesh, MeshBasicMaterial, MeshLambertMaterial, Quaternion, Vector3 } from "three";
import { Batches } from "./batches.js";
import { Units, Z, bodyColor, place } from "./shapes.js";

const SELECTED = new Color(0x664400), PLAIN = new Color(0x000000);

/** Points of a body, in its frame, where joints and lines hold on to it. */
function holdPoints(scene, body) {
  const points = [];
  for (const joint of scene.joints) {
    if (joint.bodies[0] === body) points.push(new Vector3(...joint.frame_a.slice(0, 3)));
    if (joint.bodies[1] === body) points.push(new Vector3(...joint.frame_b.slice(0, 3)));
  }
  for (const line of scene.lines) {
    if (line.bodies[0] === body) points.push(new Vector3(...line.point_a));
    if (line.bodies[1] === body) points.push(new Vector3(...line.point_b));
  }
  return points;
}

export class Bodies {
  /** space: {run, root, up, size, isLarge}; bent: bodies that bend and are drawn by another */
  constructor(space, bent) {
    const { run, root, isLarge } = space;
    Object.assign(this, { run, root, space });
    this.units = new Units(isLarge);
    this.world = new Group();
    root.add(this.world);
    this.list = Array.from({ length: run.motion.bodies }, (_, i) => {
      const group = new Group();
      root.add(group);
      return { group, color: bodyColor(i), meshes: [], holds: holdPoints(run.scene, i), box: new Box3() };
    });
    this.planes = [];
    for (const shape of run.scene.shapes) this.addShape(shape);
    this.list.forEach((body, i) => {
      if (!bent.has(i)) this.addSticks(i);
      this.bound(body);
    });
    this.batches = isLarge ? new Batches(root, this.list.flatMap(({ group, meshes }, body) => meshes.map((mesh) => ({ mesh, group, body })))) : null;
    this.turn = new Quaternion();
  }

  /** Whether a shape is a plane across the up direction. */
  isFloor(shape) {
    if (shape.kind !== "plane") return false;
    const q = new Quaternion(shape.pose[4], shape.pose[5], shape.pose[6], shape.pose[3]);
    return Z.clone().applyQuaternion(q).dot(this.space.up) > 0.999;
  }

  addShape(shape) {
    // a floor goes on beyond the machine, a wall must not hide it
    const unit = this.units.of(shape, this.isFloor(shape) ? 3 * this.space.size : 0.6 * this.space.size);
    if (!unit) return;
    const isPlane = shape.kind === "plane";
    const color = shape.color ? new Color(shape.color) : shape.body < 0 ? 0x9aa4b2 : this.list[shape.body].color;
    const material = isPlane
      ? new MeshBasicMaterial({ color, side: DoubleSide, transparent: true, opacity: 0.35, depthWrite: false })
      : new MeshLambertMaterial({ color, side: shape.kind === "mesh" ? DoubleSide : FrontSide });
    const mesh = new Mesh(unit.geometry, material);
    mesh.scale.set(...unit.scale);
    mesh.castShadow = mesh.receiveShadow = !isPlane;
    place(mesh, shape.pose);
    if (["box", "hull", "cylinder"].includes(shape.kind) && !this.space.isLarge) {
      const edges = new LineSegments(new EdgesGeometry(unit.geometry, 25), new LineBasicMaterial({ color: 0x000000, transparent: true, opacity: 0.22 }));
      edges.raycast = () => {};
      mesh.add(edges);
    }
    if (isPlane) this.planes.push(mesh);
    this.add(mesh, shape.body);
  }

  add(mesh, body) {
    mesh.userData.body = body;
    (body >= 0 ? this.list[body].group : this.world).add(mesh);
    if (body >= 0) this.list[body].meshes.push(mesh);
  }

  /** Rods from the centre of mass to where a body is held, unless its shapes reach there. */
  addSticks(index) {
    const { run: { scene }, space } = this;
    const com = new Vector3(...(scene.bodies[index]?.com ?? [0, 0, 0]));
    const body = this.list[index], points = [...body.holds];
    if (body.meshes.length) {
      const box = new Box3().setFromObject(body.group).expandByScalar(0.01 * space.size);
      if (points.every((point) => box.containsPoint(point))) return;
      for (const shape of scene.shapes) if (shape.body === index) points.push(new Vector3(...shape.pose.slice(0, 3)));
    }
    const material = new MeshLambertMaterial({ color: body.color });
    const add = (geometry, sx, sy, sz, at, towards) => {
      const mesh = new Mesh(geometry, material);
      mesh.scale.set(sx, sy, sz);
      mesh.position.copy(at);
      if (towards) mesh.quaternion.setFromUnitVectors(Z, towards);
      mesh.castShadow = mesh.receiveShadow = true;
      this.add(mesh, index);
    };
    const r = 0.009 * space.size, ball = 1.4 * r;
    add(this.units.sphere, ball, ball, ball, com);
    for (const point of points) {
      const length = point.distanceTo(com);
      if (length < 0.1 * r) continue;
      const towards = point.clone().sub(com).divideScalar(length);
      add(this.units.cylinder, 0.7 * r, 0.7 * r, length, point.clone().add(com).multiplyScalar(0.5), towards);
    }
  }

  /** Box around a body in its own frame. */
  bound(body) {
    body.box.setFromObject(body.group);
    for (const point of body.holds) body.box.expandByPoint(point);
  }

  /** Box around all that moves, over some frames; what flew farther than `limit` in a run that broke down is left out. */
  boundMotion(limit) {
    const { motion, scene } = this.run;
    const box = new Box3(), part = new Box3();
    const step = Math.max(1, Math.floor(motion.frames / 40));
    for (let f = 0; f < motion.frames; f += step) {
      this.place(f, f, 0);
      for (const { group, box: own } of this.list) {
        if (own.isEmpty() || Math.max(...group.position.toArray().map(Math.abs)) > limit) continue;
        group.updateMatrix();
        box.union(part.copy(own).applyMatrix4(group.matrix));
      }
    }
    for (const node of this.world.children) if (!this.planes.includes(node)) box.union(part.setFromObject(node));
    for (const { bodies, frame_a: point } of scene.joints) if (bodies[0] < 0) box.expandByPoint(new Vector3(...point.slice(0, 3)));
    for (const { bodies, point_a: point } of scene.lines) if (bodies[0] < 0) box.expandByPoint(new Vector3(...point));
    return box;
  }

  /** Bodies between frames f and g. */
  place(f, g, s) {
    const { motion } = this.run;
    const p = motion.poses, n = motion.bodies, q = this.turn;
    for (let i = 0; i < n; i++) {
      const a = (f * n + i) * 7, b = (g * n + i) * 7;
      const { position, quaternion } = this.list[i].group;
      position.set(p[a] + s * (p[b] - p[a]), p[a + 1] + s * (p[b + 1] - p[a + 1]), p[a + 2] + s * (p[b + 2] - p[a + 2]));
      quaternion.set(p[a + 4], p[a + 5], p[a + 6], p[a + 3]).normalize();
      if (s > 0) quaternion.slerp(q.set(p[b + 4], p[b + 5], p[b + 6], p[b + 3]).normalize(), s);
    }
  }

  /** After the last change of places: what is drawn in batches follows. */
  finish() {
    this.batches?.update();
  }

  /** A point of a body at a frame. */
  pointAt(frame, body, point, target = new Vector3()) {
    target.set(point[0], point[1], point[2]);
    if (body < 0) return target;
    const { motion } = this.run, at = (frame * motion.bodies + body) * 7, p = motion.poses;
    target.applyQuaternion(this.turn.set(p[at + 4], p[at + 5], p[at + 6], p[at + 3]).normalize());
    return target.set(target.x + p[at], target.y + p[at + 1], target.z + p[at + 2]);
  }

  /** From the frame of a body, as it is drawn now, to the world. */
  toWorld(body, target) {
    if (body < 0) return target;
    const { quaternion, position } = this.list[body].group;
    return target.applyQuaternion(quaternion).add(position);
  }

  setSolid(isSolid) {
    for (const { meshes } of this.list) for (const mesh of meshes) mesh.material.wireframe = !isSolid;
    for (const node of this.world.children) node.material.wireframe = !isSolid;
    this.batches?.setSolid(isSolid);
  }

  select(index) {
    this.list.forEach(({ meshes }, i) => {
      for (const mesh of meshes) mesh.material.emissive?.copy(i === index ? SELECTED : PLAIN);
    });
    this.batches?.select(index);
  }

  /** Body under a ray, or -1. */
  pick(ray) {
    ray.params.Line.threshold = ray.params.Points.threshold = 0.01 * this.space.size;
    if (this.batches) return this.batches.pick(ray);
    const hit = ray.intersectObjects(this.list.flatMap((body) => body.meshes), false)[0];
    return hit ? hit.object.userData.body : -1;
  }

  /** The nearest point under a ray: {body, point}, body -1 for the ground; null beside everything. */
  pickPoint(ray) {
    const meshes = this.batches ? this.batches.list.map(({ all }) => all) : this.list.flatMap((body) => body.meshes);
    if (this.batches) meshes.forEach((all) => all.computeBoundingSphere());
    const hit = ray.intersectObjects([...meshes, ...this.world.children], false)[0];
    if (!hit) return null;
    const batch = this.batches?.list.find(({ all }) => all === hit.object);
    return { body: batch ? batch.parts[hit.instanceId].body : (hit.object.userData.body ?? -1), point: hit.point };
  }
}
