-- Who wants to hear that something has changed.

local M = {}

---@return fun(listener: fun()) listen, fun() changed tells all of them, in the order in which they came
function M.new()
  ---@type fun()[]
  local listeners = {}
  local function listen(listener)
    listeners[#listeners + 1] = listener
  end
  local function changed()
    for _, listener in ipairs(listeners) do
      listener()
    end
  end
  return listen, changed
end

return M
