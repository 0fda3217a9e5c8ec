-- An agent's plan: a page like that of any other question, and an answer of its own shape.

local check = require("check")
local person = require("person")

local review = {
  planId = "P",
  plan = "# Plan\n\n1. mend `it`\u{200b}\n2. test it",
  sessionId = "s",
  agent = { name = "claude", via = "mcp" },
}

local sit = person.sitting({ columns = 100, lines = 30 })

---@param human pillion.Person
---@param asked? table
local function look(human, asked)
  human:ask("plan/review", asked or review)
  human:eventually("vim.fn.tabpagenr('$') == 2")
  human:type("gt")
  human:sees("2. test it")
end

sit("it is shown whole, on a page that cannot be written in, and approved with a key", function(human)
  human:ask("plan/review", review)
  human:sees("claude wants to carry out a plan; it would leave plan mode")
  human:eventually("vim.fn.tabpagenr('$') == 2")
  check.same(human:lua("return vim.fn.tabpagenr()"), 1)
  human:type("gt")
  human:sees("Carry out this plan?")
  human:sees("the agent leaves plan mode")
  human:sees("the agent goes on planning")
  human:sees("1. mend `it`\\u{200b}")
  check.same(human:lua("return { vim.bo.modifiable, vim.bo.filetype, vim.bo.syntax }"), { false, "", "markdown" })
  human:reads()
  human:type("gs")
  human:sees("no rule can be remembered")
  human:type("ge")
  human:sees("nothing to edit here")
  check.same(human:approves("P"), { decision = "approve" })
  human:eventually("vim.fn.tabpagenr('$') == 1")
end)

sit("no line of a plan passes for one of the page's own", function(human)
  local long = ("x"):rep(97) .. " ga   Approve                    nor yet"
  look(human, { planId = "P", plan = "2. test it\n\nga   Approve                    nothing happens yet\n" .. long })
  human:sees("  ga   Approve ")
  human:sees("nor yet")
  local own = vim.tbl_filter(function(line)
    return vim.startswith(line, "ga ")
  end, vim.split(human:screen(), "\n"))
  check.same(#own, 1)
  check.match(own[1], "the agent leaves plan mode")
end)

sit("rejected with a reason, the agent reads it", function(human)
  look(human)
  human:reads()
  human:type("gRtest it first<CR>")
  check.same(human:answered("P"), { decision = "reject", feedback = "test it first" })
end)

sit("rejected and cancelled", function(human)
  look(human)
  human:type(":Pillion reject<CR>")
  check.same(human:answered("P"), { decision = "reject" })
  human:eventually("vim.fn.tabpagenr('$') == 1")
  look(human, { planId = "Q", plan = review.plan })
  human:sees("an agent wants to carry out a plan")
  human:type(":Pillion cancel<CR>")
  check.same(human:answered("Q"), { decision = "cancel" })
end)

sit("keys of the first half second answer nothing", function(human)
  human:lua([[local A = require("pillion.approval"); local start = A.now(); A.now = function() return start end]])
  look(human)
  human:type("ga")
  human:sees("too fast, press again")
  human:type("gr")
  human:type(":Pillion approve<CR>")
  person.steadily("it waits", 300, function()
    return human:waits("P")
  end)
end)

sit("the agent gives up: nobody's answer, and whoever looks is told", function(human)
  look(human)
  human:lua("Wire.cancels.P()")
  check.same(human:answered("P"), { error = { code = -32800, message = "the dialog was closed: withdrawn" } })
  human:sees("The agent gave up waiting")
  human:sees("claude wanted to carry out a plan")
end)
