//go:build tools

// Package tools requires the program that tests build.
package tools

import _ "github.com/cloudnativelabs/kube-router/v2/cmd/kube-router"
