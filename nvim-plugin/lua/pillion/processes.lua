-- The processes that agents left running (`process/…`): what is known of each, and what the user does with them. One that has
-- ended can be looked at for a while.

local Process = require("pillion.process")
local announce = require("pillion.announce")
local choose = require("pillion.choose")
local escape = require("pillion.escape")
local events = require("pillion.events")
local words = require("pillion.words")

local M = {}

--- Of those that have ended.
M.kept = 20
--- Lines are made of what came this often.
local draw_ms = 50

---@type pillion.Process[] in order of their start
local all = {}

local changed = events.listeners(M)

---@return pillion.Process[] those that run first
function M.all()
  local found = M.running()
  for index = #all, 1, -1 do
    if not all[index].running then
      found[#found + 1] = all[index]
    end
  end
  return found
end

---@return pillion.Process[] the oldest first
function M.running()
  return vim.tbl_filter(function(process)
    return process.running
  end, all)
end

local draw_soon ---@type fun()
draw_soon = events.settled(draw_ms, function()
  for _, process in ipairs(all) do
    if process:settle() then
      draw_soon()
    end
  end
end)

--- The last one of that name.
---@param info {sessionId: string, processId: string}
---@param client any
---@return pillion.Process?
local function find(info, client)
  for index = #all, 1, -1 do
    local process = all[index]
    if process.client == client and process.sessionId == info.sessionId and process.processId == info.processId then
      return process
    end
  end
end

--- The oldest that has ended makes room, unless somebody looks at it.
local function prune()
  local ended = #vim.tbl_filter(function(process)
    return process.ended
  end, all)
  all = vim.tbl_filter(function(process)
    local goes = ended > M.kept and process.ended and process:is_hidden()
    if goes then
      ended = ended - 1
      process:forget()
    end
    return not goes
  end, all)
end

---@param info {sessionId: string, processId: string}
---@param client any
---@return pillion.Process
local function add(info, client)
  local process = Process.new(info, client)
  all[#all + 1] = process
  prune()
  return process
end

--- Asks a sidecar what runs.
---@param client any
---@param callback? fun()
function M.refresh(client, callback)
  client.request("process/list", vim.empty_dict(), function(err, result)
    for _, info in ipairs(not err and result.processes or {}) do
      local process = find(info, client)
      local is_other = process ~= nil and process.pid ~= nil and process.pid ~= info.pid
      if info.running and (not process or is_other and process.ended) then
        process, is_other = add(info, client), false
      end
      if process and not is_other then
        process:know(info)
      end
    end
    draw_soon()
    changed()
    if callback then
      callback()
    end
  end)
end

--- A `process/output` notification. A name whose process has ended may be given to another one.
---@param info {sessionId: string, processId: string, text: string, start: integer, next: integer, running: boolean, exitCode?: integer}
---@param client any
function M.output(info, client)
  local process = find(info, client)
  local is_new = not process or process.ended and info.running
  if is_new then
    process = add(info, client)
    M.refresh(client)
  end
  process:take(info)
  draw_soon()
  if is_new or not info.running then
    prune()
    changed()
  end
end

--- They ended with their sidecar.
---@param client any
function M.abandon(client)
  for _, process in ipairs(all) do
    if process.client == client then
      process:finish(nil, "It ended because Pillion stopped.")
    end
  end
  draw_soon()
  changed()
end

---@param process pillion.Process
function M.kill(process)
  local named = { sessionId = process.sessionId, processId = process.processId }
  process.client.request("process/kill", named, function(err, result)
    if err then
      announce.tell(("Pillion: %s could not be stopped: %s"):format(process:name(), escape.short(err.message, 200)), vim.log.levels.ERROR)
    elseif result.running then
      announce.tell(("Pillion: %s is still running"):format(process:name()))
    else
      process:stop(result)
      draw_soon()
      changed()
      local code = result.exitCode and (" (exit code %d)"):format(result.exitCode) or ""
      announce.tell(("Pillion: %s was stopped%s"):format(process:name(), code))
    end
  end)
end

--- Asks for a line, and types it to the process.
---@param process pillion.Process
function M.write(process)
  vim.ui.input({ prompt = ("To %s: "):format(process:name()) }, function(line)
    if not line then
      return
    end
    local typed = { sessionId = process.sessionId, processId = process.processId, input = line .. "\n" }
    process.client.request("process/write", typed, function(err)
      if err then
        announce.tell(("Pillion: could not send it to %s: %s"):format(process:name(), escape.short(err.message, 200)), vim.log.levels.ERROR)
      else
        process:typed(line)
        draw_soon()
      end
    end)
  end)
end

---@param processes pillion.Process[]
---@param prompt string
---@param callback fun(process: pillion.Process)
local function choose_process(processes, prompt, callback)
  choose(processes, { prompt = prompt, kind = "pillion.process", format_item = Process.line }, callback)
end

--- The one that is meant: by its name, by where the user is, or because it is the only one that runs; else they choose.
---@param id string
---@param prompt string
---@param callback fun(process: pillion.Process)
local function with(id, prompt, callback)
  local found = M.running()
  local current = vim.iter(all):find(function(process) -- the one in whose buffer the user is
    return process.buffer == vim.api.nvim_get_current_buf()
  end)
  if id ~= "" then
    found = vim.tbl_filter(function(process)
      return process.processId == id or escape.visible(process.processId) == id
    end, found)
  elseif current and current.running then
    found = { current }
  end
  if #found == 1 then
    callback(found[1])
  elseif #found > 1 then
    choose_process(found, prompt, callback)
  elseif id ~= "" then
    announce.tell(("Pillion: there is no running process %s"):format(escape.short(id, 40)))
  else
    announce.tell("Pillion: no process of an agent is running")
  end
end

--- `:Pillion kill [id]`
---@param id string
function M.kill_named(id)
  with(id, "Stop which process?", M.kill)
end

--- `:Pillion write [id]`
---@param id string
function M.write_named(id)
  with(id, "Type a line to which process?", M.write)
end

---@return string[] for completion
function M.names()
  local names = {}
  for _, process in ipairs(M.running()) do
    if process.processId:find("^[%w._-]+$") then
      names[#names + 1] = process.processId
    end
  end
  return names
end

local function list()
  local found, running = M.all(), #M.running()
  if #found == 0 then
    announce.tell("Pillion: there are no processes of agents")
    return
  end
  local prompt = running > 0 and words.count(running, "process") .. " running:" or "No process is running. Ended:"
  choose_process(found, prompt, function(process)
    if not process.running then
      process:show()
      return
    end
    local choices = {
      { label = "Show its output", run = process.show },
      { label = "Type a line to it", run = M.write },
      { label = "Stop it", run = M.kill },
    }
    choose(choices, { prompt = process:line(), kind = "pillion.process" }, function(choice)
      choice.run(process)
    end)
  end)
end

--- `:Pillion processes`: all that run, and the last that have ended.
function M.open()
  local clients = require("pillion.client")
  if #clients.ready() > 0 then
    clients.ask_all(M.refresh, list)
  else
    list() -- they ended with their sidecar, and can still be looked at
  end
end

return M
