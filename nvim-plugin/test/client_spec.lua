-- The life of a sidecar, with the real program and with programs that fail.

local check = require("check")
local test, same = check.test, check.same

local config = require("pillion.config")
local client = require("pillion.client")
local pillion = require("pillion")

local here = vim.fn.fnamemodify(debug.getinfo(1, "S").source:sub(2), ":p:h")
local program = vim.env.PILLION_PROGRAM or vim.fs.joinpath(vim.fs.dirname(vim.fs.dirname(here)), "bin", "pillion")
assert(vim.fn.executable(program) == 1, program .. " is not built; run make build")

vim.env.HOME = check.folder() -- the registry of sidecars depends on it

--- A workspace of its own.
---@return string
local function workspace()
  local folder = check.folder()
  vim.fn.mkdir(folder .. "/.git")
  return folder
end

---@param pid integer
local function is_gone(pid)
  return vim.uv.kill(pid, 0) ~= 0
end

---@param root string
---@return pillion.Client
local function ready(root)
  pillion.start(root)
  local found
  client.each(function(one)
    if one.root == root then
      found = one
    end
  end)
  check.eventually("the sidecar is ready", function()
    return found.state == "ready"
  end)
  return found
end

--- Asks, and waits for the answer.
local function asks(one, method, params)
  local got
  one.request(method, params, function(err, result)
    got = { err = err, result = result }
  end)
  check.eventually("an answer to " .. method, function()
    return got
  end)
  assert(not got.err, vim.inspect(got.err))
  return got.result
end

test("it starts, answers, and leaves nothing", function()
  pillion.setup({ path = program })
  local one = ready(workspace())
  local pid = one.connection.process.pid
  check.match(one.version, "%d")
  same(asks(one, "session/list").sessions, {})
  same(#vim.lsp.get_clients({ name = "pillion" }), 1)
  pillion.stop()
  assert(is_gone(pid), "it is gone at once")
  check.eventually("vim.lsp has forgotten it", function()
    return #vim.lsp.get_clients({ name = "pillion" }) == 0
  end)
  same(one.state, "stopped")
end)

test("the sidecar says which agents can be connected, and those are offered", function()
  local agent, select = require("pillion.agent"), vim.ui.select
  same(agent.connectable(), {})
  ready(workspace())
  assert(vim.tbl_contains(agent.connectable(), "claude"), vim.inspect(agent.connectable()))
  same(require("pillion.commands").complete("cl", "Pillion connect cl"), { "claude" })
  local offered
  vim.ui.select = function(items, options)
    offered = vim.tbl_map(options.format_item, items)
  end
  agent.connect("")
  vim.ui.select = select
  assert(vim.tbl_contains(offered, "Claude Code"), vim.inspect(offered))
  pillion.stop()
end)

test("the agent reads what is unsaved, and edits go through the buffer", function()
  local root = workspace()
  local path = check.write(root .. "/app.py", "def total(p):\n    return sum(p)\n")
  pillion.setup({ path = program, settings = { mode = "auto_edit" } })
  local one = ready(root)
  vim.cmd.edit(path)
  vim.api.nvim_buf_set_lines(0, 0, 0, true, { "# mine" })
  local read = asks(one, "tools/call", { name = "read_file", arguments = { path = "app.py" } })
  check.match(read.content[1].text, "# mine")
  local edited = asks(one, "tools/call", {
    name = "edit_file",
    arguments = { path = "app.py", old_string = "sum(p)", new_string = "round(sum(p))" },
  })
  same({ edited.isError or false, edited.structuredContent.saved }, { false, false })
  same(vim.api.nvim_buf_get_lines(0, 0, -1, true), { "# mine", "def total(p):", "    return round(sum(p))" })
  same(check.read(path), "def total(p):\n    return sum(p)\n")
  vim.cmd("silent write")
  local again = asks(one, "tools/call", {
    name = "edit_file",
    arguments = { path = "app.py", old_string = "# mine", new_string = "# ours" },
  })
  same({ again.isError or false, again.structuredContent.saved }, { false, true })
  same(check.read(path), "# ours\ndef total(p):\n    return round(sum(p))\n")
  pillion.stop()
end)

test("every shape of file is edited in place and saved as it was", function()
  local root = workspace()
  pillion.setup({ path = program, settings = { mode = "auto_edit" } })
  local one = ready(root)
  for name, case in
    vim.spairs({
      dos = { "one\r\ntwo\r\n", "one\r\n2\r\n" },
      mixed = { "one\r\ntwo\nthree\r\n", "one\r\n2\nthree\r\n" },
      mark = { "\239\187\191one\ntwo\n", "\239\187\191one\n2\n" },
      latin = { "caf\233\ntwo\n", "caf\233\n2\n" },
      utf16 = { "\255\254o\0n\0e\0\n\0t\0w\0o\0\n\0", "\255\254o\0n\0e\0\n\0002\0\n\0" },
      horse = { "🐎🐎 two\n", "🐎🐎 2\n" },
      carriage = { "one\rtwo\nthree\n", "one\r2\nthree\n" },
    })
  do
    local path = check.write(root .. "/" .. name .. ".txt", case[1])
    vim.cmd.edit(path)
    local result = asks(one, "tools/call", {
      name = "edit_file",
      arguments = { path = name .. ".txt", old_string = "two", new_string = "2" },
    })
    same({ result.isError or false, result.structuredContent.saved }, { false, true }, name .. ": " .. vim.inspect(result))
    same(check.read(path), case[2], name)
  end
  pillion.stop()
end)

test("what a command wrote comes into the buffer", function()
  local root = workspace()
  local path = check.write(root .. "/notes.txt", "one\n")
  pillion.setup({ path = program, settings = { permissions = { allow = { "run_command(echo two > notes.txt)" } } } })
  local one = ready(root)
  vim.cmd.edit(path)
  local ran = asks(one, "tools/call", { name = "run_command", arguments = { command = "echo two > notes.txt" } })
  same(ran.isError or false, false, vim.inspect(ran))
  check.eventually("the buffer is read anew", function()
    return vim.api.nvim_buf_get_lines(0, 0, -1, true)[1] == "two"
  end)
  pillion.stop()
end)

test("after a crash it comes back, and is told everything", function()
  local root = workspace()
  local path = check.write(root .. "/notes.txt", "one\n")
  pillion.setup({ path = program })
  local one = ready(root)
  vim.cmd.edit(path)
  vim.api.nvim_buf_set_lines(0, 0, 0, true, { "unsaved" })
  local pid = one.connection.process.pid
  vim.uv.kill(pid, "sigkill")
  check.eventually("another one is ready", function()
    return one.state == "ready" and one.connection.process.pid ~= pid
  end)
  local read = asks(one, "tools/call", { name = "read_file", arguments = { path = "notes.txt" } })
  check.match(read.content[1].text, "unsaved")
  vim.cmd("edit!")
  pillion.stop()
end)

test("a program that ends again and again is left alone, and why is in the log", function()
  local root = workspace()
  local broken = check.write(check.folder() .. "/broken", "#!/bin/sh\necho it is broken >&2\nexit 4\n")
  vim.fn.setfperm(broken, "rwx------")
  local defer = vim.defer_fn
  vim.defer_fn = function(callback, ms) -- seconds of patience are not what is tried here
    return defer(callback, math.min(ms, 5))
  end
  pillion.setup({ path = broken })
  pillion.start(root)
  local status = check.eventually("it is given up", function()
    local one = client.for_path(root)
    return one.state == "failed" and one
  end)
  vim.defer_fn = defer
  check.match(status.problem, "ended 6 times in a row")
  check.match(table.concat(client.log(), "\n"), "it is broken")
  pillion.setup({ path = program })
  check.eventually("another program is tried", function()
    return client.for_path(root).state == "ready"
  end)
  pillion.stop()
end)

test("a program that is not there says what to do", function()
  local before = vim.env.PATH
  vim.env.PATH = "/nowhere"
  pillion.setup({ path = "" })
  local root = workspace()
  pillion.start(root)
  local one = client.for_path(root)
  same({ one.state, one.missing }, { "failed", true })
  check.match(one.problem, "install it, or name it")
  pillion.setup({ path = "relative/pillion" })
  pillion.start(root)
  check.match(one.problem, "not an executable file")
  vim.env.PATH = before
  pillion.stop()
end)

test("a folder that is gone is told, and no question is asked", function()
  pillion.setup({ path = program })
  local root = check.folder() .. "/gone"
  pillion.start(root)
  same(client.for_path(root).state, "failed")
  check.match(client.for_path(root).problem, "could not be started")
  check.match(table.concat(client.log(), "\n"), "could not be started: ENOENT")
  pillion.stop()
end)

test("another program is taken by what runs, and what was stopped stays so", function()
  pillion.setup({ path = program })
  local stopped, running = ready(workspace()), ready(workspace())
  client.stop(stopped)
  local before, copy = running.connection.process.pid, check.folder() .. "/pillion"
  vim.uv.fs_symlink(program, copy)
  pillion.setup({ path = copy })
  check.eventually("it runs anew", function()
    return running.state == "ready" and running.connection.process.pid ~= before
  end)
  same({ stopped.state, running.path }, { "stopped", copy })
  pillion.stop()
end)

test("a workspace is where the git repository is, else the folder", function()
  local root = workspace()
  vim.fn.mkdir(root .. "/a/b", "p")
  same(pillion.root(root .. "/a/b"), root)
  local plain = check.folder()
  same(pillion.root(plain), plain)
end)

test("leaving Neovim leaves no process, also while a question waits", function()
  local root = workspace()
  local child = check.child(true)
  child.lua(
    [[
    local program, root = ...
    require("pillion").setup({ path = program })
    require("pillion").start(root)
  ]],
    program,
    root
  )
  check.eventually("the sidecar is ready", function()
    return child.lua([[return require("pillion.client").for_path(...).state]], root) == "ready"
  end)
  local pid = child.lua([[return require("pillion.client").for_path(...).connection.process.pid]], root)
  child.lua(
    [[require("pillion.client").for_path(...).request("tools/call", { name = "run_command", arguments = { command = "sleep 1000" } }, function() end)]],
    root
  )
  check.eventually("a question waits", function()
    return child.lua([[return require("pillion").status().waiting]]) == 1
  end)
  child.keys("<Esc>:wqa<CR>")
  check.eventually("nothing is left", function()
    return is_gone(pid)
  end)
end)

test("a Neovim that is killed leaves no process either", function()
  local child = check.child(true)
  local root = workspace()
  child.lua([[local program, root = ... require("pillion").setup({ path = program }) require("pillion").start(root)]], program, root)
  check.eventually("the sidecar is ready", function()
    return child.lua([[return require("pillion").status().state]]) == "ready"
  end)
  local pid = child.lua([[return require("pillion.client").for_path(...).connection.process.pid]], root)
  vim.uv.kill(child.lua("return vim.uv.os_getpid()"), "sigkill")
  check.eventually("nothing is left", function()
    return is_gone(pid)
  end)
end)

test("what of the talk is traced is in the log", function()
  pillion.setup({ path = program, settings = { trace = { server = "messages" } } })
  asks(ready(workspace()), "session/list")
  require("pillion.log").open()
  local shown = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\n")
  check.match(shown, "to the sidecar: session/list\n")
  check.match(shown, "from the sidecar: the answer to %d")
  vim.cmd.close()
  pillion.setup({ path = program })
end)

test("options that are wrong are named", function()
  same(config.problem({ pat = "x" }):match("^unknown option pat"), "unknown option pat")
  same(config.problem({ path = 1 }), "the option path is a string, not a number")
  same(config.problem({ path = "/x", settings = { mode = "plan" } }), nil)
end)

test("settings reach the sidecar as objects", function()
  config.set({ settings = { permissions = {}, limits = {} } })
  same(vim.json.decode(vim.json.encode(config.settings())), { permissions = vim.empty_dict(), limits = vim.empty_dict() })
  config.set({})
  same(vim.json.encode(config.settings()), "{}")
end)
