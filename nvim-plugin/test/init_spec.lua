-- What loading the plugin costs, and when it starts by itself.

local check = require("check")
local test, same = check.test, check.same

local loaded = [[
  local names = {}
  for name in pairs(package.loaded) do
    if vim.startswith(name, "pillion") then table.insert(names, name) end
  end
  return vim.fn.sort(names)
]]

--- Where a Neovim would start a sidecar by itself: nowhere, or in these folders.
---@param ui boolean
---@param before string
local function starts(ui, before)
  local child = check.child(ui)
  local folder = check.folder()
  child.lua(
    [[
    local folder, before = ...
    Started = {}
    package.loaded["pillion.client"] = { for_path = function() end }
    vim.env.GIT_EXEC_PATH = nil
    vim.cmd.cd(folder)
    loadstring(before)()
    require("pillion").start = function(root) table.insert(Started, root == folder and "here" or root) end
    vim.cmd("runtime plugin/pillion.lua")
    Passed = false
    vim.schedule(function() vim.schedule(function() Passed = true end) end)
  ]],
    folder,
    before
  )
  check.eventually("what was scheduled is done", function()
    return child.lua("return Passed")
  end)
  local started = child.lua("return Started")
  child.stop()
  return started
end

test("loading it reads one small file", function()
  local child = check.child()
  child.lua('vim.g.pillion_autostart = false vim.cmd("runtime plugin/pillion.lua")')
  same(child.lua(loaded), { "pillion.entry" })
  same(child.lua("return vim.fn.exists(':Pillion')"), 2)
  child.stop()
end)

test("the command completes", function()
  local child = check.child()
  child.lua('vim.g.pillion_autostart = false vim.cmd("runtime plugin/pillion.lua")')
  same(child.lua([[return vim.fn.getcompletion("Pillion appr", "cmdline")]]), { "approve" })
  child.stop()
end)

test("it starts where somebody sits, and nowhere else", function()
  same(starts(true, ""), { "here" })
  same(starts(false, ""), {})
  same(starts(false, "vim.g.pillion_autostart = true"), { "here" })
  same(starts(true, "vim.g.pillion_autostart = false"), {})
end)

test("not for a commit's message, and not for a whole home", function()
  same(starts(true, "vim.env.GIT_EXEC_PATH = '/usr/lib/git-core'"), {})
  same(starts(true, "vim.cmd.cd(vim.uv.os_homedir())"), {})
  same(starts(true, "vim.cmd.cd('/')"), {})
end)

test("a status line is there before anything else is", function()
  local child = check.child()
  same(child.lua([[return { require("pillion").statusline(), require("pillion").status().state }]]), { "", "stopped" })
  same(child.lua(loaded), { "pillion" })
  child.stop()
end)

test("a terminal finds the program", function()
  local locator = require("pillion.locator")
  same(locator.path_with("/usr/bin:/bin", "/opt/pillion/bin"), "/usr/bin:/bin:/opt/pillion/bin")
  same(locator.path_with("/usr/bin:/bin", "/bin"), "/usr/bin:/bin")
  same(locator.path_with("", "/bin"), "/bin")
end)
