// Tells the sidecar when this window is the one that the user used last: agents are led to that one.

import { Disposable, window } from "vscode";
import { methods } from "./protocol";
import type { Session } from "./session";

export function watchFocus(session: Session): Disposable {
  const tell = (): void => {
    if (window.state.focused && session.state.kind === "ready") {
      void session.notify(methods.windowFocused, {});
    }
  };
  return Disposable.from(window.onDidChangeWindowState(tell), session.onDidChangeState(tell));
}
