// Builds the front end of the report page into autoloop/viewing/report/page.js and page.css, which are committed: who
// installs the package needs no npm. `npm ci && npm run build`; the same sources and versions give the same files.
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { readFileSync, readdirSync, existsSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const out = join(here, "../../autoloop/viewing/report");
const common = { bundle: true, minify: true, legalComments: "none", charset: "utf8", logLevel: "warning", metafile: true };

/** The notices of the packages that are in the bundle, which their licenses ask to keep. */
function notices(inputs) {
  const packages = new Set();
  for (const path of inputs) {
    const found = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path);
    if (found) packages.add(found[1]);
  }
  packages.add("@dagrejs/graphlib"); // inside of dagre's own bundle
  const texts = new Map();
  for (const name of [...packages].sort()) {
    const folder = join(here, "node_modules", name);
    if (!existsSync(folder)) continue;
    const file = readdirSync(folder).find((one) => /^licen[cs]e/i.test(one));
    if (!file) throw new Error(`${name} comes without its license`);
    const text = readFileSync(join(folder, file), "utf8").replace(/\r/g, "").trim();
    const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    texts.set(text, [...(texts.get(text) ?? []), `${name} ${version}`]);
  }
  return [...texts].map(([text, names]) => `${names.join(", ")}:\n\n${text}`).join("\n\n").replaceAll("*/", "* /");
}

/** What tells a test whether the build is of the sources that stand beside it. */
function fingerprint() {
  const hash = createHash("sha256");
  const names = readdirSync(join(here, "src")).sort().map((name) => `src/${name}`);
  for (const name of ["build.mjs", "package-lock.json", ...names]) {
    hash.update(`${name}\n${readFileSync(join(here, name), "utf8").replace(/\r/g, "")}\n`);
  }
  return hash.digest("hex");
}

const script = await build({
  ...common, entryPoints: [join(here, "src/main.js")], format: "iife", target: "es2021", write: false, outdir: out,
  loader: { ".css": "empty" },
});
const head = `/* Generated from tools/report-page by npm run build; do not edit.\n   Sources: ${fingerprint()}\n\n${notices(Object.keys(script.metafile.inputs))}\n*/\n`;
writeFileSync(join(out, "page.js"), head + script.outputFiles[0].text);
const style = await build({ ...common, entryPoints: [join(here, "src/style.css")], write: false, outdir: out });
writeFileSync(join(out, "page.css"), style.outputFiles[0].text);
