//go:build wasip1

package abi

import "unsafe"

const inDelegate = true

// The bytes of an unfinished line of stdout or stderr. The functions below and those of WASI are part of the component: the kit adds them.
var line [4096]byte

//go:wasmimport wasi_snapshot_preview1 plexus_buffer
func setBuffer(at, size uint32)

//go:wasmimport wasi_snapshot_preview1 plexus_flush
func flush()

func init() {
	setBuffer(uint32(uintptr(unsafe.Pointer(&line))), uint32(len(line)))
}

// Flush writes an unfinished line to the log.
func Flush() { flush() }

// The host's allocator. Nothing is freed before the end of the call.
//
//go:wasmexport cabi_realloc
func realloc(before, sizeBefore, align, size uint32) uint32 {
	start := Alloc(size, align)
	for index := range min(sizeBefore, size) {
		StoreU8(start+index, LoadU8(before+index))
	}
	return start
}
