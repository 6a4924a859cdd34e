//go:build tools

// Package tools requires the program that tests build: see ../../kube-proxy/programs.ts.
package tools

import _ "k8s.io/kubernetes/cmd/kube-proxy"
