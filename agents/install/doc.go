// Package install writes Pillion into an agent's own configuration: our MCP
// server, its tools allowed in advance (the editor asks), the agent's own edit
// and shell tools off, the longest time limit it has, the environment that it
// would otherwise strip.
//
// [For] reads the agent's files and computes a [Plan]: what each file holds
// now, what it would hold, and one sentence per change. It writes nothing.
// [Plan.Apply] writes exactly what was shown, or fails without writing when a
// file changed in between. A second run plans no change; a plan with
// Options.Uninstall takes out exactly what the installation put in.
//
// Files are edited as text, never re-printed, so comments, order, spacing and
// unknown keys survive; after every edit both texts are parsed, and the plan
// fails when they differ in anything but our part. No backup is left lying
// beside the file: the change is shown first, written atomically, and
// uninstalling restores what it replaced.
//
// Deliberately not here: showing a plan and asking for consent (package
// cli), starting agents, and any judgement of what they do (package tools).
//
// # What each agent wants
//
// Found in the agents' help, bundled documents and sources, and checked by
// running each of them offline against a scripted model: the tools offered to
// the model were ours and not its own, and a call went through without a
// question. docs/agents.md tells users the same.
//
// Claude Code (2.1.330, and 2.1.197):
//   - Servers live in ~/.claude.json under mcpServers, or per project under
//     projects[ROOT].mcpServers, where ROOT is the repository's main work
//     tree. CLAUDE_CONFIG_DIR moves the file into that folder; a .config.json
//     in the settings folder takes its place (older installations).
//   - alwaysLoad: without it our tools hide behind ToolSearch and the first
//     turn does not offer them. It also makes the start wait for us.
//   - timeout (ms) is per server and beats MCP_TOOL_TIMEOUT; it raises the
//     idle limit with it (30 minutes of silence for stdio servers). The
//     largest delay that Node's timers hold is 2^31-1.
//   - CLAUDE_CODE_MCP_AUTO_BACKGROUND_MS: interactive sessions move an MCP
//     call to the background after two minutes, and the model goes on while
//     the user still reads the diff. 0 turns that off. It is no key of a
//     server, so it holds for the user's other servers as well.
//   - A bare tool name in permissions.deny takes the tool from the model. A
//     name that is no tool (MultiEdit, REPL) prints a warning at each start.
//   - Hooks of UserPromptSubmit get {session_id, cwd, prompt, source}; what one prints is
//     the model's to read. source is "user", "sdk" (-p) or something else, which is not the
//     user's. CLAUDE_PID and CLAUDE_CODE_SESSION_ID are in its environment; after /clear the
//     id is another one than the servers have.
//   - .claude/settings.local.json is read from the folder it is started in
//     alone, not from the folders above: hence scope user by default.
//
// Codex (0.169.0):
//   - $CODEX_HOME/config.toml; a project's .codex/config.toml is read only
//     after the user trusted the project.
//   - omit_tools_from = ["deferred"]: without it our tools hide behind
//     tool_search for gpt-5.5 and later models.
//   - default_tools_approval_mode = "approve": no question of its own.
//   - tool_timeout_sec: the default is 60, a call of 75 seconds went through.
//   - The environment is stripped to HOME, PATH, SHELL, LANG, TERM and the
//     like; env_vars names what is passed on. An unset name does no harm.
//   - features.shell_tool = false takes exec_command and write_stdin away.
//     apply_patch belongs to the model's own description and cannot be taken
//     away; in a read-only sandbox that may not ask to leave it
//     (approval_policy.granular, sandbox_approval = false) every use is
//     refused: "patch rejected: writing is blocked by read-only sandbox".
//     mcp_elicitations stays true, so that Pillion can ask where no editor
//     is open; approval_policy = "never" would refuse those as well.
//
// Qwen Code (0.24.4, and 0.15.10):
//   - ~/.qwen/settings.json ($QWEN_HOME) or the project's .qwen/settings.json.
//     Qwen rewrites the file at its start, keeping comments.
//   - alwaysLoadTools: without it our tools hide behind tool_search (0.15
//     does not know the key; there the model has to search first).
//   - trust: no question of its own. timeout (ms): default 10 minutes.
//   - permissions.deny takes tools from the model in every approval mode,
//     yolo included, also through the tool_call bridge.
//   - Hooks of UserPromptSubmit run before the model gets a tool's result as well: what the
//     user wrote is submitted_prompt. timeout is in seconds, below 1000.
//
// Gemini CLI (0.61.0):
//   - ~/.gemini/settings.json ($GEMINI_CLI_HOME/.gemini) or the project's. In
//     a folder that it does not trust it starts no server.
//   - trust: no question of its own. timeout (ms): default 10 minutes, which
//     progress does not extend; a call of 640 s went through with ours.
//   - tools.exclude takes tools from the model, yolo included, by their bare
//     names: ours of the same name go too, hence names of their own for it
//     (package mcp). tools.core becomes rules that allow what it names without
//     a question and deny all else, other servers' tools included.
//   - Hooks of BeforeAgent get the prompt. timeout is in ms. A session's id is in a hook's
//     environment, and not in a server's: there the process is what both know.
//   - Variables with KEY, TOKEN, AUTH and the like in their names are stripped;
//     env names what is passed on, $NAME stands for the value.
//
// opencode (1.18.33):
//   - ~/.config/opencode/opencode.json or .jsonc ($XDG_CONFIG_HOME), or the
//     project's opencode.json. Both of a folder are read.
//   - permission: "deny" takes a tool from the model; edit stands for write and
//     patch as well. The last rule that matches counts.
//   - A call may be silent for 60 s; progress begins that anew.
package install
