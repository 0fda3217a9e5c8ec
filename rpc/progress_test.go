package rpc

import (
	"context"
	"net"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pillion/internal/wire"
	"pillion/tools"
)

// TestProgressIsOfWhatTakesLong or waits for the user, in an editor that shows it and has no
// plugin for that.
func TestProgressIsOfWhatTakesLong(t *testing.T) {
	all := []string{"window/workDoneProgress/create", "$/progress", "$/progress"}
	for name, c := range map[string]struct {
		client client
		state  tools.State
		lasts  time.Duration
		want   []string
	}{
		"a quick call":               {client{Progress: true}, tools.Running, barMoment - 1, nil},
		"a long one":                 {client{Progress: true}, tools.Running, barMoment + 1, all},
		"one that waits":             {client{Progress: true}, tools.Waiting, 1, all},
		"where nobody shows it":      {client{}, tools.Waiting, time.Hour, nil},
		"where a plugin has its own": {client{Pillion: true, Progress: true}, tools.Waiting, time.Hour, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var told []string
				here, there := net.Pipe()
				editor := wire.NewConn(here, wire.Options{Handler: func(_ context.Context, _ *wire.Conn, req *wire.Request) (any, error) {
					if slices.Contains(all, req.Method) {
						told = append(told, req.Method)
					}
					return nil, nil
				}})
				s := &server{conn: wire.NewConn(there, wire.Options{})}
				for _, state := range []tools.State{c.state, tools.Done} {
					s.events(c.client).Activity(tools.Activity{SessionID: "s", CallID: "c", State: state})
					time.Sleep(c.lasts)
				}
				synctest.Wait()
				if !slices.Equal(told, c.want) {
					t.Errorf("the editor is told %v, want %v", told, c.want)
				}
				editor.Close() //nolint:errcheck // the test is over
				s.conn.Close() //nolint:errcheck // likewise
			})
		})
	}
}
