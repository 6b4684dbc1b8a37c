/** `cairn export FILE.mcap`, read by the reader of MCAP's authors (@mcap/core), which checks every checksum. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { McapIndexedReader, McapStreamReader } from "@mcap/core";
import { decompress } from "fzstd";
import { PROFILE, command, shapes } from "../../js/src/index.js";
import { connect } from "../../js/src/tcp.js";
import { daemon } from "../../js/test/daemon.js";

const zstd = { zstd: (data, size) => decompress(new Uint8Array(data), new Uint8Array(Number(size))) };

/** A world with a floor and bodies of several shapes; one is removed at tick 60. Returns its poses by tick. */
async function record(data) {
  const server = await daemon("--data", data), client = await connect(server.address), poses = new Map();
  const world = await client.create("drop");
  const floor = await world.shape(shapes.box(10, 0.5, 10));
  await world.spawn({ status: 1, shapes: [[floor]], position: [0, -0.5, 0] });
  const bodies = [];
  for (const shape of [shapes.sphere(0.5), shapes.box(0.4, 0.3, 0.5), shapes.capsule(0.5, 0.25)])
    bodies.push(await world.spawn({ shapes: [[await world.shape(shape)]], position: [2 * bodies.length, 2, 0] }));
  await world.subscribe({
    profile: PROFILE.exact,
    onFrame: (mirror) => poses.set(mirror.tick, Object.fromEntries([...mirror.slots.keys()].map((id) => [id, mirror.body(id).position]))),
  });
  for (let i = 1; i <= 120; i++) await world.step(1, i === 61 ? [command("remove", { body: bodies[0] })] : []);
  while (!poses.has(120)) await new Promise((resolve) => { setTimeout(resolve, 10); });
  client.close();
  await server.stop();
  return { poses, bodies };
}

test("an export is a valid MCAP with geometry once, transforms a tick, and the recording", async () => {
  const home = mkdtempSync(join(tmpdir(), "cairn-mcap-"));
  try {
    const { poses, bodies } = await record(home), file = join(home, "drop.cairn"), out = join(home, "drop.mcap");
    execFileSync(join(process.env.CAIRN_BUILDDIR, "cairn"), ["export", file, out, "--every", "2"]);
    const bytes = readFileSync(out);
    const readable = { size: async () => BigInt(bytes.length), read: async (at, size) => bytes.subarray(Number(at), Number(at + size)) };
    const reader = await McapIndexedReader.Initialize({ readable, decompressHandlers: zstd });
    assert.deepEqual([...reader.channelsById.values()].map(({ topic }) => topic), ["/scene", "/tf", "/totals"]);
    assert.deepEqual([...reader.schemasById.values()].map(({ name }) => name),
      ["foxglove.SceneUpdate", "foxglove.FrameTransforms", "cairn.Totals"]);
    const found = { "/scene": [], "/tf": [], "/totals": [] };
    for await (const message of reader.readMessages())
      found[reader.channelsById.get(message.channelId).topic].push([message.logTime, JSON.parse(new TextDecoder().decode(message.data))]);
    assert.deepEqual([found["/scene"].length, found["/tf"].length, found["/totals"].length], [2, 61, 61]);
    // Geometry at the birth, a deletion at the death.
    const { entities } = found["/scene"][0][1];
    assert.deepEqual(entities.map(({ frame_id: frame }) => frame), [1, ...bodies].map((id) => `body/${id}`));
    assert.deepEqual(entities[1].spheres[0].size, { x: 1, y: 1, z: 1 });
    assert.equal(entities[2].cubes.length, 1);
    assert.deepEqual([entities[3].cylinders.length, entities[3].spheres.length], [1, 2]);
    assert.deepEqual(found["/scene"][1][1].deletions.map(({ id }) => id), [String(bodies[0])]);
    for (const [time, { transforms }] of found["/tf"]) {
      const pose = poses.get(Math.round(Number(time) * 60 / 1e9));
      if (pose === undefined) continue;
      assert.equal(transforms.length, Object.keys(pose).length);
      for (const { child_frame_id: frame, translation: { x, y, z } } of transforms)
        assert.deepEqual([x, y, z], pose[frame.slice("body/".length)]);
    }
    for await (const { data } of reader.readAttachments()) assert.deepEqual(Buffer.from(data), readFileSync(file));
    for await (const { name, metadata } of reader.readMetadata()) {
      assert.equal(name, "cairn");
      assert.equal(metadata.get("rate"), "60/1");
    }
    // The stream reader reads it without the index.
    const stream = new McapStreamReader({ decompressHandlers: zstd, validateCrcs: true });
    let messages = 0;
    stream.append(bytes);
    for (let record; (record = stream.nextRecord());) messages += record.type === "Message";
    assert.ok(stream.done());
    assert.equal(messages, 124);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
});

test("the names of a scene are read back from the bodies' metadata", async () => {
  const home = mkdtempSync(join(tmpdir(), "cairn-mcap-"));
  try {
    const scene = join(home, "named.yaml"), file = join(home, "named.cairn"), out = join(home, "named.mcap");
    writeFileSync(scene, ["shapes:", "  ball: { kind: sphere, radius: 0.5 }", "bodies:", "  - { shape: ball, at: [0, 1, 0] }",
      "  - { name: 'a \"ball\" \\ red', shape: ball, at: [2, 1, 0] }", ""].join("\n"));
    const tool = (name, ...words) => execFileSync(join(process.env.CAIRN_BUILDDIR, name), words);
    tool("cairnd", "run", scene, "--ticks", "3", "--record", file);
    tool("cairn", "export", file, out, "--names", scene);
    const stream = new McapStreamReader({ decompressHandlers: zstd, validateCrcs: true }), names = [];
    stream.append(readFileSync(out));
    for (let record; (record = stream.nextRecord());) {
      if (record.type !== "Message") continue;
      for (const { id, metadata } of JSON.parse(new TextDecoder().decode(record.data)).entities ?? [])
        names.push([id, metadata.find(({ key }) => key === "name")?.value]);
    }
    assert.deepEqual(names, [["1", undefined], ["2", 'a "ball" \\ red']]);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
});
