// Package dirent reads folders on Linux with as few system calls as there can be: one
// to open, which follows no link, and two to list. What os.File does takes several times
// as long. Open and Read are the calls, Entries is what they fill a buffer with. What an
// entry is to whoever lists, and what else there is to know of it, is not here. OpenFile
// opens what is no folder in the same way.
package dirent
