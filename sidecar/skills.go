package sidecar

import (
	"os"
	"path"
	"path/filepath"
	"strings"

	"pillion/config"
	"pillion/tools/skills"
)

// ownSkills reads the user's own skills, which no project has.
func ownSkills(set config.Settings) func(only string) []skills.Skill {
	home, _ := os.UserHomeDir() //nolint:errcheck // without a home no folder begins with ~
	folders := set.OwnSkills(home)
	return func(only string) []skills.Skill {
		var out []skills.Skill
		for _, dir := range folders {
			out = append(out, skills.Outside(fromHome(home, dir), dir, only)...)
		}
		return out
	}
}

// fromHome is a folder as people write it.
func fromHome(home, dir string) string {
	if rest, ok := strings.CutPrefix(dir, home+string(filepath.Separator)); ok && home != "" {
		return path.Join("~", filepath.ToSlash(rest))
	}
	return dir
}
