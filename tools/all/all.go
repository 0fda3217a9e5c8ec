// Package all defines every tool: whoever imports it for its effect finds them all in
// tools.Catalogue. A new folder of tools is added here, and on the map of internal/house.
//
// Not here: any tool. Each is a file of a package below.
package all

import (
	_ "pillion/tools/agent"
	_ "pillion/tools/code"
	_ "pillion/tools/command"
	_ "pillion/tools/file"
	_ "pillion/tools/git"
	_ "pillion/tools/search"
	_ "pillion/tools/web"
)
