// What an agent may do without asking, in words. Pure: modes.ts asks for it, status-bar.ts shows it.

import { short, withoutIcons } from "./escape";
import type { SessionInfo } from "./session-protocol";

export interface Mode {
  name: string;
  icon: string;
  /** What it is called; its name is the setting's. */
  label: string;
  words: string;
}

export const fullAccess = "full_access";

/** From the strictest to the freest. */
export const modes: readonly Mode[] = [
  { name: "plan", icon: "eye", label: "Plan", words: "It only reads." },
  { name: "default", icon: "shield", label: "Ask", words: "It reads without asking, and asks before it changes or runs anything." },
  { name: "auto_edit", icon: "edit", label: "Edit Automatically", words: "Edits in the workspace run without asking. Commands ask." },
  { name: fullAccess, icon: "warning", label: "Full Access", words: "Only protected paths, and what your own rules name, still ask. Commands run as you." },
];

/** Of several agents the one that may do most. */
export function freest(sessions: readonly SessionInfo[]): SessionInfo | undefined {
  const rank = ({ mode }: SessionInfo): number => modes.findIndex(({ name }) => name === mode);
  return sessions.reduce<SessionInfo | undefined>((most, session) => (most && rank(most) >= rank(session) ? most : session), undefined);
}

export interface ModeLook {
  text: string;
  tooltip: string;
  warns: boolean;
}

/** Undefined while no agent is there. */
export function modeLook(sessions: readonly SessionInfo[]): ModeLook | undefined {
  const most = freest(sessions);
  if (!most) {
    return undefined;
  }
  const warns = most.mode === fullAccess;
  const text = warns ? `$(warning) Full Access: ${withoutIcons(short(most.agent.name, 30))}` : `$(${modeOf(most.mode)?.icon ?? "shield"}) ${labelOf(most.mode)}`;
  const each = sessions.map(({ agent, mode }) => `${short(agent.name, 40)} is in mode ${labelOf(mode)}. ${modeOf(mode)?.words ?? ""}`.trim());
  return { text, tooltip: [...each, "Click to change it for this session."].join("\n"), warns };
}

export function labelOf(name: string): string {
  return modeOf(name)?.label ?? short(name, 20);
}

export function modeOf(name: string): Mode | undefined {
  return modes.find((mode) => mode.name === name);
}
