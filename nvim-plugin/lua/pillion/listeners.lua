-- Who wants to hear that something of a module has changed.

--- Gives the module its `listen`.
---@param module table
---@return fun() changed tells all of them, in the order in which they came
return function(module)
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
