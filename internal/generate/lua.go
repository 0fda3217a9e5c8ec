package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// The Lua files that parts of the help are made from.
const (
	luaConfig = "nvim-plugin/lua/pillion/config.lua"
	luaKeys   = "nvim-plugin/lua/pillion/keys.lua"
)

var (
	luaOptions  = regexp.MustCompile(`(?m)^---@class pillion\.Config\n((?:---@field .*\n)+)`)
	luaOption   = regexp.MustCompile(`(?m)^---@field (\w+)\?? (\w+(?:<[^>]*>)?\S*) (.*)$`)
	luaDefaults = regexp.MustCompile(`(?sm)^M\.defaults = \{\n(.*?)^\}`)
	luaNested   = regexp.MustCompile(`(?sm)^  (\w+) = \{\n(.*?)^  \},?$`)
	luaValue    = regexp.MustCompile(`(?m)^ +(\w+) = (.+?),(?: *--.*)?$`)
	luaTold     = regexp.MustCompile(`(?sm)^M\.descriptions = \{\n(.*?)^\}`)
)

// optionsHelp is every option of Neovim's own, from its class and its defaults.
func optionsHelp(root string) (string, error) {
	source, err := luaFile(root, luaConfig)
	if err != nil {
		return "", err
	}
	class, defaults := luaOptions.FindStringSubmatch(source), luaDefaults.FindStringSubmatch(source)
	if class == nil || defaults == nil {
		return "", fmt.Errorf("%s has no class pillion.Config or no M.defaults; are they written in another way now?", luaConfig)
	}
	values := luaTable(luaNested.ReplaceAllString(defaults[1], ""))
	var out strings.Builder
	out.WriteString(wrap("What |pillion.setup()| takes. All of it may be left out.", 0))
	for _, option := range luaOption.FindAllStringSubmatch(class[1], -1) {
		name, kind, text := option[1], option[2], option[3]
		facts := kind
		if value := values[name]; value != "" {
			facts += ", default " + value
		}
		out.WriteString("\n" + heading(name, "pillion-option-"+name))
		out.WriteString(wrap("("+facts+")", 4) + wrap(sentence(text), 4))
	}
	return out.String(), nil
}

// keysHelp is a line for each key of a question: its name, its default, what it does.
func keysHelp(root string) (string, error) {
	source, err := luaFile(root, luaConfig)
	if err != nil {
		return "", err
	}
	told, err := luaFile(root, luaKeys)
	if err != nil {
		return "", err
	}
	descriptions := luaTold.FindStringSubmatch(told)
	var keys map[string]string
	for _, nested := range luaNested.FindAllStringSubmatch(luaDefaults.FindString(source), -1) {
		if nested[1] == "keys" {
			keys = luaTable(nested[2])
		}
	}
	if descriptions == nil || len(keys) == 0 {
		return "", fmt.Errorf("%s has no keys among its defaults, or %s no descriptions", luaConfig, luaKeys)
	}
	var out strings.Builder
	out.WriteString(wrap("These keys are bound only in a request's own buffers, in normal mode. They do not answer in the first half "+
		"second after a request appeared, came to the front or changed.", 0) + "\n")
	for _, told := range luaValue.FindAllStringSubmatch(descriptions[1], -1) {
		name, text := told[1], strings.TrimPrefix(strings.Trim(told[2], `"'`), "Pillion: ")
		key := strings.Trim(keys[name], `"'`)
		if keys[name] == "" || keys[name] == "false" {
			key = "-"
		}
		fmt.Fprintf(&out, "    %-12s %-12s %s\n", key, name, text)
	}
	out.WriteString("\n" + wrap("The line above a request always has `ga`, `gr` and `g?`, which shows the keys that work there; the others as far as there is room. A click on one presses it.", 0))
	out.WriteString("\n" + wrap("`edit`, `save` and `close` are bound only on pages: in a proposal, which can be edited, their keys keep their meaning. "+
		"`write` and `kill` are those of |pillion-processes|, where `close` closes the window; `show` and those that revert are those of |pillion-journal|; "+
		"those of |pillion-marks| are bound in a file that has some.", 0))
	out.WriteString("\n" + wrap("The second column is the name in |pillion-option-keys|. For another key, or none:", 0))
	out.WriteString(">lua\n    require(\"pillion\").setup({\n      keys = { approve = \"<leader>y\", cancel = false },\n    })\n<\n")
	return out.String(), nil
}

// luaTable are the values of a table whose lines are `name = value,`.
func luaTable(body string) map[string]string {
	out := map[string]string{}
	for _, entry := range luaValue.FindAllStringSubmatch(body, -1) {
		out[entry[1]] = entry[2]
	}
	return out
}

func luaFile(root, name string) (string, error) {
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	return string(text), err
}
