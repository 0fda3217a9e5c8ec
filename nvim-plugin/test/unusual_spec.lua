-- What an agent does that is unusual, and what is noticed late: told, and standing in the list until somebody acts.

local check = require("check")
local person = require("person")

local sit = person.sitting({ columns = 120, lines = 24 })

local told = {
  sessionId = "s",
  agent = { name = "claude", via = "mcp" },
  kind = "escape",
  message = "claude tried 3 times to leave\u{200b}",
  acted = "",
}

---@param human pillion.Person
---@param method string
---@return table[]
local function sent(human, method)
  return human:lua(
    [[local method = ...; return vim.tbl_map(function(one) return one.params end, vim.tbl_filter(function(one)
    return one.method == method end, Wire.sent))]],
    method
  )
end

---@param human pillion.Person
---@param row integer
local function picks(human, row)
  human:type(":Pillion<CR>")
  human:sees("! claude tried 3 times")
  human:type("1<CR>")
  human:sees("3: Dismiss")
  human:type(row .. "<CR>")
end

sit("it is told; its line stands until it is dismissed", function(human)
  human:tell("session/unusual", told)
  human:sees("claude tried 3 times to leave\\u{200b}  (:Pillion)")
  human:tell("session/unusual", told)
  picks(human, 3)
  human:eventually("#require('pillion.unusual').all() == 0")
  check.same(sent(human, "session/pause"), {})
end)

sit("the agent is paused by a choice, or by name", function(human)
  human:tell("session/changed", { session = person.session("s", "claude") })
  human:lua([[Wire.replies["session/pause"] = function(params) return { sessionId = params.sessionId,
    agent = { name = params.sessionId == "s" and "claude" or "codex", via = "mcp" }, paused = true, connected = true } end]])
  human:tell("session/unusual", told)
  picks(human, 1)
  human:sees("claude is paused: :Pillion resume")
  check.same(sent(human, "session/pause"), { { sessionId = "s" } })
  human:lua([[Wire.replies["session/list"] = function() return { sessions = {
    { sessionId = "editor", agent = { name = "", via = "editor" }, mode = "default", turn = 0, connected = true },
    { sessionId = "t", agent = { name = "codex", via = "mcp" }, mode = "default", turn = 1, connected = true } } } end]])
  human:type(":Pillion pause<CR>")
  human:sees("codex is paused: :Pillion resume")
  check.same(sent(human, "session/pause")[2], { sessionId = "t" })
end)

sit("its changes are reverted after a look", function(human)
  human:lua(
    [[Wire.replies["journal/revert"] = function() return { reverted = { "a" }, preview = { kind = "diff", files = {
    { path = "a", name = "a", text = true, summary = "", facts = {}, before = "x", after = "y", diff = "", additions = 1, deletions = 1 } } } } end]]
  )
  human:tell("session/unusual", told)
  picks(human, 2)
  human:sees("Revert everything that claude changed?")
  human:reads()
  human:type("ga")
  person.eventually("it is done", function()
    return #sent(human, "journal/revert") == 3
  end)
  check.same(sent(human, "journal/revert")[3], { sessionId = "s" })
end)

sit("what the sidecar did by itself is said and not offered", function(human)
  human:tell("session/unusual", vim.tbl_extend("force", told, { acted = "paused" }))
  human:sees("; it was paused")
  human:type(":Pillion<CR>")
  human:sees("! claude tried 3 times")
  human:type("1<CR>")
  human:sees("1: Revert its changes")
end)

sit("an agent whose changes the sidecar reverted is paused as well, and said to be", function(human)
  human:tell("session/unusual", vim.tbl_extend("force", told, { acted = "reverted" }))
  human:sees("; it was paused and its changes were reverted")
  human:tell("session/changed", { session = person.session("s", "claude", { paused = true }) })
  human:type(":Pillion<CR>")
  human:sees("claude is paused until you resume it")
  human:type("1<CR>")
  human:sees("1: Dismiss")
end)

sit("what is noticed late is said quietly, and no longer when it is not", function(human)
  human:tell("workspace/tracking", { degraded = true, reason = "too many folders", watched = 10 })
  human:tell("session/unusual", told)
  human:type(":Pillion<CR>")
  human:sees("· outside changes are noticed late: too many folders")
  human:type("<Esc>")
  human:tell("workspace/tracking", { degraded = false, reason = "", watched = 10 })
  check.same(human:lua("return require('pillion.tracking').lines()"), {})
end)

sit("how far the search index is stands in the status line until it is built", function(human)
  local line = "return require('pillion.status').line()"
  human:tell("workspace/index", { building = true, percent = 40, files = 10, bytes = 1000 })
  check.same(human:lua(line), "Pillion · indexing 40 %%") -- doubled, as a status line wants it
  check.same(human:lua("return require('pillion.tracking').index_line(Wire.client)"), "the search index is being built, 40 % are done")
  human:tell("workspace/index", { building = false, percent = 100, files = 1200, bytes = 5 * 2 ^ 20 + 1 })
  check.same(human:lua(line), "Pillion")
  check.same(human:lua("return require('pillion.tracking').index_line(Wire.client)"), "search index: 1200 files, 6 MB of memory")
  human:tell("workspace/index", { building = false, percent = 0, files = 0, bytes = 0 })
  check.same(human:lua("return require('pillion.tracking').index_line(Wire.client) == nil"), true)
end)
