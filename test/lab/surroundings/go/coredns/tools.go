//go:build tools

// Package tools requires the program that tests build.
package tools

import _ "github.com/coredns/coredns"
