package fault

import "fmt"

// Plural is how many there are of something, in words.
func Plural(n int, one, several string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, several)
}
