//go:build tools

// Package tools names the programs that tests use: see ../../calico/programs.ts.
package tools

import (
	_ "github.com/projectcalico/calico/cni-plugin/cmd/calico"
	_ "github.com/projectcalico/calico/cni-plugin/cmd/install"
)
