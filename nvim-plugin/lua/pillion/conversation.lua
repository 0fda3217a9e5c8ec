-- The conversation with an agent that comes by a gateway, as the sidecar tells it: the newest of each sidecar.

local announce = require("pillion.announce")
local escape = require("pillion.escape")

local M = {}

---@class pillion.ConversationEntry
---@field entryId string
---@field kind "user"|"agent"|"call"|"error"|"notice"
---@field text string
---@field done boolean
---@field call? pillion.Call

---@class pillion.Conversation
---@field conversationId string
---@field title string
---@field agent {name: string, via: string}
---@field status string
---@field message string
---@field connection "disconnected"|"connecting"|"connected"|"reconnecting"
---@field entries pillion.ConversationEntry[]
---@field context {path: string, content?: boolean, lines?: integer, by: string}[]

---@type table<any, pillion.Conversation>
local conversations = {}
---@type table<any, {state: string, url: string, error?: {message: string, hint?: string}}>
local gateways = {}
---@type fun(conversation: pillion.Conversation, text: string)[]
local readers = {}

local changed
---@type fun(listener: fun())
M.listen, changed = require("pillion.listeners").new()

--- Calls back when words are added to the newest entry, which is all that changed.
---@param reader fun(conversation: pillion.Conversation, text: string)
function M.on_words(reader)
  readers[#readers + 1] = reader
end

--- The one of the current workspace, else any.
---@return pillion.Conversation?
function M.current()
  local here = require("pillion.client").current()
  return here and conversations[here] or select(2, next(conversations))
end

--- How the current workspace's gateway is connected.
---@return {state: string, url: string, error?: {message: string, hint?: string}}?
function M.gateway()
  local here = require("pillion.client").current()
  return here and gateways[here] or select(2, next(gateways))
end

---@param entries pillion.ConversationEntry[]
---@param entry pillion.ConversationEntry
local function put(entries, entry)
  for index, old in ipairs(entries) do
    if old.entryId == entry.entryId then
      entries[index] = entry
      return
    end
  end
  entries[#entries + 1] = entry
end

---@param params table
---@param client any
function M.change(params, client)
  local one = conversations[client]
  if params.closed then
    if one and one.conversationId == params.conversationId then
      conversations[client] = nil
      changed()
    end
    return
  end
  if not one or one.conversationId ~= params.conversationId then
    if not params.title then
      return -- of an older one, which is not shown
    end
    one = { conversationId = params.conversationId, status = "idle", message = "", connection = "disconnected", entries = {}, context = {} }
    conversations[client] = one
  end
  for _, field in ipairs({ "title", "agent", "status", "message", "connection", "context" }) do
    if params[field] ~= nil then
      one[field] = params[field]
    end
  end
  for _, entry in ipairs(params.entries or {}) do
    put(one.entries, entry)
  end
  if params.removed then
    one.entries = vim.tbl_filter(function(entry)
      return not vim.tbl_contains(params.removed, entry.entryId)
    end, one.entries)
  end
  changed()
end

---@param params {conversationId: string, entryId: string, text: string}
---@param client any
function M.append(params, client)
  local one = conversations[client]
  local last = one and one.entries[#one.entries]
  if one and last and one.conversationId == params.conversationId and last.entryId == params.entryId then
    last.text = last.text .. params.text
    for _, reader in ipairs(readers) do
      reader(one, params.text)
    end
  end
end

---@param state {state: string, url: string, error?: {message: string, hint?: string}}
---@param client any
function M.connected(state, client)
  gateways[client] = state
  changed()
end

---@param client any
function M.abandon(client)
  conversations[client], gateways[client] = nil, nil
  changed()
end

---@param method string
---@param params table
---@param done? fun(result: any)
local function ask(method, params, done)
  local client = require("pillion.client")
  local here = client.current() or client.ready()[1]
  if not here then
    announce.say("Pillion: pillion is not running; start it with :Pillion start")
    return
  end
  here.request(method, params, function(err, result)
    if err then
      announce.say("Pillion: " .. escape.short(err.message, 300), vim.log.levels.WARN)
    elseif done then
      done(result)
    end
  end)
end

--- The sidecar has the token from the setting gateway.tokenCommand, or from PILLION_GATEWAY_TOKEN.
---@param url string "" for the setting gateway.url
function M.connect(url)
  ask("gateway/connect", { url = url })
end

function M.disconnect()
  ask("gateway/disconnect", {})
end

---@param text string
---@param sent? fun()
function M.send(text, sent)
  local one = M.current()
  if not one then
    announce.say("Pillion: no agent is connected: :Pillion gateway URL")
  elseif vim.trim(text) ~= "" then
    ask("conversation/send", { conversationId = one.conversationId, text = text }, sent)
  end
end

---@param action "add_file"|"remove_file"|"clear"
---@param data? {path: string, content?: string}
function M.context(action, data)
  local one = M.current()
  if not one then
    announce.say("Pillion: no agent is connected: :Pillion gateway URL")
    return
  end
  ask("context/update", { conversationId = one.conversationId, action = action, data = data })
end

return M
