// The machine in 3-D: bodies with their shapes, joints, lines that extend, contact points and forces.
// SPDX-License-Identifier: Apache-2.0
import {
  AmbientLight, AxesHelper, BoxGeometry, BufferAttribute, BufferGeometry, CapsuleGeometry, Color, ConeGeometry, CylinderGeometry,
  DirectionalLight, DoubleSide, EdgesGeometry, FrontSide, Group, HemisphereLight, InstancedMesh, Line, LineBasicMaterial, LineSegments,
  Matrix4, Mesh, MeshBasicMaterial, MeshLambertMaterial, PerspectiveCamera, PlaneGeometry, Quaternion, Raycaster, Scene, ShadowMaterial,
  SphereGeometry, TubeGeometry, Curve, Vector2, Vector3, WebGLRenderer, GridHelper, PCFSoftShadowMap, Box3,
} from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { css } from "./dom.js";
import { findTime } from "./data.js";

const MOST_CONTACTS = 200;
const Z = new Vector3(0, 0, 1), Y = new Vector3(0, 1, 0);
const HUES = [212, 28, 158, 350, 262, 190, 322, 82, 46, 234];

function bodyColor(i) {
  const hue = HUES[i % HUES.length];
  return new Color().setHSL(hue / 360, 0.58, 0.5 - 0.06 * (Math.floor(i / HUES.length) % 3));
}

/** [x, y, z, w, x, y, z] onto an object. */
function place(object, pose) {
  object.position.set(pose[0], pose[1], pose[2]);
  object.quaternion.set(pose[4], pose[5], pose[6], pose[3]);
}

class Helix extends Curve {
  getPoint(t, target = new Vector3()) {
    const turns = 8, r = t < 0.06 || t > 0.94 ? 0 : 1;
    return target.set(r * Math.cos(2 * Math.PI * turns * t), r * Math.sin(2 * Math.PI * turns * t), t);
  }
}

/** Whether the browser draws 3-D with the processor; throws where it does not at all. */
function hasSoftwareWebGL() {
  const gl = document.createElement("canvas").getContext("webgl2");
  if (!gl) throw new Error("no WebGL 2");
  const info = gl.getExtension("WEBGL_debug_renderer_info");
  const name = String(info ? gl.getParameter(info.UNMASKED_RENDERER_WEBGL) : gl.getParameter(gl.RENDERER));
  gl.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|software|basic render/i.test(name);
}

// ---------------------------------------------------------------------------- geometry of shapes

/** Cylinders and capsules have their axis along z here, along y in three.js. */
function alongZ(geometry) {
  return geometry.rotateX(Math.PI / 2);
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

function shapeGeometry(shape, planeSize, isLarge) {
  const s = shape.size;
  switch (shape.kind) {
    case "box":
      return new BoxGeometry(s[0], s[1], s[2]);
    case "sphere":
      return new SphereGeometry(s[0], isLarge ? 16 : 32, isLarge ? 10 : 20);
    case "cylinder":
      return alongZ(new CylinderGeometry(s[0], s[0], s[1], isLarge ? 16 : 32));
    case "capsule":
      return alongZ(new CapsuleGeometry(s[0], s[1], isLarge ? 4 : 8, isLarge ? 12 : 24));
    case "plane":
      return new PlaneGeometry(planeSize, planeSize);
    case "hull":
    case "mesh":
      return surface(shape.vertices, shape.triangles);
    case "height field":
      return heightsGeometry(shape);
    case "bounds": {
      const size = shape.upper.map((x, i) => x - shape.lower[i]);
      return new BoxGeometry(...size).translate(...shape.lower.map((x, i) => x + size[i] / 2));
    }
    default:
      return null;
  }
}

// ---------------------------------------------------------------------------- stage

export class Stage {
  /** Throws where there is no WebGL. */
  constructor(holder, run, clock) {
    this.holder = holder;
    this.run = run;
    this.clock = clock;
    this.show = { shapes: true, joints: true, forces: true, trail: true };
    this.selected = -1;
    this.follow = -1;
    this.onSelect = () => {};
    // without a graphics card every pixel counts: no smoothing of edges, and no shadows in large scenes
    const isSlow = hasSoftwareWebGL();
    this.isLarge = run.motion.bodies > 100;
    this.renderer = new WebGLRenderer({ antialias: !(isSlow && this.isLarge) });
    this.renderer.setPixelRatio(isSlow ? 1 : Math.min(2, window.devicePixelRatio || 1));
    this.renderer.shadowMap.enabled = !this.isLarge || !isSlow;
    this.renderer.shadowMap.type = PCFSoftShadowMap;
    holder.append(this.renderer.domElement);
    this.renderer.domElement.tabIndex = 0;
    this.renderer.domElement.setAttribute("aria-label", "the machine in 3-D");
    this.scene = new Scene();
    this.camera = new PerspectiveCamera(35, 1, 0.01, 1000);
    this.findUp();
    this.measure();
    this.addLights();
    this.addBodies();
    this.tighten();
    this.addJoints();
    this.addGrid();
    this.addLines();
    this.addContacts();
    this.addTrail();
    this.controls = new OrbitControls(this.camera, this.renderer.domElement);
    this.controls.addEventListener("change", () => this.invalidate());
    this.controls.addEventListener("start", () => (this.isMoved = true)); // by the user
    this.fit("iso");
    this.pick();
    clock.on("time", () => this.update());
    new ResizeObserver(() => this.resize()).observe(holder);
    this.restyle();
    this.resize();
    this.update();
  }

  findUp() {
    const g = new Vector3(...(this.run.scene.gravity ?? [0, 0, -1]));
    this.up = g.lengthSq() > 0 ? g.normalize().negate() : Z.clone();
    this.camera.up.copy(this.up);
  }

  /** Box around everything that moves, over all frames, and the size of the scene. */
  measure() {
    const { motion, scene } = this.run;
    const box = new Box3();
    // what flew away in a run that broke down must not shrink the rest to a point
    let farthest = 1;
    for (let i = 0; i < 7 * motion.bodies; i++) if (i % 7 < 3 && Number.isFinite(motion.poses[i])) farthest = Math.max(farthest, Math.abs(motion.poses[i]));
    this.limit = 1000 * farthest;
    for (let body = 0; body < motion.bodies; body++) {
      const r = motion.ranges.subarray(6 * body, 6 * body + 6).map((x) => Math.min(this.limit, Math.max(-this.limit, x)));
      const reach = this.reachOf(body);
      box.expandByPoint(new Vector3(r[0] - reach, r[2] - reach, r[4] - reach));
      box.expandByPoint(new Vector3(r[1] + reach, r[3] + reach, r[5] + reach));
    }
    for (const joint of scene.joints) {
      if (joint.bodies[0] < 0) box.expandByPoint(new Vector3(...joint.frame_a));
    }
    for (const line of scene.lines) {
      if (line.bodies[0] < 0) box.expandByPoint(new Vector3(...line.point_a));
    }
    if (box.isEmpty()) box.set(new Vector3(-1, -1, -1), new Vector3(1, 1, 1));
    this.box = box;
    this.size = Math.max(1e-3, box.getSize(new Vector3()).length());
  }

  /** How far a body's shapes and joints reach from its frame. */
  reachOf(body) {
    const { scene } = this.run;
    let reach = 0;
    const add = (p, extra = 0) => (reach = Math.max(reach, Math.hypot(p[0], p[1], p[2]) + extra));
    for (const shape of scene.shapes) {
      if (shape.body !== body || shape.kind === "plane") continue;
      let extent = 0;
      if (shape.vertices) for (let i = 0; i < shape.vertices.length; i += 3) extent = Math.max(extent, Math.hypot(...shape.vertices.slice(i, i + 3)));
      else if (shape.kind === "box") extent = Math.hypot(...shape.size) / 2;
      else if (shape.size) extent = shape.size[0] + (shape.size[1] ?? 0) / 2;
      add(shape.pose, extent);
    }
    for (const joint of scene.joints) {
      if (joint.bodies[0] === body) add(joint.frame_a);
      if (joint.bodies[1] === body) add(joint.frame_b);
    }
    for (const line of scene.lines) {
      if (line.bodies[0] === body) add(line.point_a);
      if (line.bodies[1] === body) add(line.point_b);
    }
    return reach;
  }

  addLights() {
    this.scene.add(new AmbientLight(0xffffff, 0.35));
    this.sky = new HemisphereLight(0xffffff, 0x8899aa, 0.95);
    this.sky.position.copy(this.up);
    const sun = new DirectionalLight(0xffffff, 1.9);
    const centre = this.box.getCenter(new Vector3());
    const [right, ahead] = this.sides();
    sun.position.copy(centre).addScaledVector(this.up, 1.2 * this.size).addScaledVector(right, 0.5 * this.size).addScaledVector(ahead, -0.7 * this.size);
    sun.target.position.copy(centre);
    sun.castShadow = true;
    sun.shadow.mapSize.set(2048, 2048);
    const c = sun.shadow.camera, half = 0.75 * this.size;
    Object.assign(c, { left: -half, right: half, top: half, bottom: -half, near: 0.01 * this.size, far: 4 * this.size });
    sun.shadow.bias = -0.0005;
    sun.shadow.normalBias = 0.004 * this.size;
    this.scene.add(this.sky, sun, sun.target);
  }

  /** Two directions across the up direction. */
  sides() {
    const right = Math.abs(this.up.y) < 0.9 ? new Vector3().crossVectors(Y, this.up).normalize() : new Vector3(1, 0, 0);
    return [right, new Vector3().crossVectors(this.up, right)];
  }

  /** The box again, from what is drawn in some frames: tighter than what joints and sizes bound. */
  tighten() {
    const { motion } = this.run;
    const box = new Box3(), part = new Box3();
    const step = Math.max(1, Math.floor(motion.frames / 24));
    for (let f = 0; f < motion.frames; f += step) {
      this.placeBodies(f, f, 0);
      for (const { group } of this.bodies) {
        if (Math.max(...group.position.toArray().map(Math.abs)) > this.limit) continue;
        group.updateMatrixWorld();
        part.setFromObject(group);
        if (!part.isEmpty()) box.union(part);
      }
    }
    for (const node of this.world.children) {
      if (!node.userData.isPlane) box.union(part.setFromObject(node));
    }
    const { joints, lines } = this.run.scene;
    for (const { bodies, frame_a: point } of joints) if (bodies[0] < 0 && !box.isEmpty()) box.expandByPoint(new Vector3(...point.slice(0, 3)));
    for (const { bodies, point_a: point } of lines) if (bodies[0] < 0 && !box.isEmpty()) box.expandByPoint(new Vector3(...point));
    if (!box.isEmpty()) this.box = box;
    this.size = Math.max(1e-3, this.box.getSize(new Vector3()).length());
  }

  // -------------------------------------------------------------------------- bodies

  addBodies() {
    const { scene, motion } = this.run;
    this.world = new Group();
    this.scene.add(this.world);
    this.bodies = Array.from({ length: motion.bodies }, (_, i) => {
      const group = new Group();
      group.userData.body = i;
      this.scene.add(group);
      return { group, color: bodyColor(i), meshes: [] };
    });
    this.shapeNodes = [];
    const shown = new Set();
    for (const shape of scene.shapes) {
      // a floor goes on beyond the machine, a wall must not hide it
      const geometry = shapeGeometry(shape, this.isFloor(shape) ? 3 * this.size : 0.6 * this.size, this.isLarge);
      if (!geometry) continue;
      const node = this.shapeMesh(shape, geometry);
      place(node, shape.pose);
      (shape.body >= 0 ? this.bodies[shape.body].group : this.world).add(node);
      shown.add(shape.body);
      this.shapeNodes.push(node);
    }
    this.hasPlane = scene.shapes.some((s) => s.kind === "plane");
    this.bodies.forEach((body, i) => this.addSticks(i, shown.has(i)));
  }

  /** Whether a shape is a plane across the up direction. */
  isFloor(shape) {
    if (shape.kind !== "plane") return false;
    const q = new Quaternion(shape.pose[4], shape.pose[5], shape.pose[6], shape.pose[3]);
    return Z.clone().applyQuaternion(q).dot(this.up) > 0.999;
  }

  shapeMesh(shape, geometry) {
    const isWorld = shape.body < 0;
    const color = isWorld ? new Color(0x9aa4b2) : this.bodies[shape.body].color;
    const material = new MeshLambertMaterial({ color, side: shape.kind === "plane" || shape.kind === "mesh" ? DoubleSide : FrontSide });
    if (shape.kind === "plane") {
      material.transparent = true;
      material.opacity = 0.35;
      material.depthWrite = false;
    }
    const mesh = new Mesh(geometry, material);
    mesh.castShadow = shape.kind !== "plane";
    mesh.receiveShadow = shape.kind !== "plane";
    mesh.userData.body = shape.body;
    mesh.userData.isPlane = shape.kind === "plane";
    if (!isWorld) this.bodies[shape.body].meshes.push(mesh);
    if (["box", "hull", "cylinder"].includes(shape.kind) && !this.isLarge) {
      const edges = new LineSegments(new EdgesGeometry(geometry, 25), new LineBasicMaterial({ color: 0x000000, transparent: true, opacity: 0.22 }));
      edges.raycast = () => {};
      mesh.add(edges);
    }
    return mesh;
  }

  /** Rods from the centre of mass to where a body is held, unless its shapes reach there. */
  addSticks(index, hasShapes) {
    const { scene } = this.run;
    const com = new Vector3(...(scene.bodies[index]?.com ?? [0, 0, 0]));
    const points = [];
    for (const joint of scene.joints) {
      if (joint.bodies[0] === index) points.push(new Vector3(...joint.frame_a.slice(0, 3)));
      if (joint.bodies[1] === index) points.push(new Vector3(...joint.frame_b.slice(0, 3)));
    }
    for (const line of scene.lines) {
      if (line.bodies[0] === index) points.push(new Vector3(...line.point_a));
      if (line.bodies[1] === index) points.push(new Vector3(...line.point_b));
    }
    const body = this.bodies[index];
    if (hasShapes) {
      const box = new Box3().setFromObject(body.group).expandByScalar(0.01 * this.size);
      if (points.every((point) => box.containsPoint(point))) return;
      for (const shape of scene.shapes) if (shape.body === index) points.push(new Vector3(...shape.pose.slice(0, 3)));
    }
    const material = new MeshLambertMaterial({ color: body.color });
    const add = (mesh) => {
      mesh.castShadow = mesh.receiveShadow = true;
      mesh.userData.body = index;
      body.group.add(mesh);
      body.meshes.push(mesh);
      this.shapeNodes.push(mesh);
    };
    const r = 0.009 * this.size;
    const ball = new Mesh(new SphereGeometry(1.5 * r, 24, 16), material);
    ball.position.copy(com);
    add(ball);
    for (const point of points) {
      const length = point.distanceTo(com);
      if (length < 0.1 * r) continue;
      const rod = new Mesh(alongZ(new CylinderGeometry(0.7 * r, 0.7 * r, length, 16)), material);
      rod.position.copy(point).add(com).multiplyScalar(0.5);
      rod.quaternion.setFromUnitVectors(Z, point.clone().sub(com).normalize());
      add(rod);
    }
  }

  addGrid() {
    const extent = this.box.getSize(new Vector3());
    const span = 2.2 * Math.max(extent.x, extent.y, extent.z, 1e-3);
    const step = 10 ** Math.floor(Math.log10(span / 4));
    const cell = span / step > 40 ? 5 * step : span / step > 20 ? 2 * step : step;
    const n = 2 * Math.ceil(span / cell / 2);
    this.grid = new GridHelper(n * cell, n);
    this.grid.material.transparent = true;
    this.grid.quaternion.setFromUnitVectors(Y, this.up);
    const centre = this.box.getCenter(new Vector3());
    const lowest = this.floorLevel();
    // on whole cells, at the height of the floor
    const [right, ahead] = this.sides();
    const snap = (v) => cell * Math.round(centre.dot(v) / cell);
    this.grid.position.set(0, 0, 0).addScaledVector(right, snap(right)).addScaledVector(ahead, snap(ahead)).addScaledVector(this.up, lowest);
    this.grid.raycast = () => {};
    this.scene.add(this.grid);
    const shade = new Mesh(new PlaneGeometry(n * cell, n * cell), new ShadowMaterial({ opacity: 0.2 }));
    shade.quaternion.setFromUnitVectors(Z, this.up);
    shade.position.copy(this.grid.position).addScaledVector(this.up, 0.0004 * this.size);
    shade.receiveShadow = true;
    shade.raycast = () => {};
    this.scene.add(shade);
  }

  /** Height of the floor plane if there is one, else the lowest point. */
  floorLevel() {
    for (const shape of this.run.scene.shapes) {
      if (shape.body < 0 && this.isFloor(shape)) return new Vector3(...shape.pose.slice(0, 3)).dot(this.up) + 0.0005 * this.size;
    }
    const corners = [this.box.min, this.box.max];
    let lowest = Infinity;
    for (let i = 0; i < 8; i++) {
      lowest = Math.min(lowest, new Vector3(corners[i & 1].x, corners[(i >> 1) & 1].y, corners[(i >> 2) & 1].z).dot(this.up));
    }
    return lowest;
  }

  // -------------------------------------------------------------------------- joints and lines

  addJoints() {
    this.jointNodes = [];
    this.ropes = [];
    const r = 0.012 * this.size;
    const material = new MeshLambertMaterial({ color: 0x39424e });
    const kinds = {
      revolute: () => alongZ(new CylinderGeometry(r, r, 3.4 * r, 20)),
      cylindrical: () => alongZ(new CylinderGeometry(r, r, 5 * r, 20)),
      screw: () => alongZ(new CylinderGeometry(r, r, 5 * r, 8)),
      prismatic: () => new BoxGeometry(1.8 * r, 1.8 * r, 4 * r),
      planar: () => new BoxGeometry(4 * r, 4 * r, 0.6 * r),
      fixed: () => new BoxGeometry(1.8 * r, 1.8 * r, 1.8 * r),
    };
    for (const joint of this.run.scene.joints) {
      const [a, b] = joint.bodies;
      if (joint.type === "distance") {
        this.ropes.push({ a, b, pa: joint.frame_a, pb: joint.frame_b });
        continue;
      }
      const geometry = (kinds[joint.type] ?? (() => new SphereGeometry(1.25 * r, 20, 14)))();
      const mesh = new Mesh(geometry, material);
      mesh.userData.joint = joint.name;
      place(mesh, joint.frame_a);
      (a >= 0 ? this.bodies[a].group : this.world).add(mesh);
      this.jointNodes.push(mesh);
    }
  }

  /** Actuators as barrel and rod, springs as coils, distances as ropes. */
  addLines() {
    const { scene } = this.run;
    const r = 0.011 * this.size;
    const barrelMaterial = new MeshLambertMaterial({ color: 0xd9a400 });
    const rodMaterial = new MeshLambertMaterial({ color: 0xc9d1da });
    const springMaterial = new MeshLambertMaterial({ color: 0x6b7f99 });
    const ropeMaterial = new MeshLambertMaterial({ color: 0x444b55 });
    this.lines = [];
    // a line that is bonded to another subsystem gets a frame where it acts: the interface
    const bonds = new Set(this.run.signals.map((s) => /^bond\.([^.]+)\./.exec(s.name)?.[1]).filter(Boolean));
    const isBonded = (name) => bonds.has(name.split(".").at(-1)) || bonds.has(name.replaceAll(".", "-"));
    for (const line of scene.lines) {
      const ends = { a: line.bodies[0], b: line.bodies[1], pa: line.point_a, pb: line.point_b };
      const group = new Group();
      if (line.kind === "spring") {
        const coil = new Mesh(new TubeGeometry(new Helix(), 160, 0.16, 5), springMaterial);
        coil.scale.set(1.1 * r, 1.1 * r, 1);
        group.add(coil);
        this.lines.push({ ...ends, group, coil });
      } else {
        const [shortest] = this.lengthRange(ends);
        const barrelLength = 0.72 * shortest;
        const barrel = new Mesh(alongZ(new CylinderGeometry(r, r, barrelLength, 20)).translate(0, 0, barrelLength / 2), barrelMaterial);
        const rod = new Mesh(alongZ(new CylinderGeometry(0.5 * r, 0.5 * r, 1, 16)).translate(0, 0, 0.5), rodMaterial);
        group.add(barrel, rod);
        this.lines.push({ ...ends, group, rod });
      }
      group.traverse((node) => (node.castShadow = true));
      this.scene.add(group);
      if (isBonded(line.name)) {
        const frame = new AxesHelper(0.07 * this.size);
        frame.raycast = () => {};
        group.add(frame);
        this.lines.at(-1).frame = frame;
        this.jointNodes.push(frame);
      }
    }
    for (const rope of this.ropes) {
      const group = new Group();
      const rod = new Mesh(alongZ(new CylinderGeometry(0.25 * r, 0.25 * r, 1, 8)).translate(0, 0, 0.5), ropeMaterial);
      group.add(rod);
      this.scene.add(group);
      this.lines.push({ ...rope, group, rod });
    }
  }

  /** A point of a body at a frame. */
  pointAt(frame, body, point, target = new Vector3()) {
    target.set(point[0], point[1], point[2]);
    if (body < 0) return target;
    const { motion } = this.run;
    const p = motion.poses.subarray((frame * motion.bodies + body) * 7, (frame * motion.bodies + body) * 7 + 7);
    return target.applyQuaternion(new Quaternion(p[4], p[5], p[6], p[3]).normalize()).add(new Vector3(p[0], p[1], p[2]));
  }

  lengthRange({ a, b, pa, pb }) {
    let lo = Infinity, hi = 0;
    const step = Math.max(1, Math.floor(this.run.motion.frames / 200));
    for (let f = 0; f < this.run.motion.frames; f += step) {
      const length = this.pointAt(f, a, pa).distanceTo(this.pointAt(f, b, pb));
      lo = Math.min(lo, length);
      hi = Math.max(hi, length);
    }
    return [lo, hi];
  }

  // -------------------------------------------------------------------------- contacts and trail

  addContacts() {
    const { motion } = this.run;
    let largest = 0;
    for (let i = 0; i < motion.contacts.length; i += 6) {
      largest = Math.max(largest, Math.hypot(motion.contacts[i + 3], motion.contacts[i + 4], motion.contacts[i + 5]));
    }
    this.largestForce = largest;
    const bodyOf = new Map(this.run.scene.shapes.map((shape) => [shape.name, shape.body]));
    this.isWorldSecond = (this.run.scene.pairs ?? []).map(([, second]) => bodyOf.get(second) === -1);
    const r = 0.006 * this.size;
    const material = () => new MeshBasicMaterial({ depthTest: false, transparent: true });
    this.dots = new InstancedMesh(new SphereGeometry(r, 12, 8), material(), MOST_CONTACTS);
    this.shafts = new InstancedMesh(alongZ(new CylinderGeometry(0.3 * r, 0.3 * r, 1, 8)).translate(0, 0, 0.5), material(), MOST_CONTACTS);
    this.heads = new InstancedMesh(alongZ(new ConeGeometry(0.9 * r, 2.6 * r, 12)), material(), MOST_CONTACTS);
    for (const mesh of [this.dots, this.shafts, this.heads]) {
      mesh.frustumCulled = false;
      mesh.count = 0;
      mesh.renderOrder = 2;
      mesh.raycast = () => {};
      this.scene.add(mesh);
    }
  }

  addTrail() {
    this.trail = new Line(new BufferGeometry(), new LineBasicMaterial({ transparent: true, opacity: 0.9 }));
    this.trail.visible = false;
    this.trail.frustumCulled = false;
    this.trail.raycast = () => {};
    this.scene.add(this.trail);
  }

  updateTrail() {
    const { motion, scene } = this.run;
    this.trail.visible = this.show.trail && this.selected >= 0;
    if (!this.trail.visible) return;
    const com = scene.bodies[this.selected].com;
    const positions = new Float32Array(3 * motion.frames);
    const point = new Vector3();
    for (let f = 0; f < motion.frames; f++) this.pointAt(f, this.selected, com, point).toArray(positions, 3 * f);
    this.trail.geometry.dispose();
    this.trail.geometry = new BufferGeometry().setAttribute("position", new BufferAttribute(positions, 3));
    this.trail.material.color = new Color(css("--accent"));
  }

  updateContacts(frame) {
    const { contactStart, contacts, contactPairs } = this.run.motion;
    const from = contactStart[frame];
    const n = this.show.forces ? Math.min(MOST_CONTACTS, contactStart[frame + 1] - from) : 0;
    const matrix = new Matrix4(), at = new Vector3(), force = new Vector3(), turn = new Quaternion(), one = new Vector3(1, 1, 1);
    for (let i = 0; i < n; i++) {
      const c = contacts.subarray(6 * (from + i), 6 * (from + i) + 6);
      at.set(c[0], c[1], c[2]);
      force.set(c[3], c[4], c[5]);
      if (this.isWorldSecond[contactPairs[from + i] >> 2]) force.negate(); // show what the machine feels, not the ground
      const color = contactPairs[from + i] % 4 === 2 ? this.slidingColor : this.stickingColor;
      this.dots.setMatrixAt(i, matrix.makeTranslation(at));
      const strength = force.length();
      // square root: a resting weight stays visible beside an impact
      const length = 0.22 * this.size * Math.sqrt(strength / this.largestForce);
      turn.setFromUnitVectors(Z, strength > 0 ? force.divideScalar(strength) : Z);
      this.shafts.setMatrixAt(i, matrix.compose(at, turn, new Vector3(1, 1, length)));
      this.heads.setMatrixAt(i, matrix.compose(at.addScaledVector(force, length), turn, one));
      for (const mesh of [this.dots, this.shafts, this.heads]) mesh.setColorAt(i, color);
    }
    for (const mesh of [this.dots, this.shafts, this.heads]) {
      mesh.count = n;
      mesh.instanceMatrix.needsUpdate = true;
      if (mesh.instanceColor) mesh.instanceColor.needsUpdate = true;
    }
  }

  // -------------------------------------------------------------------------- time

  /** Bodies between frames f and g. */
  placeBodies(f, g, s) {
    const { motion } = this.run;
    const p = motion.poses, q = (this.turn ??= new Quaternion());
    for (let i = 0; i < motion.bodies; i++) {
      const a = (f * motion.bodies + i) * 7, b = (g * motion.bodies + i) * 7;
      const group = this.bodies[i].group;
      group.position.set(p[a] + s * (p[b] - p[a]), p[a + 1] + s * (p[b + 1] - p[a + 1]), p[a + 2] + s * (p[b + 2] - p[a + 2]));
      group.quaternion.set(p[a + 4], p[a + 5], p[a + 6], p[a + 3]).normalize();
      if (s > 0) group.quaternion.slerp(q.set(p[b + 4], p[b + 5], p[b + 6], p[b + 3]).normalize(), s);
    }
  }

  update() {
    const { motion } = this.run;
    const t = this.clock.time;
    const f = findTime(motion.time, t), g = Math.min(f + 1, motion.frames - 1);
    const width = motion.time[g] - motion.time[f];
    const s = width > 0 ? Math.min(1, Math.max(0, (t - motion.time[f]) / width)) : 0;
    const before = this.follow >= 0 ? this.bodies[this.follow].group.position.clone() : null;
    this.placeBodies(f, g, s);
    if (before && this.hasFollowed) {
      const shift = this.bodies[this.follow].group.position.clone().sub(before);
      this.camera.position.add(shift);
      this.controls.target.add(shift);
    }
    this.hasFollowed = this.follow >= 0;
    this.updateLines();
    this.updateContacts(s < 0.5 ? f : g);
    this.invalidate();
  }

  endPoint(body, point, target) {
    target.set(point[0], point[1], point[2]);
    if (body >= 0) target.applyQuaternion(this.bodies[body].group.quaternion).add(this.bodies[body].group.position);
    return target;
  }

  updateLines() {
    const a = new Vector3(), b = new Vector3();
    for (const line of this.lines) {
      this.endPoint(line.a, line.pa, a);
      this.endPoint(line.b, line.pb, b);
      line.group.position.copy(a);
      const length = b.sub(a).length();
      if (length > 0) line.group.quaternion.setFromUnitVectors(Z, b.divideScalar(length));
      if (line.rod) line.rod.scale.z = Math.max(length, 1e-9);
      if (line.frame) line.frame.position.z = length;
      if (line.coil) line.coil.scale.z = Math.max(length, 1e-9);
    }
  }

  // -------------------------------------------------------------------------- looking

  fit(view) {
    this.view = view;
    const centre = this.box.getCenter(new Vector3());
    const [right, ahead] = this.sides();
    const directions = {
      iso: new Vector3().addScaledVector(right, 0.55).addScaledVector(ahead, -0.95).addScaledVector(this.up, 0.5),
      front: ahead.clone().negate(),
      side: right.clone(),
      top: this.up.clone().addScaledVector(ahead, -0.001),
    };
    this.isMoved = this.isMoved && !directions[view];
    const direction = (directions[view] ?? this.camera.position.clone().sub(this.controls.target)).normalize();
    const distance = this.distanceFor(direction, centre);
    this.camera.position.copy(centre).addScaledVector(direction, distance);
    this.camera.near = 0.002 * distance;
    this.camera.far = 20 * distance;
    this.camera.updateProjectionMatrix();
    this.controls.target.copy(centre);
    this.controls.update();
    this.invalidate();
  }

  /** How far the camera must be along a direction to see all corners of the box. */
  distanceFor(direction, centre) {
    const across = new Vector3().crossVectors(this.camera.up, direction).normalize();
    const upwards = new Vector3().crossVectors(direction, across);
    const tall = 0.88 * Math.tan(((this.camera.fov / 2) * Math.PI) / 180), wide = tall * this.camera.aspect;
    let distance = 1e-3;
    for (let i = 0; i < 8; i++) {
      const corner = new Vector3(i & 1 ? this.box.max.x : this.box.min.x, i & 2 ? this.box.max.y : this.box.min.y, i & 4 ? this.box.max.z : this.box.min.z).sub(centre);
      const near = corner.dot(direction);
      distance = Math.max(distance, near + Math.abs(corner.dot(upwards)) / tall, near + Math.abs(corner.dot(across)) / wide);
    }
    return distance;
  }

  setFollow(body) {
    this.follow = body;
    this.hasFollowed = false;
    if (body >= 0) {
      const shift = this.bodies[body].group.position.clone().sub(this.controls.target);
      this.camera.position.add(shift);
      this.controls.target.add(shift);
      this.controls.update();
      this.hasFollowed = true;
    }
    this.invalidate();
  }

  setShown(what, isShown) {
    this.show[what] = isShown;
    for (const node of this.shapeNodes) node.material.wireframe = !this.show.shapes;
    for (const node of this.jointNodes) node.visible = this.show.joints;
    this.updateTrail();
    this.update();
  }

  select(body) {
    this.selected = body;
    this.bodies.forEach(({ meshes }, i) => {
      for (const mesh of meshes) mesh.material.emissive.set(i === body ? 0x664400 : 0x000000);
    });
    this.updateTrail();
    this.invalidate();
    this.onSelect(body);
  }

  /** A click that is no drag selects the body under it. */
  pick() {
    const canvas = this.renderer.domElement, ray = new Raycaster();
    let down = null;
    canvas.addEventListener("pointerdown", (event) => (down = [event.clientX, event.clientY]));
    canvas.addEventListener("pointerup", (event) => {
      if (!down || Math.hypot(event.clientX - down[0], event.clientY - down[1]) > 4) return;
      const box = canvas.getBoundingClientRect();
      const at = new Vector2(((event.clientX - box.left) / box.width) * 2 - 1, 1 - ((event.clientY - box.top) / box.height) * 2);
      ray.setFromCamera(at, this.camera);
      const hit = ray.intersectObjects(this.bodies.flatMap((body) => body.meshes), false)[0];
      this.select(hit ? hit.object.userData.body : -1);
    });
  }

  restyle() {
    this.scene.background = new Color(css("--stage"));
    this.grid.material.color = new Color(css("--stage-grid"));
    this.grid.material.vertexColors = false;
    this.grid.material.opacity = 0.7;
    this.grid.material.needsUpdate = true;
    for (const node of this.shapeNodes) {
      if (node.userData.isPlane) node.material.color = new Color(css("--stage-grid"));
    }
    this.stickingColor = new Color(css("--sticking"));
    this.slidingColor = new Color(css("--sliding"));
    this.update();
  }

  resize() {
    const width = this.holder.clientWidth, height = this.holder.clientHeight;
    if (width === 0 || height === 0) return;
    this.renderer.setSize(width, height);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    if (!this.isMoved && this.follow < 0) this.fit(this.view);
    this.invalidate();
  }

  invalidate() {
    if (this.isDue) return;
    this.isDue = true;
    requestAnimationFrame(() => this.draw());
  }

  draw() {
    this.isDue = false;
    this.renderer.render(this.scene, this.camera);
    this.drawn = (this.drawn ?? 0) + 1;
  }
}
