-- A proposal in a real Neovim, with real keys: where it opens, what it takes, what is left of it.

local check = require("check")
local person = require("person")

local before = "def total(p):\n    return sum(p)\n"
local after = "def total(p):\n    return round(sum(p))\n"

local function proposal(id, more)
  return person.edit_request(id, { { "app.py", before, after } }, more)
end

local sit = person.sitting()

---@param human pillion.Person
local function tabs(human)
  return human:lua("return vim.fn.tabpagenr('$')")
end

---@param human pillion.Person
local function opens(human, id)
  human:eventually(
    ("vim.iter(vim.api.nvim_list_wins()):any(function(w) return vim.b[vim.api.nvim_win_get_buf(w)].pillion_approval == '%s' end)"):format(
      id
    )
  )
end

--- The question is asked, and has its tab behind the one where the user is.
---@param human pillion.Person
local function proposed(human)
  human:ask("approval/request", proposal("A"))
  opens(human, "A")
end

--- The user looks at it.
---@param human pillion.Person
local function looks(human)
  proposed(human)
  human:type("gt")
  human:sees("round")
end

sit("it opens in a tab of its own, and the user stays where they are", function(human)
  human:type("ifirst line<Esc>")
  human:eventually("vim.api.nvim_get_mode().mode == 'n' and vim.api.nvim_get_current_line() == 'first line' and vim.fn.col('.') == 10")
  human:lua("Before = { vim.api.nvim_get_current_win(), vim.fn.getpos('.'), vim.fn.winsaveview() }; Heard = {}")
  human:lua(
    "vim.api.nvim_create_autocmd({'BufEnter', 'WinEnter', 'TabEnter', 'WinLeave', 'TabNew', 'WinNew'}, { callback = function(e) table.insert(Heard, e.event) end })"
  )
  proposed(human)
  check.same(human:lua("return Heard"), {})
  check.same(human:lua("return vim.deep_equal(Before, { vim.api.nvim_get_current_win(), vim.fn.getpos('.'), vim.fn.winsaveview() })"), true)
  check.same(tabs(human), 2)
  human:sees("claude wants to edit app.py")
  human:type("gt")
  human:sees("return round(sum(p))")
  human:sees("claude: Edit app.py")
  human:sees("ga approve")
  check.same(human:lua("return vim.tbl_map(function(w) return vim.wo[w].diff end, vim.api.nvim_tabpage_list_wins(0))"), { true, true })
  human:eventually("vim.bo.filetype == 'python'")
  check.same(
    human:lua("return { vim.bo.buftype, vim.bo.modifiable, vim.bo.buflisted, vim.wo.foldmethod }"),
    { "acwrite", true, false, "expr" }
  )
  check.same(
    human:lua(
      "local w = vim.api.nvim_tabpage_list_wins(0)[1]; return { vim.bo[vim.api.nvim_win_get_buf(w)].buftype, vim.bo[vim.api.nvim_win_get_buf(w)].modifiable }"
    ),
    { "nofile", false }
  )
end, { columns = 160 })

sit("while the user types it only says so; it opens when they are through", function(human)
  human:type_into("i", "i")
  human:ask("approval/request", proposal("A"))
  human:sees("claude wants to edit app.py")
  for letter in ("gaga yes ga\ngt ga"):gmatch(".") do
    human:type(letter == "\n" and "<CR>" or letter)
  end
  human:eventually("vim.api.nvim_buf_get_lines(0, 0, -1, false)[2] == 'gt ga'")
  check.same(tabs(human), 1)
  check.same(human:mode().mode, "i")
  human:type("<Esc>")
  opens(human, "A")
  check.same(human:lua("return { vim.fn.tabpagenr(), vim.api.nvim_buf_get_lines(0, 0, -1, false) }"), { 1, { "gaga yes ga", "gt ga" } })
  check.same(human:waits("A"), true)
end)

for name, keys in pairs({
  operator = "d",
  visual = "v",
  ["command line"] = ":echo 1",
  replace = "R",
  search = "/foo",
  register = '"',
  window = "<C-w>",
  count = "2",
}) do
  sit(("half-way through: %s"):format(name), function(human)
    human:type("ione two<Esc>0")
    human:eventually("vim.api.nvim_buf_get_lines(0, 0, -1, false)[1] == 'one two' and vim.api.nvim_win_get_cursor(0)[2] == 0")
    human:type(keys)
    person.eventually("keys are taken", function()
      local now = human:mode()
      return now.blocking or now.mode ~= "n"
    end)
    human:later("Wire.ask(...)", "approval/request", proposal("A"))
    local now = human:mode()
    if not now.blocking then -- else nothing is done before the keys end
      human:eventually("#require('pillion.approvals').all() == 1")
      human:settled()
      check.same({ human:mode().mode, tabs(human) }, { now.mode, 1 })
    end
    human:type("<Esc>")
    opens(human, "A")
    check.same(human:lua("return { vim.fn.tabpagenr(), vim.api.nvim_get_current_line() }"), { 1, "one two" })
    human:eventually("vim.fn.winnr('$') == 1")
  end)
end

sit("a key in its first half second approves nothing; later it does, and the user is back", function(human)
  proposed(human)
  human:type("gtga")
  human:sees("Too fast: press again")
  check.same(human:waits("A"), true)
  check.same(human:approves("A"), { decision = "approve", decisionId = "approve", digest = "d1" })
  human:eventually("vim.fn.tabpagenr('$') == 1 and vim.api.nvim_buf_get_name(0) == ''")
  check.same(
    human:lua("return vim.tbl_filter(function(b) return vim.api.nvim_buf_get_name(b):find('pillion://') end, vim.api.nvim_list_bufs())"),
    {}
  )
end)

sit("what the user changes in the proposal is the answer", function(human)
  proposed(human)
  human:type("gtGo# by hand<Esc>")
  human:sees("│ edited  ga")
  check.same(human:lua("return vim.bo.modified"), false)
  human:type(":w<CR>")
  human:sees("It is your answer that counts: ga")
  check.same(
    human:approves("A"),
    { decision = "edit", decisionId = "approve", after = { ["app.py"] = after .. "# by hand\n" }, digest = "d1" }
  )
end, { columns = 160 })

sit(":e! takes back what the user changed, :e does not", function(human)
  proposed(human)
  human:type("gtGo# by hand<Esc>:e<CR>")
  human:sees("# by hand")
  human:eventually("require('pillion.approvals').get('A'):is_edited()")
  human:type(":e!<CR>")
  human:eventually("not require('pillion.approvals').get('A'):is_edited()")
  check.same(human:approves("A").decision, "approve")
end)

sit("remembering shows the exact rule first", function(human)
  looks(human)
  human:reads()
  human:type("gs")
  human:sees("saves the rule  edit_file(app.py)")
  human:type("1<CR>")
  check.same(human:answered("A"), { decision = "approve", decisionId = "session", digest = "d1" })
end)

sit("a reason is asked for, and goes to the agent", function(human)
  looks(human)
  human:reads()
  human:type("gR")
  human:sees("Reject, because:")
  human:type("keep | the name<CR>")
  check.same(human:answered("A"), { decision = "reject", decisionId = "reject", digest = "d1", feedback = "keep | the name" })
end)

sit("closing the tab or a window is no answer, and nothing holds up :qa", function(human)
  proposed(human)
  human:type("gtGo# by hand<Esc>:tabclose<CR>")
  human:eventually("vim.fn.tabpagenr('$') == 1")
  check.same(human:waits("A"), true)
  human:type(":Pillion show<CR>")
  human:sees("# by hand")
  human:type(":quit<CR>")
  human:eventually("#vim.api.nvim_tabpage_list_wins(0) == 1 and vim.fn.tabpagenr('$') == 2")
  human:type(":Pillion show<CR>")
  human:eventually("#vim.api.nvim_tabpage_list_wins(0) == 2")
  human:sees("# by hand")
  human:type("ax<Esc>:qa<CR>")
  person.eventually("Neovim has ended", function()
    return human:gone()
  end)
end)

sit("wiped, it comes back with what the user wrote", function(human)
  proposed(human)
  human:type("gtGo# by hand<Esc>:bwipeout!<CR>")
  human:eventually("#vim.api.nvim_tabpage_list_wins(0) == 1")
  human:type(":Pillion show<CR>")
  human:eventually("#vim.api.nvim_tabpage_list_wins(0) == 2")
  human:sees("# by hand")
  check.same(human:approves("A").after, { ["app.py"] = after .. "# by hand\n" })
end)

local function change(human, moved, text, digest)
  local preview = person.edit_request("A", { { "app.py", "# new\n" .. before, text or ("# new\n" .. after) } }).preview
  human:tell("approval/changed", { approvalId = "A", digest = digest or "d2", reasons = {}, preview = preview, moved = moved })
end

sit("the text beneath changes: the dialog follows, says so, and is asleep for a moment", function(human)
  proposed(human)
  human:type("gtgg")
  human:sees("def total")
  human:reads()
  change(human, false)
  human:sees("# new")
  human:sees("updated: check it again")
  human:type("ga")
  human:sees("Too fast: press again")
  check.same(human:waits("A"), true)
  check.same(human:approves("A").digest, "d2")
end, { columns = 160 })

sit("it changes beneath what the user wrote: that stays, and goes with the old digest", function(human)
  proposed(human)
  human:type("gtGo# by hand")
  human:sees("# by hand")
  change(human, false)
  human:type(" too<Esc>")
  human:sees("# by hand too") -- what was typed after the change may come later than what is said of it
  human:sees("your text will be merged")
  check.same(
    human:lua("return vim.api.nvim_buf_get_lines(0, 0, -1, false)"),
    { "def total(p):", "    return round(sum(p))", "# by hand too" }
  )
  check.same(
    human:approves("A"),
    { decision = "edit", decisionId = "approve", after = { ["app.py"] = after .. "# by hand too\n" }, digest = "d1" }
  )
end, { columns = 160 })

sit("the user takes that back: the dialog shows the change", function(human)
  proposed(human)
  human:type("gtGo# by hand<Esc>")
  human:sees("# by hand")
  change(human, false)
  human:sees("your text will be merged")
  human:type("u")
  human:eventually("vim.api.nvim_buf_get_lines(0, 0, 1, false)[1] == '# new'")
end, { columns = 160 })

sit("it dies while the user looks: a page says why, and approves nothing", function(human)
  looks(human)
  human:tell("approval/resolved", { approvalId = "A", outcome = "withdrawn" })
  human:sees("The agent no longer waits for an answer")
  human:sees("it can no longer be approved")
  human:type("ga:Pillion approve<CR>")
  human:sees("no requests are waiting")
  check.same(human:answered("A").error.code, -32800)
  human:type("q")
  human:eventually("vim.fn.tabpagenr('$') == 1")
end)

sit("it dies while the user looks: the next request is asked all the same, and one command leads to it", function(human)
  looks(human)
  human:tell("approval/resolved", { approvalId = "A", outcome = "withdrawn" })
  human:sees("The agent no longer waits for an answer")
  human:ask("approval/request", proposal("B"))
  opens(human, "B")
  human:type(":Pillion show<CR>")
  human:eventually("vim.b.pillion_approval == 'B'")
  human:approves("B")
end)

sit("one is answered and another comes: both are approved by keys alone", function(human)
  for _, id in ipairs({ "A", "B" }) do
    human:ask("approval/request", proposal(id))
    opens(human, id)
    human:type(":Pillion show<CR>")
    human:eventually(("vim.b.pillion_approval == '%s'"):format(id))
    human:approves(id)
    human:eventually("vim.fn.tabpagenr('$') == 1")
  end
end)

sit("it dies while the user is elsewhere: its tab goes, and they are told", function(human)
  proposed(human)
  human:tell("approval/resolved", { approvalId = "A", outcome = "expired" })
  human:eventually("vim.fn.tabpagenr('$') == 1")
  human:sees("Nobody answered in time")
end)

sit("it dies with the user's own text in it: the text is theirs", function(human)
  proposed(human)
  human:type("gtGo# by hand")
  human:sees("# by hand")
  human:tell("approval/resolved", { approvalId = "A", outcome = "stale" })
  human:type(" and more<Esc>")
  human:sees("What this showed cannot be done any more")
  human:sees("# by hand and more")
  human:sees("What you wrote is kept")
  human:type("<C-w>l<C-w>lga")
  human:eventually("vim.api.nvim_buf_get_name(0):find('pillion://app.py (yours)', 1, true)")
  check.same(human:lua("return vim.api.nvim_buf_get_lines(0, -2, -1, false)"), { "# by hand and more" })
  local file = vim.fn.tempname()
  human:type((":write %s<CR>"):format(file))
  person.eventually("it is written", function()
    return vim.uv.fs_stat(file) and check.read(file) == after .. "# by hand and more\n"
  end)
end, { columns = 120 })

sit("several: one in front; an answer brings the next, asleep at first", function(human)
  human:ask("approval/request", proposal("A"))
  human:ask("approval/request", person.edit_request("B", { { "b.py", "b\n", "bee\n" } }))
  human:ask("approval/request", person.edit_request("C", { { "c.py", "c\n", "sea\n" } }))
  opens(human, "A")
  check.same(tabs(human), 2)
  human:type("gt")
  human:sees("round")
  human:reads()
  human:type("gaga")
  check.same(human:answered("A").decision, "approve")
  human:sees("bee")
  human:sees("Too fast: press again")
  check.same(human:waits("B"), true)
  human:type("]a")
  human:sees("sea")
  check.same(tabs(human), 3)
  human:type("[a")
  human:sees("bee")
  human:reads()
  human:type("gC")
  check.same(human:answered("B"), { decision = "cancel", digest = "d1" })
  human:type(":Pillion reject not now<CR>")
  check.same(human:answered("C").feedback, "not now")
  human:eventually("vim.fn.tabpagenr('$') == 1")
end)

sit("names are for you to read; of two requests about one file the later has a number", function(human)
  human:ask("approval/request", proposal("A"))
  human:ask("approval/request", proposal("B"))
  opens(human, "A")
  human:type(":Pillion show<CR>")
  human:eventually("vim.api.nvim_buf_get_name(0) == 'pillion://app.py (proposed)'")
  human:type("]a")
  human:eventually("vim.api.nvim_buf_get_name(0) == 'pillion://2/app.py (proposed)'")
  human:approves("B")
  human:type(":Pillion show<CR>")
  human:eventually("vim.api.nvim_buf_get_name(0) == 'pillion://app.py (proposed)'")
end)

sit("several files: one diff at a time", function(human)
  human:ask("approval/request", person.edit_request("A", { { "a.py", "one\n", "eins\n" }, { "b.py", "two\n", "zwei\n" } }))
  opens(human, "A")
  human:type("gt")
  human:sees("eins")
  human:sees("(1 of 2)")
  human:type("]f")
  human:sees("zwei")
  human:type("ccdrei<Esc>")
  human:sees("edited  ga")
  human:type("]f")
  human:sees("eins")
  human:type("[f")
  human:sees("drei")
  check.same(human:approves("A"), { decision = "edit", decisionId = "approve", after = { ["b.py"] = "drei\n" }, digest = "d1" })
end, { columns = 160 })

sit(":Pillion approve elsewhere shows it, and approves nothing", function(human)
  proposed(human)
  human:reads()
  human:type(":Pillion approve<CR>")
  human:sees("check it and answer again")
  human:sees("round")
  check.same(human:waits("A"), true)
  human:reads()
  human:type(":Pillion approve<CR>")
  check.same(human:answered("A").decision, "approve")
end)

sit("events tell what happens", function(human)
  human:ask("approval/request", proposal("A"))
  human:tell("approval/resolved", { approvalId = "A", outcome = "withdrawn" })
  local events = human:lua("return Wire.events")
  check.same({ events[1][1], events[1][2].approvalId }, { "PillionApproval", "A" })
  check.same(events[2], { "PillionResolved", { approvalId = "A", outcome = "withdrawn" } })
end)

sit("in the window of command lines it waits", function(human)
  human:type(":echo 1<CR>q:")
  human:eventually("vim.fn.getcmdwintype() == ':'")
  human:ask("approval/request", proposal("A"))
  human:settled()
  check.same(tabs(human), 1)
  human:type(":quit<CR>")
  opens(human, "A")
  check.same(human:lua("return vim.fn.tabpagenr()"), 1)
end)

sit("in a floating window the user stays", function(human)
  human:lua(
    "Float = vim.api.nvim_open_win(vim.api.nvim_create_buf(false, true), true, { relative = 'editor', row = 2, col = 2, width = 20, height = 3 }); vim.wo.winfixbuf = true"
  )
  proposed(human)
  check.same(human:lua("return { vim.api.nvim_get_current_win() == Float, vim.fn.tabpagenr() }"), { true, 1 })
  human:type("gt")
  human:sees("round")
  check.same(human:lua("return #vim.api.nvim_tabpage_list_wins(0)"), 2)
end)

sit("what fails beside it does not answer for the user, and asks for no key", function(human)
  human:lua("require('pillion.approvals').listen({ added = function() error('it broke\\nin two lines') end })")
  human:ask("approval/request", proposal("A"))
  check.same(human:waits("A"), true)
  check.same(human:lua("return vim.tbl_count(Wire.answers)"), 0)
  human:eventually("vim.fn.execute('messages'):find('it broke', 1, true)")
  check.same(human:mode(), { blocking = false, mode = "n" })
end)

sit("from one question to the next and back to where the user was", function(human)
  human:type(":tabnew<CR>")
  human:eventually("vim.fn.tabpagenr('$') == 2")
  human:ask("approval/request", proposal("A"))
  human:ask("approval/request", person.edit_request("B", { { "b.py", "b\n", "bee\n" } }))
  opens(human, "A")
  human:type(":Pillion show<CR>")
  human:sees("round")
  human:type("]a")
  human:sees("bee")
  human:reads()
  human:type("gr")
  human:answered("B")
  human:eventually("vim.fn.tabpagenr('$') == 3 and vim.fn.tabpagenr() == 2")
end)

sit("nothing that an agent names is run or hides", function(human)
  local path = "a %{execute('let g:hit=1')} # ` | <CR>\n\u{202e}.py"
  local request = person.edit_request("A", { { path, before, after } })
  request.agent.name = "%{execute('let g:hit=2')}%#Error#cla\27[31mude"
  request.title = "%!execute('let g:hit=3') %@Foo@Edit"
  request.preview.files[1].banner = "asks because %{execute('let g:hit=4')}"
  human:ask("approval/request", request)
  opens(human, "A")
  human:type("gt")
  human:sees("%{execute('let g:hit=…e[31mude: %!execute('let g:hit=3') %@Foo@Edit")
  human:sees("asks because %{execute('let g:hit=4')}")
  human:tell("approval/resolved", { approvalId = "A", outcome = "withdrawn" })
  human:sees("it can no longer be approved")
  human:sees("cla\\e[31mude wanted to change files")
  check.same(human:lua("return vim.g.hit == nil"), true)
end, { columns = 200 })
