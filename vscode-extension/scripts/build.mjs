// Bundles the extension into dist/extension.js, or with --tests the unit tests into dist/test/.
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import * as esbuild from "esbuild";

const flags = new Set(process.argv.slice(2));
const common = { bundle: true, platform: "node", target: "node20", format: "cjs", logLevel: "warning", external: ["vscode", "typescript"] };

if (flags.has("--tests")) {
  rmSync("dist/test", { recursive: true, force: true });
  const entryPoints = readdirSync("test/unit").filter((name) => name.endsWith(".test.ts")).map((name) => `test/unit/${name}`);
  await esbuild.build({ ...common, entryPoints, outdir: "dist/test", format: "esm", outExtension: { ".js": ".mjs" }, sourcemap: "inline", alias: { vscode: "./test/vscode.ts" } });
} else {
  const production = flags.has("--production");
  const options = { ...common, entryPoints: ["src/extension.ts"], outfile: "dist/extension.js", minify: production, sourcemap: !production, metafile: true };
  if (flags.has("--watch")) {
    await (await esbuild.context(options)).watch();
  } else {
    const { metafile } = await esbuild.build(options);
    writeFileSync("dist/bundled.json", JSON.stringify(metafile)); // whose licences a release carries
  }
}
