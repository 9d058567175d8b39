// Effective masses at interfaces: inverses of the mobility W along its principal axes.
// SPDX-License-Identifier: Apache-2.0

const AXES = ["tx", "ty", "tz"];
const IMMOBILE = 1e-7; // of the largest mobility: the data are floats

/**
 * Eigenvalues and vectors of a symmetric 3 x 3 matrix [xx, yy, zz, xy, xz, yz] by Jacobi's rotations, largest first:
 * [{value, vector: [x, y, z]}].
 */
function solveSymmetric([xx, yy, zz, xy, xz, yz]) {
  const A = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]], V = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
  for (let sweep = 0; sweep < 12; sweep++) {
    for (const [p, q] of [[0, 1], [0, 2], [1, 2]]) {
      const turn = 0.5 * Math.atan2(2 * A[p][q], A[q][q] - A[p][p]), c = Math.cos(turn), s = Math.sin(turn);
      for (let k = 0; k < 3; k++) {
        const x = A[k][p], y = A[k][q];
        A[k][p] = c * x - s * y;
        A[k][q] = s * x + c * y;
      }
      for (let k = 0; k < 3; k++) {
        const x = A[p][k], y = A[q][k], u = V[k][p], v = V[k][q];
        A[p][k] = c * x - s * y;
        A[q][k] = s * x + c * y;
        V[k][p] = c * u - s * v;
        V[k][q] = s * u + c * v;
      }
    }
  }
  return [0, 1, 2].map((i) => ({ value: A[i][i], vector: [V[0][i], V[1][i], V[2][i]] })).sort((a, b) => b.value - a.value);
}

/** Translations that an interface of the scene has; a line has one. */
export function countTranslations(info) {
  return info.kind === "line" ? 1 : AXES.filter((name) => info.directions.includes(name)).length;
}

/** W of interface `index` at a frame: [xx, yy, zz, xy, xz, yz], or of a line its one number. */
export function readMobility({ mobility, frames }, index, frame, target = new Float64Array(6)) {
  for (let k = 0; k < 6; k++) target[k] = mobility[(6 * index + k) * frames + frame];
  return target;
}

/** Principal effective masses, lightest first: [{mass, vector}]; mass Infinity where it cannot move. Along a line there is no vector. */
export function principalMasses(info, W) {
  if (info.kind === "line") return [{ mass: W[0] > 0 ? 1 / W[0] : Infinity }];
  // an axis across the translations that the interface has is none of its own
  const isOwn = ({ vector }) => AXES.every((name, k) => info.directions.includes(name) || Math.abs(vector[k]) < 0.5);
  const list = solveSymmetric(W), most = Math.max(0, list[0].value);
  return list.filter(isOwn).map(({ value, vector }) => ({ mass: value > IMMOBILE * most ? 1 / value : Infinity, vector }));
}
