import type { Reason } from "./protocol";

/** Why this very call asks; that the tool asks before every call helps nobody. */
export function particular(reasons: Reason[] | null): Reason[] {
  return (reasons ?? []).filter(({ code }) => code !== "class");
}
