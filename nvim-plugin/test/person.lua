-- A person at a real Neovim: it runs in a terminal buffer of this one, so its keys are typed and its screen is read; a
-- channel of its own is for looking. The sidecar is a table here, so that a test can say what it says.

local check = require("check")

local M = { eventually = check.eventually }

local patience_ms = 90000
local here = vim.fn.fnamemodify(debug.getinfo(1, "S").source:sub(2), ":p:h")

-- What came back from a person's Neovim, by ticket; see `Person:lua`.
---@type table<integer, {fine: boolean, result: any}>
local returned = {}

-- Runs code there and sends back what became of it. It is called by a notification: a request would hold up this process
-- for as long as that Neovim is in the middle of keys, and the keys that end it are typed from here.
local run = [[
  local channel, ticket, code, arguments = ...
  local fine, result = pcall(function() return assert(loadstring(code))(unpack(arguments)) end)
  if not pcall(vim.rpcnotify, channel, "nvim_exec_lua", "require('person').take(...)", { ticket, fine, result }) then
    vim.rpcnotify(channel, "nvim_exec_lua", "require('person').take(...)", { ticket, false, "a result that cannot be sent" })
  end
]]

--- Takes what a person's Neovim sends back.
---@param ticket integer
---@param fine boolean
---@param result any
function M.take(ticket, fine, result)
  returned[ticket] = { fine = fine, result = result }
end

-- In the person's Neovim: `Wire.ask(request)` is `approval/request`, `Wire.answers` what was answered, by id.
local sidecar = [[
  Clock = 0 -- of requests; it stands still, see `Person:reads`
  require("pillion.approval").now = function() return Clock end
  Wire = { handlers = {}, answers = {}, sent = {}, cancels = {}, replies = {}, state_listeners = {} }
  Wire.client = { state = "ready", root = "/" }
  function Wire.client.request(method, params, callback)
    Wire.sent[#Wire.sent + 1] = { method = method, params = params }
    vim.schedule(function() callback(nil, (Wire.replies[method] or function() return {} end)(params)) end)
    return true
  end
  function Wire.client.notify() return true end
  local real = require("pillion.client")
  real.ready = function() return Wire.client.state == "ready" and { Wire.client } or {} end
  package.loaded["pillion.client"] = {
    on = function(method, handler) Wire.handlers[method] = handler end,
    on_state = function(listener) table.insert(Wire.state_listeners, listener) end,
    each = function(visit) visit(Wire.client) end,
    ready = real.ready,
    ask_all = real.ask_all,
    current = function() return Wire.client end,
    log = function() return {} end,
    is_below = real.is_below,
  }
  function Wire.ask(method, params)
    local id = params.approvalId or params.promptId
    Wire.handlers[method](params, function(result, err) Wire.answers[id] = result or { error = err } end, Wire.client, function(callback)
      Wire.cancels[id] = callback
    end)
  end
  function Wire.tell(method, params) Wire.handlers[method](params, nil, Wire.client) end
  Wire.events = {}
  vim.api.nvim_create_autocmd("User", { pattern = "Pillion*", callback = function(event)
    table.insert(Wire.events, { event.match, event.data })
  end })
  require("pillion.ui").attach()
  vim.api.nvim_create_user_command("Pillion", function(options)
    require("pillion.commands").run(options.args, options.range > 0 and { options.line1, options.line2 } or nil)
  end, { nargs = "*", range = true, complete = function(lead, line) return require("pillion.commands").complete(lead, line) end })
]]

---@class pillion.Person
---@field private channel integer to their Neovim
---@field private glass integer to the Neovim in whose terminal theirs runs
---@field private job integer
---@field private there integer the channel to here, as their Neovim numbers it
---@field private tickets integer
local Person = {}
Person.__index = Person

--- A Neovim with a screen of that size, and a program in a terminal that fills it.
---@return integer glass, integer job
local function screen_of(columns, lines, command)
  local glass = vim.fn.jobstart({ vim.v.progpath, "--embed", "--clean", "-n" }, { rpc = true })
  vim.rpcrequest(glass, "nvim_ui_attach", columns, lines, vim.empty_dict())
  vim.rpcrequest(glass, "nvim_exec_lua", "vim.o.cmdheight, vim.o.laststatus = 0, 0", {})
  return glass, vim.rpcrequest(glass, "nvim_exec_lua", "return vim.fn.termopen(...)", { command })
end

---@param options? {init?: string, columns?: integer, lines?: integer}
---@return pillion.Person
function M.sit_down(options)
  options = options or {}
  local self = setmetatable({}, Person)
  local socket = vim.fn.tempname()
  local plugin = "let g:pillion_autostart = v:false | let g:loaded_python3_provider = 0 | set rtp^=" .. vim.fn.fnamemodify(here, ":h")
  local command = { vim.v.progpath, "--clean", "-n", "--listen", socket, "--cmd", plugin }
  self.glass, self.job = screen_of(options.columns or 120, options.lines or 24, command)
  self.channel = M.eventually("it listens", function()
    local fine, channel = pcall(vim.fn.sockconnect, "pipe", socket, { rpc = true })
    return fine and channel > 0 and channel
  end)
  M.eventually("it has started", function()
    return vim.rpcrequest(self.channel, "nvim_get_vvar", "vim_did_enter") == 1
  end)
  self.there, self.tickets = vim.rpcrequest(self.channel, "nvim_get_api_info")[1], 0
  self:lua(sidecar)
  if options.init then
    self:lua(options.init)
  end
  M.eventually("it has drawn", function()
    return self:screen():find("[No Name]", 1, true)
  end)
  return self
end

--- What registers tests in each of which a person sits down, and leaves whatever happens.
---@param usual? {init?: string, columns?: integer, lines?: integer}
---@return fun(name: string, try: fun(human: pillion.Person), options?: table)
function M.sitting(usual)
  return function(name, try, options)
    check.test(name, function()
      local human = M.sit_down(vim.tbl_extend("force", usual or {}, options or {}))
      local fine, problem = xpcall(try, debug.traceback, human)
      human:leave()
      if not fine then
        error(problem, 0)
      end
    end)
  end
end

--- Runs Lua there: for what is not a person's doing.
function Person:lua(code, ...)
  self.tickets = self.tickets + 1
  local ticket = self.tickets
  returned[ticket] = nil
  vim.rpcnotify(self.channel, "nvim_exec_lua", run, { self.there, ticket, code, { ... } })
  vim.wait(patience_ms, function()
    return returned[ticket] ~= nil
  end, 5)
  local answer = returned[ticket] or { fine = false, result = "no answer: " .. vim.inspect(self:mode()) }
  if not answer.fine then
    error(("%s\nit has ended: %s, on its screen:\n%s"):format(answer.result, self:gone(), self:screen()), 2)
  end
  return answer.result
end

--- As `lua`, for when it is in the middle of keys: it is done when they are through.
function Person:later(code, ...)
  vim.rpcnotify(self.channel, "nvim_exec_lua", code, { ... })
end

--- Types, in the notation of mappings.
---@param keys string
function Person:type(keys)
  vim.rpcrequest(self.glass, "nvim_chan_send", self.job, vim.keycode(keys))
end

---@return {mode: string, blocking: boolean}
function Person:mode()
  return vim.rpcrequest(self.channel, "nvim_get_mode")
end

---@return string
function Person:screen()
  return table.concat(vim.rpcrequest(self.glass, "nvim_buf_get_lines", 0, 0, -1, false), "\n")
end

---@param text string as it stands
function Person:sees(text)
  local fine = pcall(M.eventually, text, function()
    return self:screen():find(text, 1, true)
  end)
  if not fine then
    error(("the screen never showed %q but\n%s"):format(text, self:screen()), 2)
  end
end

--- Types keys and waits until they took effect in this mode.
---@param keys string
---@param mode string
function Person:type_into(keys, mode)
  self:type(keys)
  M.eventually("mode " .. mode, function()
    return self:mode().mode == mode
  end)
end

---@param code string an expression that comes to hold there
function Person:eventually(code)
  M.eventually(code, function()
    return self:lua("return " .. code)
  end)
end

function Person:ask(method, params)
  self:lua("Wire.ask(...)", method, params)
end

function Person:tell(method, params)
  self:lua("Wire.tell(...)", method, params)
end

---@return table the answer to a request
function Person:answered(id)
  return M.eventually("an answer to " .. id, function()
    local answer = self:lua("return Wire.answers[...] or false", id)
    return answer
  end)
end

--- They have read it and say yes.
---@return table the answer
function Person:approves(id)
  self:reads()
  self:type("ga")
  return self:answered(id)
end

function Person:waits(id)
  return self:lua("return Wire.answers[...] == nil and require('pillion.approvals').get(...) ~= nil", id)
end

--- Lets the half second pass in which a question takes no answer: it passes no other way.
function Person:reads()
  self:lua("Clock = Clock + 1000")
end

--- Waits until their Neovim has done what it had to do when this was asked, and what that left to be done. What has not
--- come of it by then does not.
function Person:settled()
  self:lua([[
    Settled = false
    local left = 3
    local function step()
      left = left - 1
      if left > 0 then
        vim.schedule(step)
      else
        Settled = true
      end
    end
    vim.schedule(step)
  ]])
  self:eventually("Settled")
end

--- Whether their Neovim has ended.
---@return boolean
function Person:gone()
  return vim.rpcrequest(self.glass, "nvim_call_function", "jobwait", { { self.job }, 0 })[1] ~= -1
end

function Person:leave()
  pcall(vim.fn.chanclose, self.channel)
  vim.fn.jobstop(self.glass)
  vim.fn.jobwait({ self.glass }, 3000)
end

--- The hunks of a text as the sidecar numbers them: each one block of changed lines.
---@param before string
---@param after string
---@param id? integer of the first
---@return pillion.HunkPreview[]
function M.hunks(before, after, id)
  local blocks = vim.diff(before, after, { result_type = "indices" }) --[[@as integer[][] ]]
  local found, last = {}, select(2, before:gsub("[^\n]*\n", "")) + (before:match("[^\n]$") and 1 or 0)
  local function gap(index) -- between a block and the one before
    local one, other = blocks[index - 1], blocks[index]
    local from = one and one[1] - (one[2] == 0 and 0 or 1) + one[2] or 0
    local to = other and other[1] - (other[2] == 0 and 0 or 1) or last
    return math.min(3, to - from)
  end
  for index, block in ipairs(blocks) do
    local old, new = block[1] - (block[2] == 0 and 0 or 1), block[3] - (block[4] == 0 and 0 or 1)
    found[index] = {
      id = tostring((id or 1) + index - 1),
      header = "@@ … @@",
      title = tostring(old + 1),
      additions = block[4],
      deletions = block[2],
      before = { start = old, ["end"] = old + block[2] },
      after = { start = new, ["end"] = new + block[4] },
      head = gap(index),
      tail = gap(index + 1),
    }
  end
  return found
end

local visible = require("pillion.escape").visible

--- What a sidecar sends of files; those without lines say so with `text = false`.
---@param files table[] {path, before, after, …}
---@return pillion.FilePreview[]
function M.files(files)
  local id = 1
  return vim.tbl_map(function(file)
    local path, before, after = file[1], file[2], file[3]
    local text = file.text ~= false
    local hunks = file.hunks or text and M.hunks(before, after, id) or { { id = tostring(id), title = file.summary, head = 0, tail = 0 } }
    id = id + #hunks
    return {
      path = path,
      name = visible(path),
      deed = (file.deed or "edit %s"):format(visible(path)),
      summary = file.summary or "",
      banner = file.banner or "",
      text = text,
      facts = file.facts or {},
      uri = "file:///p/" .. path,
      operation = file.operation or "overwrite",
      language = "python",
      size = #after,
      before = before,
      after = after,
      diff = file.diff or text and vim.diff(before, after, { ctxlen = 3 }) or "",
      merged = file.merged,
      hunks = hunks,
      additions = text and 1 or 0,
      deletions = text and 1 or 0,
      openInEditor = false,
      dirty = false,
    }
  end, files)
end

M.class = { code = "class", text = "this tool changes files" }

--- What a sidecar sends for an edit.
---@param id string
---@param files table[] as above
function M.edit_request(id, files, more)
  local previews = M.files(files)
  local only = #files == 1 and previews[1]
  local preview = {
    kind = "diff",
    files = previews,
    act = only and not only.text and only.deed or "change files",
    deed = only and only.deed or ("edit %d files"):format(#files),
    subject = only and only.name or ("%d files"):format(#files),
    question = "Change files?",
    facts = {
      { code = "reasons", label = "Asks because", text = "this tool changes files" },
      { code = "agent", label = "Asked by", text = "claude, over MCP" },
    },
  }
  return vim.tbl_extend("force", {
    approvalId = id,
    callId = "c" .. id,
    sessionId = "s",
    agent = { name = "claude", via = "mcp" },
    tool = "edit_file",
    title = "Edit " .. files[1][1],
    description = "",
    reasons = { M.class },
    arguments = { path = files[1][1] },
    preview = preview,
    decisions = {
      { id = "reject", title = "Reject", scope = "once", meaning = "the agent goes on without it" },
      { id = "approve", title = "Approve", scope = "once", meaning = "once" },
      {
        id = "session",
        title = "Approve for this session",
        scope = "session",
        rule = "edit_file(" .. files[1][1] .. ")",
        meaning = "for this session, without asking",
      },
    },
    digest = "d1",
  }, more or {})
end

--- A commit that asks, as the sidecar sends it.
---@param id string
---@param more? table
function M.commit_request(id, more)
  local message = "clock: pad\n\nwhy\u{202e}\n"
  local diff = "diff --git a/a.py b/a.py\nindex 1..2 100644\n--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n one\n--- two\n+three\n"
  return vim.tbl_deep_extend("force", {
    approvalId = id,
    sessionId = "s1",
    agent = { name = "claude", via = "mcp" },
    tool = "git.commit",
    title = "Commit clock: pad",
    reasons = { { code = "unsaved", text = "your unsaved changes in a.py are not included" } },
    arguments = { message = message, files = { "a.py" } },
    preview = {
      kind = "text",
      act = "commit 1 file to main",
      deed = "commit 1 file to main",
      subject = "",
      question = "Commit this?",
      lines = { "clock: pad", "", "why\\u202e" },
      notices = { "Invisible characters are written as escapes, such as \\u200b." },
      facts = {
        { code = "branch", label = "Branch", text = "main, now at b3a5c5d" },
        { code = "files", label = "Files", text = "", items = { "M a.py +1 −1", "A b.py +1 −0" } },
        { code = "unsaved", label = "Unsaved changes not included", text = "a.py", tone = "warning", action = "save" },
        { code = "agent", label = "Asked by", text = "claude, over MCP" },
      },
      message = message,
      diff = diff,
      unsaved = { "a.py" },
    },
    decisions = {
      { id = "reject", title = "Reject", scope = "once", meaning = "the agent goes on without it" },
      { id = "approve", title = "Approve", scope = "once", meaning = "once" },
    },
    digest = "d1",
  }, more or {})
end

--- What is to be seen of a command.
---@param command string
---@param more? table
function M.command_preview(command, more)
  return vim.tbl_extend("force", {
    kind = "command",
    command = command,
    act = "run a command",
    deed = "run " .. visible(command),
    subject = visible(command),
    question = "Run a command?",
    lines = vim.tbl_map(visible, vim.split(command, "\n")),
    facts = {
      { code = "folder", label = "Folder", text = "the workspace folder", tone = "muted" },
      { code = "reasons", label = "Asks because", text = "this tool runs a program" },
      { code = "agent", label = "Asked by", text = "claude, over MCP" },
    },
  }, more or {})
end

---@param id string
---@param command string
function M.command_request(id, command, more)
  local request = M.edit_request(id, { { "x", "", "" } }, {
    tool = "run_command",
    title = "Run " .. command,
    reasons = { { code = "class", text = "this tool runs a program" } },
    arguments = (more or {}).arguments or { command = command, timeout = 5 },
    preview = M.command_preview(command, (more or {}).preview),
  })
  request.decisions[3].rule = ("run_command(%s)"):format(command)
  return request
end

--- A session as the sidecar sends it: of an agent that is there and has done nothing.
---@param id string
---@param name string
---@param more? table
function M.session(id, name, more)
  return vim.tbl_extend("force", {
    sessionId = id,
    agent = { name = name, via = "mcp" },
    mode = "default",
    turn = 1,
    paused = false,
    connected = true,
    started = "2026-05-04T14:05:00Z",
    calls = 0,
    changes = 0,
    rejected = 0,
    refused = 0,
    grants = {},
    todos = {},
    todosRevision = 0,
  }, more or {})
end

return M
