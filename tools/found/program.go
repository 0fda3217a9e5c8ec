package found

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"pillion/internal/fault"
	"pillion/tools/process"
)

// discoveryTime bounds a command that prints what it can do.
const discoveryTime = 30 * time.Second

// program is a command that prints declarations, and one that calls them.
type program struct {
	o      Options
	source *Source

	shelf

	asked atomic.Bool // since the list was to be taken anew
	turn  sync.Mutex  // held while the command runs; guards all below
	err   error
}

func (p *program) of() *Source { return p.source }

func (p *program) renew() { p.asked.Store(false) }

func (p *program) close() {} // the runner ends what it runs

// offer runs the command once. Whoever does not want to wait any longer leaves it running.
func (p *program) offer(ctx context.Context) (offer, error) {
	kept, err := within(ctx, p.discover)
	if ctx.Err() == context.DeadlineExceeded && errors.Is(err, ctx.Err()) { //nolint:errorlint // a context's error is one of two
		err = p.miss(p.source.name())
	}
	return kept, err
}

func (p *program) discover() (offer, error) {
	p.turn.Lock()
	defer p.turn.Unlock()
	if !p.asked.Swap(true) {
		var now offer
		if now, p.err = p.ask(); p.err == nil && p.put(now) {
			p.o.Changed()
		}
	}
	return p.last(), p.err
}

func (p *program) ask() (offer, error) {
	if p.source.Call == "" {
		return offer{}, fault.New(fault.ExecutionFailed, "the setting tools.toolCallCommand is not set, which calls the tools that %s prints", p.source.name())
	}
	ctx, cancel := context.WithTimeout(context.Background(), discoveryTime)
	defer cancel()
	got, err := p.o.Runner.Run(ctx, process.Spec{Command: p.source.Line, Dir: p.source.Dir, Timeout: discoveryTime, OutputLimit: 1 << 20}, func(process.Stream, []byte) {})
	switch {
	case err != nil:
		return offer{}, err
	case got.TimedOut:
		return offer{}, fault.New(fault.Timeout, "%s did not end within %s", p.source.name(), discoveryTime)
	case got.ExitCode != 0:
		return offer{}, fault.New(fault.ExecutionFailed, "%s ended with exit code %d; it printed: %s", p.source.name(), got.ExitCode, lastLine(got.Stderr))
	case got.Truncated:
		return offer{}, fault.New(fault.ExecutionFailed, "%s printed more than 1 MiB", p.source.name())
	}
	all, err := readDeclarations([]byte(got.Stdout))
	if err != nil {
		return offer{}, fault.New(fault.ExecutionFailed, "%s printed no list of tools: %w", p.source.name(), err)
	}
	c := collection{source: p.source}
	for _, d := range all {
		if !c.add(d) {
			break
		}
	}
	return c.out, nil
}

// declaration is a function as Google's and others' models take it.
type declaration struct {
	Name                 string `json:"name"`
	Description          string `json:"description"`
	Parameters           any    `json:"parameters"`
	ParametersJSONSchema any    `json:"parametersJsonSchema"`
}

// entry is a declaration, or a list of such.
type entry struct {
	declaration
	Functions    []declaration `json:"function_declarations"`
	FunctionsToo []declaration `json:"functionDeclarations"`
}

func readDeclarations(text []byte) (out []declared, err error) {
	var all []entry
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, errors.New("it must be a JSON array of function declarations")
	}
	for _, e := range all {
		functions := append(e.Functions, e.FunctionsToo...)
		if functions == nil {
			functions = []declaration{e.declaration}
		}
		for _, d := range functions {
			one := declared{Name: d.Name, Description: d.Description, Schema: d.ParametersJSONSchema}
			if one.Schema == nil {
				one.Schema = d.Parameters
			}
			out = append(out, one)
		}
	}
	return out, nil
}

// call runs the command with the tool's name, which needs no quotes, and the arguments on
// its input. Its exit code decides.
func (p *program) call(ctx context.Context, t Tool, arguments json.RawMessage, most int) (Result, error) {
	spec := process.Spec{Command: p.source.Call + " " + t.Own, Dir: p.source.Dir, Stdin: string(arguments), OutputLimit: int64(most)}
	got, err := p.o.Runner.Run(ctx, spec, func(process.Stream, []byte) {})
	if err != nil {
		return Result{}, err
	}
	out := Result{ExitCode: &got.ExitCode, Failed: got.ExitCode != 0, Cut: got.Truncated}
	if got.Stdout != "" {
		out.Parts = []Part{{Type: "text", Text: got.Stdout}}
	}
	if out.Failed {
		out.Parts = append(out.Parts, Part{Type: "text", Text: fmt.Sprintf("exit code %d\n%s", got.ExitCode, got.Stderr)})
	}
	return out, nil
}

// lastLine is the end of what a program printed, in a line.
func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if last := strings.TrimSpace(lines[len(lines)-1]); last != "" {
		return fault.Line(fault.Clip(last, 300))
	}
	return "nothing"
}
