-- Saves buffers as the user would.

local documents = require("pillion.documents")
local views = require("pillion.views")

local api = vim.api

local M = {}

--- While Neovim writes it keeps what stood in the file, and puts that back when the disk is full: by default not in the
--- folder for temporary files, and nowhere if the user turned it off. What is saved for an agent is always kept so, and
--- in their stead without another file taking the place of theirs.
---@return fun() restore
local function keep_old()
  local had = { writebackup = vim.o.writebackup, backupskip = vim.o.backupskip, backupcopy = vim.go.backupcopy, confirm = vim.o.confirm }
  vim.o.confirm = false
  if not vim.o.backup then -- else it is kept for good, where they want it
    vim.o.writebackup, vim.o.backupskip = true, ""
    vim.go.backupcopy = had.writebackup and had.backupcopy or "yes"
  end
  return function()
    for name, value in pairs(had) do
      vim.go[name] = value
    end
  end
end

--- Writes as `:write` does, with autocommands and what formats on save, but without a question.
---@param buffer integer
---@return boolean saved, string? problem
function M.write(buffer)
  vim.v.errmsg = ""
  local forget_old, restore = keep_old(), views.keep(buffer)
  local ok, problem = pcall(api.nvim_buf_call, buffer, function()
    vim.cmd.write({ mods = { silent = true, keepalt = true, lockmarks = true } })
  end)
  restore()
  forget_old()
  if ok and vim.v.errmsg ~= "" then
    problem = vim.v.errmsg -- not every error of a write is thrown
  end
  return ok and not vim.bo[buffer].modified, problem ~= nil and tostring(problem) or nil
end

--- Saves what is unsaved of these files of a workspace.
---@param root string
---@param paths string[] as a preview names them
---@return string? problem of the first that could not be saved; those after it were not tried
function M.files(root, paths)
  for _, path in ipairs(paths) do
    local whole = vim.fs.joinpath(root, path)
    for _, buffer in ipairs(documents.buffers_on(vim.uv.fs_realpath(whole) or whole)) do
      local saved, problem = true, nil ---@type boolean, string?
      if vim.bo[buffer].modified then
        saved, problem = M.write(buffer)
      end
      if not saved then
        return ("%s could not be saved%s"):format(path, problem and ": " .. problem or "")
      end
    end
  end
end

return M
