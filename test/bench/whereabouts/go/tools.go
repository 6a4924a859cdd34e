//go:build tools

// Package tools names the program that the benchmark compares pools of addresses with: see ../whereabouts-binary.ts.
package tools

import _ "github.com/k8snetworkplumbingwg/whereabouts/cmd"
