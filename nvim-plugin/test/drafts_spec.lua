-- Drafts: where they are listed, and their review.

local check = require("check")
local person = require("person")

local sit = person.sitting({ columns = 160, lines = 40 })

local before = "1\n2\n3\n4\n5\n6\n7\n8\n9\n"
local after = "one\n2\n3\n4\n5\n6\n7\n8\nnine\n"

local function draft(id, more)
  return vim.tbl_extend("force", {
    sessionId = id,
    agent = "claude",
    files = {
      { path = "app.py", kind = "changed", added = 2, removed = 2 },
      { path = ".envrc\u{202e}", kind = "created", added = 1, removed = 0, protected = true },
      { path = "out/app", kind = "created", added = 0, removed = 0, ignored = true },
    },
    bytes = 12345,
    started = "2026-11-28T16:00:00Z",
    commands = true,
  }, more or {})
end

--- As the sidecar has it reviewed.
---@param id string
local function review(id)
  local request = person.edit_request(
    id,
    { { "app.py", before, after }, { "new.py", "", "new\n", summary = "new file" } },
    { sessionId = "s" }
  )
  local preview = request.preview
  preview.kind, preview.draft, preview.act, preview.deed = "review", true, "apply its draft", "apply its draft of 2 files"
  preview.subject = "2 files"
  preview.facts[1] = { code = "message", label = "Message", text = "pads the clock" }
  request.tool, request.title = "submit_changes", "Apply a draft of 2 files"
  request.decisions = {
    { id = "reject", title = "Leave", scope = "once", meaning = "all of it stays in the draft" },
    { id = "approve", title = "Apply", scope = "once", meaning = "it is in the workspace then" },
    { id = "discard", title = "Discard the Draft", scope = "once", meaning = "all of it is gone" },
  }
  return request
end

---@param human pillion.Person
local function looks(human, id)
  human:ask("approval/request", review(id))
  human:eventually("vim.fn.tabpagenr('$') == 2")
  human:type("gt")
  human:sees("hunk 1 of 3 selected · app.py (1 of 2)")
end

---@param human pillion.Person
---@param method string
local function sent(human, method)
  return human:lua(
    [[local method = ...; return vim.tbl_map(function(one) return one.params end, vim.tbl_filter(function(one)
    return one.method == method end, Wire.sent))]],
    method
  )
end

sit("a draft is listed below its session with its files, and gone with it; that of a session that is over stands by itself", function(human)
  human:tell("session/changed", { session = person.session("s", "claude", { mode = "draft" }) })
  human:tell("draft/changed", draft("s"))
  human:type(":Pillion sessions<CR>")
  human:sees("claude  works on a draft")
  human:sees("  Draft: 3 files, +3 −2, 12.3 kB  <CR> review  gD discard")
  human:sees("    app.py  changed +2 −2")
  human:sees("    .envrc\\u{202e}  created +1 −0, protected")
  human:sees("    out/app  created +0 −0, ignored by git")
  human:tell(
    "draft/changed",
    draft("t", { agent = "codex", files = { { path = "a", kind = "created", added = 1, removed = 0 } }, bytes = 2 })
  )
  human:sees("Draft: 1 file, +1 −0, 2 bytes  of codex, whose session is over")
  human:type("/Draft: 1<CR><CR>")
  person.eventually("its review is asked for", function()
    return vim.deep_equal(sent(human, "draft/review"), { { sessionId = "t" } })
  end)
  human:type("gD")
  human:sees("Yes, discard 1 file")
  human:type("1<CR>")
  human:type("gD")
  human:sees("Yes, discard 1 file")
  human:type("2<CR>")
  person.eventually("it is discarded", function()
    return vim.deep_equal(sent(human, "draft/discard"), { { sessionId = "t" } })
  end)
  human:tell("draft/changed", draft("t", { files = {}, ended = true }))
  human:tell("draft/changed", draft("s", { files = {}, ended = true }))
  human:eventually("vim.fn.search('Draft', 'nw') == 0")
  human:type(":Pillion draft review<CR>")
  human:sees("there is no draft")
end)

sit("of several drafts the user chooses one", function(human)
  human:tell("draft/changed", draft("s"))
  human:tell("draft/changed", draft("t", { agent = "codex" }))
  human:type(":Pillion draft discard<CR>")
  human:sees("2: codex · Draft: 3 files")
  human:type("2<CR>")
  human:sees("Yes, discard 3 files")
  human:type("2<CR>")
  person.eventually("it is that one", function()
    return vim.deep_equal(sent(human, "draft/discard"), { { sessionId = "t" } })
  end)
end)

sit("the review of a draft: a hunk left out, a comment, and both go with the approval", function(human)
  looks(human, "D")
  human:sees("pads the clock")
  human:sees("ga apply 2 files")
  human:sees("Draft of claude")
  human:reads()
  human:type("gmwhy one?<CR>")
  human:sees("why one?")
  human:type("]hgh")
  human:sees("hunk 2 of 3 left out")
  human:sees("ga apply 2 of 3")
  check.same(human:approves("D"), {
    decision = "approve",
    decisionId = "approve",
    digest = "d1",
    selected = { "1", "3" },
    comments = { { path = "app.py", line = 1, text = "why one?" } },
  })
  human:sees("Applied: 2 files")
end)

sit("it is left, with a reason, or discarded by one answer more", function(human)
  looks(human, "D")
  human:reads()
  human:type("gRlater<CR>")
  check.same(human:answered("D"), { decision = "reject", decisionId = "reject", digest = "d1", feedback = "later" })
  human:eventually("vim.fn.tabpagenr('$') == 1")
  looks(human, "E")
  human:reads()
  human:type("gD")
  human:sees("Yes, discard 2 files")
  human:type("2<CR>")
  check.same(human:answered("E"), { decision = "reject", decisionId = "discard", digest = "d1" })
  check.same(sent(human, "draft/discard"), {})
end)
