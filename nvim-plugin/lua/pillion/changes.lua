-- What a change set of an agent, or its revert, means for the buffers here (`journal/changed`), and what else happens to files
-- (`workspace/changed`). Where a file was moved, a buffer whose text is saved follows to the new name; what the user has not saved
-- stays where it is, under the old name, and they are told.

local announce = require("pillion.announce")
local client = require("pillion.client")
local documents = require("pillion.documents")
local escape = require("pillion.escape")
local idle = require("pillion.idle")
local journal = require("pillion.journal")
local marks = require("pillion.marks")
local page = require("pillion.page")
local reload = require("pillion.reload")
local revert = require("pillion.revert")
local views = require("pillion.views")
local words = require("pillion.words")

local api = vim.api

local M = {}

---@class pillion.ChangedPlace
---@field path string
---@field uri string
---@field operation string
---@field to? string
---@field toUri? string
---@field lines {start: integer, end: integer, removed?: integer}[]
---@field merged boolean

---@param path string a file, or a folder
---@return {buffer: integer, path: string}[] loaded buffers of files there
local function buffers_at(path)
  local found = {}
  for _, buffer in ipairs(api.nvim_list_bufs()) do
    local name = api.nvim_buf_is_loaded(buffer) and vim.bo[buffer].buftype == "" and api.nvim_buf_get_name(buffer) or ""
    for _, spelled in ipairs(name ~= "" and { name, documents.real(name) } or {}) do -- the file itself is there no more
      if client.is_below(spelled, path) then
        found[#found + 1] = { buffer = buffer, path = spelled }
        break
      end
    end
  end
  return found
end

---@param path string
local function short(path)
  return escape.short(vim.fn.fnamemodify(path, ":~:."), 60)
end

--- Gives the buffer its new name, and reads it anew: else Neovim takes the file for somebody else's, and `:write` asks.
---@param buffer integer
---@param to string
---@param who string
local function follow(buffer, to, who)
  if not api.nvim_buf_is_loaded(buffer) or vim.uv.fs_stat(to) == nil then
    return
  elseif vim.bo[buffer].modified then
    local text = "Pillion: your unsaved changes stay in their buffer, under the old name: %s moved %s to %s"
    announce.say(text:format(escape.visible(who), short(api.nvim_buf_get_name(buffer)), short(to)), vim.log.levels.WARN)
    return
  end
  local old = api.nvim_buf_get_name(buffer)
  local restore = views.keep(buffer)
  documents.hold(buffer, function()
    pcall(api.nvim_buf_call, buffer, function() -- what fails is an autocommand of the user's
      vim.cmd(("silent keepalt file %s"):format(vim.fn.fnameescape(vim.fn.fnamemodify(to, ":."))))
      vim.cmd("silent keepalt keepjumps edit")
    end)
  end)
  restore()
  if api.nvim_buf_get_name(buffer) ~= old then
    page.wipe_named(old)
  end
  documents.consider(buffer)
end

---@param file pillion.ChangedPlace
---@param by pillion.Maker
local function report_file(file, by)
  if file.uri == "" then
    return -- it lies in no folder that is open
  end
  local path, who = vim.uri_to_fname(file.uri), journal.who(by)
  if file.operation == "move" and file.toUri then
    local to = vim.uri_to_fname(file.toUri)
    marks.moved(path, to)
    for _, one in ipairs(buffers_at(path)) do
      idle.run(function() -- not under the user's hands
        follow(one.buffer, to .. one.path:sub(#path + 1), who)
      end)
    end
  elseif file.operation == "delete" then
    marks.moved(path)
    local open = buffers_at(path)
    if #open > 0 then
      local where = #open == 1 and "its text is still in its buffer" or ("%s of it are still open"):format(words.count(#open, "file"))
      announce.say(("Pillion: %s deleted %s; %s"):format(escape.visible(who), short(path), where), vim.log.levels.WARN)
    end
  elseif file.lines and #file.lines > 0 then
    marks.add(path, file.lines, by)
  end
end

--- A `journal/changed` notification.
---@param params {entry: pillion.AgentChange, files?: pillion.ChangedPlace[]}
---@param from any
function M.receive(params, from)
  local by = vim.tbl_extend("force", {}, params.entry, { client = from }) --[[@as pillion.Maker]]
  local state = params.entry.state
  if state == "reverted" or state == "undone" then
    marks.forget(function(maker)
      return maker.client == from and maker.callId == by.callId
    end)
  end
  reload.soon()
  vim.schedule(function() -- when the buffers have the text that the lines are of
    for _, file in ipairs(state == "done" and params.files or {}) do -- else it is about what was done before
      announce.guard(report_file, file, by)
    end
  end)
  journal.changed()
end

--- A `workspace/changed` notification.
---@param params {changes?: {path: string, type: string, by: string}[]}
function M.seen(params)
  local any = vim.iter(params.changes or {}):any(function(change)
    return change.by ~= "editor"
  end)
  if any then
    reload.soon()
    revert.look_again()
  end
end

return M
