/** The declarations: every export and public member has one and none is invented; right calls compile and wrong ones do not. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const OPTIONS = {
  strict: true, noEmit: true, target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext, lib: ["lib.es2022.d.ts", "lib.dom.d.ts"], types: [],
};

/** Files of the compiler and of the package are parsed once. */
const host = ts.createCompilerHost(OPTIONS), { getSourceFile } = host, parsed = new Map();
host.getSourceFile = (name, ...rest) => {
  if (name.includes("typed-")) return getSourceFile(name, ...rest);
  if (!parsed.has(name)) parsed.set(name, getSourceFile(name, ...rest));
  return parsed.get(name);
};

/** A program of one module with this text. @returns errors() are the messages of the module's errors, or of all files' */
function compile(text) {
  // In dist, which is what the copy of the package has beside its source: a new file elsewhere would make npm_stage renew it.
  const file = path.join(ROOT, "dist", `typed-${process.pid}.mts`);
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, text);
  try {
    const program = ts.createProgram([file], OPTIONS, host);
    const errors = (whole = false) => (whole ? ts.getPreEmitDiagnostics(program)
      : ts.getPreEmitDiagnostics(program, program.getSourceFile(file)))
      .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"));
    return { program, errors };
  } finally {
    fs.rmSync(file);
  }
}

const USE = `
import { ACTION, areas, BadNumber, command, isRight, observe, shapes, PROFILE, Refused, type World } from "../src/index.js";
import { connect } from "../src/tcp.js";
const client = await connect("tcp:127.0.0.1:7411", { resumes: true });
const world: World = await client.create("sandbox", { rate: 60, gravity: [0, -9.81, 0] });
`;
const RIGHT = USE + `
const ball: number = await world.spawn({ shapes: [[await world.shape(shapes.sphere(0.5))]], position: [0, 5, 0] });
await world.send(command("impulse", { body: ball, impulse: [200, 0, 0] }));
await world.apply(command("joint_create", { type: "revolute", body_a: 1, body_b: 2 }));
await world.spawn({ friction: 0.3, dynamic_friction: 0.2 });
await world.apply(command("set_material", { body: ball, friction: 0.3, restitution: 0 }));
if (false as boolean) throw new BadNumber("range", "", "position");
const seen = await world.subscribe({ fields: ["position"], profile: PROFILE.view, areas: [areas.ball([0, 0, 0], 20)],
  onFrame: (mirror) => console.log(mirror.tick, mirror.body(ball)?.position?.[1], isRight(mirror)) });
world.focus(seen, { follow: [ball] });
const { tick, hash } = await world.step(60);
console.log(tick + 1, hash[0], (await world.ray([0, 9, 0], [0, -1, 0], 20))[0]?.fraction);
const group = await client.stepWorlds([world], { actions: [command("force", { body: ball, force: [ACTION, 0, ACTION] })],
  values: [1, 2], observe: [observe.bodies([ball], ["position"]), observe.rays({ origin: [0, 9, 0], direction: [0, -1, 0], length: 9 })] });
console.log(group.width, group.observations[0], group.worlds[0]?.error?.status);
if (false as boolean) throw new Refused(1, "");
await world.destroy();
`;
const WRONG = [
  [`await world.send(command("impuls", {}));`, /impuls/],
  [`await world.send(command("impulse", { body: 1 }));`, /impulse.* missing|missing.*impulse/],
  [`await world.send(command("impulse", { body: "1", impulse: [0, 0, 0] }));`, /string.*number/],
  [`await world.spawn({ friction: "rough" });`, /string.*Placed/],
  [`await world.send(command("set_status", { body: 1, status: "statick" }));`, /statick/],
  [`await world.subscribe({ fields: ["colour"] });`, /colour/],
  [`await world.control("stop");`, /stop/],
  [`(await world.step(1)).tik;`, /tik/],
];

test("right calls compile", () => {
  assert.deepEqual(compile(RIGHT).errors(true), []);
});

for (const [line, expected] of WRONG)
  test(`a wrong call does not compile: ${line}`, () => {
    const errors = compile(USE + line).errors();
    assert.equal(errors.length, 1, errors.join("; "));
    assert.match(errors[0], expected);
  });

/** Names of the values that the declarations of a module export. */
function declared(module) {
  const { program } = compile(`import "../src/${module}.js";`);
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(path.join(ROOT, "src", `${module}.d.ts`));
  return checker.getExportsOfModule(checker.getSymbolAtLocation(source)).map((symbol) => {
    const real = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
    return { name: symbol.name, real, checker };
  }).filter(({ real }) => real.flags & ts.SymbolFlags.Value);
}

for (const module of ["index", "tcp", "areas", "shapes"])
  test(`${module}.d.ts declares what ${module}.js exports`, async () => {
    const exports = await import(`../src/${module}.js`);
    assert.deepEqual(declared(module).map(({ name }) => name).sort(), Object.keys(exports).sort());
  });

test("methods of the classes are declared, and all declared methods exist", async () => {
  const exports = await import("../src/index.js");
  // What the classes of this package call on each other.
  const internal = { World: ["takeInfo", "takeResult", "takeStepped", "takeError", "takeState", "takeSought", "resendPending", "rejoin", "end"] };
  for (const name of ["Client", "World", "Mirror", "Joints"]) {
    const found = new Set();
    for (let type = exports[name].prototype; type !== Object.prototype; type = Object.getPrototypeOf(type))
      for (const member of Object.getOwnPropertyNames(type)) found.add(member);
    for (const member of ["constructor", ...internal[name] ?? []]) found.delete(member);
    const { real, checker } = declared("index").find((symbol) => symbol.name === name);
    const members = checker.getDeclaredTypeOfSymbol(real).getProperties()
      .filter(({ flags }) => flags & (ts.SymbolFlags.Method | ts.SymbolFlags.Accessor)).map((symbol) => symbol.name);
    assert.deepEqual([...found].sort(), members.sort(), name);
  }
});

test("the package packs without a network, with its declarations", () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "cairn-pack-"));
  try {
    const out = execFileSync("npm", ["pack", "--offline", "--ignore-scripts", "--json", "--pack-destination", folder],
      { cwd: ROOT, encoding: "utf8" });
    const [{ filename, files }] = JSON.parse(out);
    const names = files.map(({ path: name }) => name);
    for (const name of ["src/index.js", "src/index.d.ts", "src/manifest.d.ts", "src/tcp.d.ts", "package.json", "README.md"])
      assert.ok(names.includes(name), name);
    assert.ok(!names.some((name) => name.startsWith("test/")));
    assert.ok(fs.existsSync(path.join(folder, filename)));
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
});
