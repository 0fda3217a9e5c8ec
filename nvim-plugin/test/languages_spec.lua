-- The user's own language servers answer for agents: real clients of vim.lsp, whose servers are tables here.

local check = require("check")
local test, same = check.test, check.same

local root = check.folder()
local world = require("fake").install(root)
local documents = require("pillion.documents")
documents.setup()
local languages = require("pillion.languages")
languages.setup()

local number = 0

---@class test.Server
---@field id integer
---@field heard { [1]: string, [2]: table }[]
---@field push fun(params: table)
---@field held fun()[] answers that wait

--- Attaches a server to this buffer. An answer is a table, "error", or `{ held = answer }`, which waits in `held`.
---@param name string
---@param abilities table
---@param answers table<string, any>
---@return test.Server
local function attach(name, abilities, answers)
  local server = { heard = {}, held = {} }
  local capabilities = vim.tbl_extend("keep", abilities, { textDocumentSync = { openClose = true, change = 1 } })
  server.id = vim.lsp.start({
    name = name,
    reuse_client = function()
      return false
    end,
    cmd = function(dispatchers)
      function server.push(params)
        dispatchers.notification("textDocument/publishDiagnostics", params)
      end
      return {
        request = function(method, params, callback)
          table.insert(server.heard, { method, params })
          local answer = method == "initialize" and { capabilities = capabilities } or answers[method]
          local is_held = answer and answer ~= "error" and answer.held
          local function tell()
            if answer == "error" then
              callback({ code = -32603, message = "it is broken" })
            else
              callback(nil, is_held or answer)
            end
          end
          if is_held then
            table.insert(server.held, tell)
          else
            vim.schedule(tell)
          end
          return true, #server.heard
        end,
        notify = function(method, params)
          table.insert(server.heard, { method, params })
          return true
        end,
        is_closing = function()
          return false
        end,
        terminate = function() end,
      }
    end,
  })
  check.eventually(name .. " is there", function()
    local client = vim.lsp.get_client_by_id(server.id)
    return client and client.initialized and vim.lsp.buf_is_attached(0, server.id)
  end)
  return server
end

--- What one server heard last of a kind.
---@param server test.Server
---@param method string
local function last(server, method)
  for index = #server.heard, 1, -1 do
    if server.heard[index][1] == method then
      return server.heard[index][2]
    end
  end
end

--- A file of its own, in this window and with no server.
---@param text string
---@return string path, string uri
local function open(text)
  number = number + 1
  local path = check.write(("%s/file%d.txt"):format(root, number), text)
  vim.cmd.edit({ vim.fn.fnameescape(path), bang = true })
  return path, vim.uri_from_fname(path)
end

---@param method string
---@param params table
---@return fun(): table? answer, fun() cancel
local function put(method, params)
  local got, withdraw
  world.handlers[method](
    params,
    function(result, err)
      assert(not got, "answered twice")
      got = { result = result, err = err }
    end,
    world.owner,
    function(callback)
      withdraw = callback
    end
  )
  return function()
    return got
  end, withdraw
end

--- Asks as the sidecar does; what it is answered.
---@param method string
---@param params table
local function ask(method, params)
  local got = check.eventually("an answer to " .. method, put(method, params))
  same(got.err, nil)
  return vim.json.decode(vim.json.encode(got.result))
end

local function at(uri, line, character, version)
  return { textDocument = { uri = uri, version = version }, position = { line = line, character = character } }
end

local function range(line, from, to)
  return { start = { line = line, character = from }, ["end"] = { line = line, character = to } }
end

local nothing = { result = vim.NIL, version = vim.NIL }

test("a definition, of the text as it is typed", function()
  local _, uri = open("one\ntwo\n")
  local place = { uri = uri, range = range(0, 0, 3) }
  local server = attach("alpha", { definitionProvider = true }, { ["textDocument/definition"] = place })
  vim.api.nvim_buf_set_lines(0, 1, 1, true, { "typed" })
  local got = ask("editor/definition", at(uri, 2, 1))
  same(got, { result = { place }, version = 2, server = "alpha" })
  same(last(server, "textDocument/definition"), { textDocument = { uri = uri }, position = { line = 2, character = 1 } })
  same(last(server, "textDocument/didChange").contentChanges[1].text, "one\ntyped\ntwo\n")
  same(world.documents[uri].version, 2)
end)

test("what was typed into another file is known too", function()
  local _, there = open("there\n")
  local server = attach("alpha", { definitionProvider = true }, { ["textDocument/definition"] = {} })
  local other = vim.api.nvim_get_current_buf()
  local _, here = open("here\n")
  vim.lsp.buf_attach_client(0, server.id)
  ask("editor/definition", at(here, 0, 0))
  vim.api.nvim_buf_set_lines(other, 0, 0, true, { "typed" })
  vim.api.nvim_buf_set_lines(other, 0, 0, true, { "more" })
  ask("editor/definition", at(here, 0, 0))
  local told = last(server, "textDocument/didChange")
  same({ told.textDocument.uri, told.contentChanges[1].text }, { there, "more\ntyped\nthere\n" })
end)

test("several servers: what they find is one list, without doubles", function()
  local _, uri = open("one\n")
  local one, two = { uri = uri, range = range(0, 0, 1) }, { uri = uri, range = range(0, 1, 2) }
  local link = { targetUri = uri, targetRange = range(0, 2, 3), targetSelectionRange = range(0, 2, 3) }
  attach("alpha", { referencesProvider = true }, { ["textDocument/references"] = { one, two } })
  attach("beta", { referencesProvider = true }, { ["textDocument/references"] = { two, link } })
  attach("gamma", { referencesProvider = true }, { ["textDocument/references"] = "error" })
  local broken = attach("delta", {}, {})
  local params = vim.tbl_extend("error", at(uri, 0, 0), { context = { includeDeclaration = true } })
  same(ask("editor/references", params), { result = { one, two, link }, version = 1, server = "alpha, beta" })
  same(last(broken, "textDocument/references"), nil)
end)

test("hover is the first that says something", function()
  local _, uri = open("one\n")
  attach("alpha", { hoverProvider = true }, { ["textDocument/hover"] = { contents = "" } })
  attach("beta", { hoverProvider = true }, { ["textDocument/hover"] = { contents = { kind = "markdown", value = "it is one" } } })
  local got = ask("editor/hover", at(uri, 0, 0))
  same({ got.result.contents.value, got.server, got.version }, { "it is one", "beta", 1 })
end)

test("symbols of a file, and of the workspace", function()
  local _, uri = open("one\n")
  local outline = { { name = "one", kind = 12, range = range(0, 0, 3), selectionRange = range(0, 0, 3), children = vim.empty_dict() } }
  local found = { { name = "one", kind = 12, location = { uri = uri, range = range(0, 0, 3) } } }
  local server = attach("alpha", { documentSymbolProvider = true, workspaceSymbolProvider = true }, {
    ["textDocument/documentSymbol"] = outline,
    ["workspace/symbol"] = found,
  })
  same(ask("editor/symbols", { textDocument = { uri = uri } }).result[1].name, "one")
  same(ask("editor/symbols", { query = "on" }), { result = found, version = vim.NIL, server = "alpha" })
  same(last(server, "workspace/symbol"), { query = "on" })
end)

test("servers that count bytes or characters are understood", function()
  for encoding, counts in pairs({ ["utf-8"] = { 10, 13 }, ["utf-32"] = { 3, 6 }, ["utf-16"] = { 5, 8 } }) do
    local _, uri = open("é🐎🐎x = y\nlast\n") -- a horse is two units, and four bytes
    local elsewhere = check.write(root .. "/elsewhere.txt", "🐎 z\n")
    local far = vim.uri_from_fname(elsewhere)
    local from = { ["utf-8"] = 5, ["utf-32"] = 2, ["utf-16"] = 3 }
    local server = attach("alpha", { positionEncoding = encoding, definitionProvider = true }, {
      ["textDocument/definition"] = {
        { uri = uri, range = range(0, counts[1], counts[2]) },
        { targetUri = far, targetRange = range(0, 0, from[encoding]), targetSelectionRange = range(0, from[encoding], from[encoding] + 1) },
      },
    })
    local got = ask("editor/definition", at(uri, 0, 5)).result
    same(last(server, "textDocument/definition").position, { line = 0, character = counts[1] }, encoding)
    same(got[1].range, range(0, 5, 8), encoding)
    same({ got[2].targetRange, got[2].targetSelectionRange }, { range(0, 0, 3), range(0, 3, 4) }, encoding)
  end
end)

test("nobody who knows: null", function()
  local path, uri = open("one\n")
  same(ask("editor/definition", at(uri, 0, 0)), nothing)
  same(ask("editor/diagnostics", { textDocument = { uri = uri } }), nothing)
  local server = attach("alpha", { definitionProvider = true, hoverProvider = true }, {
    ["textDocument/definition"] = "error",
    ["textDocument/hover"] = {},
  })
  same(ask("editor/definition", at(uri, 0, 0)), nothing)
  same(ask("editor/references", at(uri, 0, 0)), nothing)
  same(ask("editor/hover", at(uri, 0, 0)), { result = vim.NIL, version = 1, server = "alpha" })
  same(ask("editor/definition", at(uri, 0, 0, 7)), nothing, "of another version")
  local count = #server.heard
  same(ask("editor/definition", at(vim.uri_from_fname(path .. ".not-open"), 0, 0)), nothing)
  same(#server.heard, count)
  same(#vim.fn.getbufinfo(path .. ".not-open"), 0)
end)

test("our own client is never asked", function()
  local _, uri = open("one\n")
  local server = attach("pillion", { hoverProvider = true }, { ["textDocument/hover"] = { contents = "mine" } })
  world.owner.lsp = server.id
  same(ask("editor/hover", at(uri, 0, 0)), nothing)
  world.owner.lsp = nil
end)

test("a server that says nothing is given up, and so is one that nobody waits for", function()
  local _, uri = open("one\n")
  local server = attach("alpha", { hoverProvider = true }, { ["textDocument/hover"] = { held = { contents = "late" } } })
  local answered, withdraw = put("editor/hover", at(uri, 0, 0))
  withdraw()
  same(answered().result.result, vim.NIL)
  check.match(vim.inspect(last(server, "$/cancelRequest")), "id = %d")
  server.held[1]()
  local before = languages.patience_ms
  languages.patience_ms = 30
  same(ask("editor/hover", at(uri, 0, 0)), nothing)
  languages.patience_ms = before
end)

test("positions of a text that is gone are not told, where they would have to be counted anew", function()
  local _, uri = open("one\n")
  local server = attach(
    "alpha",
    { positionEncoding = "utf-8", hoverProvider = true },
    { ["textDocument/hover"] = { held = { contents = "late" } } }
  )
  local answered = put("editor/hover", at(uri, 0, 0))
  vim.api.nvim_buf_set_lines(0, 0, 0, true, { "new" })
  server.held[1]()
  same(check.eventually("an answer", answered).result.result, vim.NIL)
end)

test("diagnostics that are asked for have a version", function()
  local _, uri = open("é = 1\n")
  local item = { range = range(0, 0, 2), message = "it is wrong", severity = 1, data = { mine = true } }
  attach("alpha", { positionEncoding = "utf-8", diagnosticProvider = { interFileDependencies = false, workspaceDiagnostics = false } }, {
    ["textDocument/diagnostic"] = { kind = "full", items = { item } },
  })
  vim.api.nvim_buf_set_lines(0, 1, 1, true, { "typed" })
  local got = ask("editor/diagnostics", { textDocument = { uri = uri } })
  same(got, {
    result = { { range = range(0, 0, 1), message = "it is wrong", severity = 1 } },
    version = 2,
    server = "alpha",
  })
end)

test("diagnostics of a file of which one server was not asked have none", function()
  local _, uri = open("one\n")
  attach("alpha", {}, {})
  attach("beta", { diagnosticProvider = { interFileDependencies = false, workspaceDiagnostics = false } }, {
    ["textDocument/diagnostic"] = { kind = "full", items = {} },
  })
  same(ask("editor/diagnostics", { textDocument = { uri = uri } }), { result = {}, version = vim.NIL, server = "alpha, beta" })
end)

test("diagnostics that come by themselves, and those of other linters, have none", function()
  local _, uri = open("🐎 = 1\n")
  local server = attach("alpha", { positionEncoding = "utf-8" }, {})
  server.push({ uri = uri, diagnostics = { { range = range(0, 0, 4), message = "pushed", severity = 2, code = "W1", source = "alpha" } } })
  vim.diagnostic.set(vim.api.nvim_create_namespace("some linter"), 0, {
    { lnum = 0, col = 5, end_lnum = 0, end_col = 6, message = "linted", severity = vim.diagnostic.severity.HINT, source = "linter" },
  })
  local got = check.eventually("both", function()
    local answer = ask("editor/diagnostics", { textDocument = { uri = uri } })
    return #answer.result == 2 and answer
  end)
  same({ got.version, got.server }, { vim.NIL, "alpha" })
  table.sort(got.result, function(one, other)
    return one.message > other.message
  end)
  same(got.result, {
    { range = range(0, 0, 2), message = "pushed", severity = 2, code = "W1", source = "alpha" },
    { range = range(0, 3, 4), message = "linted", severity = 4, source = "linter" },
  })
end)
