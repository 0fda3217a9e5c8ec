-- What is wrong with a buffer, as its language servers and the user's other linters reported it to Neovim. What a server was
-- just asked for is about the text as it is; what it sent by itself, and what others found, is about a text that nobody named.

local position = require("pillion.position")

local M = {}

---@param diagnostic vim.Diagnostic
local function as_lsp(diagnostic)
  return {
    range = {
      start = { line = diagnostic.lnum, character = diagnostic.col },
      ["end"] = { line = diagnostic.end_lnum or diagnostic.lnum, character = diagnostic.end_col or diagnostic.col },
    },
    severity = diagnostic.severity,
    code = diagnostic.code,
    source = diagnostic.source,
    message = diagnostic.message,
  }
end

--- What a server put there for itself is of no use to others.
---@param sent table
local function without_data(sent)
  sent.data = nil
  return sent
end

--- The server that a namespace is of, and whether it was asked for what is in it.
---@param namespace integer
---@param servers vim.lsp.Client[]
---@return vim.lsp.Client?, boolean
local function origin(namespace, servers)
  local name = vim.diagnostic.get_namespace(namespace).name
  for _, server in ipairs(servers) do
    local pushed = ("vim.lsp.%s.%d"):format(server.name, server.id)
    if name == pushed or vim.startswith(name, pushed .. ".") then
      return server, name ~= pushed
    end
  end
  return nil, false
end

--- What servers answered now, by their ids.
---@param said pillion.Said[]
---@return table<integer, table[]>
local function pulled(said)
  local found = {}
  for _, one in ipairs(said) do
    if type(one.result) == "table" and one.result.kind == "full" then
      found[one.server.id] = vim.tbl_map(without_data, one.result.items or {})
    end
  end
  return found
end

--- What Neovim shows, without what servers were just asked for.
---@param buffer integer
---@param servers vim.lsp.Client[]
---@param fresh table<integer, table[]>
---@return table<pillion.Encoding, table[]> by what its positions count
local function shown(buffer, servers, fresh)
  local found = {}
  for _, diagnostic in ipairs(vim.diagnostic.get(buffer)) do
    local server, was_asked = origin(diagnostic.namespace, servers)
    if not (server and was_asked and fresh[server.id]) then
      local sent = server and vim.tbl_get(diagnostic, "user_data", "lsp") -- as its server sent it
      sent = type(sent) == "table" and sent.range and without_data(vim.deepcopy(sent))
      local encoding = server and sent and server.offset_encoding or "utf-8"
      found[encoding] = found[encoding] or {}
      table.insert(found[encoding], sent or as_lsp(diagnostic))
    end
  end
  return found
end

---@param buffer integer
---@param servers vim.lsp.Client[] all that the buffer has
---@param said pillion.Said[] of those that were asked
---@param callback fun(found: table[], is_current: boolean) is_current: all of it is about the text that they were asked about
function M.collect(buffer, servers, said, callback)
  local fresh, found = pulled(said), {}
  local lists = shown(buffer, servers, fresh)
  local is_current = next(lists) == nil
  for _, server in ipairs(servers) do
    is_current = is_current and fresh[server.id] ~= nil
    vim.list_extend(found, fresh[server.id] or {})
  end
  local left = vim.tbl_count(lists)
  if left == 0 then
    callback(found, is_current)
  end
  for encoding, list in pairs(lists) do
    position.from_server(list, encoding, vim.uri_from_bufnr(buffer), function(counted)
      vim.list_extend(found, counted)
      left = left - 1
      if left == 0 then
        callback(found, is_current)
      end
    end)
  end
end

return M
