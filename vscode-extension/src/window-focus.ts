// This window: whether its folder is trusted, and when it is the one that the user used last, to which agents are led.

import { Disposable, StatusBarAlignment, window, workspace } from "vscode";
import { methods } from "./protocol";
import type { Session } from "./session";

export function watchFocus(session: Session): Disposable {
  const tell = (): void => {
    const { focused } = window.state;
    if (session.state.kind === "ready" && (focused || wants("system"))) {
      void session.notify(methods.windowFocused, { focused, ...(wants("sound") ? { sound: true } : {}) });
    }
  };
  return Disposable.from(window.onDidChangeWindowState(tell), session.onDidChangeState(tell));
}

/** How the user wants to hear of requests while they are elsewhere. */
function wants(name: "system" | "sound"): boolean {
  return workspace.getConfiguration("pillion.notifications").get(name) === true;
}

/** In Restricted Mode nothing of Pillion runs. The status bar says so, and what to do; this waits until the folder is trusted. */
export async function trusted(): Promise<void> {
  if (workspace.isTrusted) {
    return;
  }
  const item = window.createStatusBarItem("pillion.restricted", StatusBarAlignment.Left, 10);
  item.name = "Pillion";
  item.text = "$(shield) Pillion: trust this folder";
  item.tooltip = "Agents can work here once you trust this folder. Click to decide.";
  item.command = "workbench.trust.manage";
  item.show();
  await new Promise<void>((resolve) => workspace.onDidGrantWorkspaceTrust(resolve));
  item.dispose();
}
