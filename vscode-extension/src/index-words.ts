// What is said of the index by which the sidecar searches: in the status bar while it is built, and how large it is in the
// item's tooltip. Pure.

import type { WorkspaceIndex } from "./session-protocol";

/** What follows the item's text. */
export function indexText(index: WorkspaceIndex | undefined): string {
  return index?.building ? ` (indexing ${String(index.percent)} %)` : "";
}

export function indexNote(index: WorkspaceIndex | undefined): string {
  if (index?.building) {
    return "The search index of this project is being built; searches are slower until then";
  }
  if (!index?.files) {
    return "";
  }
  const megabytes = Math.ceil(index.bytes / 2 ** 20);
  return `Search index: ${index.files.toLocaleString("en")} ${index.files === 1 ? "file" : "files"}, ${String(megabytes)} MB of memory`;
}
