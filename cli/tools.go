package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"pillion/agents/mcp"
	"pillion/agents/relay"
	"pillion/internal/fault"
	"pillion/sidecar"
	"pillion/terminal"
	"pillion/tools"
	"pillion/tools/found"
)

const toolsHelp = `usage: pillion tools [--json] [--cost [--structured]] [--dialect NAME] [--refresh] [-C FOLDER] [TOOL]

Lists the tools that agents can call, or the arguments of one TOOL. Those of other
programs (mcpServers and the like in the settings) are listed with where they come
from, and with what was refused; the programs are started for it.

  -C FOLDER
            those in FOLDER instead of the current folder
  --refresh
            have the editor that is open on the folder ask the other programs again
  --json    print the tools as agents get them, including schemas
  --cost    count the tokens that their definitions take in each conversation
  --structured
            with --cost: of an agent that also gets the structure of results
  --dialect NAME
            those of another agent's tool set: coder or qwen
`

// listTools prints the catalogue, or one tool of it.
func listTools(args []string) error {
	flags := flag.NewFlagSet("pillion tools", flag.ContinueOnError)
	asJSON := flags.Bool("json", false, "")
	cost := flags.Bool("cost", false, "")
	structured := flags.Bool("structured", false, "")
	dialect := flags.String("dialect", "", "")
	folder := flags.String("C", ".", "")
	refresh := flags.Bool("refresh", false, "")
	operands, err := parse(flags, toolsHelp, [2]int{0, 1}, args)
	if err != nil {
		return err
	}
	err = tools.CheckDialect(*dialect)
	if err == nil && *refresh {
		err = refreshTools(*folder)
	}
	if err != nil {
		return err
	}
	definitions, notes, err := toolsIn(*folder, *dialect)
	if err != nil {
		return err
	}
	if len(operands) == 1 {
		i := slices.IndexFunc(definitions, func(d tools.Definition) bool {
			return plainName(d.Name) == plainName(operands[0])
		})
		if i < 0 {
			return fmt.Errorf("unknown tool %q; `pillion tools` lists them", operands[0])
		}
		definitions = definitions[i : i+1]
	}
	switch {
	case *cost:
		if *structured {
			definitions = tools.WithResults(definitions)
		}
		printCosts(definitions)
	case *asJSON:
		list := map[string]any{"tools": tools.WithResults(definitions)}
		if len(notes) > 0 {
			list["notes"] = notes
		}
		return printJSON(list)
	case len(operands) == 1:
		return describeTool(definitions[0])
	default:
		printTools(definitions, notes)
	}
	return nil
}

// printTools prints a line for each, and what was refused.
func printTools(definitions []tools.Definition, notes []found.Note) {
	style := terminal.StyleOf(os.Stdout)
	width := 18
	for _, d := range definitions {
		width = max(width, len(d.Name))
	}
	for _, d := range definitions {
		columns := width + 1 + 8 + 1
		text := firstSentence(d.Description)
		if d.Source != nil {
			text = "[" + fault.Line(d.Source.Server) + "] " + fault.Line(text)
		}
		text = style.Behind(columns, text)
		fmt.Fprintf(terminal.Stdout, "%s %-8s %s\n", style.Bold(fmt.Sprintf("%-*s", width, d.Name)), d.Access, text)
	}
	for _, n := range notes {
		fmt.Fprintln(terminal.Stdout, "\n"+style.Wrap("", "  ", fault.Line(n.Source)+": "+fault.Line(n.Text)))
	}
}

// toolsIn are the tools in a folder, and notes on those of other programs.
func toolsIn(folder, dialect string) ([]tools.Definition, []found.Note, error) {
	if !sidecar.MayFind(folder) {
		return tools.DialectDefinitions(dialect, nil), nil, nil
	}
	c, err := sidecar.ForPerson(folder, terminal.Nobody{})
	if err != nil {
		return nil, nil, err
	}
	definitions, notes := c.ToolsForPerson(dialect)
	return definitions, notes, c.Close()
}

// refreshTools has the sidecar of an editor take the lists of other programs anew. Its agents
// are told if these have changed.
func refreshTools(folder string) error {
	dir, err := filepath.Abs(folder)
	if err != nil {
		return err
	}
	entry, open, err := relay.Find(dir)
	if err != nil || !open {
		fmt.Fprintln(terminal.Stderr, "pillion: no editor is open on this folder; whatever starts here asks the other programs anyway")
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	client, err := relay.Dial(ctx, entry, relay.Hello{Agent: relay.Agent{Name: "pillion tools", Version: version}, Cwd: dir})
	if err != nil {
		return err
	}
	_, err = client.Refresh(ctx)
	return errors.Join(err, client.Close())
}

// printCosts counts bytes, which is exact, and tokens, which is not: models differ, and
// take about four bytes of such text for one.
func printCosts(definitions []tools.Definition) {
	costs, width := mcp.Costs(definitions), 20
	for _, c := range costs {
		width = max(width, len(c.Name))
	}
	row := func(name string, bytes int) {
		fmt.Fprintf(terminal.Stdout, "%-*s %7d %7d\n", width, name, bytes, (bytes+3)/4)
	}
	fmt.Fprintf(terminal.Stdout, "%-*s %7s %7s\n", width, "tool", "bytes", "tokens")
	all, core := 0, 0
	for _, c := range costs {
		name := c.Name
		if c.Core {
			name += " *"
			core += c.Bytes
		}
		all += c.Bytes
		row(name, c.Bytes)
	}
	fmt.Fprintln(terminal.Stdout)
	row("all", all)
	row("* --tools core", core)
	fmt.Fprintln(terminal.Stdout, "\nTokens are estimated at four bytes each. Agents add a prefix to each name.")
}

// plainName is a tool's name as most models know it, without dots.
func plainName(name string) string { return strings.ReplaceAll(name, ".", "_") }

func firstSentence(text string) string {
	first, _, _ := strings.Cut(text, ". ")
	return strings.TrimSuffix(first, ".")
}

// inputSchema is the part of a tool's schema that a person is shown.
type inputSchema struct {
	Properties json.RawMessage `json:"properties"`
	Required   []string        `json:"required"`
}

type property struct {
	Type        any    `json:"type"` // a name, or a list of them
	Description string `json:"description"`
}

// describeTool says what a person needs to call it.
func describeTool(d tools.Definition) error {
	style := terminal.StyleOf(os.Stdout)
	fmt.Fprintf(terminal.Stdout, "%s (%s)\n\n%s\n", style.Bold(d.Name), d.Access, style.Wrap("", "", fault.Escape(d.Description)))
	if d.Source != nil {
		fmt.Fprintf(terminal.Stdout, "\n%s\n", style.Wrap("", "  ", tools.Whose(d)))
	}
	var schema inputSchema
	if err := json.Unmarshal(d.InputSchema, &schema); err != nil {
		return err
	}
	return eachProperty(schema.Properties, func(name string, p property) {
		kind := fmt.Sprint(p.Type)
		if slices.Contains(schema.Required, name) {
			kind += ", needed"
		}
		fmt.Fprintf(terminal.Stdout, "\n  %s (%s)\n", style.Bold(name), kind)
		if p.Description != "" {
			fmt.Fprintln(terminal.Stdout, style.Wrap("      ", "      ", p.Description))
		}
	})
}

// eachProperty goes through the properties in the order of the schema.
func eachProperty(raw json.RawMessage, do func(string, property)) error {
	if len(raw) == 0 {
		return nil
	}
	in := json.NewDecoder(bytes.NewReader(raw))
	if _, err := in.Token(); err != nil {
		return err
	}
	for in.More() {
		name, err := in.Token()
		if err != nil {
			return err
		}
		var p property
		if err := in.Decode(&p); err != nil {
			return err
		}
		do(fmt.Sprint(name), p)
	}
	return nil
}
