-- A project's settings that would loosen something: told, shown exactly, and trusted for exactly these bytes.

local check = require("check")
local person = require("person")

local sit = person.sitting({ columns = 110, lines = 30 })

local told = { path = "/p/.pillion/settings.json", hash = ("a"):rep(64), rules = { "allow run_command(make *)", "allow x\u{200b}" } }

---@param more? table
local function with(more)
  return vim.tbl_extend("force", told, more or {})
end

---@param human pillion.Person
---@param method? string
---@return table[]
local function trusted(human, method)
  return human:lua(("return vim.tbl_filter(function(one) return one.method == '%s' end, Wire.sent)"):format(method or "settings/trust"))
end

---@param human pillion.Person
local function looks(human)
  human:tell("settings/untrusted", told)
  human:sees("settings.json would loosen 2 rules if you trusted it  (:Pillion trust)")
  check.same(human:lua("return vim.fn.tabpagenr('$')"), 1)
  human:type(":Pillion trust<CR>")
  human:sees("This project wants to allow more without asking")
end

sit("it is announced and opens nothing; the page shows each rule, and trust is for these bytes", function(human)
  looks(human)
  human:sees("  allow run_command(make *)")
  human:sees("  allow x\\u{200b}")
  human:sees("File          /p/.pillion/settings.json")
  human:sees("these rules count until the file changes")
  check.same(human:screen():find("gC", 1, true), nil)
  human:type("ga")
  human:sees("Too fast: press again")
  check.same(trusted(human), {})
  human:reads()
  human:type("ga")
  person.eventually("it is trusted", function()
    return #trusted(human) == 1
  end)
  check.same(trusted(human)[1].params, { path = told.path, hash = told.hash })
  human:sees("trusted until the file changes")
  human:tell("settings/untrusted", with({ rules = {} }))
  human:type(":Pillion trust<CR>")
  human:sees("no project's settings need your trust")
end)

sit("ignored it is ignored for these bytes; the page says what has no effect anyway", function(human)
  human:tell("settings/untrusted", with({ problems = { 'rule "run_command(git *)" is ignored: name a word of git' } }))
  human:type(":Pillion trust<CR>")
  human:sees('No effect     rule "run_command(git *)" is ignored')
  human:reads()
  human:type("gr")
  human:sees("ignored until the file changes")
  check.same(trusted(human, "settings/ignore")[1].params, { path = told.path, hash = told.hash })
  check.same(trusted(human), {})
end)

sit("cancelled it is neither trusted nor ignored", function(human)
  looks(human)
  human:reads()
  human:type("gC")
  human:eventually("vim.fn.tabpagenr('$') == 1")
  check.same({ trusted(human), trusted(human, "settings/ignore") }, { {}, {} })
  human:type(":Pillion trust<CR>")
  human:sees("This project wants to allow more without asking")
end)

sit("closed it has no answer, and can be shown again", function(human)
  looks(human)
  human:reads()
  human:type(":tabclose<CR>")
  human:eventually("vim.fn.tabpagenr('$') == 1")
  check.same(trusted(human, "settings/ignore"), {})
  human:type(":Pillion trust<CR>")
  human:sees("This project wants to allow more without asking")
end)

sit("the file changes while the user looks: what they saw is void", function(human)
  looks(human)
  human:reads()
  human:tell("settings/untrusted", with({ hash = ("b"):rep(64), rules = { "allow delete_file" } }))
  human:sees("What this showed has changed; it is shown again")
  human:type("ga:Pillion approve<CR>")
  human:sees("no requests are waiting")
  check.same(trusted(human), {})
  human:type(":Pillion trust<CR>")
  human:sees("  allow delete_file")
  human:reads()
  human:type("ga")
  person.eventually("it is trusted", function()
    return #trusted(human) == 1
  end)
  check.same(trusted(human)[1].params.hash, ("b"):rep(64))
end)

sit("trusted elsewhere, the page says that nothing is asked any more", function(human)
  looks(human)
  human:tell("settings/untrusted", with({ rules = {} }))
  human:sees("These settings no longer ask for trust")
end)
