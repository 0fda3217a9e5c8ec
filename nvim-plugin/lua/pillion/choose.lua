-- The user chooses one of a list, in whatever they have as `vim.ui.select`.

---@generic T
---@param choices T[]
---@param options {prompt: string, kind: string, format_item?: fun(choice: T): string} without it each has a `label`
---@param callback fun(choice: T) not called if they choose none
return function(choices, options, callback)
  options.format_item = options.format_item or function(choice)
    return choice.label
  end
  vim.ui.select(choices, options, function(choice)
    vim.cmd.redraw() -- else what is said next, or Neovim's own list, goes on in the line in which the number was typed
    if choice then
      callback(choice)
    end
  end)
end
