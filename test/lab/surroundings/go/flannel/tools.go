//go:build tools

// Package tools requires the program that tests build: see ../../flannel/programs.ts.
package tools

import _ "github.com/flannel-io/flannel"
