-- Finds the sidecar, in the order that docs/neovim.md gives: the option, the binary in this plugin, PATH. It never looks
-- inside the workspace, where an agent could have put one.

local M = {}

local name = vim.fn.has("win32") == 1 and "pillion.exe" or "pillion"
local separator = vim.fn.has("win32") == 1 and ";" or ":"

---@param path string
local function runs(path)
  local stat = vim.uv.fs_stat(path)
  return stat ~= nil and stat.type == "file" and vim.uv.fs_access(path, "X") == true
end

---@param path string
local function is_absolute(path)
  return path:sub(1, 1) == "/" or path:match("^%a:[/\\]") ~= nil
end

--- Where the program is that comes with this plugin, if it does.
---@return string
function M.bundled()
  local here = debug.getinfo(1, "S").source:sub(2)
  return vim.fs.joinpath(vim.fn.fnamemodify(vim.uv.fs_realpath(here) or here, ":h:h:h"), "bin", name)
end

--- PATH with a folder at its end, unless it is there.
---@param path string
---@param folder string
function M.path_with(path, folder)
  if vim.tbl_contains(vim.split(path, separator, { plain = true }), folder) then
    return path
  end
  return path == "" and folder or path .. separator .. folder
end

---@class pillion.Located
---@field path? string
---@field from? "option"|"bundle"|"PATH"
---@field problem? string

---@param option string the option `path`
---@return pillion.Located
function M.locate(option)
  if option ~= "" then
    local path = option:gsub("^~([/\\])", vim.uv.os_homedir() .. "%1")
    if is_absolute(path) and runs(path) then
      return { path = path, from = "option" }
    end
    return { problem = ("the option path names %s, which is not an executable file; correct or clear it"):format(option) }
  end
  local bundled = M.bundled()
  if runs(bundled) then
    return { path = bundled, from = "bundle" }
  end
  for folder in vim.gsplit(vim.env.PATH or "", separator, { plain = true }) do
    local path = vim.fs.joinpath(folder, name)
    if is_absolute(folder) and runs(path) then
      return { path = path, from = "PATH" }
    end
  end
  return {
    problem = "the pillion program is neither in this plugin's bin folder nor on your PATH; install it, or name it with the option path",
  }
end

return M
