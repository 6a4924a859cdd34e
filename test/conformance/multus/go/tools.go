//go:build tools

// Package tools names the program that the tests of switching from Multus need: see ../multus-binary.ts.
package tools

import _ "gopkg.in/k8snetworkplumbingwg/multus-cni.v4/cmd/multus"
