-- What a person and their configuration call: set up, start, stop, and what there is to see. `setup` may be left out.

local M = {}

local attached = false

--- Everything that answers a sidecar must be in place before the first one starts.
local function attach()
  if attached then
    return
  end
  attached = true
  for _, part in ipairs({ "documents", "edit", "reload", "marks", "languages" }) do
    require("pillion." .. part).setup()
  end
  require("pillion.ui").attach()
  vim.api.nvim_create_autocmd("VimLeavePre", {
    group = vim.api.nvim_create_augroup("pillion", {}),
    callback = M.stop,
  })
end

--- Once, or again with other options: those that are left out have their defaults.
---@param options? table see `:help pillion-config`
function M.setup(options)
  local config = require("pillion.config")
  local before = config.current
  config.set(options)
  if not attached then
    return
  end
  local client = require("pillion.client")
  if before.path ~= config.current.path then
    client.each(function(one)
      if one.state ~= "stopped" then
        client.restart(one)
      end
    end)
  elseif not vim.deep_equal(before.settings, config.current.settings) then
    client.settings_changed()
  end
end

--- The workspace of a folder: what is marked as one, else the folder itself.
---@param folder string
---@return string
function M.root(folder)
  local real = vim.uv.fs_realpath(folder) or folder
  return vim.fs.root(real, require("pillion.config").current.root_markers) or real
end

---@param folder? string the current one when left out
function M.start(folder)
  attach()
  require("pillion.client").start(M.root(folder or vim.fn.getcwd()))
end

function M.stop()
  require("pillion.client").stop()
end

--- Starts anew what runs or failed, or what the current folder needs when nothing does.
function M.restart()
  local client, any = require("pillion.client"), false
  client.each(function()
    any = true
  end)
  if any then
    client.restart()
  else
    M.start()
  end
end

--- Starts what belongs to the current folder, where somebody sits before this Neovim: not for scripts, and not for a commit's
--- message. `vim.g.pillion_autostart` true starts in any case, false in none.
function M.autostart()
  local wanted = vim.g.pillion_autostart
  if wanted == nil then
    wanted = #vim.api.nvim_list_uis() > 0 and vim.env.GIT_EXEC_PATH == nil
  end
  if not wanted or wanted == 0 then
    return
  end
  local root = M.root(vim.fn.getcwd())
  local covered = attached and require("pillion.client").for_path(root)
  -- A home folder as a workspace would let an agent read everything in it, and watches it.
  local is_too_wide = root == vim.uv.fs_realpath(vim.uv.os_homedir() or "/") or vim.fs.dirname(root) == root
  if not covered and not is_too_wide then
    M.start(root)
  end
end

--- For a status line: nothing when there is nothing to say.
function M.statusline()
  return attached and require("pillion.status").line() or ""
end

---@class pillion.Status
---@field state pillion.State of the current folder's sidecar
---@field root? string
---@field version? string
---@field path? string
---@field problem? string
---@field waiting integer questions for the user

---@return pillion.Status
function M.status()
  local client = attached and require("pillion.client").current() or nil
  return {
    state = client and client.state or "stopped",
    root = client and client.root,
    version = client and client.version,
    path = client and client.path,
    problem = client and client.problem,
    waiting = attached and require("pillion.status").waiting() or 0,
  }
end

return M
