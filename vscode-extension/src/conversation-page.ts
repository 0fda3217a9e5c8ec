// The conversation as a page: its frame, and each entry as HTML. Pure. What an agent wrote is Markdown without HTML, images
// or any link but to the web; all else is text.

import MarkdownIt from "markdown-it";
import { duration } from "./activity";
import { visible } from "./escape";
import type { ContextFile, ConversationEntry, ConversationView as Conversation, GatewayState } from "./conversation-protocol";

const markdown = new MarkdownIt({ html: false, linkify: false, breaks: false }).disable("image");
markdown.validateLink = (url) => /^https?:\/\//i.test(url);

const icons: Record<string, string> = { queued: "…", running: "▸", waiting: "?", done: "✓", failed: "✗" };

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${String(character.codePointAt(0))};`);
}

/** An entry's own HTML; the page puts it into an element of its own. */
export function entryHtml({ kind, text, call }: ConversationEntry, agent: string): string {
  if (call) {
    const title = call.title === "" ? call.tool : call.title;
    return `<div class="call ${escaped(call.state)}"><span class="icon">${icons[call.state] ?? "·"}</span> ${escaped(visible(title))} <span class="summary">${escaped(visible(call.summary))}</span></div>`;
  }
  switch (kind) {
    case "agent":
      return `<div class="who">${escaped(visible(agent))}</div><div class="markdown">${markdown.render(text)}</div>`;
    case "user":
      return `<div class="who">You</div><div class="text">${escaped(text)}</div>`;
    default:
      return `<div class="${kind === "error" ? "error" : "notice"}">${escaped(text)}</div>`;
  }
}

const doing: Record<string, string> = { thinking: "thinking", executing_tool: "at work", waiting_approval: "waiting for your answer", error: "failed" };

/** What stands above the messages, and whether one can be written. */
export function heading(one: Conversation | undefined, gateway: GatewayState | undefined): { text: string; connected: boolean } {
  const state = one?.connection ?? gateway?.state ?? "disconnected";
  if (!one) {
    return { text: "No agent is connected.", connected: false };
  }
  const parts = [visible(one.agent.name), state];
  if (state === "connected") {
    const status = doing[one.status];
    parts.push(...(status ? [one.message ? `${status}: ${visible(one.message)}` : status] : []));
  } else if (gateway?.error) {
    parts.push(visible(gateway.error.message));
    if (gateway.retryInMs) {
      parts.push(`trying again in ${duration(gateway.retryInMs)}`);
    }
  }
  return { text: parts.join(" · "), connected: state === "connected" };
}

export function contextLabel({ path, content, lines = 0, by }: ContextFile): string {
  return `${visible(path)}${content ? ` (${String(lines)} lines)` : ""}${by === "agent" ? ", by the agent" : ""}`;
}

/** The page's frame: nothing is loaded but the two files of this extension. */
export function frame(script: string, style: string, source: string): string {
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src ${source}; style-src ${source}">
<link rel="stylesheet" href="${style}">
</head>
<body>
<div id="bar"><span id="heading"></span><button id="connect">Connect…</button><button id="disconnect">Disconnect</button></div>
<div id="entries" role="log"></div>
<div id="empty">Connect to a gateway to talk to its agent here. Before it changes a file or runs a command, you are asked.</div>
<div id="context"></div>
<textarea id="message" rows="3" aria-label="Message to the agent"></textarea>
<div id="problem" role="alert"></div>
<script src="${script}"></script>
</body>
</html>`;
}
