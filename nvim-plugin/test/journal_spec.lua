-- The list of what agents changed, and reverting with a page in between.

local check = require("check")
local person = require("person")

local sit = person.sitting({ columns = 110, lines = 32 })

-- The sidecar's side: `Entries` is what it remembers, `Plan` what a revert would do.
local sidecar = [[
  Entries = {
    { id = "2", callId = "c2", sessionId = "s", agent = { name = "claude", via = "mcp" }, tool = "edit_file", title = "Edit app.py",
      turn = 3, prompt = "Mend the \u{202e}kettle", time = "2026-01-02T10:05:00Z", state = "done",
      files = { { path = "app.py", operation = "overwrite", additions = 1, deletions = 1, note = "runs when you next use it" } } },
    { id = "1", callId = "c1", sessionId = "s", agent = { name = "claude", via = "mcp" }, tool = "write_file", title = "Create n\u{202e}.md",
      turn = 2, time = "2026-01-02T10:00:00+02:00", state = "reverted",
      files = { { path = "n.md", operation = "create", additions = 9, deletions = 0, note = "runs no more" } } },
  }
  Plan = {
    reverted = { "app.py" }, merged = { "lib.py" }, conflicts = { "gone.py" }, reasons = { ["gone.py"] = "it was deleted since" },
    preview = { kind = "diff", files = {
      { path = "app.py", name = "app.py", text = true, summary = "", facts = {}, operation = "overwrite", before = "new\n", after = "old\n", additions = 1, deletions = 1,
        diff = "--- a/app.py\n+++ b/app.py\n@@ -1 +1 @@\n-new\n+old\n" },
      { path = "lib.py", name = "lib.py", text = true, summary = "", facts = {}, operation = "overwrite", before = "x\n", after = "y\n", additions = 1, deletions = 1,
        diff = "--- a/lib.py\n+++ b/lib.py\n@@ -1 +1 @@\n--- x\n+y\n", dirty = true },
    } },
  }
  Wire.replies["journal/list"] = function() return { entries = vim.deepcopy(Entries) } end
  Wire.replies["journal/revert"] = function(params)
    local result = vim.deepcopy(Plan)
    if not params.dryRun then result.preview, result.callId = nil, "r1" end
    return result
  end
]]

---@param name string
---@param try fun(human: pillion.Person)
local function with_journal(name, try, options)
  sit(name, function(human)
    human:lua(sidecar)
    try(human)
  end, options)
end

---@param human pillion.Person
---@return table[] what was asked of the journal, but for plans
local function done(human)
  return human:lua([[return vim.tbl_map(function(one) return one.params end, vim.tbl_filter(function(one)
    return one.method == "journal/revert" and not one.params.dryRun
  end, Wire.sent))]])
end

---@param human pillion.Person
local function opens(human)
  human:type(":Pillion journal<CR>")
  human:sees("claude · turn 3 · Mend the \\u{202e}kettle")
end

---@param human pillion.Person
local function asks(human, keys)
  human:type(keys)
  human:sees("Leave it")
end

with_journal("the list: who, when, what, how much and what became of it; nothing in it hides", function(human)
  human:lua("vim.env.TZ = 'UTC'; os.execute('true')")
  opens(human)
  human:sees("Edit app.py")
  human:sees("+1 −1     app.py runs when you next use it")
  human:sees("Create n\\u{202e}.md")
  human:sees("+9 −0     reverted")
  human:sees("gu revert")
  check.same(human:lua("return { vim.bo.modifiable, vim.fn.line('.') }"), { false, 2 })
  human:lua("table.remove(Entries, 1)")
  human:tell("journal/changed", { entry = human:lua("return Entries[1]"), files = {} })
  human:eventually("vim.fn.search('app.py', 'nw') == 0")
  human:type("q")
  human:eventually("vim.fn.winnr('$') == 1")
end)

with_journal("a revert is the user's, unless their setting made it", function(human)
  human:lua([[
    local function revert(id, via)
      return { id = id, callId = id, sessionId = "", agent = { name = "somebody", via = via }, tool = "journal/revert", title = "", turn = 0,
        time = "2026-01-02T11:00:00Z", state = "done", files = { { path = id .. ".py", operation = "overwrite", additions = 1, deletions = 1 } } }
    end
    table.insert(Entries, 1, revert("mine", "editor"))
    table.insert(Entries, 1, revert("set", "setting"))
  ]])
  opens(human)
  check.same(vim.list_slice(human:lua("return vim.tbl_map(vim.trim, vim.api.nvim_buf_get_lines(0, 0, -1, false))"), 1, 1), {
    "Pillion (setting unusual)",
  })
  human:sees("Revert set.py")
  human:eventually("vim.fn.search('^you$', 'nw') == 3")
end)

with_journal("reverting shows first what it would do; the first half second takes no answer, then a key does it", function(human)
  opens(human)
  asks(human, "gu")
  human:sees("Revert “Edit app.py” by claude?")
  human:sees("  app.py  +1 −1")
  human:sees("  -new")
  human:sees("  +old")
  human:sees("Later changes are kept  lib.py")
  human:sees("  --- x")
  human:sees("Stays as it is  gone.py: it was deleted since")
  human:type("ga")
  human:sees("Too fast: press again")
  check.same(done(human), {})
  check.same(human:lua("return require('pillion').statusline()"):find("?", 1, true), nil, "no agent waits")
  human:reads()
  human:type("ga")
  human:sees("1 file reverted, 1 merged, 1 stays as it is (gone.py: it was deleted since)")
  check.same(done(human), { { callId = "c2" } })
  human:eventually("vim.fn.tabpagenr('$') == 1")
end)

for keys, what in pairs({ gr = "gr", q = "q", [":q<CR>"] = ":q", gR = "gR" }) do
  with_journal("left by " .. what .. ", nothing happens and nothing waits", function(human)
    opens(human)
    asks(human, "gu")
    human:reads()
    human:type(keys)
    human:eventually("vim.fn.tabpagenr('$') == 1")
    human:eventually("#require('pillion.approvals').all() == 0")
    check.same(done(human), {})
  end)
end

with_journal("a turn, everything by an agent, and commands from elsewhere", function(human)
  opens(human)
  asks(human, "gU")
  human:sees("Revert everything that claude changed in turn 3 (“Mend the \\u{202e}kettle”)?")
  human:reads()
  human:type("ga")
  human:sees("reverted")
  human:type("gB")
  human:sees("Revert everything that claude changed from turn 3 on (“Mend the \\u{202e}kettle”)?")
  human:reads()
  human:type("ga")
  human:eventually("vim.fn.tabpagenr('$') == 1")
  human:type("gX")
  human:sees("Revert everything that claude changed?")
  human:reads()
  human:type(":Pillion revert now<CR>")
  human:eventually("vim.fn.tabpagenr('$') == 1")
  person.eventually("both are done", function()
    return #done(human) == 3
  end)
  check.same(done(human), { { sessionId = "s", turn = 3 }, { sessionId = "s", sinceTurn = 3 }, { sessionId = "s" } })
  human:type(":only | enew<CR>:Pillion revert<CR>")
  human:sees("Revert “Edit app.py” by claude?")
end)

with_journal("what lies beneath changes while they look: it is written anew and their yes is for the new text alone", function(human)
  opens(human)
  asks(human, "gu")
  human:reads()
  human:lua("Plan.preview.files[1].after = 'older\\n'; Plan.preview.files[1].diff = '@@ -1 +1 @@\\n-new\\n+older\\n'")
  human:type("ga") -- nobody told of it
  human:sees("it was updated meanwhile")
  human:sees("  +older")
  check.same(done(human), {})
  human:reads()
  human:lua("Plan.preview.files[1].after = 'oldest\\n'; Plan.preview.files[1].diff = '@@ -1 +1 @@\\n-new\\n+oldest\\n'")
  human:tell("journal/changed", { entry = human:lua("return Entries[2]"), files = {} })
  human:sees("Updated since it first appeared")
  human:sees("  +oldest")
  human:type("ga")
  human:sees("Too fast: press again")
  check.same(done(human), {})
end)

with_journal("nothing that could be reverted: no key does it, and why is said", function(human)
  human:lua("Plan = { reverted = {}, merged = {}, conflicts = { 'app.py' }, reasons = { ['app.py'] = 'it is another file now' } }")
  opens(human)
  asks(human, "gu")
  human:sees("None of it can be reverted")
  human:sees("Stays as it is  app.py: it is another file now")
  human:reads()
  human:type("ga")
  human:eventually("vim.fn.tabpagenr('$') == 1")
  check.same(done(human), {})
end)

with_journal("<CR> shows what the change was, with its own text as the new one", function(human)
  opens(human)
  human:type("<CR>")
  human:sees("claude · turn 3")
  human:sees("  -old")
  human:sees("  +new")
  human:sees("gu previews reverting it")
  asks(human, "gu")
  human:sees("Revert “Edit app.py” by claude?")
end)

sit("without a journal nothing is shown, and it is said", function(human)
  human:lua("Wire.replies['journal/list'] = function() return { entries = {} } end")
  human:type(":Pillion journal<CR>")
  human:sees("The journal has no changes")
  human:type("gu")
  human:sees("there is no change by an agent to revert")
  human:type(":Pillion revert everything<CR>")
  human:sees("use revert change, revert turn, revert since or revert agent")
end)

check.test("times are told in the zone of whoever reads them", function()
  local journal = require("pillion.journal")
  check.same(journal.seconds({ time = "1970-01-01T00:00:00Z" }), 0)
  check.same(journal.seconds({ time = "1970-01-02T02:00:01.5+02:00" }), 86401.5)
  check.same(journal.seconds({ time = "1970-01-01T22:00:00-02:00" }), 86400)
  check.same(journal.seconds({ time = "soon" }), 0)
  check.same(journal.clock({ time = os.date("!%Y-%m-%dT%H:%M:%SZ", os.time()) }), os.date("%H:%M"))
end)
