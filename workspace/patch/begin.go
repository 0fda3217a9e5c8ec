package patch

func isBegin(string) bool { return false }

func parseBegin(string) ([]File, error) { return nil, nil }

func (a *applier) findUnnumbered(Hunk, []string) (int, Placed, string) {
	return -1, Placed{}, reasonAbsent
}
