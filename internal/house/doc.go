// Package house holds the rules of this house as tests: which package may import
// which, where a user is asked, who writes, and that what is written down twice is the
// same. ARCHITECTURE.md draws the arrows and gives the reasons; a change that moves a
// wall moves the tables here.
//
// There is no code here beside tests.
package house
