/** Bundles the viewer into dist/. The bundle uses no network and no CDN, and only packages of the lockfile. */
import { cpSync, mkdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const dist = join(here, "dist");

rmSync(dist, { recursive: true, force: true });
mkdirSync(dist);
await build({
  entryPoints: [join(here, "src", "main.js")],
  outfile: join(dist, "viewer.js"),
  bundle: true,
  format: "esm",
  target: "es2022",
  minify: true,
  // Licences of the bundled packages go into a file beside the bundle.
  legalComments: "linked",
  alias: { "cairn-client": join(here, "..", "js", "src", "index.js") },
  nodePaths: [join(here, "node_modules")],
  logLevel: "warning",
});
for (const file of ["index.html", "style.css"]) cpSync(join(here, file), join(dist, file));
