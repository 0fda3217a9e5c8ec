// The line that sets an agent up, as it is typed into a terminal. Pure: commands.ts opens the terminal.

/** Whether it can be a name that `pillion mcp install` takes: nothing in it means anything to a shell. */
export function isName(agent: unknown): agent is string {
  return typeof agent === "string" && /^[a-z]+$/.test(agent);
}

/** PowerShell, which terminals on Windows run, takes a quoted program for a text unless it is told to call it. */
export function setUpLine(program: string, agent: string, platform: NodeJS.Platform): string {
  if (/^[\w@%+=:,./-]+$/.test(program)) {
    return `${program} mcp install ${agent}`;
  }
  return platform === "win32" ? `& '${program.replaceAll("'", "''")}' mcp install ${agent}` : `'${program.replaceAll("'", "'\\''")}' mcp install ${agent}`;
}
