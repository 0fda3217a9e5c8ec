package mcp

import "strings"

// pageBytes is how much text a result has, where the agent does not cut shorter ones.
const pageBytes = 20_000

// cuts are how many bytes of a result agents show their model, less what is said around a
// page, by the beginning of the name that they give. They cut the rest without a word, in the
// middle or at the end (docs/agents.md has the figures).
var cuts = []struct {
	name string
	most int
}{
	{"codex", 8_000}, // 10,000 bytes with a model that it does not know
	{"qwen", 20_000}, // 25,000 characters; of more it shows 2,000
	{"gemini", 32_000},
	{"claude", 40_000},
	{"opencode", 40_000},
}

// sizes are how much text a result for an agent has, and the lines of a file that it asks for
// exactly; 0: as much as there is, of an agent of which nothing is known.
func sizes(agent string) (page, exact int) {
	for _, c := range cuts {
		if strings.HasPrefix(agent, c.name) {
			return min(pageBytes, c.most), c.most
		}
	}
	return pageBytes, 0
}
