// Package file is the tools that read and change files and folders, one file each, and
// save_memory. A tool's file begins with its Define, which is where to start.
//
// What they share: basis.go is the text that an agent had in mind when it changes a file
// that is another one now; read_large.go and read_stream.go read what does not fit into one
// answer, chunks.go writes it; patch_answer.go and patch_clean.go belong to both patch
// tools, tree_changes.go to those that delete and move.
//
// Not here: finding the text that an edit means (tools/match), change sets of patches
// (tools/patching), and writing (workspace/change).
package file
