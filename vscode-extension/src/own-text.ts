// Which argument of a request is a text that the user may write anew, and the words for it. Pure.

import type { Preview } from "./protocol";

interface OwnText {
  argument: string;
  /** Of its tab. */
  name: string;
  language: string;
  /** The answer that opens it, and what comes of it. */
  title: string;
  meaning: string;
}

const plan: OwnText = { argument: "plan", name: "Your plan", language: "markdown", title: "Edit Plan…", meaning: "the agent gets your plan" };
const message: OwnText = { argument: "message", name: "Commit message", language: "git-commit", title: "Edit Message…", meaning: "your text is committed" };

export function ownText(preview: Preview): OwnText {
  return preview.kind === "plan" ? plan : message;
}

/** As the agent wrote it; undefined where there is none that the user may change. */
export function agentsText(preview: Preview, given: object): string | undefined {
  const text: unknown = Object.entries(given).find(([name]) => name === ownText(preview).argument)?.[1];
  return (preview.kind === "plan" || (preview.kind === "text" && preview.message !== undefined)) && typeof text === "string" ? text : undefined;
}
