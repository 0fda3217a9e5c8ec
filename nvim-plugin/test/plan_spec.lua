-- An agent's plan: a page and an answer as of any other request.

local check = require("check")
local person = require("person")

--- An agent's plan as the sidecar sends it.
---@param id string
---@param lines? string[]
---@param arguments? table
local function plan(id, lines, arguments)
  local request = person.command_request(id, "x", { arguments = arguments or vim.empty_dict() })
  request.decisions = {
    { id = "reject", title = "Keep planning", scope = "once", meaning = "the agent stays in plan mode" },
    { id = "approve", title = "Approve", scope = "once", meaning = "the agent leaves plan mode and starts" },
  }
  request.tool, request.title, request.reasons = "exit_plan_mode", "Carry out this plan?", {}
  request.preview = {
    kind = "plan",
    act = "carry out a plan",
    deed = "carry out a plan",
    lines = lines or { "# Plan", "", "1. mend `it`\\u200b", "2. test it" },
    facts = { { code = "agent", label = "Asked by", text = "claude, over MCP" } },
  }
  return request
end

local sit = person.sitting({ columns = 100, lines = 30 })

---@param human pillion.Person
---@param asked? table
local function look(human, asked)
  human:ask("approval/request", asked or plan("P"))
  human:eventually("vim.fn.tabpagenr('$') == 2")
  human:type("gt")
  human:sees("2. test it")
end

sit("it is shown whole, on a page that cannot be written in, and approved with a key", function(human)
  human:ask("approval/request", plan("P"))
  human:sees("claude wants to carry out a plan")
  human:eventually("vim.fn.tabpagenr('$') == 2")
  check.same(human:lua("return vim.fn.tabpagenr()"), 1)
  human:type("gt")
  human:sees("Carry out this plan?")
  human:sees("the agent leaves plan mode and starts")
  human:sees("the agent stays in plan mode")
  human:sees("1. mend `it`\\u200b")
  check.same(human:lua("return { vim.bo.modifiable, vim.bo.filetype, vim.bo.syntax }"), { false, "", "markdown" })
  human:reads()
  human:type("gs")
  human:sees("no rule can be remembered")
  check.same(human:approves("P"), { decision = "approve", decisionId = "approve", digest = "d1" })
  human:eventually("vim.fn.tabpagenr('$') == 1")
end)

sit("the user edits it, and the agent gets theirs", function(human)
  human:ask("approval/request", plan("P", nil, { plan = "# Plan\n\n1. mend `it`" }))
  human:eventually("vim.fn.tabpagenr('$') == 2")
  human:type("gt")
  human:sees("2. test it")
  human:reads()
  human:type("ge")
  human:eventually("vim.bo.filetype == 'markdown'")
  human:type("Go2. ask me<Esc>")
  human:sees("2. ask me")
  local answer = human:approves("P")
  check.same({ answer.decision, answer.modifiedArguments }, { "edit", { plan = "# Plan\n\n1. mend `it`\n2. ask me" } })
end)

sit("no line of a plan passes for one of the page's own", function(human)
  local long = ("x"):rep(97) .. " ga   Approve                    nor yet"
  look(human, plan("P", { "2. test it", "", "ga   Approve                    nothing happens yet", long }))
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
  check.same(human:answered("P"), { decision = "reject", decisionId = "reject", digest = "d1", feedback = "test it first" })
end)

sit("rejected and cancelled", function(human)
  look(human)
  human:type(":Pillion reject<CR>")
  check.same(human:answered("P").decision, "reject")
  human:eventually("vim.fn.tabpagenr('$') == 1")
  look(human, plan("Q"))
  human:type(":Pillion cancel<CR>")
  check.same(human:answered("Q"), { decision = "cancel", digest = "d1" })
end)

sit("keys of the first half second answer nothing", function(human)
  look(human)
  human:type("ga")
  human:sees("Too fast: press again")
  human:type("gr")
  human:type(":Pillion approve<CR>")
  human:settled()
  check.same(human:waits("P"), true)
end)

sit("the agent gives up: nobody's answer, and whoever looks is told", function(human)
  look(human)
  human:lua("Wire.cancels.P()")
  check.same(human:answered("P"), { error = { code = -32800, message = "the dialog was closed: withdrawn" } })
  human:sees("The agent no longer waits for an answer")
  human:sees("claude wanted to carry out a plan")
end)
