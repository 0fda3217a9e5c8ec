-- Asks every sidecar that runs, and goes on when all have answered.

local announce = require("pillion.announce")

--- Where none runs the user is told, and nothing goes on.
---@param ask fun(client: pillion.Client, answered: fun(answer: any)) calls `answered` once
---@param done fun(answers: any[]) those that were none are left out
return function(ask, done)
  local clients, answers = require("pillion.client").ready(), {}
  local left = #clients
  if left == 0 then
    announce.tell("Pillion is not running; start it with :Pillion restart", vim.log.levels.WARN)
  end
  for _, client in ipairs(clients) do
    ask(client, function(answer)
      answers[#answers + 1] = answer
      left = left - 1
      if left == 0 then
        done(answers)
      end
    end)
  end
end
