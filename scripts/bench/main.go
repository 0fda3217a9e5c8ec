// Command bench times commands through `pillion serve` against the same commands
// spawned from here, in turn, and prints what it measured as JSON for bench.mjs,
// which runs it: the shortest command there is, and one that prints a lot. With
// -texts it compares texts of 1 MB instead, here and by git, and with -gateway calls by a
// gateway with those by the agents' socket.
//
// Not here: limits, and what is made of the figures.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"time"
)

// thinking is how long an agent takes from one command to the next, at the very
// least: a sidecar makes itself ready for the next one meanwhile.
const thinking = 30 * time.Millisecond

// pair is one thing measured on both sides, in milliseconds.
type pair struct {
	Ours   times `json:"ours"`
	Theirs times `json:"theirs"`
}

type times struct {
	Minimum float64 `json:"minimum"`
	Median  float64 `json:"median"`

	all []float64
}

func (t *times) add(d time.Duration) {
	t.all = append(t.all, float64(d)/float64(time.Millisecond))
	slices.Sort(t.all)
	t.Minimum, t.Median = t.all[0], t.all[len(t.all)/2]
}

// figures are what is printed.
type figures struct {
	Short  []sandboxed `json:"short"`  // `true`, by sandbox
	Stream pair        `json:"stream"` // until the last byte is here
	// Megabytes are what came of the stream, Peak the most memory of the sidecar's
	// own, and SmallPeak the same of one that passed a tenth of it on.
	Megabytes float64 `json:"megabytes"`
	Peak      float64 `json:"peak"`
	SmallPeak float64 `json:"smallPeak"`
}

// sandboxed is the shortest command with one setting of the sandbox.
type sandboxed struct {
	Setting string `json:"setting"`
	Level   string `json:"level"` // what really held it
	pair
}

func main() {
	program := flag.String("pillion", "bin/pillion", "the `program`")
	folder := flag.String("folder", ".", "the project's `folder`, with large.txt and small.txt")
	rounds := flag.Int("rounds", 100, "how often the shortest command is run")
	compare := flag.Int("texts", 0, "compare texts in the folder, each so `often`")
	byGateway := flag.Bool("gateway", false, "measure calls by a gateway")
	flag.Parse()
	var got any
	var err error
	switch {
	case *compare > 0:
		got, err = texts(*folder, *compare)
	case *byGateway:
		got, err = gateway(*program, *folder)
	default:
		got, err = measure(*program, *folder, *rounds)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	if err := json.NewEncoder(os.Stdout).Encode(got); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func measure(program, folder string, rounds int) (got figures, err error) {
	for _, setting := range []string{"off", "prefer"} {
		one, err := short(program, folder, setting, rounds)
		if err != nil {
			return got, fmt.Errorf("sandbox %s: %w", setting, err)
		}
		got.Short = append(got.Short, one)
	}
	if got.SmallPeak, err = peakOf(program, folder, "cat small.txt"); err != nil {
		return got, err
	}
	return got, got.stream(program, folder)
}

// short runs `true` on both sides in turn.
func short(program, folder, setting string, rounds int) (got sandboxed, err error) {
	s, err := start(program, folder, setting)
	if err != nil {
		return got, err
	}
	defer s.end()
	got.Setting = setting
	for round := -3; round < rounds; round++ { // the first ones warm up
		time.Sleep(thinking)
		began := time.Now()
		answer, err := s.run("true")
		ours := s.last.Sub(began)
		if err != nil {
			return got, err
		}
		time.Sleep(thinking)
		began = time.Now()
		if err := exec.Command("/bin/sh", "-lc", "true").Run(); err != nil {
			return got, err
		}
		theirs := time.Since(began)
		if round >= 0 {
			got.Ours.add(ours)
			got.Theirs.add(theirs)
		}
		got.Level = answer.Sandbox
	}
	return got, nil
}

// stream has a large file printed, on both sides in turn.
func (f *figures) stream(program, folder string) error {
	s, err := start(program, folder, "off")
	if err != nil {
		return err
	}
	defer s.end()
	for range streams {
		time.Sleep(thinking)
		s.came = 0
		if _, err := s.run("cat large.txt"); err != nil {
			return err
		}
		f.Stream.Ours.add(s.until.Sub(s.first))
		f.Megabytes = float64(s.came) / 1e6
		theirs, err := drain(folder)
		if err != nil {
			return err
		}
		f.Stream.Theirs.add(theirs)
	}
	f.Peak, err = s.peak()
	return err
}

// streams is how often something is printed.
const streams = 7

// peakOf is the most memory of a sidecar that runs nothing but this.
func peakOf(program, folder, command string) (float64, error) {
	s, err := start(program, folder, "off")
	if err != nil {
		return 0, err
	}
	defer s.end()
	for range streams {
		if _, err := s.run(command); err != nil {
			return 0, err
		}
	}
	return s.peak()
}

// drain reads what cat prints and makes nothing of it: from the first byte on.
func drain(folder string) (took time.Duration, err error) {
	cmd := exec.Command("cat", "large.txt")
	cmd.Dir = folder
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	buf := make([]byte, 64<<10)
	if _, err := out.Read(buf); err != nil {
		return 0, err
	}
	began := time.Now()
	for err == nil {
		_, err = out.Read(buf)
	}
	took = time.Since(began)
	if err != io.EOF {
		return 0, err
	}
	return took, cmd.Wait()
}
