package main

const usage = `pillion lets coding agents work in your project through your editor.

  pillion serve                  the sidecar, started by an editor
  pillion mcp                    the MCP server, started by an agent
  pillion mcp install AGENT      set an agent up: claude, codex, qwen, gemini or opencode
  pillion watch                  see and answer agents' requests without an editor
  pillion call TOOL [JSON]       call a tool yourself, in this folder
  pillion tools [TOOL]           list the tools, or describe one
  pillion trust                  trust a project's settings, as they are now
  pillion rules                  list the rules that hold in a folder, and forget some
  pillion journal                list what agents changed in a folder, and put it back
  pillion audit                  show what agents have called, and check that log
  pillion try                    watch an agent work on a sample project
  pillion doctor                 tell what is found here, and what is missing
  pillion version                print the version

Run a command with --help for more.
`
