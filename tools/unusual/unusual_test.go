package unusual

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pillion/audit"
)

// play tells a detector of calls, and gives the alarms.
func play(calls func(call func(after time.Duration, r audit.Record))) (alarms []Alarm) {
	now := time.Now()
	d := Detector{Now: func() time.Time { return now }}
	calls(func(after time.Duration, r audit.Record) {
		now = now.Add(after)
		if r.Session == "" {
			r.Session = "s"
		}
		r.Agent = "claude"
		if a, ok := d.Observe(r); ok {
			alarms = append(alarms, a)
		}
	})
	return alarms
}

var (
	outside = audit.Record{Tool: "read_file", Paths: []string{"../../etc/passwd"}, Outcome: "failed", Code: "PATH_OUTSIDE_WORKSPACE", Protected: true}
	deletes = audit.Record{Tool: "delete_file", Files: []audit.File{{Path: "a\u202eb"}}, Outcome: "done", Decision: "run", By: "mode", Deleted: 1}
	refused = audit.Record{Tool: "run_command", Command: "curl x", Outcome: "failed", Code: "POLICY_DENIED"}
	read    = audit.Record{Tool: "read_file", Paths: []string{"a"}, Outcome: "done"}
	edited  = audit.Record{Tool: "edit_file", Files: []audit.File{{Path: "a"}}, Outcome: "done", By: "mode"}
)

func TestAlarms(t *testing.T) {
	with := func(r audit.Record, change func(*audit.Record)) audit.Record {
		change(&r)
		return r
	}
	for name, one := range map[string]struct {
		call  audit.Record
		every time.Duration
		times int
		want  Kind // empty: none
		say   string
	}{
		"out of the workspace":       {outside, 20 * time.Second, 5, Escape, `claude tried 5 times within 2 minutes to access what agents must not; the last: read_file ../../etc/passwd`},
		"now and then":               {outside, 40 * time.Second, 50, "", ""},
		"a few":                      {outside, time.Second, 4, "", ""},
		"one by one":                 {deletes, time.Second, 25, MassDeletion, `deleted or emptied 25 files within a minute; the last: "delete_file a\u202eb"`},
		"a folder":                   {with(deletes, func(r *audit.Record) { r.Deleted = 300 }), 0, 1, MassDeletion, "300 files"},
		"a folder that the user saw": {with(deletes, func(r *audit.Record) { r.Deleted, r.By = 300, "human" }), 0, 5, "", ""},
		"tidying up":                 {deletes, 5 * time.Second, 100, "", ""},
		"refused":                    {refused, 5 * time.Second, 10, Refusals, `was refused 10 times within a minute and continues; the last: run_command curl x`},
		"rejected":                   {with(refused, func(r *audit.Record) { r.Code = "USER_REJECTED" }), time.Second, 10, Refusals, ""},
		"too fast":                   {with(refused, func(r *audit.Record) { r.Code = "RATE_LIMITED" }), 0, 10, Refusals, ""},
		"refused by and by":          {refused, 10 * time.Second, 100, "", ""},
		"wrong calls":                {with(refused, func(r *audit.Record) { r.Code = "EDIT_NO_MATCH" }), 0, 100, "", ""},
	} {
		alarms := play(func(call func(time.Duration, audit.Record)) {
			for range one.times {
				call(one.every, one.call)
			}
		})
		if one.want == "" && len(alarms) > 0 || one.want != "" && (len(alarms) != 1 || alarms[0].Kind != one.want || !strings.Contains(alarms[0].Message, one.say)) {
			t.Errorf("%s: %+v, want %s %s", name, alarms, one.want, one.say)
		}
	}
}

func TestAnAlarmIsNotRepeated(t *testing.T) {
	alarms := play(func(call func(time.Duration, audit.Record)) {
		for range 100 { // 3 minutes
			call(2*time.Second, outside)
		}
		for range 10 {
			other := outside
			other.Session = "another"
			call(0, other)
		}
		for range 10 {
			call(time.Minute, read)
		}
		for range 10 {
			call(time.Second, outside)
		}
	})
	if len(alarms) != 3 || alarms[1].SessionID != "another" {
		t.Errorf("%d alarms: %+v", len(alarms), alarms)
	}
}

// TestOrdinaryWorkIsNotUnusual: sessions as agents have them, with their mistakes.
func TestOrdinaryWorkIsNotUnusual(t *testing.T) {
	for name, session := range map[string]func(call func(time.Duration, audit.Record)){
		"exploring": func(call func(time.Duration, audit.Record)) {
			for i := range 2000 {
				call(30*time.Millisecond, read)
				if i%600 == 0 { // looks for a header of the system, or its own notes at home
					call(time.Second, outside)
				}
			}
		},
		"a large refactoring, in auto_edit": func(call func(time.Duration, audit.Record)) {
			for i := range 400 {
				call(700*time.Millisecond, edited)
				if i%5 == 0 {
					call(700*time.Millisecond, deletes) // a file becomes two
				}
			}
		},
		"a user who corrects it": func(call func(time.Duration, audit.Record)) {
			rejected := edited
			rejected.Outcome, rejected.Code, rejected.By = "failed", "USER_REJECTED", "human"
			for range 60 {
				call(4*time.Second, read)
				call(4*time.Second, rejected)
			}
		},
		"plan mode": func(call func(time.Duration, audit.Record)) {
			for i := range 200 {
				call(time.Second, read)
				if i%20 == 0 {
					call(time.Second, refused)
				}
			}
		},
		"a folder of build results goes, with a yes": func(call func(time.Duration, audit.Record)) {
			gone := deletes
			gone.Deleted, gone.By = 5000, "human"
			call(0, gone)
		},
	} {
		if alarms := play(session); len(alarms) > 0 {
			t.Errorf("%s: %+v", name, alarms)
		}
	}
}

func TestManySessionsTakeLittle(t *testing.T) {
	var d Detector
	for i := range 5 * mostSessions {
		r := outside
		r.Session = fmt.Sprint(i)
		d.Observe(r)
	}
	if n := len(d.sessions); n > mostSessions {
		t.Errorf("%d are kept", n)
	}
}
