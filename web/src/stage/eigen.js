// SPDX-License-Identifier: Apache-2.0

/**
 * Eigenvalues and vectors of a symmetric 3 x 3 matrix [xx, yy, zz, xy, xz, yz] by Jacobi's rotations, largest first:
 * [{value, vector: [x, y, z]}].
 */
export function solveSymmetric([xx, yy, zz, xy, xz, yz]) {
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
