/** Bundles the viewer into dist/. The bundle uses no network and no CDN, and only packages of the lockfile. */
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const dist = join(here, "dist");

rmSync(dist, { recursive: true, force: true });
mkdirSync(dist);
const common = {
  bundle: true,
  format: "esm",
  target: "es2022",
  minify: true,
  alias: { "cairn-client": join(here, "..", "js", "src", "index.js") },
  nodePaths: [join(here, "node_modules")],
  logLevel: "warning",
};
await build({
  ...common,
  entryPoints: [join(here, "src", "main.js")],
  outfile: join(dist, "viewer.js"),
  // Licences of the bundled packages go into a file beside the bundle.
  legalComments: "linked",
});
for (const file of ["index.html", "style.css"]) cpSync(join(here, file), join(dist, file));

// The page that plays a film is one file.
const { outputFiles: [{ text }] } = await build({
  ...common, entryPoints: [join(here, "src", "player.js")], write: false, legalComments: "inline",
});
const parts = { STYLE: readFileSync(join(here, "style.css"), "utf8"), SCRIPT: text };
writeFileSync(join(dist, "player.html"),
  readFileSync(join(here, "player.html"), "utf8").replace(/(?<=>)(STYLE|SCRIPT)(?=<)/g, (name) => parts[name]));
