-- What you answered is said in one line, and what came too early is not said for longer than it is so.

local check = require("check")
local person = require("person")

local sit = person.sitting({ columns = 80, lines = 24 })
local lines = "one\n" .. ("same\n"):rep(20) .. "two\n"
local edit = person.edit_request("A", { { "app.py", lines, lines:upper():gsub("SAME", "same") } })

---@param human pillion.Person
local function looks(human, request)
  human:ask("approval/request", request)
  human:eventually("vim.fn.tabpagenr('$') == 2")
  human:type("gt")
  human:sees("ga approve")
end

---@param human pillion.Person
---@param text string
local function says(human, text)
  human:sees(text)
  check.same(vim.trim(vim.split(human:screen(), "\n")[24]), text)
  check.same(human:mode(), { mode = "n", blocking = false })
end

sit("approved: what, and how much", function(human)
  looks(human, edit)
  human:type("ga")
  says(human, "Too fast: press again")
  human:approves("A")
  says(human, "Approved: app.py +2 −2")
end)

sit("approved in part, and rejected", function(human)
  looks(human, edit)
  human:reads()
  human:type("gh")
  human:sees("left out")
  human:approves("A")
  says(human, "Approved: app.py +1 −1")
  looks(human, person.command_request("B", "make all"))
  human:reads()
  human:type("gr")
  says(human, "Rejected: make all")
end)

sit("remembered: with the rule", function(human)
  looks(human, person.command_request("A", "make all"))
  human:reads()
  human:type("gs1<CR>")
  says(human, "Approved: make all; remembered run_command(make all)")
end)

sit("cancelled: an agent that is paused by it is what you read", function(human)
  human:tell("session/changed", { session = person.session("s", "claude-code") })
  looks(human, edit)
  human:reads()
  human:type("gC")
  check.same(human:answered("A").decision, "cancel")
  human:tell("session/changed", { session = person.session("s", "claude-code", { paused = true }) })
  says(human, "claude-code is paused: :Pillion resume")
  check.same(human:lua("return require('pillion').statusline and require('pillion.status').line()"), "Pillion · claude-code paused")
  human:tell("session/changed", { session = person.session("s", "claude-code") })
  says(human, "claude-code goes on")
end)

sit("one answer for all", function(human)
  looks(human, edit)
  human:ask("approval/request", person.command_request("B", "make all"))
  human:type(":Pillion together<CR>")
  human:sees("2 requests")
  human:reads()
  human:type("ga")
  says(human, "Approved: 2 requests")
end)

sit("that it was too fast is not said any more once you went away", function(human)
  looks(human, edit)
  human:type("ga")
  says(human, "Too fast: press again")
  human:type("gt")
  person.eventually("the line is empty", function()
    return vim.trim(vim.split(human:screen(), "\n")[24]) == ""
  end)
  check.same(human:waits("A"), true)
end)

sit("comments go with a rejection, and are not lost by an approval", function(human)
  looks(human, edit)
  human:reads()
  human:type("gggmWhy?<CR>")
  human:sees("Why?")
  human:type("GgmNot | this<CR>")
  human:sees("Not | this")
  human:reads()
  human:type("ga")
  human:sees("your comments go with a rejection")
  human:type("gggm<C-U><CR>")
  human:reads()
  human:type("gr")
  local comments = { { path = "app.py", line = 22, text = "Not | this" } }
  check.same(human:answered("A"), { decision = "reject", decisionId = "reject", digest = "d1", comments = comments })
end)
