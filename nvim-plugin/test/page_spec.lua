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
    arguments = { command = "make > log; true", env = { B = "two\27", A = "1" }, stdin = "y\nn\u{200b}\n" },
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
    "Network       it can reach it",
    "Sandbox       none: it runs with your own rights",
    "Environment   A=1",
    "              B=two\\e",
    "It reads      y",
    "              n\\u{200b}",
    "              echo 'a b' 'it'\\''s'   (a rule allows it)",
    "Save and Run",
    "Asked by      claude, over MCP",
    "ga   Approve",
    "run_command(make > log; true)",
    "Reject with Reason",
  }) do
    has(text, part)
  end
end)

check.test("never called sandboxed when it is not; what holds it is named, and whether it reaches the network", function()
  local function with(preview)
    return lines(person.command_request("A", "make", { preview = preview }))
  end
  local held = with({ sandbox = "bubblewrap", network = false })
  has(held, "Sandbox       bubblewrap: it can write")
  has(held, "Network       cut off")
  has(with({ sandbox = "landlock", network = true }), "Sandbox       Landlock: it can write")
  has(with({ sandbox = "jail\u{200b}" }), "Sandbox       jail\\u{200b}")
  check.same(with({ sandbox = "none", network = false }):find("Network", 1, true), nil, "nothing could cut it off")
  local bare = with({ sandbox = "none", network = true })
  has(bare, "Sandbox       none: it runs with your own rights")
  has(bare, "Network       it can reach it")
  check.same(with({}):find("Sandbox", 1, true), nil)
end)

check.test("a process that is to stay says so", function()
  local request = person.command_request("A", "npm run dev", { arguments = { command = "npm run dev", process_id = "dev\u{200b}" } })
  request.tool = "run_persistent"
  has(lines(request), "claude wants to start a process that keeps running")
  has(lines(request), "It stays      as dev\\u{200b}, until it ends, you stop it, or the agent is gone")
end)

check.test("a single part says why it asks only where that is particular to it", function()
  local function why(text)
    return lines(person.command_request("A", "sh x", { preview = { parts = { { argv = { "sh", "x" }, why = text } } } }))
  end
  check.same(why("no rule allows it"):find("It runs", 1, true), nil)
  has(why("sh can run other programs or code"), "It runs       sh x   (sh can run other programs or code)")
end)

check.test("each rule that is offered is shown as it would be saved, with the key for its scope", function()
  local request = person.command_request("A", "go test ./x")
  request.decisions[4] = { id = "session2", title = "Approve for this session", scope = "session", rule = "run_command(go test *)" }
  request.decisions[5] = { id = "ws", title = "Approve for this workspace", scope = "workspace", rule = "run_command(go test *)\u{200b}" }
  local approval = Approval.new(request, function() end, "client")
  local text = table.concat(sheet.question(approval, { session = "gs", workspace = "gS" }).lines, "\n")
  has(text, "gs   Approve for this session     and from now on")
  has(text, "run_command(go test ./x)")
  has(text, "gS   Approve for this workspace")
  has(text, "run_command(go test *)\\u{200b}")
  request.decisions[5].title = "Approve a rule with a title that is long"
  text = table.concat(sheet.question(approval, { approve = "ga", workspace = "gS" }).lines, "\n")
  has(text, "gS   Approve a rule with a title that is long  and from now on")
  has(text, "ga   Approve                                   this once")
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
  human:sees("review it and answer again")
  human:reads()
  human:type("ge")
  human:eventually("vim.api.nvim_buf_get_name(0) == 'pillion://A/command'")
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

--- Two offers for the session, one for the workspace.
local function offering(command)
  local request = person.command_request("A", command)
  table.insert(request.decisions, { id = "wide", title = "Approve for this session", scope = "session", rule = "run_command(go test *)" })
  table.insert(request.decisions, { id = "ws", title = "Approve for this workspace", scope = "workspace", rule = "run_command(go test *)" })
  return request
end

sit("of several rules the human chooses one, each shown exactly", function(human)
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
  human:lua(more or "")
  human:type((":edit %s<CR>Gonew<Esc>"):format(path))
  human:eventually("vim.bo.modified")
  asked(human, person.command_request("A", "cat notes.txt", { preview = { unsaved = { "notes.txt" } } }))
  human:type("gt")
  human:sees("what you have not saved in notes.txt")
  human:sees("gw save and run")
  return path
end

sit("save and run: what it would miss is saved first, and what was shown is approved", function(human)
  local path = unsaved(human)
  human:type("gw")
  human:sees("too fast, press again")
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
    Wire.tell("approval/changed", { approvalId = "A", digest = "d2", moved = false, preview = { kind = "command", command = "rm -rf .", cwd = "." } })
  end })]]
  )
  human:reads()
  human:type(":Pillion save<CR>")
  check.same(human:answered("A").digest, "d1")
end)

sit("what the human saves by themselves is not missed any more, and that is all", function(human)
  unsaved(human)
  local preview = { kind = "command", command = "cat notes.txt", cwd = "." }
  human:tell("approval/changed", { approvalId = "A", digest = "d2", moved = true, preview = preview })
  person.eventually("the page follows", function()
    return not human:screen():find("not saved in", 1, true)
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
