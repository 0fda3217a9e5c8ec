-- `layout = "split"`: a request opens below your windows, your cursor stays, and nothing of it is left when it is answered.
-- `layout = "float"`: over them, when you go to it.

local check = require("check")
local person = require("person")

local before = "def total(p):\n    return sum(p)\n"
local after = "def total(p):\n    return round(sum(p))\n"

local sit = person.sitting({ columns = 80, lines = 24, init = "require('pillion.config').set({ layout = 'split' })" })

---@param human pillion.Person
local function asks(human, files)
  human:type("imine<Esc>")
  human:eventually("vim.api.nvim_get_mode().mode == 'n' and vim.api.nvim_get_current_line() == 'mine'")
  human:ask("approval/request", person.edit_request("A", files or { { "app.py", before, after } }))
  human:sees("ga approve")
  check.same(human:lua("return { vim.fn.tabpagenr('$'), vim.api.nvim_get_current_line() }"), { 1, "mine" })
end

sit("it opens below; a command goes there, an answer comes back", function(human)
  asks(human)
  human:sees("round(sum(p))")
  human:type(":Pillion next<CR>")
  human:eventually("vim.bo.filetype == 'python'")
  human:type("ga")
  human:sees("Too fast: press again")
  check.same(human:approves("A"), { decision = "approve", decisionId = "approve", digest = "d1" })
  human:eventually("vim.fn.winnr('$') == 1 and vim.api.nvim_get_current_line() == 'mine'")
end)

sit("entered as any window is; closed, it waits and can be shown again", function(human)
  asks(human)
  human:type("<C-w>b")
  human:eventually("vim.bo.filetype == 'python'")
  human:type(":q<CR>:q<CR>")
  human:eventually("vim.fn.winnr('$') == 1")
  check.same(human:waits("A"), true)
  human:type(":Pillion show<CR>")
  human:eventually("vim.b.pillion_approval == 'A'")
  human:reads()
  human:type("gr")
  check.same(human:answered("A").decision, "reject")
  human:eventually("vim.fn.winnr('$') == 1 and vim.api.nvim_get_current_line() == 'mine'")
end)

sit("several files: their list is below them; the next request takes the place of the one before", function(human)
  asks(human, { { "app.py", before, after }, { "b.py", "b\n", "bee\n" } })
  human:sees("2 files  ● 2 not looked at")
  human:sees("● b.py")
  human:ask("approval/request", person.command_request("B", "make all"))
  human:type(":Pillion show<CR>")
  human:sees("● 1 not looked at")
  human:approves("A")
  human:sees("$ make all")
  human:reads()
  human:type("gr")
  human:answered("B")
  human:eventually("vim.fn.winnr('$') == 1 and vim.api.nvim_get_current_line() == 'mine'")
end)

sit("it ends while you are elsewhere, or look at it", function(human)
  asks(human)
  human:tell("approval/resolved", { approvalId = "A", outcome = "withdrawn" })
  human:eventually("vim.fn.winnr('$') == 1")
  human:sees("The agent no longer waits for an answer")
  human:ask("approval/request", person.edit_request("B", { { "app.py", before, after } }))
  human:sees("ga approve")
  human:type(":Pillion show<CR>")
  human:eventually("vim.b.pillion_approval == 'B'")
  human:tell("approval/resolved", { approvalId = "B", outcome = "withdrawn" })
  human:sees("it can no longer be approved")
  human:type("q")
  human:eventually("vim.fn.winnr('$') == 1 and vim.api.nvim_get_current_line() == 'mine'")
end)

local float = person.sitting({ columns = 80, lines = 24, init = "require('pillion.config').set({ layout = 'float' })" })

---@param human pillion.Person
---@param request table
---@param seen string
local function goes_to(human, request, seen)
  human:type("imine<Esc>")
  human:eventually("vim.api.nvim_get_mode().mode == 'n' and vim.api.nvim_get_current_line() == 'mine'")
  human:ask("approval/request", request)
  human:sees("(:Pillion show)")
  check.same(human:lua("return #vim.api.nvim_list_wins()"), 1)
  human:type(":Pillion show<CR>")
  human:sees(seen)
end

--- What floats, with its place.
local floating = [[(function()
  local found = {}
  for _, window in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    local config = vim.api.nvim_win_get_config(window)
    if config.relative ~= "" then
      found[#found + 1] = { config.row, config.col, config.width, config.height }
    end
  end
  table.sort(found, function(a, b) return a[1] < b[1] or (a[1] == b[1] and a[2] < b[2]) end)
  return found
end)()]]
local nothing_left = "#vim.api.nvim_list_wins() == 1 and #vim.api.nvim_list_tabpages() == 1 and vim.api.nvim_get_current_line() == 'mine'"

float("it is announced, opens over all when you go there, and an answer comes back", function(human)
  goes_to(human, person.edit_request("A", { { "app.py", before, after } }), "round(sum(p))")
  human:sees("ga approve")
  check.same(human:lua("return " .. floating), { { 0, 0, 38, 21 }, { 0, 40, 39, 21 } })
  human:type("ga")
  human:sees("Too fast: press again")
  check.same(human:approves("A").decision, "approve")
  human:eventually(nothing_left)
end)

float("left for another window it closes and waits; it remembers what you looked at", function(human)
  goes_to(human, person.edit_request("A", { { "app.py", before, after }, { "b.py", "b\n", "bee\n" } }), "● 1 not looked at")
  check.same(human:lua("return #" .. floating), 3)
  human:type("<C-w>t")
  human:eventually(nothing_left)
  check.same(human:waits("A"), true)
  human:type(":Pillion show<CR>]f")
  human:sees("bee")
  human:eventually("#" .. floating .. " == 3")
  human:type(":q<CR>")
  human:eventually(nothing_left)
  human:type(":Pillion show<CR>")
  human:eventually("vim.b.pillion_approval == 'A'")
  human:sees("2 files  <CR>")
  human:reads()
  human:type("gr")
  check.same(human:answered("A").decision, "reject")
  human:eventually(nothing_left)
end)

float("the next request takes its place; a command of your own is below its page; all of it follows the screen", function(human)
  goes_to(human, person.edit_request("A", { { "app.py", before, after } }), "round(sum(p))")
  human:ask("approval/request", person.command_request("B", "make all"))
  human:approves("A")
  human:sees("$ make all")
  human:reads()
  human:type("ge")
  human:eventually("vim.api.nvim_buf_get_name(0) == 'pillion://command'")
  check.same(human:lua("return " .. floating), { { 0, 0, 78, 17 }, { 19, 0, 78, 2 } })
  human:lua("vim.o.lines = 20")
  human:eventually("vim.deep_equal(" .. floating .. ", { { 0, 0, 78, 13 }, { 15, 0, 78, 2 } })")
  human:reads()
  human:type("gr")
  human:answered("B")
  human:eventually(nothing_left)
end)

float("withdrawn while you look, it says so in a window below", function(human)
  goes_to(human, person.edit_request("A", { { "app.py", before, after } }), "round(sum(p))")
  human:type("Gomy own<Esc>")
  human:sees("edited  ga approve")
  human:tell("approval/resolved", { approvalId = "A", outcome = "withdrawn" })
  human:sees("Press q to close this.")
  human:sees("my own")
  check.same(human:lua("return #" .. floating), 0)
end)

check.test("only what there is can be set", function()
  check.same(require("pillion.config").problem({ layout = "popup" }), 'the option layout is "tab", "split" or "float", not "popup"')
  check.same(require("pillion.config").problem({ layout = "split" }), nil)
end)
