//go:build !linux

package process

// run starts commands: here nothing can hold them without another program.
func (s *heldStarter) run(string) {
	for o, more := s.next(); more; o, more = s.next() {
		o.started <- o.cmd.Start()
	}
}
