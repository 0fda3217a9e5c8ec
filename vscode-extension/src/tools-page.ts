// The command Pillion: Show Tools: what agents can call here, and where it comes from, as the sidecar words it.

import { Uri } from "vscode";
import { say } from "./notices";
import type { Pages } from "./pages";
import { methods } from "./protocol";
import { tools } from "./schemes";
import type { Session } from "./session";
import { Sheet } from "./sheet";

export async function showTools({ session, pages }: { session: Session; pages: Pages }): Promise<void> {
  let text: string;
  try {
    ({ text } = await session.request<{ text: string }>(methods.toolsList, { format: "page", refresh: true }));
  } catch (error) {
    void say.error(`Pillion: the tools cannot be listed: ${error instanceof Error ? error.message : String(error)}`);
    return;
  }
  const sheet = new Sheet();
  for (const line of text.trimEnd().split("\n")) {
    sheet.line(line, line === "" || line.startsWith(" ") ? undefined : "choice");
  }
  await pages.present(Uri.from({ scheme: tools, path: "/Pillion Tools" }), sheet.page());
}
