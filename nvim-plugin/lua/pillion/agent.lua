-- `:Pillion agent [name]`: an agent's own program in a terminal beside the user's windows, which the same command puts away and
-- shows again; and what `:Pillion send` puts into its prompt. It is never sent there: the user does that. `:Pillion connect [agent]`
-- puts Pillion into an agent's own configuration: the program does it, in a terminal, where it shows what it would write and asks first.

local announce = require("pillion.announce")
local choose = require("pillion.choose")
local client = require("pillion.client")
local config = require("pillion.config")

local api = vim.api

local M = {}

--- A terminal that is narrower than this is one below, not beside.
local least_columns = 160

---@type table<string, {buffer: integer, job: integer}> by the agent's id, which is its program's name
local started = {}
---@type string? the one that was shown last
local last

--- Runs a program in the current window, which has the cursor and an empty buffer.
---@param command string[]
---@param name string as a tab or a statusline shows it
---@param folder? string
---@return integer job
local function run(command, name, folder)
  local job
  if vim.fn.has("nvim-0.11") == 1 then
    job = vim.fn.jobstart(command, { cwd = folder, term = true })
  else
    job = vim.fn.termopen(command, { cwd = folder or vim.fn.getcwd() })
  end
  pcall(vim.api.nvim_buf_set_name, 0, "pillion://" .. name) -- an ended one may have it still
  vim.cmd.startinsert()
  return job
end

--- What can be connected, as the sidecars say.
---@return {id: string, name: string}[]
local function connectable()
  local one = client.ready()[1]
  return one and one.agents or {}
end

--- Those that can be connected, if their programs are installed.
---@return {id: string, name: string}[]
local function installed()
  return vim.tbl_filter(function(agent)
    return vim.fn.executable(agent.id) == 1
  end, connectable())
end

---@param agents {id: string, name: string}[]
---@return string[]
local function ids(agents)
  return vim.tbl_map(function(agent)
    return agent.id
  end, agents)
end

---@return string[]
function M.names()
  return ids(installed())
end

---@return string[]
function M.connectable()
  return ids(connectable())
end

---@param agents {id: string, name: string}[]
---@param prompt string
---@param callback fun(id: string)
local function choose_agent(agents, prompt, callback)
  local function name(agent)
    return agent.name
  end
  choose(agents, { prompt = prompt, kind = "pillion.agent", format_item = name }, function(agent)
    callback(agent.id)
  end)
end

---@param id string?
---@return {buffer: integer, job: integer}? one whose program runs
local function running(id)
  local one = started[id]
  return one and api.nvim_buf_is_loaded(one.buffer) and vim.fn.jobwait({ one.job }, 0)[1] == -1 and one or nil
end

---@param buffer integer
local function show(buffer)
  local window = vim.fn.bufwinid(buffer)
  if window == -1 then
    local beside = vim.o.columns >= least_columns
    window = api.nvim_open_win(buffer, true, { split = beside and "right" or "below", win = -1 })
    vim.wo[window][0].number, vim.wo[window][0].relativenumber, vim.wo[window][0].signcolumn = false, false, "no"
  end
  api.nvim_set_current_win(window)
end

--- In the workspace's folder, where it finds this Neovim; its environment is this Neovim's, in whose PATH client.lua put the program.
---@param id string
local function start(id)
  if vim.fn.executable(id) == 0 then
    announce.tell(("Pillion: there is no program %s on your PATH"):format(require("pillion.escape").short(id, 40)))
    return
  end
  if started[id] and api.nvim_buf_is_valid(started[id].buffer) then
    api.nvim_buf_delete(started[id].buffer, { force = true })
  end
  local buffer = api.nvim_create_buf(false, false)
  show(buffer)
  local here = client.current()
  local job = run({ id }, id, here and here.root)
  vim.bo[buffer].buflisted = false
  started[id], last = { buffer = buffer, job = job }, id
end

--- Shows it, or puts it away if it is before the user; starts it if it does not run.
---@param id string "": the last one, or the only one, or one that they choose
function M.toggle(id)
  id = id ~= "" and id or running(last) and last or ""
  local one = running(id)
  if one then
    last = id
    local window = vim.fn.bufwinid(one.buffer)
    if window == -1 then
      show(one.buffer)
      vim.cmd.startinsert()
    elseif #api.nvim_tabpage_list_wins(0) > 1 then
      api.nvim_win_hide(window)
    end
    return
  elseif id ~= "" then
    start(id)
    return
  end
  local found = installed()
  if #found == 0 then
    announce.tell("Pillion: no agent is installed that Pillion knows; name a program: :Pillion agent claude")
  elseif #found == 1 then
    start(found[1].id)
  else
    choose_agent(found, "Start which agent?", start)
  end
end

---@param path string
---@param range? {[1]: integer, [2]: integer}
local function diagnostics(path, range)
  local lines = {}
  for _, one in ipairs(vim.diagnostic.get(0)) do
    if not range or one.lnum + 1 >= range[1] and one.lnum + 1 <= range[2] then
      local severity = vim.diagnostic.severity[one.severity]:lower()
      lines[#lines + 1] = ("%s:%d: %s: %s"):format(path, one.lnum + 1, severity, (one.message:gsub("%s+", " ")))
    end
  end
  return table.concat(lines, "\n")
end

--- What is sent of the current file.
---@param what ""|"diagnostics"
---@param range? {[1]: integer, [2]: integer}
---@return string text, string? problem
local function material(what, range)
  local name = api.nvim_buf_get_name(0)
  if vim.bo.buftype ~= "" or name == "" then
    return "", "this buffer is no file; go to the file that you want to send"
  end
  local here = client.current()
  local root = here and here.root .. "/" or ""
  local path = vim.startswith(name, root) and name:sub(#root + 1) or name -- as the agent knows it
  if what == "diagnostics" then
    local text = diagnostics(path, range)
    return text, text == "" and "this file has no diagnostics" .. (range and " in these lines" or "") or nil
  elseif not range then
    return "@" .. path .. " "
  end
  local lines = api.nvim_buf_get_lines(0, range[1] - 1, range[2], false)
  return ("%s:%d-%d\n```%s\n%s\n```"):format(path, range[1], range[2], vim.bo.filetype, table.concat(lines, "\n"))
end

--- Puts the current file's name, these lines or its diagnostics into the prompt, as pasted text, and goes there.
---@param what ""|"diagnostics"
---@param range? {[1]: integer, [2]: integer}
function M.send(what, range)
  local one = running(last)
  if not one then
    announce.tell("Pillion: start an agent first: :Pillion agent")
    return
  end
  local text, problem = material(what, range)
  if problem then
    announce.tell("Pillion: " .. problem)
    return
  end
  show(one.buffer)
  api.nvim_put(vim.split(text, "\n"), "c", true, false)
  vim.cmd.startinsert()
end

---@param id string
local function install(id)
  local located = require("pillion.locator").locate(config.current.path)
  if located.problem then
    announce.say("Pillion: " .. located.problem, vim.log.levels.ERROR)
    return
  end
  vim.cmd.tabnew() -- all of what it shows should be seen
  run({ located.path, "mcp", "install", id }, "connect " .. id)
end

---@param id string "" to be asked
function M.connect(id)
  local names = M.connectable()
  if id ~= "" and #names > 0 and not vim.tbl_contains(names, id) then
    announce.say("Pillion: unknown agent: use " .. table.concat(names, ", "))
  elseif id ~= "" then
    install(id)
  elseif #names == 0 then
    announce.say("Pillion: open a project first, or name an agent: :Pillion connect claude")
  else
    choose_agent(connectable(), "Connect which agent?", install)
  end
end

return M
