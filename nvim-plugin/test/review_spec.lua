-- Parts of a proposal, and patches that are reviewed, in a real Neovim with real keys.

local check = require("check")
local person = require("person")

---@param put? table<integer, string>
local function numbered(put)
  local lines = {}
  for line = 1, 40 do
    lines[line] = (put or {})[line] or ("line " .. line)
  end
  return table.concat(lines, "\n") .. "\n"
end

local before, after = numbered(), numbered({ [3] = "three", [20] = "twenty", [38] = "last" })
local function without(...)
  local put = { [3] = "three", [20] = "twenty", [38] = "last" }
  for _, line in ipairs({ ... }) do
    put[line] = nil
  end
  return numbered(put)
end

local function proposal(id, more)
  return person.edit_request(id, { { "app.py", before, after } }, more)
end

--- A patch as the sidecar has it reviewed.
---@param id string
---@param message? string[]
local function review(id, message)
  local request = person.edit_request(id, {
    { "app.py", before, after, banner = "two ways to round; take one" },
    { "new.py", "", "new\n", summary = "new file", banner = "two ways to round; take one · new file" },
    { "moved.py", "", "", text = false, summary = "moved from old.py" },
  })
  local preview = request.preview
  message = message or { "two ways to round; take one" }
  preview.kind, preview.act, preview.deed = "review", "have a patch reviewed", "have a patch of 3 files reviewed"
  preview.facts[1] =
    { code = "message", label = "Agent's message", text = #message == 1 and message[1] or "", items = #message > 1 and message or nil }
  request.tool, request.title, request.reasons, request.description =
    "apply_patch_review", "Review a patch", {}, table.concat(message, "\n")
  request.decisions = {
    { id = "reject", title = "Cancel", scope = "once", meaning = "the agent gets nothing and goes on" },
    { id = "approve", title = "Apply", scope = "once", meaning = "the agent gets the hunks that you selected; no file changes" },
  }
  return request
end

local sit = person.sitting({ columns = 160, lines = 50 })

---@param human pillion.Person
local function looks(human, method, request)
  human:ask(method, request)
  human:eventually("vim.fn.tabpagenr('$') == 2")
  human:type("gt")
  human:sees("hunk 1 of")
end

--- What stands on the right side of a file.
---@param human pillion.Person
local function right(human, name)
  return human:lua(
    [[local name = ...
    for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
      if vim.endswith(vim.api.nvim_buf_get_name(buffer), name .. " (proposed)") then
        return table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), "\n") .. "\n"
      end
    end]],
    name or "app.py"
  )
end

---@param human pillion.Person
local function comes_to(human, text, name)
  person.eventually("the right side", function()
    return right(human, name) == text
  end)
end

sit("one key leaves the hunk under the cursor out, and takes it again", function(human)
  looks(human, "approval/request", proposal("A"))
  human:sees("hunk 1 of 3 selected · app.py")
  human:type("gh")
  human:sees("hunk 1 of 3 left out · app.py")
  human:sees("left out: +1 −1")
  human:sees("ga approve 2 of 3")
  check.same(right(human), without(3))
  human:type("]h]h")
  human:sees("hunk 3 of 3 selected")
  check.same(human:lua("return vim.api.nvim_win_get_cursor(0)"), { 38, 0 })
  human:type("gh")
  human:sees("hunk 3 of 3 left out")
  human:type("[h[hgh")
  human:sees("hunk 1 of 3 selected")
  check.same(right(human), without(38))
  check.same(human:approves("A"), { decision = "approve", decisionId = "approve", digest = "d1", selected = { "1", "2" } })
end)

sit("from the left side too, and all of the file at once; nothing chosen is no yes", function(human)
  looks(human, "approval/request", proposal("A"))
  human:type("<C-w>h20Ggh")
  human:sees("hunk 2 of 3 left out")
  check.same(right(human), without(20))
  human:type("gH")
  human:sees("ga approve  ")
  human:type("gH")
  human:sees("ga approve 0 of 3")
  check.same(right(human), before)
  human:reads()
  human:type("ga")
  human:sees("every hunk is left out")
  check.same(human:waits("A"), true)
  human:type("gH")
  human:sees("ga approve  ")
  check.same(human:approves("A"), { decision = "approve", decisionId = "approve", digest = "d1" })
end)

sit("what the user wrote stays when a hunk beside it is left out, and is told of when it is in the way", function(human)
  looks(human, "approval/request", proposal("A"))
  human:type("20GA, mine<Esc>")
  human:sees("│ edited  ga")
  human:sees("changed by you")
  human:type("gh")
  human:sees("you edited 1 hunk")
  check.same(right(human), numbered({ [3] = "three", [20] = "twenty, mine", [38] = "last" }))
  human:type("[hgh")
  human:sees("hunk 1 of 3 left out")
  check.same(right(human), numbered({ [20] = "twenty, mine", [38] = "last" }))
  check.same(human:approves("A"), {
    decision = "edit",
    decisionId = "approve",
    digest = "d1",
    after = { ["app.py"] = numbered({ [20] = "twenty, mine", [38] = "last" }) },
    selected = { "2", "3" },
  })
end)

sit("the page of a patch says of which file the user's own text counts", function(human)
  looks(human, "approval/request", review("R"))
  human:type("20GA, mine<Esc>")
  human:sees("edited by you")
  human:type("]h]h]h")
  human:eventually("vim.fn.searchcount({ pattern = 'You edited this file: your text counts' }).total == 1")
end)

sit("u takes a choice back, and what is got from the other side is one", function(human)
  looks(human, "approval/request", proposal("A"))
  human:type("gh")
  human:sees("ga approve 2 of 3")
  human:type("u")
  human:sees("ga approve  ")
  check.same(right(human), after)
  human:type("20Gdo")
  human:sees("hunk 2 of 3 left out")
  check.same(human:lua("return require('pillion.approvals').get('A'):is_edited()"), false)
  human:type(":e!<CR>")
  human:sees("hunk 2 of 3 left out")
  check.same(human:approves("A").selected, { "1", "3" })
end)

sit("the text beneath moves: what was left out stays left out", function(human)
  looks(human, "approval/request", proposal("A"))
  human:type("gh")
  human:sees("ga approve 2 of 3")
  local preview = person.edit_request("A", { { "app.py", "new\n" .. before, "new\n" .. after } }).preview
  human:tell("approval/changed", { approvalId = "A", digest = "d2", reasons = {}, preview = preview, moved = true })
  comes_to(human, "new\n" .. without(3))
  human:sees("ga approve 2 of 3")
  local answer = human:approves("A")
  check.same({ answer.digest, answer.selected }, { "d2", { "2", "3" } })
end)

sit("a single hunk is approved or not", function(human)
  human:ask("approval/request", person.edit_request("A", { { "a.py", "one\n", "two\n" } }))
  human:eventually("vim.fn.tabpagenr('$') == 2")
  human:type("gt")
  human:sees("two")
  human:type("gh")
  human:sees("no hunks to select here")
  check.same(human:approves("A"), { decision = "approve", decisionId = "approve", digest = "d1" })
end)

sit("a patch is reviewed: announced, counted, and what is chosen of it is the answer", function(human)
  human:ask("approval/request", review("R"))
  human:sees("claude wants to have a patch of 3 files reviewed; two ways to round; take one")
  human:eventually("vim.fn.tabpagenr('$') == 2")
  check.same(human:lua("return { vim.fn.tabpagenr(), require('pillion.status').waiting() }"), { 1, 1 })
  human:type("gt")
  human:sees("hunk 1 of 5 selected · app.py (1 of 3)")
  human:sees("gR reason")
  human:sees("  two ways to round; take one")
  human:type("]hgh")
  human:sees("hunk 2 of 5 left out")
  human:type("]h]h")
  human:sees("hunk 4 of 5 selected · new.py (2 of 3)")
  human:type("Gomine<Esc>]h")
  human:sees("hunk 5 of 5 selected · moved.py (3 of 3)")
  human:sees("moved.py  moved from old.py")
  human:type("gh")
  human:sees("hunk 5 of 5 left out")
  human:sees("You left this out")
  human:eventually("vim.fn.search('You selected 2 of 3 hunks', 'n') > 0")
  human:type("]h")
  human:sees("hunk 1 of 5 selected")
  check.same(
    human:approves("R"),
    { decision = "edit", decisionId = "approve", digest = "d1", selected = { "1", "3", "4" }, after = { ["new.py"] = "new\nmine\n" } }
  )
  human:eventually("vim.fn.tabpagenr('$') == 1")
end)

sit("all of a patch, with one key", function(human)
  looks(human, "approval/request", review("R"))
  human:type("ga")
  human:sees("Too fast: press again")
  check.same(human:approves("R"), { decision = "approve", decisionId = "approve", digest = "d1" })
end)

sit("cancelled, with a reason and without", function(human)
  looks(human, "approval/request", review("R"))
  human:reads()
  human:type("gRneither<CR>")
  check.same(human:answered("R"), { decision = "reject", decisionId = "reject", digest = "d1", feedback = "neither" })
  human:eventually("vim.fn.tabpagenr('$') == 1")
  for id, keys in pairs({ S = ":Pillion cancel not now<CR>", T = ":Pillion reject not now<CR>" }) do
    looks(human, "approval/request", review(id))
    human:type(keys)
    check.same(human:answered(id), { decision = "reject", decisionId = "reject", digest = "d1", feedback = "not now" })
    human:eventually("vim.fn.tabpagenr('$') == 1")
  end
  for id, key in pairs({ U = "gr", V = "gC" }) do
    looks(human, "approval/request", review(id))
    human:reads()
    human:type(key)
    check.same(human:answered(id), { decision = "reject", decisionId = "reject", digest = "d1" })
    human:eventually("vim.fn.tabpagenr('$') == 1")
  end
end)

sit("a review opens behind the user while they type, and closes itself when it is dead", function(human)
  human:type_into("i", "i")
  human:ask("approval/request", review("R"))
  human:sees("claude wants to have a patch of 3 files reviewed")
  human:type("gh ga<Esc>")
  human:eventually("vim.fn.tabpagenr('$') == 2")
  check.same(human:lua("return { vim.fn.tabpagenr(), vim.api.nvim_get_current_line() }"), { 1, "gh ga" })
  human:lua("Wire.cancels.R()")
  human:eventually("vim.fn.tabpagenr('$') == 1")
  check.same(human:answered("R").error.code, -32800)
end)

sit("a long message is shown whole above the first change", function(human)
  local long = ("first paragraph, which goes on for some time "):rep(4) .. "and ends"
  looks(human, "approval/request", review("R", { long, "", "- second\\u202e paragraph", "- third" }))
  human:sees("which goes on for some time and ends")
  human:sees("- second\\u202e paragraph")
  human:sees("- third")
  human:type("gh")
  human:sees("apply 4 of 5")
  human:sees("- third")
  human:type("]h]h]h")
  human:sees("new.py (2 of 3)")
  human:sees("- third")
  human:type("]h")
  human:sees("Agent's message")
  human:sees("- third")
end)

sit("a hunk that is left out stays in sight, and what was folded away stays so", function(human)
  looks(human, "approval/request", proposal("A"))
  human:sees("+--  4 lines: line 10")
  human:sees("+--  5 lines: line 27")
  human:reads()
  human:type("gh")
  human:sees("hunk 1 of 3 left out")
  human:sees("+--  4 lines: line 10")
  human:sees("+--  5 lines: line 27")
  human:type("gH")
  human:sees("hunk 1 of 3 selected")
  human:type("gH")
  human:sees("approve 0 of 3")
  human:sees("+--  4 lines: line 10")
  for _, line in ipairs({ 3, 20, 38 }) do
    check.same(human:lua("return vim.fn.foldclosed(...)", line), -1)
  end
  human:type("<C-w>l14GzoA!<Esc>")
  human:sees("edited  ga")
  human:type("gh")
  human:sees("line 14!")
  check.same(human:lua("return { vim.fn.foldclosed(14), vim.fn.foldclosed(30) }"), { -1, 27 })
end)
