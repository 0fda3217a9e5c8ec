-- The page of a command: what it shows, and the user's own command in place of the agent's.

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

check.test("a page: what would happen, the facts in two columns, what each answer means", function()
  local request = person.command_request("A", "make > log\nrm \u{202e}x", {
    preview = {
      notices = { "Invisible characters are written as escapes." },
      facts = {
        { code = "folder", label = "Folder", text = "the workspace folder", tone = "muted" },
        { code = "parts", label = "Runs", text = "", items = { "make   (it runs a program)", "echo 'a b'   (allowed by a rule)" } },
        { code = "unsaved", label = "Unsaved changes not included", text = "app.py", tone = "warning", action = "save" },
        { code = "new", label = "A label that is long", text = "", items = { "one", "two" } },
      },
      unsaved = { "app.py" },
    },
  })
  table.insert(request.decisions, { id = "w", title = "Approve here", scope = "workspace", meaning = "always", rule = "x(*)\u{200b}" })
  local approval = Approval.new(request, function() end, "client")
  local page = sheet.question(approval, { approve = "ga", reject = "gr", session = "gs" })
  check.same(page.lines, {
    "claude wants to run a command",
    "",
    "  $ make > log",
    "  > rm \\u{202e}x",
    "  Invisible characters are written as escapes.",
    "",
    "Folder        the workspace folder",
    "Runs          make   (it runs a program)",
    "              echo 'a b'   (allowed by a rule)",
    "Unsaved changes not included  app.py",
    "A label that is long",
    "              one",
    "              two",
    "",
    "ga   Approve                   once",
    "gr   Reject                    the agent goes on without it",
    "Save and Run                   once, after saving",
    "gs   Approve for this session  for this session, without asking",
    "                               run_command(make > log\\nrm \\u{202e}x)",
    "Approve here                   always",
    "                               x(*)\\u{200b}",
    "Reject with Reason…            the agent gets your reason",
    "Stop Agent                     rejects this and pauses the agent",
    "Edit                           your command runs",
  })
  local painted = {}
  for _, mark in ipairs(page.marks) do
    local text = page.lines[mark.line + 1]:sub(mark.from + 1, mark.to)
    painted[mark.paint] = table.concat({ painted[mark.paint] or "", text }, "|")
  end
  check.same(painted.Warning, "|\\u{202e}|  Invisible characters are written as escapes.|app.py")
  check.match(painted.Muted, "^|the workspace folder|")
  check.match(painted.Label, "^|Folder|Runs|Unsaved changes not included|A label that is long|")
end)

check.test("the user's own command stands in place of the agent's", function()
  local approval = Approval.new(person.command_request("A", "make all"), function() end, "client")
  approval.own = "make one"
  local text = table.concat(sheet.question(approval, {}).lines, "\n")
  has(text, "  $ make one\n  You edited this; the agent gets your text.\n  What is said below is about the agent's command.")
end)

check.test("files: name and size, what happens to it, its facts, its diff", function()
  local request = person.edit_request("A", {
    {
      "a.py",
      "one\n",
      "two\n",
      summary = "executable, mode 100755",
      facts = { { code = "merged", label = "Merged", text = "with yours" } },
    },
    {
      "old",
      "",
      "",
      text = false,
      summary = "deleted, 2 files",
      facts = { { code = "contents", label = "Contents", items = { "x", "y" } } },
    },
  })
  has(lines(request), "  a.py  +1 −1  executable, mode 100755\n  Merged      with yours\n  @@ -1 +1 @@\n  -one\n  +two\n\n")
  has(lines(request), "  old  deleted, 2 files\n  Contents    x\n              y\n")
  request.preview.kind = "review"
  check.same(lines(request):find("Cancel", 1, true), nil, "a review does not pause the agent")
end)

local sit = person.sitting({ columns = 100, lines = 30 })

--- The question is asked, and has its tab behind the one where the user is.
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
  human:sees("Asks because")
  human:sees("run_command(make all)")
  check.same(human:lua("return { vim.bo.buftype, vim.bo.modifiable }"), { "nofile", false })
  human:reads()
  human:type("gr")
  check.same(human:answered("A"), { decision = "reject", decisionId = "reject", digest = "d1" })
  human:eventually("vim.fn.tabpagenr('$') == 1")
end)

sit("the name of its tab says what it is about, slashes and all", function(human)
  human:ask("approval/request", person.command_request("A", "sh tea/pot.sh"))
  human:eventually("vim.fn.tabpagenr('$') == 2")
  human:sees("run sh tea∕pot.sh (request)")
end)

sit("the user writes the command anew: approving runs theirs", function(human)
  asked(human)
  human:type(":Pillion edit<CR>")
  human:sees("check it and answer again")
  human:reads()
  human:type("ge")
  human:eventually("vim.api.nvim_buf_get_name(0) == 'pillion://command'")
  human:type("wcwone<Esc>:w<CR>")
  human:sees("It is your answer that counts")
  human:sees("edited by you")
  human:type("gs")
  human:sees("no rule can be remembered")
  check.same(human:approves("A"), { decision = "edit", digest = "d1", modifiedArguments = { command = "make one", timeout = 5 } })
  human:eventually("vim.fn.tabpagenr('$') == 1")
end)

sit("written and taken back, it is the agent's again", function(human)
  asked(human, person.command_request("A", "make all\n"))
  human:type("gt")
  human:sees("$ make all")
  human:reads()
  human:type("ge")
  human:eventually("vim.api.nvim_buf_get_name(0) == 'pillion://command'")
  human:type("x")
  human:sees("edited by you")
  human:type("u")
  human:eventually("not require('pillion.approvals').get('A'):is_edited()")
  check.same(human:approves("A"), { decision = "approve", decisionId = "approve", digest = "d1" })
end)

sit("what it rests on changes: the page follows", function(human)
  asked(human)
  human:type("gt")
  human:sees("$ make all")
  human:tell(
    "approval/changed",
    { approvalId = "A", digest = "d2", moved = false, reasons = {}, preview = person.command_preview("make all") }
  )
  human:sees("Updated since it first appeared")
  check.same(human:approves("A").digest, "d2")
end)

sit("put away with q it waits; what the user wrote outlives the question", function(human)
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
  human:sees("The agent no longer waits for an answer")
end)

--- Two offers for the session, one for the workspace.
local function offering(command)
  local request = person.command_request("A", command)
  table.insert(
    request.decisions,
    { id = "wide", title = "Approve for this session", scope = "session", rule = "run_command(go test *)", meaning = "" }
  )
  table.insert(
    request.decisions,
    { id = "ws", title = "Approve for this workspace", scope = "workspace", rule = "run_command(go test *)", meaning = "" }
  )
  return request
end

sit("of several rules the user chooses one, each shown exactly", function(human)
  asked(human, offering("go test ./x"))
  human:type("gt")
  human:sees("$ go test ./x")
  human:reads()
  human:type("gs")
  human:sees("1: Approve for this session: saves the rule  run_command(go test ./x)")
  human:sees("2: Approve for this session: saves the rule  run_command(go test *)")
  human:type("2<CR>")
  check.same(human:answered("A"), { decision = "approve", decisionId = "wide", digest = "d1" })
end)

sit("a rule for the workspace is chosen by itself", function(human)
  asked(human, offering("go test ./x"))
  human:type("gt")
  human:sees("gS workspace")
  human:reads()
  human:type("gS")
  human:sees("1: Approve for this workspace: saves the rule  run_command(go test *)")
  human:type("1<CR>")
  check.same(human:answered("A"), { decision = "approve", decisionId = "ws", digest = "d1" })
end)

sit("where no rule is offered for the workspace, none is", function(human)
  asked(human)
  human:type("gt")
  human:sees("$ make all")
  human:reads()
  human:type("gS")
  human:sees("no rule can be remembered")
  check.same(human:waits("A"), true)
end)

--- A project with `notes` open and unsaved, and a question of a command that would miss that.
---@param human pillion.Person
---@param more? string Lua that runs before the file is opened
---@return string path
local function unsaved(human, more)
  local folder = check.folder()
  local path = check.write(folder .. "/notes.txt", "old\n")
  human:lua("Wire.client.root = ...", folder)
  human:lua("Other = ...; " .. (more or ""), person.command_preview("rm -rf ."))
  human:type((":edit %s<CR>Gonew<Esc>"):format(path))
  human:eventually("vim.bo.modified")
  local fact = { code = "unsaved", label = "Unsaved changes not included", text = "notes.txt", tone = "warning", action = "save" }
  asked(human, person.command_request("A", "cat notes.txt", { preview = { unsaved = { "notes.txt" }, facts = { fact } } }))
  human:type("gt")
  human:sees("Unsaved changes not included  notes.txt")
  human:sees("gw save and run")
  return path
end

sit("save and run: what it would miss is saved first, and what was shown is approved", function(human)
  local path = unsaved(human)
  human:type("gw")
  human:sees("Too fast: press again")
  check.same(check.read(path), "old\n")
  human:reads()
  human:type("gw")
  check.same(human:answered("A"), { decision = "approve", decisionId = "approve", digest = "d1" })
  check.same(check.read(path), "old\nnew\n")
end)

sit("save and run: a yes stays one to what was shown, whatever happens while it saves", function(human)
  unsaved(
    human,
    [[vim.api.nvim_create_autocmd("BufWritePost", { callback = function()
    Wire.tell("approval/changed", { approvalId = "A", digest = "d2", moved = false, reasons = {}, preview = Other })
  end })]]
  )
  human:reads()
  human:type(":Pillion save<CR>")
  check.same(human:answered("A").digest, "d1")
end)

sit("what the user saves by themselves is not missed any more, and that is all", function(human)
  unsaved(human)
  local preview = person.command_preview("cat notes.txt")
  human:tell("approval/changed", { approvalId = "A", digest = "d2", moved = true, reasons = {}, preview = preview })
  person.eventually("the page follows", function()
    return not human:screen():find("not included", 1, true)
  end)
  check.same(human:screen():find("updated", 1, true), nil)
  human:reads()
  human:type("gw")
  human:sees("there are no unsaved changes to save")
  check.same(human:approves("A").digest, "d2")
end)

sit("save and run: what cannot be saved is said, and nothing runs", function(human)
  local path = unsaved(human, [[vim.api.nvim_create_autocmd("BufWritePre", { callback = function() error("the formatter is gone") end })]])
  human:reads()
  human:type("gw")
  human:sees("nothing was run")
  check.same(human:waits("A"), true)
  check.same(check.read(path), "old\n")
end)
