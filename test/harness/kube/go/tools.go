//go:build tools

// Package tools names the programs that the tests against a real Kubernetes API need: see ../binaries.ts.
package tools

import _ "k8s.io/kubernetes/cmd/kube-apiserver"
