-- What a change set of an agent, or its revert, means for the buffers here (`journal/changed`), and what else happens to files
-- (`workspace/changed`).

local announce = require("pillion.announce")
local journal = require("pillion.journal")
local marks = require("pillion.marks")
local moved = require("pillion.moved")
local reload = require("pillion.reload")
local revert = require("pillion.revert")

local M = {}

---@class pillion.ChangedPlace
---@field path string
---@field uri string
---@field operation string
---@field to? string
---@field toUri? string
---@field lines {start: integer, end: integer, removed?: integer}[]
---@field merged boolean

---@param file pillion.ChangedPlace
---@param by pillion.Maker
local function report_file(file, by)
  if file.uri == "" then
    return -- it lies in no folder that is open
  end
  local path = vim.uri_to_fname(file.uri)
  if file.operation == "move" and file.toUri then
    local to = vim.uri_to_fname(file.toUri)
    marks.moved(path, to)
    moved.moved(path, to, journal.who(by))
  elseif file.operation == "delete" then
    marks.moved(path)
    moved.deleted(path, journal.who(by))
  elseif file.lines and #file.lines > 0 then
    marks.add(path, file.lines, by)
  end
end

--- A `journal/changed` notification.
---@param params {entry: pillion.AgentChange, files?: pillion.ChangedPlace[]}
---@param client any
function M.receive(params, client)
  local by = vim.tbl_extend("force", {}, params.entry, { client = client }) --[[@as pillion.Maker]]
  local state = params.entry.state
  if state == "reverted" or state == "undone" then
    marks.forget(function(maker)
      return maker.client == client and maker.callId == by.callId
    end)
  end
  reload.soon()
  vim.schedule(function() -- when the buffers have the text that the lines are of
    for _, file in ipairs(state == "done" and params.files or {}) do -- else it is about what was done before
      local fine, problem = xpcall(report_file, debug.traceback, file, by)
      if not fine then -- raised here it would make Neovim wait for a key
        announce.trouble(problem)
      end
    end
  end)
  journal.changed()
end

--- A `workspace/changed` notification.
---@param params {changes?: {path: string, type: string, by: string}[]}
function M.seen(params)
  for _, change in ipairs(params.changes or {}) do
    if change.by ~= "editor" then
      reload.soon()
      revert.look_again()
      return
    end
  end
end

return M
