// Package web is the tools that reach the public network: web_fetch and web_search.
//
// Not here: which addresses are public, fetching and searching (internal/web).
package web
