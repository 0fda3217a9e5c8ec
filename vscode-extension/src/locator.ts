// Finds the sidecar, in the order that docs/vscode.md gives: the setting, the binary in this extension, PATH. It never
// looks inside the workspace, where an agent could have put one.

import { access, constants, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter, isAbsolute, join } from "node:path";

export type Located = { path: string; from: "setting" | "bundle" | "PATH" } | { problem: string };

interface Places {
  setting: string;
  /** Folder of this extension. */
  extension: string;
  path: string;
  platform: NodeJS.Platform;
}

/** `lasting` is for what names the program for long: an update of this extension moves the one in it, so that one comes last. */
export async function locate(places: Places, lasting = false): Promise<Located> {
  const name = places.platform === "win32" ? "pillion.exe" : "pillion";
  if (places.setting) {
    const path = places.setting.replace(/^~(?=[/\\])/, homedir());
    return isAbsolute(path) && (await runs(path))
      ? { path, from: "setting" }
      : { problem: `the setting pillion.path names ${places.setting}, which is not an executable file; correct or clear it` };
  }
  const bundled = { path: join(places.extension, "bin", name), from: "bundle" as const };
  const onPath = places.path.split(delimiter).filter(isAbsolute).map((folder) => ({ path: join(folder, name), from: "PATH" as const }));
  for (const candidate of lasting ? [...onPath, bundled] : [bundled, ...onPath]) {
    if (await runs(candidate.path)) {
      return candidate;
    }
  }
  return { problem: "the pillion program is neither in this extension nor on your PATH; install it, or name it in the setting pillion.path" };
}

async function runs(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}
