-- The page of a command: what it shows, and the human's own command in place of the agent's.

local Approval = require("pillion.approval")
local check = require("check")
local person = require("person")
local sheet = require("pillion.sheet")

local function lines(request)
  local approval = Approval.new(request, function() end, "client")
  return table.concat(sheet.question(approval, { approve = "ga" }).lines, "\n")
end

---@param text string
---@param part string
local function has(text, part)
  if not text:find(part, 1, true) then
    error(("%s\n  is not in\n%s"):format(part, text), 2)
  end
end

check.test("a command is shown whole, with all that it would do", function()
  local text = lines(person.command_request("A", "make > log; true", {
    preview = {
      parts = { { argv = { "make" }, why = "it runs a program" }, { argv = { "echo", "a b", "it's" }, why = "" } },
      writes = { "log" },
      unsaved = { "app.py" },
      network = true,
      sandbox = "none",
    },
  }))
  for _, part in ipairs({
    "claude wants to run a command",
    "  $ make > log; true",
    "Folder        the workspace folder",
    "Why it asks   this tool runs a program",
    "It runs       make   (it runs a program)",
    "              echo 'a b' 'it'\\''s'",
    "It writes     log",
    "It misses     what you have not saved in app.py",
    "Network       it may reach it",
    "Sandbox       none; it runs with your own rights",
    "Asked by      claude, over MCP",
    "ga   Approve",
    "run_command(make > log; true)",
    "Reject with Reason",
  }) do
    has(text, part)
  end
end)

check.test("what cannot be seen in a command is written out, and said", function()
  local text = lines(person.command_request("A", "rm \u{202e}x\tb\nsecond\27[0m"))
  has(text, "  $ rm \\u{202e}x\\tb")
  has(text, "  > second\\e[0m")
  has(text, "Invisible characters of this command are written out")
end)

check.test("a text and an address", function()
  local request = person.command_request("A", "x")
  request.preview = { kind = "text", markdown = "The agent wants to read:\n\n- `.env`\u{200b}" }
  has(lines(request), "- `.env`\\u{200b}")
  has(lines(request), "claude wants to use run_command")
  request.preview = { kind = "url", url = "https://example.org/\u{200b}x" }
  has(lines(request), "https://example.org/\\u{200b}x")
end)

local sit = person.sitting({ columns = 100, lines = 30 })

--- The question is asked, and has its tab behind the one where the human is.
---@param human pillion.Person
---@param request? table
local function asked(human, request)
  human:ask("approval/request", request or person.command_request("A", "make all"))
  human:eventually("vim.fn.tabpagenr('$') == 2")
end

sit("it opens behind, cannot be written in, and is answered with a key", function(human)
  asked(human)
  check.same(human:lua("return vim.fn.tabpagenr()"), 1)
  human:type("gt")
  human:sees("$ make all")
  human:sees("Why it asks")
  human:sees("run_command(make all)")
  check.same(human:lua("return { vim.bo.buftype, vim.bo.modifiable }"), { "nofile", false })
  human:reads()
  human:type("gr")
  check.same(human:answered("A"), { decision = "reject", decisionId = "reject", digest = "d1" })
  human:eventually("vim.fn.tabpagenr('$') == 1")
end)

sit("the human writes the command anew: approving runs theirs", function(human)
  asked(human)
  human:type(":Pillion edit<CR>")
  human:sees("look, and answer again")
  human:reads()
  human:type("ge")
  human:eventually("vim.api.nvim_buf_get_name(0) == 'pillion://A/command'")
  human:type("wcwone<Esc>:w<CR>")
  human:sees("It is your answer that counts")
  human:sees("edited by you")
  human:type("gs")
  human:sees("cannot be remembered")
  check.same(human:approves("A"), { decision = "edit", digest = "d1", modifiedArguments = { command = "make one", timeout = 5 } })
  human:eventually("vim.fn.tabpagenr('$') == 1")
end)

sit("written and taken back, it is the agent's again", function(human)
  asked(human, person.command_request("A", "make all\n"))
  human:type("gt")
  human:sees("$ make all")
  human:reads()
  human:type("ge")
  human:eventually("vim.api.nvim_buf_get_name(0) == 'pillion://A/command'")
  human:type("x")
  human:sees("edited by you")
  human:type("u")
  human:eventually("not require('pillion.approvals').get('A'):is_edited()")
  check.same(human:approves("A"), { decision = "approve", decisionId = "approve", digest = "d1" })
end)

sit("what it rests on changes: the page follows", function(human)
  asked(human, person.command_request("A", "make all", { preview = { unsaved = { "app.py" } } }))
  human:type("gt")
  human:sees("not saved in app.py")
  human:tell(
    "approval/changed",
    { approvalId = "A", digest = "d2", moved = false, preview = { kind = "command", command = "make all", cwd = "." } }
  )
  human:sees("This was updated since it first appeared")
  check.same(human:approves("A").digest, "d2")
end)

sit("put away with q it waits; what the human wrote outlives the question", function(human)
  asked(human)
  human:type("gt")
  human:sees("$ make all")
  human:reads()
  human:type("geAmine<Esc><C-w>kq")
  human:eventually("vim.fn.tabpagenr('$') == 1")
  check.same(human:waits("A"), true)
  human:tell("approval/resolved", { approvalId = "A", outcome = "withdrawn" })
  human:eventually("vim.fn.tabpagenr('$') == 2")
  human:type("gt")
  human:sees("make allmine")
  human:sees("The agent gave up waiting")
end)
