package sidecar

import (
	"testing"

	"pillion/config"
	"pillion/tools"
	"pillion/tools/session"
)

// TestThePresetCodeLab: the setting becomes the limits that the tools hold.
func TestThePresetCodeLab(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]struct {
		codeLab bool
		write   int64
		rate    session.Limits
	}{
		`{}`:                                {false, tools.DefaultLimits.WriteBytes, session.DefaultLimits},
		`{"limits": {"preset": "default"}}`: {false, tools.DefaultLimits.WriteBytes, session.DefaultLimits},
		`{"limits": {"preset": "codelab"}}`: {true, 1e6, session.Limits{Changes: 100, Reads: 6000, All: 100}},
		`{"limits": {"preset": "codelab", "writeBytes": 5, "changesPerMinute": 7}}`: {true, 5, session.Limits{Changes: 7, Reads: 6000, All: 100}},
		`{"limits": {"preset": "codelab", "writeBytes": 9999999}}`:                  {true, 1e6, session.Limits{Changes: 100, Reads: 6000, All: 100}},
		`{"limits": {"preset": "code lab"}}`:                                        {true, 1e6, session.Limits{Changes: 100, Reads: 6000, All: 100}},
	} {
		s, problems := config.Parse([]byte(raw))
		if (len(problems) > 0) != (raw == `{"limits": {"preset": "code lab"}}`) {
			t.Errorf("%s: %q", raw, problems)
		}
		l := limits(s)
		if _, rate := modeAndRate(s); l.CodeLab != want.codeLab || l.WriteBytes != want.write || rate != want.rate {
			t.Errorf("%s: %+v, %+v", raw, l, rate)
		}
	}
}
