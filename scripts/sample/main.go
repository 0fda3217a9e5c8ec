// Command sample makes the sample project in a folder and prints what the
// scripted agent of `pillion try` does there, as JSON: for programs in other
// languages that let it ride.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"pillion/try/sample"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "sample:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("usage: sample FOLDER, which must be empty or absent")
	}
	if err := sample.Write(args[0]); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(sample.Ride())
}
