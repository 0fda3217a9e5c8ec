// The names of agents, as `pillion mcp install` takes them and a terminal starts them. Pure.

/** Whether it can be a name that `pillion mcp install` takes: nothing in it means anything to a shell. */
export function isName(agent: unknown): agent is string {
  return typeof agent === "string" && /^[a-z]+$/.test(agent);
}
