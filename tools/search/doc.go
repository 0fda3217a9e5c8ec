// Package search is the tools that find files by name (glob) and text in files
// (search_in_project).
//
// Not here: the search itself, its list and index of files (workspace/search).
package search
