// Reads the sidecar's catalogue on stdin, and writes contributes.languageModelTools of package.json.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { withTools } from "./tool-tables.mjs";

const here = join(dirname(fileURLToPath(import.meta.url)), "..");
const { tools } = JSON.parse(readFileSync(0, "utf8"));
const packageFile = join(here, "package.json");
writeFileSync(packageFile, withTools(readFileSync(packageFile, "utf8"), tools));
