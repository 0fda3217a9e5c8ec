-- One approval that waits, and the answer that follows from what the human chose and edited.

local Chosen = require("pillion.chosen")
local words = require("pillion.words")

---@class pillion.FilePreview
---@field path string
---@field uri string
---@field operation "create"|"overwrite"|"unchanged"|"delete"|"move"|"create_directory"|"change_mode"
---@field language string
---@field before string
---@field after string
---@field diff string
---@field additions integer
---@field deletions integer
---@field hunks? {id: string, header: string}[]
---@field to? string of a move
---@field entries? integer files that a folder holds which goes or moves
---@field note? string what happens to it beside its lines
---@field whole? string what there is to say of it where there are no lines to compare, beside operation and names
---@field merged? boolean the file had moved on since the agent read it; `after` has both changes

---@class pillion.Preview
---@field kind "diff"|"command"|"url"|"text"
---@field files? pillion.FilePreview[]
---@field command? string
---@field cwd? string
---@field parts? {argv: string[]?, why: string?}[]
---@field writes? string[]
---@field unsaved? string[] open files whose text a command would not see, or a commit not hold
---@field network? boolean
---@field sandbox? string
---@field url? string
---@field markdown? string
---@field deed? string completes “the agent wants to”; this and what follows says parts of the text once more, to be laid out
---@field message? string the argument of that name, which the human may write anew
---@field facts? pillion.Fact[]
---@field diff? string in git's format

---@class pillion.Fact
---@field name string
---@field values string[]
---@field notable? boolean something that the human may not expect

---@class pillion.ApprovalDecision
---@field id string
---@field title string
---@field scope "once"|"session"|"workspace"
---@field rule? string the exact rule that this choice saves

---@class pillion.ApprovalRequest
---@field approvalId string
---@field sessionId string
---@field agent {name: string, via: string}
---@field tool string
---@field title string
---@field description? string of a patch that is reviewed: what the agent says of it
---@field reasons? string[]
---@field arguments any
---@field preview pillion.Preview
---@field decisions? pillion.ApprovalDecision[]
---@field digest string

---@class pillion.ApprovalChanged
---@field approvalId string
---@field digest string
---@field preview pillion.Preview
---@field moved boolean

---@class pillion.ApprovalAnswer
---@field decision "approve"|"edit"|"reject"|"cancel"
---@field decisionId? string
---@field after? table<string, string>
---@field selected? string[] ids of hunks; left out where all are taken
---@field modifiedArguments? table
---@field feedback? string
---@field digest? string

--- What the human asks for; the answer on the wire follows from it and from what they edited. `deliberate`: it came from a
--- list or a line that they filled in, so no stray key did it.
---@class pillion.Choice
---@field kind "approve"|"remember"|"reject"|"cancel"
---@field decisionId? string
---@field digest? string what was on show when they chose, if that may be another by now
---@field feedback? string
---@field deliberate? boolean

---@alias pillion.Reply fun(result: any, err?: {code: integer, message: string})

---@class pillion.Approval
---@field id string
---@field request pillion.ApprovalRequest what is on show
---@field reply pillion.Reply
---@field client any
---@field beneath "unchanged"|"updated"|"moved"|"conflict" `conflict` while the human's own edit rests on the older text
---@field own? string the human's own command or message, in place of the agent's
---@field chosen pillion.Chosen what of it the human takes, and what they wrote themselves
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
  self.beneath, self.armed_at = "unchanged", Approval.now() + Approval.inert_ms
  setmetatable(self, Approval)
  self.chosen = Chosen.new(self:files())
  return self
end

---@return pillion.FilePreview[]
function Approval:files()
  return self.request.preview.kind == "diff" and self.request.preview.files or {}
end

--- Whether it is the human themself who asks: no agent waits for the answer.
function Approval:is_own()
  return self.request.tool == words.revert
end

--- Whether it is a patch that the human reviews: no file changes by the answer.
function Approval:is_review()
  return self.request.tool == words.review
end

function Approval:is_edited()
  return self.chosen:is_edited() or self.own ~= nil
end

---@param path string
---@return string? the human's own text
function Approval:edit_of(path)
  return self.chosen:edit_of(path)
end

function Approval:is_armed()
  return Approval.now() >= self.armed_at
end

function Approval:disarm()
  self.armed_at = Approval.now() + Approval.inert_ms
end

--- The choices that are remembered, each with the rule that would be saved.
---@param scope? "session"|"workspace" either when left out
---@return pillion.ApprovalDecision[]
function Approval:remembering(scope)
  return vim.tbl_filter(function(decision)
    return decision.scope ~= "once" and decision.scope == (scope or decision.scope)
  end, self.request.decisions or {})
end

--- Which argument is a line or a text that the human may write anew.
---@return "command"|"message"|nil
function Approval:editable()
  local arguments, preview = self.request.arguments, self.request.preview
  local name = preview.kind == "command" and "command" or preview.kind == "text" and preview.message and "message" or nil
  return name and type(arguments) == "table" and type(arguments[name]) == "string" and name or nil
end

--- The files whose unsaved text a command would not see.
---@return string[]
function Approval:unsaved()
  return self.request.preview.unsaved or {}
end

---@param path string
---@param text string? what stands on the right side; nil: what the hunks make that are taken
function Approval:edit(path, text)
  self.chosen:write(path, text)
  if self.pending and not self:is_edited() then
    local pending = self.pending
    self.pending = nil
    self:adopt(pending)
  end
end

--- The text beneath changed. A human's own edit stays on show with the text and the digest that it rests on: the
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
  self.request = vim.tbl_extend("force", self.request, { preview = changed.preview, digest = changed.digest })
  self.chosen = Chosen.new(self:files(), self.chosen)
  if not (changed.moved and changed.preview.kind == "command") then -- of a command that means: the human saved what it would miss
    self.beneath = changed.moved and "moved" or "updated"
  end
  self:disarm()
end

---@param choice pillion.Choice
---@return pillion.ApprovalAnswer? nil where it does not count
---@return "too-soon"|"nothing"|"no-message"|nil why: nothing would come of a yes
function Approval:answer(choice)
  -- A reason was typed into a line of its own: no stray key did that, and it must not be lost.
  if not (self:is_armed() or choice.deliberate or choice.feedback) then
    return nil, "too-soon"
  end
  if choice.kind == "cancel" then
    return { decision = "cancel", digest = self.request.digest, feedback = choice.feedback }
  elseif choice.kind == "reject" then
    return self:refusal(choice.feedback)
  elseif self.chosen:is_nothing() then
    return nil, "nothing"
  elseif self:editable() == "message" and self.own and vim.trim(self.own) == "" then
    return nil, "no-message"
  end
  return self:consent(choice.decisionId or self:once(), choice.digest or self.request.digest)
end

---@private
---@param decision_id string?
---@param digest string
---@return pillion.ApprovalAnswer
function Approval:consent(decision_id, digest)
  local answer = { decision = "approve", decisionId = decision_id, digest = digest }
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

---@private
---@param feedback string?
---@return pillion.ApprovalAnswer
function Approval:refusal(feedback)
  local answer = { decision = "reject", digest = self.request.digest }
  for _, decision in ipairs(self.request.decisions or {}) do
    if decision.id == "reject" then
      answer.decisionId = decision.id
    end
  end
  answer.feedback = feedback ~= "" and feedback or nil
  return answer
end

---@private
---@return string?
function Approval:once()
  for _, decision in ipairs(self.request.decisions or {}) do
    if decision.scope == "once" and decision.id ~= "reject" and decision.id ~= "cancel" then
      return decision.id
    end
  end
end

return Approval
