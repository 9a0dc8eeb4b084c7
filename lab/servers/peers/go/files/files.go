// Package files has the one large file that the peers send: the same bytes for all of them.
package files

import "bytes"

// Content is 1,048,576 bytes of text.
var Content = bytes.Repeat([]byte("0123456789abcde\n"), 65_536)
