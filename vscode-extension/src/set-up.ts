// The line that sets an agent up, as it is typed into a terminal. Pure: commands.ts opens the terminal.

export const agents = ["claude", "codex", "qwen", "gemini", "opencode"];

export function isAgent(name: unknown): name is string {
  return typeof name === "string" && agents.includes(name);
}

/** PowerShell, which terminals on Windows run, takes a quoted program for a text unless it is told to call it. */
export function setUpLine(program: string, agent: string, platform: NodeJS.Platform): string {
  if (/^[\w@%+=:,./-]+$/.test(program)) {
    return `${program} mcp install ${agent}`;
  }
  return platform === "win32" ? `& '${program.replaceAll("'", "''")}' mcp install ${agent}` : `'${program.replaceAll("'", "'\\''")}' mcp install ${agent}`;
}
