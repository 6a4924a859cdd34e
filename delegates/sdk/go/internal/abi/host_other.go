//go:build !wasip1

package abi

const inDelegate = false
