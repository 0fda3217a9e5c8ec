package main

import (
	"fmt"
	"regexp"
	"strings"

	"pillion/config"
)

// helpFile is Neovim's help. Some of its sections are generated as a whole: those
// whose headings have these tags. The rest is written by hand.
const helpFile = "nvim-plugin/doc/pillion.txt"

var helpSections = map[string]func(root string) (string, error){
	"pillion-keys":     keysHelp,
	"pillion-options":  optionsHelp,
	"pillion-settings": settingsHelp,
}

// helpRule is the line above each heading of the help.
var helpRule = strings.Repeat("=", 78) + "\n"

var helpTag = regexp.MustCompile(`\*(pillion[\w.-]*)\*$`)

// fillHelp writes the generated sections anew. A section is what stands below its
// heading, until the next line of the same kind.
func fillHelp(root string, doc []byte) ([]byte, error) {
	sections := strings.Split(string(doc), helpRule)
	filled := 0
	for i, section := range sections {
		heading, _, _ := strings.Cut(section, "\n")
		tag := helpTag.FindStringSubmatch(heading)
		if tag == nil || helpSections[tag[1]] == nil {
			continue
		}
		body, err := helpSections[tag[1]](root)
		if err != nil {
			return nil, err
		}
		sections[i] = heading + "\n\n" + body + "\n"
		filled++
	}
	if filled != len(helpSections) {
		return nil, fmt.Errorf("%d of the %d generated sections have a heading", filled, len(helpSections))
	}
	return []byte(strings.Join(sections, helpRule)), nil
}

// settingsHelp is every setting of the sidecar, with a tag each.
func settingsHelp(string) (string, error) {
	var out strings.Builder
	out.WriteString(wrap("The sidecar's settings: the same object in every editor. In Neovim it is `settings` in |pillion.setup()|; "+
		"`~/.config/pillion/settings.json` holds it for all editors. A value that Neovim sets wins over the one in that file; rules from "+
		"both add up. A project's `.pillion/settings.json` can tighten them, and loosen them after you trust it. This section is generated from the program's own source.", 0))
	for _, key := range config.Keys() {
		if key.Name == "path" {
			continue // in Neovim it is an option beside the settings
		}
		facts := key.Type
		if key.Default != "" {
			facts += ", default " + key.Default
		}
		out.WriteString("\n" + heading("settings."+key.Name, "pillion-settings."+key.Name))
		out.WriteString(wrap("("+facts+")", 4) + wrap(sentence(key.Meaning), 4))
	}
	return out.String(), nil
}

// heading is a name on the left and its tag at the right margin.
func heading(name, tag string) string {
	tag = "*" + tag + "*"
	if len(name)+len(tag)+1 > helpWidth {
		return fmt.Sprintf("%*s\n%s\n", helpWidth, tag, name)
	}
	return fmt.Sprintf("%s%*s\n", name, helpWidth-len(name), tag)
}

func sentence(text string) string {
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

const helpWidth = 78

// wrap breaks text at the help's width.
func wrap(text string, indent int) string {
	var out strings.Builder
	margin := strings.Repeat(" ", indent)
	line := margin
	for word := range strings.FieldsSeq(text) {
		if len(line)+1+len(word) > helpWidth && line != margin {
			out.WriteString(line + "\n")
			line = margin
		}
		if line != margin {
			line += " "
		}
		line += word
	}
	return out.String() + line + "\n"
}
