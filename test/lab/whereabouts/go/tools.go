//go:build tools

// Package tools names the program that tests and the benchmark use: see ../whereabouts-binary.ts.
package tools

import _ "github.com/k8snetworkplumbingwg/whereabouts/cmd"
