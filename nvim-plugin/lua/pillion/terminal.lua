-- Programs in a `:terminal`, and what an agent in one needs. It finds the sidecar by the registry that its home folder leads to (docs/agents.md), so nothing
-- of this Neovim is handed to it. Only the program itself must be found, when it lies in this plugin and not on PATH.

local client = require("pillion.client")
local config = require("pillion.config")

local M = {}

local separator = vim.fn.has("win32") == 1 and ";" or ":"

--- PATH with a folder at its end, unless it is there.
---@param path string
---@param folder string
---@return string
function M.with(path, folder)
  if vim.tbl_contains(vim.split(path, separator, { plain = true }), folder) then
    return path
  end
  return path == "" and folder or path .. separator .. folder
end

--- Runs a program in the current window, which has the cursor and an empty buffer.
---@param command string[]
---@param name string as a tab or a statusline shows it
---@param folder? string
---@return integer job
function M.run(command, name, folder)
  local job
  if vim.fn.has("nvim-0.11") == 1 then
    job = vim.fn.jobstart(command, { cwd = folder, term = true })
  else
    job = vim.fn.termopen(command, { cwd = folder or vim.fn.getcwd() })
  end
  pcall(vim.api.nvim_buf_set_name, 0, "pillion://" .. name) -- an ended one may have it still
  vim.cmd.startinsert()
  return job
end

function M.setup()
  client.on_state(function(one)
    if one.state == "ready" and config.get().terminal_path and vim.fn.executable("pillion") == 0 then
      vim.env.PATH = M.with(vim.env.PATH or "", vim.fs.dirname(one.path))
    end
  end)
end

return M
