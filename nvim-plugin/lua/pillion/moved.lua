-- A file that an agent moved or deleted, and the buffers that are open on it. One whose text is saved follows to the new name;
-- what the user has not saved stays where it is, under the old name, and they are told.

local announce = require("pillion.announce")
local client = require("pillion.client")
local documents = require("pillion.documents")
local escape = require("pillion.escape")
local idle = require("pillion.idle")
local views = require("pillion.views")
local words = require("pillion.words")

local api = vim.api

local M = {}

---@param path string a file, or a folder
---@return {buffer: integer, path: string}[] loaded buffers of files there
local function buffers_at(path)
  local found = {}
  for _, buffer in ipairs(api.nvim_list_bufs()) do
    local name = api.nvim_buf_is_loaded(buffer) and vim.bo[buffer].buftype == "" and api.nvim_buf_get_name(buffer) or ""
    local folder = name ~= "" and vim.uv.fs_realpath(vim.fs.dirname(name))
    local real = folder and vim.fs.joinpath(folder, vim.fs.basename(name)) or name -- the file itself is there no more
    for _, spelled in ipairs(name ~= "" and { name, real } or {}) do
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

--- Neovim keeps the old name as a buffer of its own.
---@param name string
local function wipe(name)
  for _, left in ipairs(api.nvim_list_bufs()) do
    if api.nvim_buf_get_name(left) == name and not api.nvim_buf_is_loaded(left) then
      pcall(vim.cmd.bwipeout, { left, bang = true })
    end
  end
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
  wipe(old)
  documents.consider(buffer)
end

--- A move. `who` did it.
---@param from string
---@param to string
---@param who string
function M.moved(from, to, who)
  for _, one in ipairs(buffers_at(from)) do
    idle.run(function() -- not under the user's hands
      follow(one.buffer, to .. one.path:sub(#from + 1), who)
    end)
  end
end

--- A deletion.
---@param path string
---@param who string
function M.deleted(path, who)
  local open = buffers_at(path)
  if #open > 0 then
    local where = #open == 1 and "its text is still in its buffer" or ("%s of it are still open"):format(words.count(#open, "file"))
    announce.say(("Pillion: %s deleted %s; %s"):format(escape.visible(who), short(path), where), vim.log.levels.WARN)
  end
end

return M
