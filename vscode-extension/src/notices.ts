// Notifications. VS Code makes a link of `[text](command:…)` in one, and a click on it runs that command, whatever it is. What is
// said may have an agent's words in it, so nothing of it becomes a link.

import { ProgressLocation, window } from "vscode";
import { short, withoutLinks } from "./escape";

type Show = (message: string, ...buttons: readonly string[]) => Thenable<string | undefined>;

/* eslint-disable no-restricted-properties -- the one place where they are */
export const say: Readonly<Record<"information" | "warning" | "error", Show>> = {
  information: (message, ...buttons) => window.showInformationMessage(withoutLinks(message), ...buttons),
  warning: (message, ...buttons) => window.showWarningMessage(withoutLinks(message), ...buttons),
  error: (message, ...buttons) => window.showErrorMessage(withoutLinks(message), ...buttons),
};

export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** As long as VS Code leaves other notifications there. */
const announcedMs = 15_000;

const longestMessage = 700;

/**
 * Says that something waits, with one link, which is ours. It goes when that waits no longer, or has been there for a while: of
 * all notifications VS Code lets only those be taken away that show progress. This one shows none.
 */
export async function announce(message: string, link: { title: string; command: string; id: string }, gone: Promise<unknown>): Promise<void> {
  const target = `command:${link.command}?${encodeURIComponent(JSON.stringify([link.id])).replaceAll(")", "%29")}`;
  const title = `[${link.title}](${target})   ${withoutLinks(short(message, longestMessage))}`; // VS Code shows one line of it, the end only if asked
  await window.withProgress({ location: ProgressLocation.Notification, title }, async (progress) => {
    progress.report({ increment: 100 });
    let timer: NodeJS.Timeout | undefined;
    await Promise.race([gone, new Promise((resolve) => (timer = setTimeout(resolve, announcedMs)))]);
    clearTimeout(timer);
  });
}
