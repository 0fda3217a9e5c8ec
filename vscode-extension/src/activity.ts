// What the agents did lately, newest first. Pure; the view draws it.

import type { ActivityChanged } from "./activity-protocol";

export const activityLimit = 200;

export class Activity {
  private readonly calls = new Map<string, ActivityChanged>();

  get entries(): readonly ActivityChanged[] {
    return [...this.calls.values()].reverse();
  }

  get running(): number {
    return this.entries.filter((entry) => entry.state === "running").length;
  }

  /** A call keeps its place in the list while its state changes. */
  record(entry: ActivityChanged): void {
    this.calls.set(entry.callId, entry);
    [...this.calls.keys()].slice(0, -activityLimit).forEach((callId) => this.calls.delete(callId));
  }

  /** Nothing runs any more: the sidecar is gone. */
  end(): void {
    for (const [callId, entry] of this.calls) {
      if (entry.state !== "done" && entry.state !== "failed") {
        this.calls.set(callId, { ...entry, state: "failed", summary: "the sidecar stopped" });
      }
    }
  }
}

/** What a click on a call opens; undefined where there is nothing. */
export function opens({ state, shows, path }: ActivityChanged): string | undefined {
  if (state === "waiting") {
    return "Click to see the request";
  }
  const shown = shows && { diff: "Click for the diff", command: "Click for its output", markdown: "Click for what it found" }[shows];
  return shown ?? (path === undefined ? undefined : "Click to open the file");
}

/** What came of it, without the name that the title ends with, which stands before it. */
export function outcomeOf({ title, summary }: { title: string; summary: string }): string {
  if (summary === title) {
    return "";
  }
  const name = title.slice(title.lastIndexOf(" ") + 1);
  const [rest] = summary.startsWith(name) ? (/(?<=^[,:]? )\S.*/.exec(summary.slice(name.length)) ?? []) : [];
  return rest ?? summary;
}

/** `0.4 s`, `12 s`, `3 min`; nothing below a tenth of a second. */
export function duration(ms: number): string {
  if (!(ms >= 100)) {
    return "";
  }
  if (ms < 9_950) {
    return `${(ms / 1000).toFixed(1)} s`;
  }
  return ms < 120_000 ? `${String(Math.round(ms / 1000))} s` : `${String(Math.round(ms / 60_000))} min`;
}
