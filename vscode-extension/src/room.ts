// Whether the disk has room for a document. VS Code empties a file before it writes it, and takes a write that the disk cut
// short for a whole one: so what does not fit is not saved at all, and waits in its editor.

import { stat, statfs } from "node:fs/promises";

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
