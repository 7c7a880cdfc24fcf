// Ground that isn't flat: a shaded surface over sampled heights, with lines at round distances that follow it.

import * as THREE from "./vendor/three.module.min.js";

const RELIEF = 2.5; // times as steep as it is the ground is shaded, as maps are
export const SEEN_THROUGH = 0.35; // of another run's ground
const LIFT = 0.03; // of the samples' spacing, so that lines lie on the surface

const [SLIPPERY, GRIPPY] = ["#56b4e9", "#e69f00"]; // regions of less friction, and of more
const TINT = 0.4;

// {corner [x, y], spacing, heights (rows × columns), columns, regions}; the height at a place, NaN outside and over holes.
export function heightAt({ corner, spacing, heights, columns }, x, y) {
  const [u, v] = [(x - corner[0]) / spacing, (y - corner[1]) / spacing];
  const [i, j] = [Math.min(Math.floor(u), columns - 2), Math.min(Math.floor(v), heights.length / columns - 2)];
  if (i < 0 || j < 0 || u > columns - 1 || v > heights.length / columns - 1) return NaN;
  const [a, b, k] = [u - i, v - j, j * columns + i];
  const low = (1 - a) * heights[k] + a * heights[k + 1];
  const high = (1 - a) * heights[k + columns] + a * heights[k + columns + 1];
  return (1 - b) * low + b * high;
}

// The surface as triangles, shaded by the light that falls on it; below an opacity of 1 what lies behind is seen.
export function groundSurface({ corner, spacing, heights, columns, regions = [] }, theme, opacity = 1) {
  const rows = heights.length / columns;
  const points = new Float32Array(3 * heights.length);
  // From the corner, as single precision has steps of half a metre at UTM's places.
  heights.forEach((height, k) => points.set([spacing * (k % columns), spacing * Math.floor(k / columns), height], 3 * k));
  const [plain, slippery, grippy] = [[], [], []];
  for (let j = 0; j + 1 < rows; j++) for (let i = 0; i + 1 < columns; i++) {
    const [a, b, c, d] = [j * columns + i, j * columns + i + 1, (j + 1) * columns + i, (j + 1) * columns + i + 1];
    if (![a, b, c, d].every((k) => Number.isFinite(heights[k]))) continue;
    const factor = factorAt(regions, corner[0] + spacing * (i + 0.5), corner[1] + spacing * (j + 0.5));
    (factor < 1 ? slippery : factor > 1 ? grippy : plain).push(a, b, d, a, d, c);
  }
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.BufferAttribute(points, 3));
  geometry.setIndex([...plain, ...slippery, ...grippy]);
  geometry.computeVertexNormals();
  steepen(geometry.getAttribute("normal"));
  const clear = opacity < 1 ? { transparent: true, opacity, depthWrite: false } : {};
  const looks = [null, SLIPPERY, GRIPPY].map((tint) => {
    const color = new THREE.Color(theme.ground);
    if (tint) color.lerp(new THREE.Color(tint), TINT);
    return new THREE.MeshLambertMaterial({ ...clear, color, side: THREE.DoubleSide, polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1 });
  });
  let start = 0;
  [plain, slippery, grippy].forEach((triangles, k) => {
    geometry.addGroup(start, triangles.length, k);
    start += triangles.length;
  });
  const mesh = new THREE.Mesh(geometry, looks);
  mesh.position.set(...corner, 0);
  mesh.frustumCulled = false; // holes have no place, and so the whole has no middle
  return mesh;
}

// The product of what regions make of friction at a place.
function factorAt(regions, ...place) {
  return regions.reduce((product, { factor, sides }) => (sides.every(([low, high], axis) => low < place[axis] && place[axis] < high) ? product * factor : product), 1);
}

function steepen(normals) {
  const normal = new THREE.Vector3();
  for (let k = 0; k < normals.count; k++) {
    normal.fromBufferAttribute(normals, k).multiply(new THREE.Vector3(RELIEF, RELIEF, 1)).normalize();
    normals.setXYZ(k, ...normal.toArray());
  }
}

// Lines every `step` along x and y on it: ends of pieces one after another, those through the world's origin or the others.
export function groundLines(ground, step, strong) {
  const { corner, spacing, heights, columns } = ground;
  const ends = [corner[0] + spacing * (columns - 1), corner[1] + spacing * (heights.length / columns - 1)];
  const points = [];
  for (const along of [0, 1]) {
    const across = 1 - along;
    const count = Math.round((ends[along] - corner[along]) / spacing);
    for (let n = Math.ceil(corner[across] / step); n * step <= ends[across]; n++) {
      if ((n === 0) !== strong) continue;
      const at = (k) => {
        const place = [0, 0, 0];
        place[along] = Math.min(corner[along] + k * spacing, ends[along]);
        place[across] = n * step;
        place[2] = heightAt(ground, place[0], place[1]) + LIFT * spacing;
        return place;
      };
      for (let k = 0; k < count; k++) {
        const piece = [at(k), at(k + 1)];
        if (piece.flat().every(Number.isFinite)) points.push(...piece.map((place) => new THREE.Vector3(...place)));
      }
    }
  }
  return points;
}
