-- Saves buffers as the human would.

local views = require("pillion.views")

local api = vim.api

local M = {}

--- Writes as `:write` does, with autocommands and what formats on save, but without a question.
---@param buffer integer
---@return boolean saved, string? problem
function M.write(buffer)
  local confirm = vim.o.confirm
  vim.o.confirm, vim.v.errmsg = false, ""
  local restore = views.keep(buffer)
  local ok, problem = pcall(api.nvim_buf_call, buffer, function()
    vim.cmd.write({ mods = { silent = true, keepalt = true, lockmarks = true } })
  end)
  restore()
  vim.o.confirm = confirm
  if ok and vim.v.errmsg ~= "" then
    problem = vim.v.errmsg -- not every error of a write is thrown
  end
  return ok and not vim.bo[buffer].modified, problem ~= nil and tostring(problem) or nil
end

---@param path string
---@return integer[] buffers that are open on it and have unsaved changes
local function unsaved(path)
  return vim.tbl_filter(function(buffer)
    local name = api.nvim_buf_get_name(buffer)
    return vim.bo[buffer].modified and vim.bo[buffer].buftype == "" and name ~= "" and (vim.uv.fs_realpath(name) or name) == path
  end, api.nvim_list_bufs())
end

--- Saves what is unsaved of these files of a workspace.
---@param root string
---@param paths string[] as a preview names them
---@return string? problem of the first that could not be saved; those after it were not tried
function M.files(root, paths)
  for _, path in ipairs(paths) do
    local whole = vim.fs.joinpath(root, path)
    for _, buffer in ipairs(unsaved(vim.uv.fs_realpath(whole) or whole)) do
      local saved, problem = M.write(buffer)
      if not saved then
        return ("%s could not be saved%s"):format(path, problem and ": " .. problem or "")
      end
    end
  end
end

return M
