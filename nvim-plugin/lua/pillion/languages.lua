-- The user's own language servers, asked for agents: what `vim.lsp` has attached to a file answers `editor/…`. Nothing here
-- starts a server, opens a file or waits. An answer names the version of the document that it is about, as the sidecar counts
-- versions. Null means that nobody here knows: the sidecar has servers of its own.

local client = require("pillion.client")
local documents = require("pillion.documents")
local position = require("pillion.position")

local M = {}

--- For all servers to answer. The sidecar turns to its own servers long before, and asks here nothing else until it has an answer:
--- a server that stands still is so asked once a minute.
M.patience_ms = 60000

--- LSP's methods, as those servers have them. Neovim's own table of them is going away.
---@param name string
local function method_of(name)
  return "textDocument/" .. name
end

local workspace_symbol = ("workspace/%s"):format("symbol")

---@class pillion.Asked one server's part of a question
---@field server vim.lsp.Client
---@field method string
---@field params table
---@field buffer integer
---@field uri string

---@alias pillion.Said { server: vim.lsp.Client, result: any }

--- Neovim 0.11 made methods of a client's functions.
---@param server vim.lsp.Client
---@param name string
local function call(server, name, ...)
  if vim.fn.has("nvim-0.11") == 1 then
    return server[name](server, ...)
  end
  return server[name](...)
end

--- The servers of a buffer, or all that run, in the order in which they were started.
---@param filter { bufnr?: integer, method?: string }
---@return vim.lsp.Client[]
function M.servers(filter)
  local ours = {}
  client.each(function(one)
    ours[one.lsp or 0] = true
  end)
  local found = vim.tbl_filter(function(server)
    return not ours[server.id]
  end, vim.lsp.get_clients(filter))
  table.sort(found, function(one, other)
    return one.id < other.id
  end)
  return found
end

--- Tells a server what was typed into any of its files: Neovim tells it of the one that is asked about, and of others up to
--- 150 ms later. It has no public function for this; a Neovim without this one tells it later.
---@param server vim.lsp.Client
local function catch_up(server)
  local has, tracking = pcall(require, "vim.lsp._changetracking")
  if has then
    pcall(tracking.flush, server)
  end
end

--- Asks all of them at once.
---@param questions pillion.Asked[]
---@param done fun(said?: pillion.Said[]) what each answered that did; nil if one is late
---@return fun() give_up
local function ask(questions, done)
  local said, running, over = {}, {}, false
  local timer ---@type uv.uv_timer_t
  local function finish(answers)
    if over then
      return
    end
    over = true
    if not timer:is_closing() then
      timer:close()
    end
    for question, id in pairs(running) do
      call(question.server, "cancel_request", id)
    end
    done(answers)
  end
  timer = vim.defer_fn(finish, M.patience_ms)
  local left = #questions
  local function one(index, answer)
    said[index] = answer or false
    left = left - 1
    if left == 0 then
      finish(vim.tbl_filter(function(found)
        return found ~= false
      end, said))
    end
  end
  for index, question in ipairs(questions) do
    local server, buffer = question.server, question.buffer
    catch_up(server)
    local tick = vim.b[buffer].changedtick
    local sent, id = call(server, "request", question.method, question.params, function(err, result)
      running[question] = nil
      local is_same = server.offset_encoding == "utf-16" or vim.api.nvim_buf_is_loaded(buffer) and vim.b[buffer].changedtick == tick
      if err or not vim.api.nvim_buf_is_loaded(buffer) or not is_same then -- else the text is gone that its positions are counted in
        one(index)
        return
      end
      position.from_server(result, server.offset_encoding, question.uri, function(counted)
        one(index, { server = server, result = counted })
      end)
    end, buffer)
    if not sent then
      one(index)
    elseif said[index] == nil then
      running[question] = id
    end
  end
  return function()
    finish(nil)
  end
end

--- What the sidecar is answered.
---@class pillion.LanguageAnswer
---@field result any LSP's, or vim.NIL
---@field version integer|vim.NIL of the document that it is about
---@field server? string for people

---@param result any
---@param version? integer
---@param servers? vim.lsp.Client[]
---@return pillion.LanguageAnswer
local function answer(result, version, servers)
  local names = vim.tbl_map(function(server)
    return server.name
  end, servers or {})
  return {
    result = result == nil and vim.NIL or result,
    version = version or vim.NIL,
    server = #names > 0 and table.concat(names, ", ") or nil,
  }
end

---@param hover any
local function is_blank(hover)
  local contents = type(hover) ~= "table" and "" or hover.contents or ""
  return contents == "" or contents.value == "" or type(contents) == "table" and next(contents) == nil
end

---@param list any
local function is_none(list)
  return type(list) ~= "table" or next(list) == nil
end

--- Of several answers the first that says something.
---@param empty fun(result: any): boolean
local function first(empty)
  ---@param said pillion.Said[]
  return function(said)
    for _, one in ipairs(said) do
      if not empty(one.result) then
        return one.result, { one.server }
      end
    end
  end
end

---@param item table
local function key_of(item)
  local at = item.location or item
  return vim.json.encode({ item.name or "", at.uri or at.targetUri or "", at.range or at.targetSelectionRange or "" })
end

--- All of them; what two servers found is one.
---@param said pillion.Said[]
local function together(said)
  local found, servers, seen = {}, {}, {}
  for _, one in ipairs(said) do
    local list = type(one.result) == "table" and one.result or {}
    list = (list.uri or list.targetUri) and { list } or list
    for _, item in ipairs(list) do
      local key = key_of(item)
      if not seen[key] then
        seen[key] = true
        found[#found + 1] = item
      end
    end
    if #list > 0 then
      servers[#servers + 1] = one.server
    end
  end
  return found, #servers > 0 and servers or nil
end

--- The document that a question is about, with all told that is new; nil where that is none, or another version of it.
---@param params { textDocument?: { uri: string, version?: integer } }
---@param owner pillion.Client
---@return pillion.Document?
local function asked_about(params, owner)
  local named = params.textDocument or {}
  local document = named.uri and documents.find(named.uri, owner)
  if document then
    documents.flush(document)
  end
  return document and (not named.version or named.version == document.version) and document or nil
end

---@param document pillion.Document
---@param method string
---@param params { position?: pillion.Place, context?: table }
---@return pillion.Asked[]
local function of_document(document, method, params)
  local uri = vim.uri_from_bufnr(document.buffer)
  return vim.tbl_map(function(server)
    local place = params.position
    return {
      server = server,
      method = method,
      params = {
        textDocument = { uri = uri },
        position = place and position.to_server(document.buffer, place, server.offset_encoding),
        context = params.context,
      },
      buffer = document.buffer,
      uri = uri,
    }
  end, M.servers({ bufnr = document.buffer, method = method }))
end

--- Those that have a file of the workspace.
---@param owner pillion.Client
---@param query string
---@return pillion.Asked[]
local function of_workspace(owner, query)
  local found = {}
  for _, server in ipairs(M.servers({ method = workspace_symbol })) do
    local buffer = vim.iter(vim.tbl_keys(server.attached_buffers)):find(function(one)
      return documents.of(one, owner) ~= nil
    end)
    if buffer then
      found[#found + 1] = { server = server, method = workspace_symbol, params = { query = query }, buffer = buffer, uri = "" }
    end
  end
  return found
end

---@param questions pillion.Asked[]
---@param version? integer
---@param join fun(said: pillion.Said[]): any, vim.lsp.Client[]?
---@param reply fun(result: any)
---@param cancelled fun(callback: fun())
local function put(questions, version, join, reply, cancelled)
  if #questions == 0 then
    reply(answer(nil))
    return
  end
  cancelled(ask(questions, function(said)
    if not said or #said == 0 then
      reply(answer(nil))
      return
    end
    local result, found_by = join(said)
    local all = vim.tbl_map(function(one)
      return one.server
    end, said)
    reply(answer(result, version, found_by or all))
  end))
end

---@param method string
---@param join fun(said: pillion.Said[]): any, vim.lsp.Client[]?
---@return pillion.Handler
local function about(method, join)
  return function(params, reply, owner, cancelled)
    local document = asked_about(params, owner)
    local questions = document and of_document(document, method, params) or {}
    put(questions, document and document.version, join, reply, cancelled)
  end
end

local outline = about(method_of("documentSymbol"), first(is_none))

---@type pillion.Handler
local function symbols(params, reply, owner, cancelled)
  if params.query then
    put(of_workspace(owner, params.query), nil, together, reply, cancelled)
  else
    outline(params, reply, owner, cancelled)
  end
end

-- What is wrong with a buffer, as its language servers and the user's other linters reported it to Neovim. What a server was just
-- asked for is about the text as it is; what it sent by itself, and what others found, is about a text that nobody named.

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
local function reported(buffer, servers, fresh)
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
local function collect(buffer, servers, said, callback)
  local fresh, found = pulled(said), {}
  local lists = reported(buffer, servers, fresh)
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

---@type pillion.Handler
local function diagnostics(params, reply, owner, cancelled)
  local document = asked_about(params, owner)
  local servers = document and M.servers({ bufnr = document.buffer }) or {}
  if not document or #servers == 0 then
    reply(answer(nil))
    return
  end
  local version = document.version
  local questions = of_document(document, method_of("diagnostic"), {})
  local function report(said)
    if not vim.api.nvim_buf_is_loaded(document.buffer) then
      reply(answer(nil))
      return
    end
    collect(document.buffer, servers, said, function(found, is_current)
      reply(answer(found, is_current and version or nil, servers))
    end)
  end
  if #questions == 0 then
    report({})
    return
  end
  cancelled(ask(questions, function(said)
    report(said or {})
  end))
end

function M.setup()
  client.on("editor/definition", about(method_of("definition"), together))
  client.on("editor/references", about(method_of("references"), together))
  client.on("editor/hover", about(method_of("hover"), first(is_blank)))
  client.on("editor/symbols", symbols)
  client.on("editor/diagnostics", diagnostics)
end

return M
