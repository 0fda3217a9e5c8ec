-- A sidecar that is a table: what it was told of documents, as it would hold them.

local M = {}

---@class fake.Document
---@field text string
---@field version integer
---@field state? table

--- Takes the place of `pillion.client` and of what runs; before anything else is read.
---@param root string
function M.install(root)
  ---@type { documents: table<string, fake.Document>, sent: { [1]: string, [2]: table }[], handlers: table<string, function>, listeners: function[] }
  local world = { documents = {}, sent = {}, handlers = {}, listeners = {} }
  local owner = { root = root, state = "ready", connection = {} }
  world.owner = owner

  function owner.notify(method, params)
    if owner.state ~= "ready" then
      return false
    end
    world.sent[#world.sent + 1] = { method, params }
    local take = M.notifications[method]
    if take then
      take(world, params)
    end
    return true
  end

  local real = require("pillion.client")
  package.loaded["pillion.client"] = {
    is_below = real.is_below,
    on = function(method, handler)
      world.handlers[method] = handler
    end,
    on_state = function(listener)
      table.insert(world.listeners, listener)
    end,
    each = function(visit)
      visit(owner)
    end,
  }

  --- What the sidecar holds of a file.
  function world.document(path)
    return world.documents[vim.uri_from_fname(path)]
  end

  function world.become(state)
    owner.state = state
    if state ~= "ready" then
      world.documents = {}
    end
    for _, listener in ipairs(world.listeners) do
      listener(owner)
    end
  end
  return world
end

--- The change of one LSP event, by this file's own reading of the specification.
---@param text string
---@param change table
local function changed(text, change)
  if not change.range then
    return change.text
  end
  local function offset(place)
    local at = 1
    for _ = 1, place.line do
      local found = text:find("[\r\n]", at)
      if not found then
        return #text
      end
      at = found + (text:sub(found, found + 1) == "\r\n" and 2 or 1)
    end
    assert(place.character == 0, "whole lines alone are told")
    return at - 1
  end
  return text:sub(1, offset(change.range.start)) .. change.text .. text:sub(offset(change.range["end"]) + 1)
end

M.notifications = {
  ["textDocument/didOpen"] = function(world, params)
    local document = params.textDocument
    assert(not world.documents[document.uri], "opened twice")
    world.documents[document.uri] = { text = document.text, version = document.version }
  end,
  ["textDocument/didChange"] = function(world, params)
    local document = assert(world.documents[params.textDocument.uri], "changed, and not open")
    assert(params.textDocument.version > document.version, "versions grow")
    document.version = params.textDocument.version
    for _, change in ipairs(params.contentChanges) do
      document.text = changed(document.text, change)
    end
  end,
  ["textDocument/didClose"] = function(world, params)
    assert(world.documents[params.textDocument.uri], "closed, and not open")
    world.documents[params.textDocument.uri] = nil
  end,
  ["document/state"] = function(world, params)
    local document = assert(world.documents[params.uri], "a state, and not open")
    assert(params.version == document.version, "a state follows the change that it names")
    document.state = params
  end,
}

return M
