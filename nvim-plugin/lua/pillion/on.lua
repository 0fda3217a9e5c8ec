-- Autocommands of one part of the plugin, in a group of its own.

---@param part string
---@return fun(events: string|string[], callback: fun(event: table), options?: table)
return function(part)
  local group = vim.api.nvim_create_augroup("pillion." .. part, {})
  return function(events, callback, options)
    vim.api.nvim_create_autocmd(events, vim.tbl_extend("force", { group = group, callback = callback }, options or {}))
  end
end
