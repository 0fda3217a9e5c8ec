-- The line above a request on a small screen: yes and no are always on it, and it can be clicked.

local check = require("check")
local person = require("person")

local before = "def total(p):\n    return sum(p)\n" .. ("x = 1\n"):rep(30) .. "a = 1\n"
local after = "def total(p):\n    return round(sum(p))\n" .. ("x = 1\n"):rep(30) .. "a = 2\n"

local sit = person.sitting({ columns = 80, lines = 24 })

---@param human pillion.Person
local function looks(human, request)
  human:ask("approval/request", request)
  human:eventually("vim.fn.tabpagenr('$') == 2")
  human:type("gt")
  human:sees("ga approve")
  human:reads()
end

--- Clicks on a text that the screen shows.
---@param human pillion.Person
---@param text string
local function clicks(human, text)
  for row, line in ipairs(vim.split(human:screen(), "\n")) do
    local at = line:find(text, 1, true)
    if at then
      local column = vim.fn.strdisplaywidth(line:sub(1, at - 1)) + 1
      human:type(("\27[<0;%d;%dM\27[<0;%d;%dm"):format(column, row, column, row))
      return
    end
  end
  error("no " .. text .. " on\n" .. human:screen())
end

sit("a diff: approve, reject and the key for all others have room in half of 80 columns", function(human)
  looks(human, person.edit_request("A", { { "app.py", before, after } }))
  human:sees(" ga approve  gr reject  g? keys ")
  human:type("gh")
  human:sees(" ga approve 1 of 2  gr reject  g? keys")
  human:sees(" gh hunk 1 of 2 left out · app.py ")
  human:type("g?")
  human:sees("gC     Stop Agent")
  human:sees("]h [h  next or previous hunk")
  human:type("j")
  human:eventually("#vim.api.nvim_tabpage_list_wins(0) == 2")
end)

sit("a page: the title goes before any key does, and comes back", function(human)
  looks(human, person.command_request("A", "make everything"))
  human:sees(" claude Run make everything  ga approve  gr reject")
  human:type(":vnew | vertical resize 60<CR>")
  human:sees("│ ga approve  gr reject  gs session  gR reason  gC stop agent  ge edit  g? keys")
  human:type(":bwipeout<CR>")
  human:sees(" claude Run make everything  ga approve  gr reject")
end, { columns = 140 })

sit("where the user edits a command only keys that work there are shown", function(human)
  looks(human, person.commit_request("A"))
  human:sees("gw save first")
  human:type("ge")
  human:eventually("vim.bo.filetype == 'gitcommit'")
  human:reads()
  check.same(human:lua("return vim.wo.winbar:find('save') or vim.wo.winbar:find('edit') or false"), false)
  for _, key in ipairs(human:lua([[return vim.iter(vim.wo.winbar:gmatch("PillionKey#(%S+)%%%*")):totable()]])) do
    check.same(human:lua("return vim.fn.maparg(..., 'n', false, true).buffer", key), 1)
  end
end)

sit("labels are clicked", function(human)
  looks(human, person.edit_request("A", { { "app.py", before, after } }))
  clicks(human, "hunk 1 of 2")
  human:sees("left out")
  clicks(human, "keys")
  human:sees("╭ Keys")
  clicks(human, "reject")
  check.same(human:answered("A").decision, "reject")
end, { init = "vim.o.mouse = 'a'" })

sit("a click in the first half second answers nothing", function(human)
  human:ask("approval/request", person.command_request("A", "make"))
  human:eventually("vim.fn.tabpagenr('$') == 2")
  human:type("gt")
  human:sees("ga approve")
  clicks(human, "approve")
  human:sees("Too fast: press again")
  check.same(human:waits("A"), true)
end, { init = "vim.o.mouse = 'a'" })
