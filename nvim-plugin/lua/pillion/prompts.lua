-- Questions that an agent asks the user (`prompt/user`). They take no key: a question waits until somebody picks an answer or
-- cancels it in its list; a list that is left answers nothing.

local announce = require("pillion.announce")
local choose = require("pillion.choose")
local escape = require("pillion.escape")

local M = {}

---@class pillion.Prompt
---@field promptId string
---@field agent {name: string, via: string}
---@field message string
---@field actions? string[]
---@field client any
---@field reply pillion.Reply

---@type pillion.Prompt[] in order of arrival
local waiting = {}
local changed = require("pillion.events").listeners(M)

function M.all()
  return vim.list_slice(waiting)
end

---@param id string
---@return pillion.Prompt?
local function get(id)
  return vim.iter(waiting):find(function(prompt)
    return prompt.promptId == id
  end)
end

---@param prompt pillion.Prompt
local function settle(prompt, result, err)
  waiting = vim.tbl_filter(function(other)
    return other ~= prompt
  end, waiting)
  prompt.reply(result, err)
  changed()
end

---@param request table
---@param reply pillion.Reply
---@param client any
---@param cancelled fun(callback: fun())
function M.open(request, reply, client, cancelled)
  ---@type pillion.Prompt
  local prompt = vim.tbl_extend("force", request, { reply = reply, client = client })
  waiting[#waiting + 1] = prompt
  cancelled(function()
    M.withdraw(prompt)
  end)
  changed()
  announce.waiting(("%s asks: %s  (:Pillion)"):format(escape.visible(request.agent.name), escape.short(request.message, 200)), function()
    return get(prompt.promptId) == prompt
  end)
end

---@param prompt pillion.Prompt
function M.withdraw(prompt)
  if get(prompt.promptId) == prompt then
    settle(prompt, nil, { code = -32800, message = "the question was withdrawn" })
  end
end

--- Nobody waits for these any more.
---@param client any
function M.abandon(client)
  for _, prompt in ipairs(M.all()) do
    if prompt.client == client then
      M.withdraw(prompt)
    end
  end
end

--- Lets the user choose. Leaving the list leaves the question waiting.
---@param id string
function M.pick(id)
  local prompt = get(id)
  if not prompt then
    announce.say("That question was already answered or withdrawn.")
    return
  end
  local items = vim.tbl_map(function(action)
    return { label = escape.visible(action), action = action }
  end, prompt.actions or {})
  items[#items + 1] = { label = "Write an answer…" }
  items[#items + 1] = { label = "Cancel: no answer; the agent goes on", action = "cancel" }
  local function answer(result)
    if get(id) == prompt then
      settle(prompt, result)
    else
      announce.say("That question was already answered or withdrawn.")
    end
  end
  choose(
    items,
    { prompt = escape.short(prompt.agent.name, 40) .. " asks: " .. escape.visible(prompt.message), kind = "pillion.prompt" },
    function(item)
      if item.action then
        return answer({ action = item.action })
      end
      vim.ui.input({ prompt = "Answer: " }, function(words)
        if words and vim.trim(words) ~= "" then
          answer({ action = "cancel", feedback = words })
        end
      end)
    end
  )
end

return M
