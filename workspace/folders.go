package workspace

// Folders are the open folders as the editor gave them.
func (w *Workspace) Folders() []Folder {
	var out []Folder
	for _, r := range w.snapshot() {
		out = append(out, Folder{Name: r.asked, Dir: r.given})
	}
	return out
}
