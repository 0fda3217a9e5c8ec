-- The store: which answers count, and what they say.

local Approval = require("pillion.approval")
local approvals = require("pillion.approvals")
local check = require("check")
local person = require("person")

local clock = 0
Approval.now = function()
  return clock
end

local heard = {}
approvals.listen({
  added = function(approval)
    table.insert(heard, "added " .. approval.id)
  end,
  changed = function(approval)
    table.insert(heard, ("changed %s %s"):format(approval.id, approval.beneath))
  end,
  removed = function(approval, outcome)
    table.insert(heard, ("removed %s %s"):format(approval.id, outcome))
  end,
})

---@return table answers, pillion.Approval
local function ask(id, request)
  local answers = {}
  heard = {}
  approvals.open(request or person.edit_request(id, { { "a.py", "one\n", "two\n" } }), function(result, err)
    table.insert(answers, result or err)
  end, "client")
  return answers, approvals.get(id)
end

check.test("nothing is answered within half a second", function()
  local answers = ask("A")
  clock = clock + 499
  check.same(approvals.answer("A", { kind = "approve" }), "too-soon")
  check.same(approvals.answer("A", { kind = "reject" }), "too-soon")
  check.same(answers, {})
  clock = clock + 1
  check.same(approvals.answer("A", { kind = "approve" }), "taken")
  check.same(answers, { { decision = "approve", decisionId = "approve", digest = "d1" } })
  check.same(approvals.answer("A", { kind = "approve" }), "gone")
  check.same(#answers, 1)
  check.same(heard, { "added A", "removed A approve" })
end)

check.test("a reason that was typed is taken at once", function()
  local answers = ask("A")
  check.same(approvals.answer("A", { kind = "reject", feedback = "no" }), "taken")
  check.same(answers, { { decision = "reject", decisionId = "reject", digest = "d1", feedback = "no" } })
end)

check.test("each answer as the protocol wants it", function()
  for _, case in ipairs({
    { { kind = "remember", decisionId = "session" }, { decision = "approve", decisionId = "session", digest = "d1" } },
    { { kind = "reject" }, { decision = "reject", decisionId = "reject", digest = "d1" } },
    { { kind = "reject", feedback = "" }, { decision = "reject", decisionId = "reject", digest = "d1" } },
    { { kind = "cancel" }, { decision = "cancel", digest = "d1" } },
  }) do
    local answers = ask("A")
    clock = clock + 500
    approvals.answer("A", case[1])
    check.same(answers, { case[2] })
  end
end)

check.test("an edit carries the user's text, and no longer when it is taken back", function()
  local answers, approval = ask("A")
  clock = clock + 500
  approvals.edit(approval, "a.py", "mine\n")
  approvals.answer("A", { kind = "approve" })
  check.same(answers, { { decision = "edit", decisionId = "approve", after = { ["a.py"] = "mine\n" }, digest = "d1" } })
  answers, approval = ask("A")
  clock = clock + 500
  approvals.edit(approval, "a.py", "mine\n")
  approvals.edit(approval, "a.py", nil)
  approvals.answer("A", { kind = "approve" })
  check.same(answers[1].decision, "approve")
end)

local function changed(digest, moved)
  local preview = person.edit_request("A", { { "a.py", "zero\none\n", "zero\ntwo\n" } }).preview
  approvals.change({ approvalId = "A", digest = digest, reasons = {}, preview = preview, moved = moved })
end

check.test("a change beneath is adopted, takes no answer at first, and names the new digest", function()
  local answers, approval = ask("A")
  clock = clock + 500
  changed("d2", true)
  check.same(approval.beneath, "moved")
  check.same(approvals.answer("A", { kind = "approve" }), "too-soon")
  clock = clock + 500
  approvals.answer("A", { kind = "approve" })
  check.same(answers[1].digest, "d2")
end)

check.test("a change beneath a user's own text leaves that text and its digest", function()
  local answers, approval = ask("A")
  approvals.edit(approval, "a.py", "mine\n")
  changed("d2", false)
  check.same(approval.beneath, "conflict")
  check.same(approval:files()[1].before, "one\n")
  clock = clock + 500
  approvals.answer("A", { kind = "approve" })
  check.same(answers, { { decision = "edit", decisionId = "approve", after = { ["a.py"] = "mine\n" }, digest = "d1" } })
end)

check.test("the user takes their text back: then the change is adopted", function()
  local _, approval = ask("A")
  approvals.edit(approval, "a.py", "mine\n")
  changed("d2", false)
  approvals.edit(approval, "a.py", nil)
  check.same({ approval.beneath, approval.request.digest, approval:files()[1].before }, { "updated", "d2", "zero\none\n" })
  approvals.remove("A", "withdrawn")
end)

check.test("what dies is no answer", function()
  local answers = ask("A")
  approvals.remove("A", "expired")
  check.same(answers, { { code = -32800, message = "the dialog was closed: expired" } })
  check.same(approvals.answer("A", { kind = "approve" }), "gone")
  answers = ask("B")
  approvals.abandon("another client", "sidecar stopped")
  check.same(answers, {})
  approvals.abandon("client", "sidecar stopped")
  check.same(#answers, 1)
  check.same(approvals.all(), {})
end)

check.test("a command of the user's own goes as arguments, and grants no rule", function()
  local answers, approval = ask("A", person.command_request("A", "make all"))
  clock = clock + 500
  approval.own = "make one"
  approvals.answer("A", { kind = "approve" })
  check.same(answers, { { decision = "edit", modifiedArguments = { command = "make one", timeout = 5 }, digest = "d1" } })
end)
