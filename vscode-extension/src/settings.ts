// What the user set under `pillion`, as the sidecar wants it: the bare object, without what is this extension's own
// business and without defaults, so that the sidecar's other layers keep their say.

import { workspace } from "vscode";

const ours = new Set(["chat", "notifications", "path", "requests", "trace"]);

export function settings(): Record<string, unknown> {
  const configuration = workspace.getConfiguration("pillion");
  const names = Object.keys(configuration).filter((name) => !ours.has(name) && typeof configuration[name] !== "function");
  return Object.fromEntries(names.flatMap((name) => (isSet(name) ? [[name, configuration.get(name)]] : [])));
}

function isSet(name: string): boolean {
  const seen = workspace.getConfiguration("pillion").inspect(name);
  return [seen?.globalValue, seen?.workspaceValue, seen?.workspaceFolderValue].some((value) => value !== undefined);
}
