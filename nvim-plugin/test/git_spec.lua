-- What an agent does to a git repository: the page that asks, and the user's own message in place of the agent's.

local Approval = require("pillion.approval")
local check = require("check")
local person = require("person")
local sheet = require("pillion.sheet")

---@param request table
---@param own? string
local function page(request, own)
  local approval = Approval.new(request, function() end, "client")
  approval.own = own
  return sheet.question(approval, { approve = "ga", edit = "ge", save = "gw" })
end

check.test("a commit's page has its message first and its diff last", function()
  local made = page(person.commit_request("A"))
  check.same(made.lines, {
    "claude wants to commit 1 file to main",
    "",
    "  clock: pad",
    "  ",
    "  why\\u202e",
    "  Invisible characters are written as escapes, such as \\u200b.",
    "",
    "Branch        main, now at b3a5c5d",
    "Files         M a.py +1 −1",
    "              A b.py +1 −0",
    "Unsaved changes not included  a.py",
    "Asked by      claude, over MCP",
    "",
    "ga   Approve         once",
    "Reject               the agent goes on without it",
    "gw   Save First      then review it again",
    "ge   Edit Message    your text is committed",
    "Reject with Reason…  the agent gets your reason",
    "Stop Agent           rejects this and pauses the agent",
    "",
    "  diff --git a/a.py b/a.py",
    "  @@ -1,2 +1,2 @@",
    "   one",
    "  --- two",
    "  +three",
  })
  local painted = {}
  for _, mark in ipairs(made.marks) do
    painted[mark.paint] = made.lines[mark.line + 1]
  end
  check.same({ painted.Removed, painted.Added }, { "  --- two", "  +three" })
end)

check.test("a message that the user wrote is on the page in place of the agent's", function()
  local made = page(person.commit_request("A"), "mine\n\nand why")
  check.same(vim.list_slice(made.lines, 3, 6), { "  mine", "  ", "  and why", "  You edited this; the agent gets your text." })
end)

local sit = person.sitting({ columns = 120, lines = 40 })

--- An agent asks for a commit, and the user opens its message.
local function open_message(human)
  human:ask("approval/request", person.commit_request("A"))
  human:eventually("vim.fn.tabpagenr('$') == 2")
  human:type("gt")
  human:sees("claude wants to commit 1 file to main")
  human:reads()
  human:type("ge")
  human:eventually("vim.api.nvim_buf_get_name(0) == 'pillion://message'")
end

sit("the user writes the message anew: that is the answer, and the other arguments stay", function(human)
  open_message(human)
  check.same(human:lua("return vim.bo.filetype"), "gitcommit")
  human:type("ggdG")
  human:sees("edited by you")
  human:reads()
  human:type("ga")
  human:sees("the message is empty")
  human:type("imine<CR><CR>and why<Esc>")
  human:sees("You edited this")
  check.same(
    human:approves("A"),
    { decision = "edit", digest = "d1", modifiedArguments = { message = "mine\n\nand why", files = { "a.py" } } }
  )
  human:eventually("vim.fn.tabpagenr('$') == 1")
end)

sit("opened and left as it was, it is the agent's message", function(human)
  open_message(human)
  check.same(human:approves("A"), { decision = "approve", decisionId = "approve", digest = "d1" })
end)

sit("it dies meanwhile: what the user wrote is kept", function(human)
  open_message(human)
  human:type("ggOmine<Esc>")
  human:sees("edited by you")
  human:tell("approval/resolved", { approvalId = "A", outcome = "withdrawn" })
  human:sees("The agent no longer waits for an answer")
  human:eventually("vim.fn.bufexists('pillion://message (yours)') == 1")
end)
