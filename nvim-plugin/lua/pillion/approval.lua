-- A request that waits for approval, and the answer that follows from what the user selected and edited.

local Chosen = require("pillion.chosen")

--- What is “composed” is a line for people that the sidecar wrote, with nothing invisible in it: it is shown as it is.

---@class pillion.Lines from 0, without `end`
---@field start integer
---@field end integer

---@class pillion.HunkPreview
---@field id string
---@field title string composed
---@field additions integer
---@field deletions integer
---@field before? pillion.Lines absent, as `after` is, of a file that is selected or left out as a whole
---@field after? pillion.Lines
---@field head integer how many unchanged lines above may help to find it
---@field tail integer and below

---@class pillion.FilePreview
---@field path string
---@field name string composed: the path
---@field summary string composed: what happens to it beside its lines
---@field banner string composed: what a diff of it cannot say
---@field text boolean its two texts are compared side by side
---@field facts pillion.Fact[]
---@field operation string
---@field language string
---@field before string
---@field after string
---@field diff string
---@field additions integer
---@field deletions integer
---@field hunks pillion.HunkPreview[]
---@field merged? boolean

---@class pillion.Preview
---@field kind "diff"|"review"|"command"|"url"|"text"|"plan"|"revert"|"trust" the last two are the plugin's own
---@field act string composed: completes “claude wants to” above the page
---@field deed string composed: the same in particular
---@field subject string composed: the deed without its verb, or empty
---@field question? string composed: the page's name
---@field lines? string[] composed
---@field notices? string[] composed: warnings below it
---@field facts pillion.Fact[]
---@field files? pillion.FilePreview[]
---@field command? string
---@field draft? boolean its files are what is in a draft, to be applied
---@field message? string the argument of that name, which you may change
---@field unsaved? string[] open files with changes that a command would not see, or a commit not contain
---@field diff? string in git's format

---@class pillion.Fact
---@field code string
---@field label string composed
---@field text string composed; "" where there are items
---@field items? string[] composed
---@field tone? "warning"|"muted"

---@class pillion.Reason
---@field code string `class` holds for every call of the tool
---@field text string composed

---@class pillion.ApprovalDecision
---@field id string
---@field title string composed
---@field meaning string composed
---@field scope "once"|"turn"|"session"|"workspace"
---@field rule? string the exact rule that this choice saves

---@class pillion.ApprovalRequest
---@field approvalId string
---@field sessionId string
---@field agent {name: string, via: string}
---@field tool string
---@field title string
---@field description? string of a review: the agent's message
---@field reasons pillion.Reason[]
---@field arguments any
---@field preview pillion.Preview
---@field decisions pillion.ApprovalDecision[] the refusal, the approval, and those that are remembered
---@field digest string

---@class pillion.ApprovalChanged
---@field approvalId string
---@field digest string
---@field reasons pillion.Reason[]
---@field preview pillion.Preview
---@field moved boolean

---@class pillion.ApprovalAnswer
---@field decision "approve"|"edit"|"reject"|"cancel"
---@field decisionId? string
---@field after? table<string, string>
---@field selected? string[] ids of hunks; absent if all are selected
---@field modifiedArguments? table
---@field feedback? string
---@field comments? pillion.Comment[]
---@field digest? string

---@class pillion.Comment
---@field path string
---@field line integer of the proposed text, from 1
---@field text string

--- What the user asks for; the answer on the wire follows from it and from what they edited. `deliberate`: it came from a
--- list or a line that they filled in, so no stray key did it.
---@class pillion.Choice
---@field kind "approve"|"remember"|"reject"|"discard"|"cancel"
---@field decisionId? string
---@field digest? string what was on show when they chose, if that may be another by now
---@field feedback? string
---@field deliberate? boolean

---@class pillion.PossibleAnswer
---@field action pillion.Action
---@field title string
---@field meaning string
---@field word? string in place of the title where there is little room
---@field rule? string what choosing it saves

---@alias pillion.Reply fun(result: any, err?: {code: integer, message: string})

---@class pillion.Approval
---@field id string
---@field request pillion.ApprovalRequest what is on show
---@field reply pillion.Reply
---@field client any
---@field beneath "unchanged"|"updated"|"moved"|"conflict" `conflict` while the user's own edit rests on the older text
---@field own? string the user's own command or message, in place of the agent's
---@field comments pillion.Comment[] the user's, which go with a rejection, and with any answer about a draft
---@field chosen pillion.Chosen what of it the user selected, and what they wrote themselves
---@field private pending? pillion.ApprovalChanged
---@field private armed_at number
local Approval = {}
Approval.__index = Approval

--- A dialog that has just appeared, come into sight or changed takes no answer for this long.
Approval.inert_ms = 500

---@return number milliseconds; tests turn this clock
function Approval.now()
  return vim.uv.hrtime() / 1e6
end

---@param request pillion.ApprovalRequest
---@param reply pillion.Reply
---@param client any
---@return pillion.Approval
function Approval.new(request, reply, client)
  local self = { id = request.approvalId, request = request, reply = reply, client = client }
  self.beneath, self.armed_at, self.comments = "unchanged", Approval.now() + Approval.inert_ms, {}
  setmetatable(self, Approval)
  self.chosen = Chosen.new(self:files())
  return self
end

--- The files that each have a place in its tab.
---@return pillion.FilePreview[]
function Approval:files()
  return not self:is_own() and self.request.preview.files or {}
end

--- Whether you ask yourself: no agent waits for the answer, and nothing announces it.
function Approval:is_own()
  return self.request.preview.kind == "revert"
end

--- Whether an agent is there to read a reason, or to be paused.
function Approval:has_agent()
  return not self:is_own() and self.request.preview.kind ~= "trust"
end

--- Whether it is a patch that you review: no file changes by the answer.
function Approval:is_review()
  return self.request.preview.kind == "review" and not self:is_draft()
end

--- Whether it is what is in an agent's draft, to be applied.
function Approval:is_draft()
  return self.request.preview.draft == true
end

function Approval:is_edited()
  return self.chosen:is_edited() or self.own ~= nil
end

function Approval:is_armed()
  return Approval.now() >= self.armed_at
end

function Approval:disarm()
  self.armed_at = Approval.now() + Approval.inert_ms
end

--- The choices that are remembered, each with the rule that would be saved.
---@param scope? "turn"|"session"|"workspace" any when left out
---@return pillion.ApprovalDecision[]
function Approval:remembering(scope)
  return vim.tbl_filter(function(decision)
    return decision.scope ~= "once" and decision.scope == (scope or decision.scope)
  end, self.request.decisions or {})
end

--- Which argument is a line or a text that the user may change.
---@return "command"|"message"|"plan"|nil
function Approval:editable()
  local arguments, preview = self.request.arguments, self.request.preview
  local name = (preview.kind == "command" or preview.kind == "plan") and preview.kind
    or preview.kind == "text" and preview.message and "message"
    or nil
  return name and type(arguments) == "table" and type(arguments[name]) == "string" and name or nil
end

--- What it can be answered with: on its page in full, in the line above it in a word.
---@return pillion.PossibleAnswer[]
function Approval:answers()
  local list = {} ---@type pillion.PossibleAnswer[]
  local function add(action, title, meaning, word, rule)
    list[#list + 1] = { action = action, title = title, meaning = meaning, word = word, rule = rule }
  end
  local refusal, consent = self.request.decisions[1], self.request.decisions[2]
  if consent then
    add("approve", consent.title, consent.meaning)
  end
  add("reject", refusal.title, refusal.meaning) -- where there is little room, no is not what is cut
  if #self:unsaved() > 0 and self.request.preview.kind == "command" then
    add("save", "Save and Run", "once, after saving")
  elseif #self:unsaved() > 0 then
    add("save", "Save First", "then review it again")
  end
  if self:editable() == "message" then
    add("edit", "Edit Message", "your text is committed")
  end
  for _, scope in ipairs({ "turn", "session", "workspace" }) do
    for _, decision in ipairs(not self.own and self:remembering(scope) or {}) do -- a rule is about the agent's command
      add(scope, decision.title, decision.meaning, scope, decision.rule)
    end
  end
  if self:has_agent() then
    add("reason", refusal.title .. " with Reason…", "the agent gets your reason", "reason")
    if self:is_draft() then
      add("discard", "Discard Draft…", "nothing is applied, and all of it is gone", "discard")
    end
    if not self:is_review() then
      add("cancel", "Stop Agent", "rejects this and pauses the agent")
    end
  end
  if self:editable() == "command" then
    add("edit", "Edit", "your command runs")
  end
  return list
end

--- The files whose unsaved text a command would not see.
---@return string[]
function Approval:unsaved()
  return self.request.preview.unsaved or {}
end

---@param path string
---@param text string? what stands on the right side; nil: what the selected hunks make
function Approval:edit(path, text)
  self.chosen:write(path, text)
  if self.pending and not self:is_edited() then
    local pending = self.pending
    self.pending = nil
    self:adopt(pending)
  end
end

--- The comment on a line, if there is one.
---@param path string
---@param line integer
---@return string?
function Approval:comment_on(path, line)
  local found = vim.iter(self.comments):find(function(one)
    return one.path == path and one.line == line
  end)
  return found and found.text
end

---@param path string
---@param line integer
---@param text string "" takes it away
function Approval:comment(path, line, text)
  self.comments = vim.tbl_filter(function(one)
    return one.path ~= path or one.line ~= line
  end, self.comments)
  if vim.trim(text) ~= "" then
    table.insert(self.comments, { path = path, line = line, text = text })
  end
end

--- The text beneath changed. A user's own edit stays on show with the text and the digest that it rests on: the
--- sidecar merges an answer to an older digest and shows the result again.
---@param changed pillion.ApprovalChanged
function Approval:change(changed)
  self:disarm()
  if self.chosen:is_edited() then
    self.pending = changed
    self.beneath = "conflict"
  else
    self:adopt(changed)
  end
end

---@private
---@param changed pillion.ApprovalChanged
function Approval:adopt(changed)
  self.request = vim.tbl_extend("force", self.request, { preview = changed.preview, digest = changed.digest, reasons = changed.reasons })
  self.chosen = Chosen.new(self:files(), self.chosen)
  if not (changed.moved and changed.preview.kind == "command") then -- of a command that means: the user saved what it would miss
    self.beneath = changed.moved and "moved" or "updated"
  end
  self:disarm()
end

---@param choice pillion.Choice
---@return pillion.ApprovalAnswer? nil where it does not count
---@return "too-soon"|"nothing"|"no-message"|"comments"|nil why: approving would do nothing, or lose what the user wrote
function Approval:answer(choice)
  -- A reason was typed into a line of its own: no stray key did that, and it must not be lost.
  if not (self:is_armed() or choice.deliberate or choice.feedback) then
    return nil, "too-soon"
  end
  local comments = #self.comments > 0 and self.comments or nil
  if choice.kind == "cancel" and not self:is_review() then
    return { decision = "cancel", digest = self.request.digest, feedback = choice.feedback, comments = comments }
  elseif choice.kind == "reject" or choice.kind == "cancel" then
    local feedback = choice.feedback ~= "" and choice.feedback or nil
    return {
      decision = "reject",
      decisionId = self.request.decisions[1].id,
      digest = self.request.digest,
      feedback = feedback,
      comments = comments,
    }
  elseif choice.kind == "discard" then
    return { decision = "reject", decisionId = "discard", digest = self.request.digest }
  elseif comments and not self:is_draft() then
    return nil, "comments"
  elseif self.chosen:is_nothing() then
    return nil, "nothing"
  elseif self:editable() ~= "command" and self.own and vim.trim(self.own) == "" then
    return nil, "no-message"
  end
  local once = self.request.decisions[2]
  local digest = choice.digest or self.request.digest
  local answer = { decision = "approve", decisionId = choice.decisionId or once and once.id, digest = digest, comments = comments }
  if self.own then
    answer.decision, answer.decisionId = "edit", nil
    answer.modifiedArguments = vim.tbl_extend("force", self.request.arguments or {}, { [self:editable()] = self.own })
  elseif self.chosen:is_edited() then
    answer.decision, answer.after = "edit", self.chosen:edited()
  end
  if not self.own and not self.chosen:is_whole() then
    answer.selected = self.chosen:ids()
  end
  return answer
end

return Approval
