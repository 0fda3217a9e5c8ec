-- An agent did something unusual (`session/unusual`): it tried to get out of the workspace, deleted very much, or was refused
-- again and again. The user gets a message, and a line in the list of `:Pillion` stands until they choose what to do.

local announce = require("pillion.announce")
local choose = require("pillion.choose")
local escape = require("pillion.escape")
local sessions = require("pillion.sessions")

local M = {}

--- The oldest make room.
M.limit = 20

---@class pillion.Unusual
---@field sessionId string
---@field agent {name: string, via: string}
---@field kind "escape"|"mass_deletion"|"refusals"
---@field message string
---@field acted ""|"paused"|"reverted" what the sidecar did by itself
---@field client any

---@type pillion.Unusual[] the oldest first
local standing = {}

local acted = { paused = "it was paused", reverted = "it was paused and its changes were reverted" }

function M.all()
  return vim.list_slice(standing)
end

---@param one pillion.Unusual
function M.line(one)
  local done = acted[one.acted] and "; " .. acted[one.acted] or ""
  return escape.short(one.message, 100) .. done
end

---@param gone fun(one: pillion.Unusual): boolean
local function drop(gone)
  standing = vim.tbl_filter(function(one)
    return not gone(one)
  end, standing)
end

--- A `session/unusual` notification.
---@param params pillion.Unusual
---@param client any
function M.receive(params, client)
  local one = vim.tbl_extend("force", {}, params, { client = client })
  drop(function(other)
    return other.client == client and other.sessionId == one.sessionId and other.kind == one.kind
  end)
  standing[#standing + 1] = one
  if #standing > M.limit then
    table.remove(standing, 1)
  end
  announce.say("Pillion: " .. M.line(one) .. "  (:Pillion)", vim.log.levels.WARN)
end

---@param client any
function M.abandon(client)
  drop(function(one)
    return one.client == client
  end)
end

--- The user chose its line.
---@param one pillion.Unusual
function M.act(one)
  local choices = { { label = "Dismiss", run = function() end } }
  if one.acted ~= "reverted" then
    table.insert(choices, 1, { label = "Revert its changes: shows a preview first", run = require("pillion.revert").session })
  end
  if one.acted == "" then
    table.insert(choices, 1, { label = "Pause it: all its calls are rejected until :Pillion resume", run = sessions.pause })
  end
  choose(choices, { prompt = M.line(one), kind = "pillion.unusual" }, function(choice)
    drop(function(other)
      return other == one
    end)
    choice.run(one)
  end)
end

return M
