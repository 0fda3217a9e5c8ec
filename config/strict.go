package config

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"pillion/internal/fault"
	"pillion/tools/policy"
)

const (
	journalIsYours   = "the journal is shared by all your workspaces"
	searchIsYours    = "your searches and your key go there"
	gatewaysAreYours = "your token goes there"
	serversAreYours  = "it applies to your editor"
)

// ranked is for a setting whose values have an order, the strictest first.
func ranked[T comparable](order ...T) func(value, than reflect.Value) bool {
	rank := func(v reflect.Value) int { return slices.Index(order, v.Interface().(T)) }
	return func(value, than reflect.Value) bool { return rank(value) <= rank(than) }
}

// modeTighter: a draft is stricter than the modes above it, but runs commands, which no project can have without trust.
func modeTighter(value, than reflect.Value) bool {
	return value.Interface() != policy.Draft && ranked(policy.Plan, policy.Draft, policy.Default, policy.AutoEdit, policy.Auto)(value, than)
}

// needsTrust is for what runs a program, whichever.
func needsTrust(value, than reflect.Value) bool { return value.Equal(than) }

func number(v reflect.Value) float64 {
	if v.CanInt() {
		return float64(v.Int())
	}
	return v.Float()
}

func lowest(value, than reflect.Value) bool { return number(value) <= number(than) }

// falsest is for what loosens where it is true.
func falsest(value, than reflect.Value) bool {
	return !reflect.Indirect(value).Bool() || reflect.Indirect(than).Bool()
}

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
		leaves(join(key, nameOf(structs[0].Type().Field(i))), visit, fields...)
	}
}

// holding is the value that holds: the default where none is set.
func holding(key string, v reflect.Value) reflect.Value {
	if !v.IsZero() {
		return v
	}
	set := reflect.New(v.Type())
	if json.Unmarshal([]byte(keyOf(key).Default), set.Interface()) != nil {
		return v
	}
	return set.Elem()
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
		k := keyOf(key)
		switch {
		case value.IsZero():
		case value.Kind() == reflect.Map:
			counts.Set(value.Interface().(anyNamed).restrict(key, mine, trusted, &h))
		case k.never != "":
			h.never = append(h.never, fmt.Sprintf("setting %q is ignored in a project: %s", key, k.never))
		case value.Kind() == reflect.Slice:
			for i := range value.Len() {
				entry := value.Index(i)
				loosens := !k.tightens && !contains(mine, entry)
				if loosens {
					h.loosens = append(h.loosens, lineOf(key, entry))
				}
				if !loosens || trusted {
					counts.Set(reflect.Append(counts, entry))
				}
			}
		case k.tighter(value, holding(key, mine)):
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
		switch k := keyOf(key); {
		case one.Kind() == reflect.Map:
			into.Set(one.Interface().(anyNamed).both(other))
		case k.never != "":
			into.Set(one)
		case one.Kind() == reflect.Slice: // what is in either list of one that tightens, in both of one that loosens
			for i := range one.Len() {
				if entry := one.Index(i); k.tightens || contains(other, entry) {
					into.Set(reflect.Append(into, entry))
				}
			}
			for i := range other.Len() {
				if entry := other.Index(i); k.tightens && !contains(one, entry) {
					into.Set(reflect.Append(into, entry))
				}
			}
		case k.tighter(holding(key, one), holding(key, other)):
			into.Set(one)
		default:
			into.Set(other)
		}
	}, reflect.ValueOf(a), reflect.ValueOf(b), reflect.ValueOf(&out).Elem())
	return out
}
