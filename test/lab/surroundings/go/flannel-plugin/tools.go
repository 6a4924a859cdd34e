//go:build tools

// Package tools requires the program that tests build.
package tools

import _ "github.com/containernetworking/plugins/plugins/meta/flannel"
