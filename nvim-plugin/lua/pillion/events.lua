-- What happens in Neovim or in a module, and who acts upon it.

local M = {}

--- Autocommands of one part of the plugin, in a group of its own.
---@param part string
---@return fun(events: string|string[], callback: fun(event: table), options?: table)
function M.on(part)
  local group = vim.api.nvim_create_augroup("pillion." .. part, {})
  return function(events, callback, options)
    vim.api.nvim_create_autocmd(events, vim.tbl_extend("force", { group = group, callback = callback }, options or {}))
  end
end

--- Gives a module its `listen`.
---@param module table
---@return fun() changed tells all who listen, in the order in which they came
function M.listeners(module)
  ---@type fun()[]
  local listeners = {}
  ---@param listener fun()
  function module.listen(listener)
    listeners[#listeners + 1] = listener
  end
  return function()
    for _, listener in ipairs(listeners) do
      listener()
    end
  end
end

--- For what comes in bursts: `step` runs so long after the first call, once for all until then.
---@param ms integer
---@param step fun()
---@return fun()
function M.settled(ms, step)
  local is_due = false
  return function()
    if not is_due then
      is_due = true
      vim.defer_fn(function()
        is_due = false
        step()
      end, ms)
    end
  end
end

return M
