//go:build tools

// Package tools names the programs that the tests beside Cilium build.
package tools

import (
	_ "github.com/cilium/cilium/daemon"
	_ "github.com/cilium/cilium/plugins/cilium-cni"
)
