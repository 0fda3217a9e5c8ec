// What is known of a document's file on disk: its encoding, by the name that the rest of the world has for it, and whether there is room. VS
// Code empties a file before it writes it, and takes a write that the disk cut short for a whole one. So what does not fit is not saved at
// all, and waits in its editor.

import { stat, statfs } from "node:fs/promises";

const names: Record<string, string> = {
  utf8: "utf-8",
  utf8bom: "utf-8",
  utf16le: "utf-16le",
  utf16be: "utf-16be",
  shiftjis: "shift_jis",
  eucjp: "euc-jp",
  euckr: "euc-kr",
  big5hkscs: "big5",
  koi8r: "koi8-r",
  koi8u: "koi8-u",
  macroman: "macintosh",
  cp437: "ibm437",
  cp850: "ibm850",
  cp852: "ibm852",
  cp865: "ibm865",
  cp866: "ibm866",
  cp950: "big5",
};

/** UTF-16 files carry their mark always, UTF-8 ones only when VS Code says so. */
export function encodingOf(id: string): { encoding: string; bom: boolean } {
  const encoding = names[id] ?? id.replace(/^windows(\d)/, "windows-$1").replace(/^iso8859(\d+)$/, "iso-8859-$1");
  return { encoding, bom: id === "utf8bom" || id.startsWith("utf16") };
}

/** What else may be written in the same moment. */
const slack = 64 * 1024;

/** In whichever encoding: in UTF-16 every unit has two. */
export function mostBytes(text: string): number {
  return Math.max(Buffer.byteLength(text, "utf8"), text.length * 2);
}

/** True where the system cannot say. */
export async function hasRoom(path: string, bytes: number): Promise<boolean> {
  try {
    const [disk, file] = await Promise.all([statfs(path), stat(path)]);
    return disk.bavail * disk.bsize + file.blocks * 512 >= bytes + slack;
  } catch {
    return true;
  }
}
