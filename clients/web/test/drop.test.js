/** Mesh files that are dropped on the page or chosen: what becomes of good ones and of bad ones. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { daemon } from "../../js/test/daemon.js";
import { readMesh } from "../src/mesh_file.js";
import { TOKEN, launch, writeTokens } from "./browser.js";

let server, browser, home, address;
before(async () => {
  home = mkdtempSync(join(tmpdir(), "cairn-drop-"));
  server = await daemon("--web", "tcp:127.0.0.1:0", "--web-files", "dist", "--tokens", writeTokens(home), "--paused",
    "--scene", `${process.env.CAIRN_SRCDIR}/clients/scenes/cradle.yaml`);
  address = await server.logged(/listening address=(http:\S+)/);
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.stop();
  rmSync(home, { recursive: true, force: true });
});

/** A box from the origin to (x, y, z) as OBJ, with its own normals for each face, as many programs write it. */
function boxObj(x, y, z, faces = 6) {
  const corners = Array.from({ length: 8 }, (_, k) => `v ${k & 1 ? x : 0} ${k & 2 ? y : 0} ${k & 4 ? z : 0}`);
  const quads = [[1, 3, 4, 2], [5, 6, 8, 7], [1, 2, 6, 5], [3, 7, 8, 4], [1, 5, 7, 3], [2, 4, 8, 6]].slice(0, faces);
  return [...corners, ...quads.flatMap((quad, i) => [`vn 0 0 ${i + 1}`, `f ${quad.map((at) => `${at}//${i + 1}`).join(" ")}`])].join("\n");
}

/** A tetrahedron as binary STL. */
function tetraStl() {
  const at = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], faces = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];
  const bytes = new Uint8Array(84 + 50 * faces.length), view = new DataView(bytes.buffer);
  view.setUint32(80, faces.length, true);
  faces.forEach((face, i) => face.flatMap((k) => at[k]).forEach((value, k) => view.setFloat32(84 + 50 * i + 12 + 4 * k, value, true)));
  return bytes;
}

const bytesOf = (text) => new TextEncoder().encode(text).buffer;

test("meshes are read with each vertex once, about their middle; what is wrong is named", () => {
  const box = readMesh("crate.obj", bytesOf(boxObj(1, 2, 4)));
  assert.deepEqual([box.vertices.length, box.triangles.length, box.size.toArray()], [8, 12, [1, 2, 4]]);
  for (const axis of [0, 1, 2]) assert.equal(box.vertices.reduce((sum, vertex) => sum + vertex[axis], 0), 0);
  const tetra = readMesh("Corner.STL", tetraStl().buffer);
  assert.deepEqual([tetra.vertices.length, tetra.triangles.length], [4, 4]);
  const ply = ["ply", "format ascii 1.0", "element vertex 3", ...["x", "y", "z"].map((name) => `property float ${name}`)];
  const corners = ["0 0 0", "1 0 0", "0 1 0"];
  const surface = [...ply, "element face 1", "property list uchar int vertex_indices", "end_header", ...corners, "3 0 1 2", ""].join("\n");
  assert.equal(readMesh("sheet.ply", bytesOf(surface)).triangles.length, 1);
  const bad = [
    ["photo.jpg", "…", /photo\.jpg is no mesh.*OBJ, STL, PLY/],
    ["empty.obj", "# nothing\n", /empty\.obj has no triangles/],
    ["points.ply", [...ply, "end_header", ...corners, ""].join("\n"), /points\.ply has points and no triangles/],
    ["lost.obj", "v 0 0 0\nv 1 0 x\nv 0 1 0\nf 1 2 3\n", /lost\.obj has a coordinate that is not a finite number/],
    ["cut.stl", "\0".repeat(20), /cut\.stl (could not be read as STL|has no triangles)/],
  ];
  for (const [name, text, wrong] of bad) assert.throws(() => readMesh(name, bytesOf(text)), wrong, name);
});

/** Drops a file on a point of the page. */
const dropFile = (page, name, text, { x = 320, y = 200, shiftKey = false } = {}) => page.evaluate(([file, content, at]) => {
  const dataTransfer = new DataTransfer();
  dataTransfer.items.add(new File([content], file));
  window.dispatchEvent(new DragEvent("drop", { dataTransfer, cancelable: true, ...at }));
}, [name, text, { clientX: x, clientY: y, shiftKey }]);

async function open(hash) {
  const page = await browser.newPage({ viewport: { width: 640, height: 400 } });
  await page.goto(`${address}#${hash}`);
  await page.evaluate(() => { document.getElementById("shadows").click(); }); // which take long in software
  await page.waitForFunction(() => window.cairn?.moment() && cairn.framed());
  return page;
}

test("a dropped mesh is a body there, a chosen one, too; a refusal says what is wrong with the file", async () => {
  const page = await open(`world=cradle&token=${encodeURIComponent(TOKEN)}`);
  const [count, target] = await page.evaluate(() => [cairn.link.mirror.count, cairn.stage.controls.target.toArray()]);
  await dropFile(page, "crate.obj", boxObj(0.1, 0.2, 0.4));
  await page.waitForFunction((n) => cairn.link.mirror.count === n + 1, count);
  await page.waitForFunction(() => / is body \d+: 0\.1 × 0\.2 × 0\.4 m, as convex parts/.test(document.getElementById("note").textContent));
  const made = await page.evaluate(async () => {
    const id = Math.max(...cairn.link.mirror.slots.keys());
    return { ...cairn.link.mirror.body(id), mass: (await cairn.link.world.facts(id)).mass, kinds: cairn.crowd.kindsOf(id) };
  });
  assert.ok(Math.abs(made.mass - 8) < 1e-5, `${made.mass} kg`);
  assert.ok(Math.hypot(...made.position.map((v, i) => v - target[i])) < 3, `${made.position} is not near ${target}`);
  await page.waitForFunction(() => cairn.crowd.kindsOf(Math.max(...cairn.link.mirror.slots.keys())).join() === "solid");
  await page.setInputFiles("#file", { name: "corner.stl", mimeType: "model/stl", buffer: Buffer.from(tetraStl()) });
  await page.waitForFunction((n) => cairn.link.mirror.count === n + 2, count);
  // An open box: the server refuses it and tells which edges.
  await dropFile(page, "open.obj", boxObj(1, 1, 1, 5));
  await page.waitForFunction(() => /open\.obj: .*edge/.test(document.getElementById("trouble").textContent));
  assert.equal(await page.evaluate(() => cairn.link.mirror.count), count + 2);
  await page.close();
});

test("an observer's file is refused with what it takes", async () => {
  const page = await open("world=cradle");
  const count = await page.evaluate(() => cairn.link.mirror.count);
  await dropFile(page, "crate.obj", boxObj(1, 1, 1));
  await page.waitForFunction(() => /crate\.obj was not loaded: only the roles controller and admin/.test(document.getElementById("trouble").textContent));
  assert.equal(await page.evaluate(() => cairn.link.mirror.count), count);
  assert.equal(await page.isVisible("#load"), false);
  await page.close();
});
