-- What a user approves is what they have seen: nothing of it is folded, concealed, cut or changed without a word, and what an
-- agent wrote sets nothing in their Neovim.

local check = require("check")
local person = require("person")

local sit = person.sitting()

---@param human pillion.Person
local function goes_there(human)
  human:eventually("vim.fn.tabpagenr('$') == 2")
  human:type("gt")
  human:sees("ga ")
end

local function proposal(before, after)
  return person.edit_request("A", { { "app.py", before, after } })
end

sit("a yes that is typed is for what was on show when it was begun", function(human)
  human:ask("approval/request", proposal("old\n", "new\n"))
  goes_there(human)
  human:reads()
  human:type(":Pillion appr")
  human:sees(":Pillion appr")
  human:tell(
    "approval/changed",
    { approvalId = "A", digest = "d2", reasons = {}, preview = proposal("old\n", "evil\n").preview, moved = false }
  )
  human:reads()
  human:type("ove<CR>")
  human:sees("it was updated meanwhile")
  check.same(human:waits("A"), true)
  human:sees("evil")
  human:reads()
  human:type(":Pillion approve<CR>")
  check.same(human:answered("A").digest, "d2")
end)

sit("the same, after a list in which the rule was shown", function(human)
  human:ask("approval/request", proposal("old\n", "new\n"))
  goes_there(human)
  human:reads()
  human:lua("vim.ui.select = function(items, _, callback) Choose = function() callback(items[1]) end end")
  human:type("gs")
  human:eventually("Choose ~= nil")
  human:tell(
    "approval/changed",
    { approvalId = "A", digest = "d2", reasons = {}, preview = proposal("old\n", "evil\n").preview, moved = false }
  )
  human:tell(
    "approval/changed",
    { approvalId = "A", digest = "d3", reasons = {}, preview = proposal("older\nold\n", "older\nevil\n").preview, moved = true }
  )
  human:reads()
  human:lua("Choose()")
  check.same(human:waits("A"), true)
end)

for _, method in ipairs({ "indent", "marker" }) do
  sit("folds of the user's own do not hide a command: " .. method, function(human)
    human:ask("approval/request", person.command_request("A", ("true\n"):rep(20) .. "true # {{{\nrm -rf src\ntrue # }}}"))
    goes_there(human)
    human:sees("> rm -rf src")
  end, { init = ("vim.o.foldmethod, vim.o.shiftwidth = '%s', 2"):format(method), lines = 40 })
end

sit("a line that goes on beyond the window says so", function(human)
  human:ask("approval/request", proposal("x = 1\n", "x = 1" .. (" "):rep(300) .. "; evil()\n"))
  goes_there(human)
  human:eventually(
    "#vim.tbl_filter(function(w) return vim.wo[w].list and vim.wo[w].listchars:find('extends') end, vim.api.nvim_tabpage_list_wins(0)) == 2"
  )
  check.match(human:screen(), "x = 1%s+>")
end)

sit("what a diff does not show is said", function(human)
  human:ask("approval/request", proposal("one\ntwo\n", "one\r\ntwo\r\n"))
  goes_there(human)
  human:sees("its line endings change")
end, { columns = 200 })

sit("what the user's own 'diffopt' hides is said", function(human)
  human:ask("approval/request", proposal("if x:\n    a()\n    b()\n", "if x:\n    a()\nb()\n"))
  goes_there(human)
  human:sees("'diffopt' has iwhiteall")
end, { columns = 250, init = "vim.opt.diffopt:append('iwhiteall')" })

sit("a key in a question that came into sight without an event is none", function(human)
  human:ask("approval/request", proposal("old\n", "new\n"))
  human:eventually("vim.fn.tabpagenr('$') == 2")
  human:reads()
  human:type(":noautocmd tabnext<CR>ga")
  human:sees("Too fast: press again")
  check.same(human:waits("A"), true)
end)

sit("a proposal that was unloaded and comes back sets no option and has no file beside it", function(human)
  human:ask("approval/request", proposal("old\n", "new\n# vim: set tabstop=17 :\n"))
  goes_there(human)
  human:eventually("vim.api.nvim_buf_get_name(0):find('(proposed)', 1, true)")
  human:lua("Name = vim.api.nvim_buf_get_name(0)")
  human:type(":bdelete<CR>")
  human:eventually("vim.api.nvim_buf_get_name(0) ~= Name")
  human:type(":exe 'edit' fnameescape(luaeval('Name'))<CR>")
  human:eventually("vim.api.nvim_buf_get_name(0) == Name and vim.api.nvim_buf_line_count(0) == 2")
  check.same(
    human:lua("return { vim.bo.tabstop, vim.bo.modeline, vim.bo.swapfile, vim.bo.undofile, vim.bo.buflisted }"),
    { 8, false, false, false, false }
  )
end, { init = "vim.o.modeline, vim.o.swapfile, vim.o.undofile = true, true, true", columns = 160 })

sit(":w in a narrow window waits for no key", function(human)
  human:ask("approval/request", proposal("old\n", "new\n"))
  goes_there(human)
  human:type(":w<CR>")
  human:sees("kept")
  check.same(human:mode().blocking, false)
end, { columns = 60 })

sit("a filetype's plugin neither conceals what is asked about nor stands in the way when it fails", function(human)
  human:ask("approval/request", proposal("old\n", "new\n"))
  goes_there(human)
  human:eventually("vim.bo.filetype == 'python' and Ran == 2")
  check.same(human:lua("return { vim.wo.conceallevel, vim.wo.list, vim.wo.diff }"), { 0, true, true })
  check.same(human:mode().blocking, false)
  check.same(human:approves("A").decision, "approve")
end, {
  init = "Ran = 0; vim.api.nvim_create_autocmd('FileType', { pattern = 'python', callback = function() Ran = Ran + 1; vim.cmd('setlocal conceallevel=3 nolist foldmethod=indent'); error('boom') end })",
})

sit("a floating window over a question that is answered does not bring Neovim down", function(human)
  human:ask("approval/request", proposal("old\n", "new\n"))
  goes_there(human)
  human:lua(
    "vim.api.nvim_open_win(vim.api.nvim_create_buf(false, true), false, { relative = 'editor', row = 1, col = 1, width = 9, height = 1 })"
  )
  check.same(human:approves("A").decision, "approve")
  human:eventually("vim.fn.tabpagenr('$') == 1")
  check.same(human:gone(), false)
end)
