//go:build tools

// Package tools names the programs that tests use: see ../../istio/programs.ts.
package tools

import (
	_ "istio.io/istio/cni/cmd/install-cni"
	_ "istio.io/istio/cni/cmd/istio-cni"
)
