package session

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"slices"
	"time"

	"pillion/tools/policy"
)

// Owner is whose session it is. Only the same one gets what was kept of it.
type Owner struct {
	// Door is the way in that it came by: "editor", "gateway" or "agents". No agent chooses it.
	Door string `json:"door"`
	Name string `json:"name"` // of the agent
	ID   string `json:"id"`   // of the session
	// Cwd is the folder that an agent on the agents' socket works in.
	Cwd string `json:"cwd,omitempty"`
}

// The doors.
const (
	byEditor  = "editor"
	byGateway = "gateway"
	byAgents  = "agents"
)

// ContextFile is a file that the user or the agent gave a conversation as context.
type ContextFile struct {
	Path    string `json:"path"`
	Content bool   `json:"content,omitempty"` // only a part
	Lines   int    `json:"lines,omitempty"`
	By      string `json:"by"`
}

// Kept is what of a session outlives its program: what the user and the agent made of it,
// nothing of what it read.
type Kept struct {
	Owner   Owner       `json:"owner"`
	Folders []string    `json:"folders"` // the workspace's
	Agent   Agent       `json:"agent"`
	Secret  string      `json:"secret,omitempty"` // the hash of what its agent proves itself by
	Started time.Time   `json:"started"`
	Last    time.Time   `json:"lastCall,omitzero"`
	Saved   time.Time   `json:"saved"`
	Mode    policy.Mode `json:"mode"`
	Chosen  bool        `json:"chosen,omitempty"`
	Default policy.Mode `json:"default"` // the settings' at that time
	Dialect string      `json:"dialect,omitempty"`
	Turn    int         `json:"turn"`
	Paused  bool        `json:"paused,omitempty"`
	Reason  string      `json:"reason,omitempty"`
	Counts
	Grants   []string      `json:"grants,omitempty"`
	Todos    []Todo        `json:"todos,omitempty"`
	Revision int           `json:"todosRevision,omitempty"`
	Known    []Todo        `json:"todosKnown,omitempty"`
	Unaware  bool          `json:"todosUnaware,omitempty"`
	Context  []ContextFile `json:"context,omitempty"`
}

// Keeper has a place for what is kept of each session.
type Keeper interface {
	// Hold takes the place of a session for this program, with what is there. Nil: another
	// program has it, or there is no such place; with known, one where nothing is, neither.
	Hold(o Owner, known bool) Slot
	// List is what is kept of sessions on this workspace, the newest first.
	List() []Kept
	// Forget drops what is kept of a session on this workspace that no program has.
	Forget(o Owner) bool
}

// Slot is such a place.
type Slot interface {
	Kept() (Kept, bool)
	Save(k Kept)
	// Release lets others have it, Forget drops what is there as well.
	Release()
	Forget()
}

const (
	maxGrants  = 500 // that are kept
	maxContext = 100
)

// kept needs the lock. Where nothing happened yet there is nothing to keep.
func (s *Session) kept() (_ Kept, worth bool) {
	k := Kept{
		Owner: s.owner, Agent: s.agent, Secret: s.secret, Started: s.started.UTC(), Last: s.last, Saved: time.Now().UTC(),
		Mode: s.mode, Chosen: s.chosen, Default: s.standard, Dialect: s.dialect, Turn: s.turn, Paused: s.paused, Reason: s.reason,
		Counts: s.counts, Todos: s.todos, Revision: s.revision, Known: s.known, Unaware: s.unaware, Context: s.context,
	}
	for _, r := range s.grants[:min(len(s.grants), maxGrants)] {
		k.Grants = append(k.Grants, r.String())
	}
	return k, k.Calls > 0 || k.Chosen || k.Paused || k.Turn > 1 || k.Revision > 0 || len(k.Grants)+len(k.Context) > 0
}

// keep saves what is to be kept, if the session has a place.
func (s *Session) keep() {
	s.keeping.Lock()
	defer s.keeping.Unlock()
	if s.slot == nil {
		return
	}
	s.mu.Lock()
	k, worth := s.kept()
	s.mu.Unlock()
	if worth {
		s.slot.Save(k)
	}
}

// leave gives the session's place up, and drops what is there if nobody is to come back.
func (s *Session) leave(forget bool) {
	if !forget {
		s.keep()
	}
	s.keeping.Lock()
	defer s.keeping.Unlock()
	switch {
	case s.slot == nil:
	case forget:
		s.slot.Forget()
	default:
		s.slot.Release()
	}
	s.slot = nil
}

// restore makes the session what it was. What was kept is checked as if an agent had sent
// it, and nothing is looser than the settings were then and are now; mode is theirs.
func (s *Session) restore(k Kept, mode policy.Mode) {
	s.turn, s.called = max(k.Turn, 1), k.Calls > 0
	if k.Paused {
		s.paused, s.reason = true, k.Reason
		close(s.pausing)
	}
	s.secret, s.dialect, s.last = k.Secret, k.Dialect, k.Last
	if k.Started.Before(s.started) {
		s.started = k.Started
	}
	s.counts = Counts{Calls: max(k.Calls, 0), Changes: max(k.Changes, 0), Rejected: max(k.Rejected, 0), Refused: max(k.Refused, 0)}
	for _, text := range k.Grants[:min(len(k.Grants), maxGrants)] {
		if r, err := policy.ParseRule(text); err == nil {
			s.grants = append(s.grants, r.AsOffered())
		}
	}
	if CheckTodos(k.Todos) == nil {
		s.todos, s.revision = k.Todos, max(k.Revision, 0)
		s.known, s.unaware = k.Known, k.Unaware
	}
	s.context = slices.Clone(k.Context[:min(len(k.Context), maxContext)])
	s.restoreMode(k, mode)
}

// restoreMode never gives a mode that leaves more room than the kept one. Full access is for
// the time that the user gave it for, and no settings allow it: it does not come back.
func (s *Session) restoreMode(k Kept, standard policy.Mode) {
	mode, err := policy.ParseMode(string(k.Mode))
	switch {
	case err != nil, mode == policy.FullAccess:
		return
	case standard.Stricter(mode) && standard.Stricter(k.Default):
		return // the settings are stricter than they were
	case s.chosen && s.mode.Stricter(mode):
		return // whoever opens it wants less
	}
	s.mode, s.chosen = mode, k.Chosen || s.chosen
}

// Context is the files that its conversation was given.
func (s *Session) Context() []ContextFile {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.context)
}

// SetContext notes them.
func (s *Session) SetContext(files []ContextFile) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.context = files
	s.changed(s)
}

// hashed is how a secret is kept.
func hashed(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

func (k Kept) provenBy(secret string) bool { return proves(k.Secret, secret) }

// proves takes the same time however much of the two is equal. Nobody has no secret.
func proves(hash, secret string) bool {
	return hash != "" && subtle.ConstantTimeCompare([]byte(hash), []byte(hashed(secret))) == 1
}

// Info is what is kept, as it was.
func (k Kept) Info() Info {
	info := k.info(k.Default)
	info.Mode = k.Mode
	return info
}

// info is what is kept, as the wire shows it: what the session would be if its agent came
// back now.
func (k Kept) info(standard policy.Mode) Info {
	s := New(k.Owner.ID, k.Agent, standard)
	s.restore(k, standard)
	s.away = true
	return s.Info()
}
