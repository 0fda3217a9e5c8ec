// Package agent is the tools by which an agent works with others and with itself: questions
// and plans for the user (prompt_user, exit_plan_mode), sub-agents (task, and
// task_permission for what they do by themselves; runner.go starts them), to-dos, skills.
//
// Not here: the dialogs (tools.Human), the protocol of sub-agents (agents/acp, behind
// tools.Agents), and reading skills (tools/skills).
package agent
