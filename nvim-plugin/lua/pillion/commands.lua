-- Every command of `:Pillion`, in one table, and what a key of a dialog does.

local announce = require("pillion.announce")
local approvals = require("pillion.approvals")
local choose = require("pillion.choose")
local drafts = require("pillion.drafts")
local escape = require("pillion.escape")
local front = require("pillion.front")
local marks = require("pillion.marks")
local processes = require("pillion.processes")
local session_list = require("pillion.session_list")
local together = require("pillion.together")
local trust = require("pillion.trust")
local view = require("pillion.view")
local words = require("pillion.words")

local M = {}

---@param id string
---@param choice pillion.Choice
local function answer(id, choice)
  local approval = approvals.get(id)
  local verdict = approvals.answer(id, choice)
  if verdict == "taken" and approval and approval:has_agent() then
    announce.tell(words.answered(approval, choice))
  elseif verdict == "too-soon" then
    announce.too_fast()
  elseif verdict == "nothing" then
    announce.tell("Pillion: every hunk is left out: select some, or reject it")
  elseif verdict == "no-message" then
    announce.tell("Pillion: the message is empty: write one, or reject it")
  elseif verdict == "comments" then
    announce.tell("Pillion: your comments go with a rejection: reject it, or remove them first")
  elseif verdict == "gone" then
    announce.tell("That request is no longer waiting: it was answered or withdrawn.")
  end
end

--- Shows exactly the rules that would be saved, and asks.
---@param id string
---@param scope "turn"|"session"|"workspace"
local function remember(id, scope)
  local approval = approvals.get(id)
  local offered = approval and approval:remembering(scope) or {}
  if not approval or #offered == 0 or approval.own then
    announce.tell("Pillion: no rule can be remembered here; approve it once")
    return
  end
  local digest = approval.request.digest
  choose(offered, {
    prompt = "Remember exactly this rule:",
    kind = "pillion.rule",
    format_item = function(decision)
      return ("%s: saves the rule  %s"):format(escape.visible(decision.title), escape.visible(decision.rule))
    end,
  }, function(decision)
    if approval.request.digest ~= digest then
      announce.tell("Pillion: it was updated meanwhile: check it and answer again")
    else
      answer(id, { kind = "remember", decisionId = decision.id, deliberate = true })
    end
  end)
end

--- Saves what the command would miss, then approves what was on show. If saving changed what was judged, that is asked again.
---@param id string
local function save_and_run(id)
  local approval = approvals.get(id)
  if not approval or #approval:unsaved() == 0 then
    announce.tell("Pillion: there are no unsaved changes to save")
  elseif not approval:is_armed() then
    announce.too_fast()
  else
    local digest, runs = approval.request.digest, approval.request.preview.kind == "command"
    local problem = require("pillion.save").files(approval.client.root, approval:unsaved())
    if problem then
      announce.tell("Pillion: nothing was " .. (runs and "run: " or "answered: ") .. escape.short(problem, 200), vim.log.levels.ERROR)
    elseif not runs then
      announce.tell("Pillion: saved; check it again and answer")
    else
      answer(id, { kind = "approve", digest = digest, deliberate = true })
    end
  end
end

---@param id string
local function edit(id)
  local approval = approvals.get(id)
  if approval and front.show(id) then
    local first = approval:files()[1]
    if first and first.text and first.operation ~= "delete" then
      announce.tell("Pillion: edit the right side; approving writes your text")
    elseif approval:editable() then
      front.dialog(id):edit_argument()
    else
      announce.tell("Pillion: there is nothing to edit here")
    end
  end
end

---@param by integer
local function step(by)
  return function()
    if not front.step(by) then
      announce.tell("Pillion: no requests are waiting")
    end
  end
end

--- Selects the hunks that the user points at, or leaves them out.
---@param whole boolean all of the file
local function choose_hunks(whole)
  return function(id)
    local problem = front.choose_hunks(id, whole)
    if problem then
      announce.tell("Pillion: " .. problem)
    end
  end
end

--- On the line that the user points at; an empty one takes it away.
---@param id string
local function comment(id)
  local approval, path, line = approvals.get(id), front.line(id)
  if not approval or not path then
    announce.tell("Pillion: comments are on lines of a proposed text")
    return
  end
  vim.ui.input({ prompt = ("Comment on line %d: "):format(line), default = approval:comment_on(path, line) }, function(said)
    if said then
      approvals.comment(approval, path, line, said)
    end
  end)
end

---@param by integer
local function step_hunk(by)
  return function(id)
    if not front.step_hunk(id, by) then
      announce.tell("Pillion: there is no hunk here")
    end
  end
end

---@param kind "approve"|"reject"|"cancel"
local function answering_with(kind)
  return function(id)
    answer(id, { kind = kind })
  end
end

---@param by integer
local function step_file(by)
  return function(id)
    front.turn(id, by)
  end
end

---@type table<pillion.Action, fun(id: string)>
local actions = {
  approve = answering_with("approve"),
  save = save_and_run,
  turn = function(id)
    remember(id, "turn")
  end,
  session = function(id)
    remember(id, "session")
  end,
  workspace = function(id)
    remember(id, "workspace")
  end,
  reject = answering_with("reject"),
  reason = function(id)
    local approval = approvals.get(id)
    if approval and approval:is_own() then
      answer(id, { kind = "reject" })
      return
    end
    local refusal = approval and approval.request.decisions[1].title or "Reject"
    vim.ui.input({ prompt = refusal .. ", because: " }, function(reason)
      if reason then
        answer(id, { kind = "reject", feedback = reason })
      end
    end)
  end,
  discard = function(id)
    local approval = approvals.get(id)
    if approval and approval:is_draft() then
      drafts.discard({ sessionId = approval.request.sessionId, client = approval.client })
    else
      announce.tell("Pillion: this is no draft; reject it instead")
    end
  end,
  cancel = answering_with("cancel"),
  edit = edit,
  comment = comment,
  hunk = choose_hunks(false),
  file = choose_hunks(true),
  next_hunk = step_hunk(1),
  prev_hunk = step_hunk(-1),
  next_file = step_file(1),
  prev_file = step_file(-1),
  next = step(1),
  prev = step(-1),
  close = front.put_away,
  help = function(id)
    local approval = approvals.get(id)
    if approval then
      require("pillion.keys").help(approval, vim.api.nvim_get_current_buf() == require("pillion.page").buffer(id))
    end
  end,
}

local answering = {
  approve = true,
  save = true,
  turn = true,
  session = true,
  workspace = true,
  reject = true,
  reason = true,
  discard = true,
  cancel = true,
  edit = true,
}

--- A key of a dialog. One that was meant for another window must not answer a request that has just got the cursor.
---@param action pillion.Action
---@param id string
function M.press(action, id)
  if answering[action] and (front.focused() ~= id or not front.takes_keys()) then
    announce.too_fast()
    return
  end
  actions[action](id)
end

--- On the page that lists all that waits an answer is for all of it.
---@param kind "approve"|"reject"|"cancel"
---@return boolean whether the user is there
local function of_all(kind)
  if not together.in_front() then
    return false
  elseif front.is_meant_for_all() then
    together.answer(kind)
  else
    announce.tell("Pillion: it was updated meanwhile: check it and answer again")
  end
  return true
end

--- For what says yes the user must be looking at it, as it is now; else it is shown to them.
---@param action pillion.Action
local function of_focused(action)
  return function()
    local approval = approvals.get(front.focused())
    if approval and front.is_meant(approval) then
      actions[action](approval.id)
      return
    elseif approval then
      approval:disarm()
      announce.say("Pillion: it was updated meanwhile: check it and answer again")
      return
    end
    local all = approvals.all()
    if #all == 0 then
      announce.tell("Pillion: no requests are waiting")
      return
    end
    front.show(all[1].id)
    announce.tell("Pillion: check it and answer again")
  end
end

--- A no needs no looking where it is clear what is meant.
---@param kind "reject"|"cancel"
local function refuse(kind)
  return function(rest)
    if of_all(kind) then
      return
    end
    local all = approvals.all()
    local id = front.focused() or (#all == 1 and all[1].id) or nil
    if id then
      answer(id, { kind = kind, feedback = rest ~= "" and rest or nil, deliberate = true })
    else
      of_focused(kind)()
    end
  end
end

--- Gives the agent the current file as context, or the lines of a range; or takes files back.
---@param rest string
---@param range? {[1]: integer, [2]: integer}
local function context(rest, range)
  local conversation = require("pillion.conversation")
  local action, path = rest:match("^(%S*)%s*(.-)$")
  local name = vim.api.nvim_buf_get_name(0)
  if action == "clear" then
    conversation.context("clear")
  elseif action == "remove" and path ~= "" then
    conversation.context("remove_file", { path = path })
  elseif action ~= "add" or path ~= "" then
    announce.tell("Pillion: use context add (the current file, or the lines of a range), context remove FILE or context clear")
  elseif vim.bo.buftype ~= "" or name == "" then
    announce.tell("Pillion: this buffer is no file; go to the file that you want to add")
  else
    local lines = range and vim.api.nvim_buf_get_lines(0, range[1] - 1, range[2], false)
    conversation.context("add_file", { path = name, content = lines and table.concat(lines, "\n") .. "\n" or nil })
  end
end

--- What agents can call here, and where it comes from, as the sidecars word it.
local function list_tools()
  require("pillion.client").ask_all(function(client, answered)
    client.request("tools/list", { format = "page", refresh = true }, function(err, result)
      if err then
        announce.tell("Pillion: the tools cannot be listed: " .. escape.short(err.message, 200), vim.log.levels.ERROR)
      end
      answered(not err and result.text or "")
    end)
  end, function(texts)
    local page = require("pillion.page")
    local buffer = page.scratch("pillion://tools", "nofile")
    vim.keymap.set("n", "q", "<Cmd>close<CR>", { buffer = buffer, nowait = true, desc = "Pillion: close the list of tools" })
    page.put(buffer, { lines = escape.visible_lines(vim.trim(table.concat(texts, "\n"))), marks = {} })
    page.go_to(buffer)
    vim.wo.linebreak, vim.wo.breakindent, vim.wo.breakindentopt = true, true, "shift:4"
  end)
end

--- A function of a module, which is loaded when it is first called.
---@param part string
---@param name string
local function of(part, name)
  return function(...)
    return require("pillion." .. part)[name](...)
  end
end

---@type table<string, fun(rest: string, range?: {[1]: integer, [2]: integer})>
M.table = {
  approve = function(rest)
    if of_all("approve") then
      return
    elseif rest == "all" then
      together.run()
    else
      of_focused("approve")()
    end
  end,
  save = of_focused("save"),
  turn = of_focused("turn"),
  session = of_focused("session"),
  workspace = of_focused("workspace"),
  edit = of_focused("edit"),
  comment = of_focused("comment"),
  reject = refuse("reject"),
  cancel = refuse("cancel"),
  show = function()
    local first = approvals.all()[1]
    if not front.show(front.focused() or first and first.id or "") then
      announce.tell("Pillion: no requests are waiting")
    end
  end,
  next = step(1),
  prev = step(-1),
  together = together.run,
  log = of("log", "open"),
  processes = processes.open,
  trust = trust.open,
  journal = of("journal_list", "open"),
  revert = of("revert", "run"),
  accept = marks.accept,
  who = marks.who,
  kill = processes.kill_named,
  write = processes.write_named,
  mode = session_list.change_mode,
  draft = drafts.run,
  pause = session_list.pause,
  resume = session_list.resume,
  sessions = session_list.open,
  rules = of("rules_list", "open"),
  todos = of("todos", "open"),
  restart = function()
    require("pillion").restart()
  end,
  stop = function()
    require("pillion").stop()
  end,
  start = function()
    require("pillion").start()
  end,
  connect = of("agent", "connect"),
  conversation = of("conversation", "open"),
  gateway = function(rest)
    require("pillion.conversation").connect(rest)
    require("pillion.conversation").open()
  end,
  disconnect = of("conversation", "disconnect"),
  send = function(rest, range)
    if rest == "" or rest == "diagnostics" or range then
      require("pillion.agent").send(rest, range)
    else
      require("pillion.conversation").send(rest)
    end
  end,
  agent = of("agent", "toggle"),
  context = context,
  tools = list_tools,
  doctor = function()
    vim.cmd.checkhealth("pillion")
  end,
}

--- `:Pillion …`, as it was typed: a reason may hold any character.
---@param args string
---@param range? {[1]: integer, [2]: integer} lines that it was given
function M.run(args, range)
  local name, rest = vim.trim(args):match("^(%S*)%s*(.-)$")
  if name == "" then
    view.open()
  elseif M.table[name] then
    M.table[name](rest, range)
  else
    announce.tell(("Pillion: unknown command %s; use one of %s"):format(escape.short(name, 40), table.concat(M.names(), ", ")))
  end
end

---@return string[]
function M.names()
  return vim.fn.sort(vim.tbl_keys(M.table))
end

---@param offered string[]
local function always(offered)
  return function()
    return offered
  end
end

--- What may stand behind a command.
---@type table<string, fun(): string[]>
local arguments = {
  approve = always({ "all" }),
  mode = always(session_list.modes),
  draft = always({ "review", "discard" }),
  revert = function()
    return require("pillion.revert").names
  end,
  accept = always({ "all" }),
  kill = processes.names,
  write = processes.names,
  connect = of("agent", "connectable"),
  context = always({ "add", "remove", "clear" }),
  agent = of("agent", "names"),
  send = always({ "diagnostics" }),
}

---@param lead string
---@param line string up to the cursor
function M.complete(lead, line)
  local parts = vim.split(line:gsub("^.-Pillion%S*%s*", "", 1), "%s+")
  local offered = #parts <= 1 and M.names() or #parts == 2 and arguments[parts[1]] and arguments[parts[1]]() or {}
  return vim.tbl_filter(function(word)
    return vim.startswith(word, lead)
  end, offered)
end

return M
