package config

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"pillion/internal/fault"
	"pillion/tools/policy"
)

// bounds has a line for each setting, and a test sees to it: what a project's value
// of it may do without the user's trust. What does not tighten needs trust.
var bounds = map[string]bound{
	"path":                    {never: "only editors read it"},
	"trace.server":            {never: "only editors read it"},
	"mode":                    ranked(policy.Plan, policy.Default, policy.AutoEdit),
	"permissions.allow":       {}, // each rule of the list loosens
	"permissions.ask":         {tightens: true},
	"permissions.deny":        {tightens: true},
	"approvals.expireSeconds": {tighter: soonest},
	"limits.preset":           ranked(CodeLab, "default"),
	"limits.readBytes":        {tighter: lowest},
	"limits.writeBytes":       {tighter: lowest},
	"limits.diffBytes":        {tighter: lowest},
	"limits.outputBytes":      {tighter: lowest},
	"limits.callSeconds":      {tighter: lowest},
	"limits.commandSeconds":   {tighter: lowest},
	"limits.changesPerMinute": {tighter: lowest},
	"limits.readsPerMinute":   {tighter: lowest},
	"limits.patches":          ranked(CleanPatches, "any"),
	"sandbox":                 ranked("require", "prefer", "off"),
	"sandboxWritable":         {},
	"sandboxNetwork":          ranked("off", "hosts", "on"),
	"sandboxNetworkFor":       {},
	"journal.mode":            {never: journalIsYours},
	"journal.sync":            {never: journalIsYours},
	"journal.maxBytes":        {never: journalIsYours},
	"journal.days":            {never: journalIsYours},
	"audit":                   ranked("full", "brief", "off"),
	"unusual":                 ranked("revert", "pause", "tell"),
	"search.indexMegabytes":   {never: "it is your memory"},
	"memory.file":             {never: "it says where your agents write"},
	"skills.allow":            {},
	"skills.deny":             {tightens: true},
	"skills.folders":          {never: "they are your own"},
	"web.privateHosts":        {never: "it opens your own network"},
	"web.search.provider":     {never: searchIsYours},
	"web.search.url":          {never: searchIsYours},
	"web.search.keyCommand":   {never: searchIsYours},
	"task.runners":            {}, // Runners says
	"mcp.structured":          {never: "it applies to all your agents"},
	"agents":                  {tightens: true},

	"tools.toolDiscoveryCommand": needsTrust,
	"tools.toolCallCommand":      needsTrust,
	"mcpServers":                 {}, // MCPServer says
	"mcp.mcpServerCommand":       needsTrust,

	"gateway.url":           {never: gatewaysAreYours},
	"gateway.tokenCommand":  {never: gatewaysAreYours},
	"gateway.allowInsecure": {never: gatewaysAreYours},
	"gateway.execution":     {never: gatewaysAreYours},
	"gateway.rejection":     {never: gatewaysAreYours},
	"gateway.errors":        {never: gatewaysAreYours},
	"gateway.codes":         {never: gatewaysAreYours},

	"languageServers.prefer":          {never: serversAreYours},
	"languageServers.diagnostics":     {never: serversAreYours},
	"languageServers.editWaitSeconds": {never: serversAreYours},
	"languageServers.idleMinutes":     {never: serversAreYours},
	"languageServers.servers":         {}, // Servers says
}

const (
	journalIsYours   = "the journal is shared by all your workspaces"
	searchIsYours    = "your searches and your key go there"
	gatewaysAreYours = "your token goes there"
	serversAreYours  = "it applies to your editor"
)

// bound is what may be done to one setting.
type bound struct {
	// tighter says of a setting with one value that it leaves agents no more room
	// than another value. Both are what holds: a default where nothing is set.
	tighter func(value, than reflect.Value) bool
	// tightens says of a list that each entry more leaves agents less room; else each
	// one loosens.
	tightens bool
	never    string // why a project cannot set it at all
}

// ranked is for a setting whose values have an order, the strictest first.
func ranked[T comparable](order ...T) bound {
	rank := func(v reflect.Value) int { return slices.Index(order, v.Interface().(T)) }
	return bound{tighter: func(value, than reflect.Value) bool { return rank(value) <= rank(than) }}
}

// needsTrust is for what runs a program, whichever.
var needsTrust = bound{tighter: func(value, than reflect.Value) bool { return value.Equal(than) }}

func number(v reflect.Value) float64 {
	if v.CanInt() {
		return float64(v.Int())
	}
	return v.Float()
}

func lowest(value, than reflect.Value) bool { return number(value) <= number(than) }

// soonest is for a time after which the answer is no; 0 is never.
func soonest(value, than reflect.Value) bool {
	return number(than) == 0 || number(value) != 0 && lowest(value, than)
}

// leaves visits every setting with its values in each of the structs, in order.
func leaves(key string, visit func(key string, values []reflect.Value), structs ...reflect.Value) {
	if structs[0].Kind() != reflect.Struct {
		visit(key, structs)
		return
	}
	for i := range structs[0].NumField() {
		fields := make([]reflect.Value, len(structs))
		for n, s := range structs {
			fields[n] = s.Field(i)
		}
		leaves(join(key, keyOf(structs[0].Type().Field(i))), visit, fields...)
	}
}

// holding is the value that holds: the default where none is set.
func holding(key string, v reflect.Value) reflect.Value {
	if !v.IsZero() {
		return v
	}
	for _, k := range keys {
		if k.Name == key && k.Default != "" {
			value := reflect.New(v.Type())
			if json.Unmarshal([]byte(k.Default), value.Interface()) == nil {
				return value.Elem()
			}
		}
	}
	return v
}

// held is what of a project's settings counts over the user's own.
type held struct {
	counts  Settings
	loosens []string // what needs trust, as text; it counts if it is trusted
	never   []string // what a project cannot set
}

func hold(project, own Settings, trusted bool) held {
	var h held
	leaves("", func(key string, values []reflect.Value) {
		value, mine, counts := values[0], values[1], values[2]
		b := bounds[key]
		switch {
		case value.IsZero():
		case value.Kind() == reflect.Map:
			counts.Set(value.Interface().(anyNamed).holdValue(key, mine, trusted, &h))
		case b.never != "":
			h.never = append(h.never, fmt.Sprintf("setting %q is ignored in a project: %s", key, b.never))
		case value.Kind() == reflect.Slice:
			h.holdList(key, b, value, mine, counts, trusted)
		case b.tighter(value, holding(key, mine)):
			counts.Set(value)
		default:
			h.loosens = append(h.loosens, fmt.Sprintf("%s %v (yours: %v)", key, shown(value), shown(holding(key, mine))))
			if trusted {
				counts.Set(value)
			}
		}
	}, reflect.ValueOf(project), reflect.ValueOf(own), reflect.ValueOf(&h.counts).Elem())
	return h
}

func (h *held) holdList(key string, b bound, list, mine, counts reflect.Value, trusted bool) {
	for i := range list.Len() {
		entry := list.Index(i)
		loosens := !b.tightens && !contains(mine, entry)
		if loosens {
			h.loosens = append(h.loosens, lineOf(key, entry))
		}
		if !loosens || trusted {
			counts.Set(reflect.Append(counts, entry))
		}
	}
}

func contains(list, entry reflect.Value) bool {
	for i := range list.Len() {
		if fmt.Sprint(list.Index(i)) == fmt.Sprint(entry) {
			return true
		}
	}
	return false
}

// lineOf is an entry of a list for the user: a rule as it will hold, and not as
// the file spells it.
func lineOf(key string, entry reflect.Value) string {
	rule, isRule := entry.Interface().(Rule)
	if !isRule {
		return key + " " + fmt.Sprint(shown(entry))
	}
	does := "allow "
	if key != "permissions.allow" {
		does = key + " "
	}
	if parsed, err := policy.ParseRule(rule.Rule); err == nil {
		return does + parsed.String()
	}
	return does + fault.Quote(rule.Rule)
}

func shown(v reflect.Value) any {
	if v.Kind() == reflect.String {
		return fault.Quote(v.String())
	}
	return v.Interface()
}

// strictest is the settings of a window with several folders: of each setting the
// value that leaves agents the least room. Rules are not among them: each folder
// has its own.
func strictest(a, b Settings) Settings {
	var out Settings
	leaves("", func(key string, values []reflect.Value) {
		one, other, into := values[0], values[1], values[2]
		switch bound := bounds[key]; {
		case one.Kind() == reflect.Map:
			into.Set(one.Interface().(anyNamed).bothValue(other))
		case bound.never != "":
			into.Set(one)
		case one.Kind() == reflect.Slice:
			mergeLists(bound, one, other, into)
		case bound.tighter(holding(key, one), holding(key, other)):
			into.Set(one)
		default:
			into.Set(other)
		}
	}, reflect.ValueOf(a), reflect.ValueOf(b), reflect.ValueOf(&out).Elem())
	return out
}

// mergeLists keeps what is in either list of one that tightens, and what is in both
// of one that loosens.
func mergeLists(b bound, one, other, into reflect.Value) {
	for i := range one.Len() {
		if entry := one.Index(i); b.tightens || contains(other, entry) {
			into.Set(reflect.Append(into, entry))
		}
	}
	for i := range other.Len() {
		if entry := other.Index(i); b.tightens && !contains(one, entry) {
			into.Set(reflect.Append(into, entry))
		}
	}
}
