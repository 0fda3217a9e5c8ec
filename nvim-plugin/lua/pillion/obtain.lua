-- Fetches the program for a plugin that was installed without it: pillion.nvim, whose release.lua says which program it is
-- and by which hash to know it. Package managers run it as the build step (build.lua), else the first start does.

local M = {}

---@class pillion.Release
---@field version string
---@field from string where the archives are: an address or a folder; "": the npm registry
---@field programs table<string, { archive: string, npm: string, sha256: string }> by system, such as linux-amd64

---@return pillion.Release? release nil in the sources, where `make build` makes the program
local function release()
  local found, one = pcall(require, "pillion.release")
  return found and one or nil
end

local function system()
  local uname = vim.uv.os_uname()
  local machine = uname.machine:lower()
  local name = vim.fn.has("win32") == 1 and "windows" or uname.sysname:lower()
  return name .. "-" .. ((machine == "arm64" or machine == "aarch64") and "arm64" or "amd64")
end

---@alias pillion.Run fun(command: string[]): vim.SystemCompleted

---@param run pillion.Run
---@param command string[]
---@return string stdout
local function must(run, command)
  if vim.fn.executable(command[1]) == 0 then
    error(command[1] .. " is not installed", 0)
  end
  local done = run(command)
  if done.code ~= 0 then
    error(("%s failed: %s"):format(command[1], vim.trim(done.stderr or "")), 0)
  end
  return done.stdout or ""
end

---@param run pillion.Run
---@param file string
local function hash(run, file)
  local ways = { { "sha256sum", file }, { "shasum", "-a", "256", file }, { "certutil", "-hashfile", file, "SHA256" } }
  for _, command in ipairs(ways) do
    if vim.fn.executable(command[1]) == 1 then
      return must(run, command):lower():match("%f[%x]" .. ("%x"):rep(64) .. "%f[%X]") or ""
    end
  end
  error("sha256sum or shasum is needed, to check what was fetched", 0)
end

--- Into a folder; answers where the program is in it.
---@param run pillion.Run
---@param wanted pillion.Release
---@param folder string
---@return string program
local function fetch(run, wanted, folder)
  local one = wanted.programs[system()] or error("there is no program for " .. system(), 0)
  local name = vim.fn.has("win32") == 1 and "pillion.exe" or "pillion"
  local from = vim.env.PILLION_RELEASES or wanted.from
  local program
  if from == "" then
    local npm = vim.fn.exepath("npm") -- on Windows a script, which is found by its whole name alone
    must(
      run,
      { npm ~= "" and npm or "npm", "install", "--prefix", folder, "--no-save", "--ignore-scripts", one.npm .. "@" .. wanted.version }
    )
    program = vim.fs.joinpath(folder, "node_modules", one.npm, "bin", name)
  else
    local archive = vim.fs.joinpath(folder, one.archive)
    must(run, { "curl", "-fsSL", "-o", archive, (from:match("^%a+://") and "" or "file://") .. from .. "/" .. one.archive })
    must(run, { "tar", "-xf", archive, "-C", folder })
    program = vim.fs.joinpath(folder, ("pillion-%s-%s"):format(wanted.version, system()), name)
  end
  local got = hash(run, program)
  if got ~= one.sha256 then
    error(("what was fetched is not the program of this plugin: its SHA-256 is %s, not %s"):format(got, one.sha256), 0)
  end
  return program
end

---@param run pillion.Run
local function obtain(run)
  local wanted = release() or error("this plugin is a part of the sources: make build makes the program", 0)
  local bin = vim.fs.dirname(require("pillion.locator").bundled())
  vim.fn.mkdir(bin, "p")
  local folder = assert(vim.uv.fs_mkdtemp(vim.fs.joinpath(bin, "fetched-XXXXXX")))
  local ok, problem = pcall(function()
    assert(vim.uv.fs_rename(fetch(run, wanted, folder), require("pillion.locator").bundled()))
  end)
  vim.fn.delete(folder, "rf")
  if not ok then
    error("the pillion program could not be fetched: " .. problem, 0)
  end
end

--- The build step. It fails with what is wrong.
function M.build()
  obtain(function(command)
    return vim.system(command, { text = true }):wait()
  end)
end

local running = false

--- At the first start, where no build step ran: while Neovim goes on.
---@param done fun(problem?: string)
---@return boolean begun false where there is nothing to fetch
function M.begin(done)
  if running or not release() then
    return running
  end
  running = true
  coroutine.wrap(function()
    local this = coroutine.running()
    local ok, problem = pcall(obtain, function(command)
      vim.system(command, { text = true }, function(completed)
        vim.schedule(function()
          assert(coroutine.resume(this, completed))
        end)
      end)
      return coroutine.yield()
    end)
    running = false
    done(not ok and problem or nil)
  end)()
  return true
end

return M
