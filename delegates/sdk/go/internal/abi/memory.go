// Package abi is the canonical ABI's view of a delegate's memory, for the generated packages. Addresses are those of WebAssembly: 32 bits.
package abi

import (
	"strings"
	"unicode/utf8"
	"unsafe"
)

// A chunk of memory that the host may write to. The list of chunks keeps Go's garbage collector from freeing it.
type chunk struct {
	before *chunk
	bytes  []byte
}

const chunkBytes = 8192

var (
	current *chunk
	used    uint32
)

// Alloc answers zeroed memory that stays until the end of the call.
func Alloc(size, align uint32) uint32 {
	if !inDelegate {
		panic("plexus: capabilities work in a delegate only; give your logic an interface for its tests")
	}
	if size == 0 {
		return align
	}
	start := (used + align - 1) &^ (align - 1)
	if current == nil || uint64(start)+uint64(size) > uint64(len(current.bytes)) {
		// Another goroutine may run during the allocation, so current is read after it.
		fresh := &chunk{bytes: make([]byte, max(size, chunkBytes))}
		fresh.before = current
		current, start = fresh, 0
	}
	used = start + size
	return uint32(uintptr(unsafe.Pointer(unsafe.SliceData(current.bytes)))) + start
}

// Release forgets the memory of a call.
func Release() {
	current, used = nil, 0
}

func at(address uint32) unsafe.Pointer {
	return unsafe.Add(unsafe.Pointer(nil), uintptr(address))
}

// The stores and loads of each primitive type.

func StoreBool(address uint32, value bool)   { *(*bool)(at(address)) = value }
func StoreU8(address uint32, value uint8)    { *(*uint8)(at(address)) = value }
func StoreS8(address uint32, value int8)     { *(*int8)(at(address)) = value }
func StoreU16(address uint32, value uint16)  { *(*uint16)(at(address)) = value }
func StoreS16(address uint32, value int16)   { *(*int16)(at(address)) = value }
func StoreU32(address uint32, value uint32)  { *(*uint32)(at(address)) = value }
func StoreS32(address uint32, value int32)   { *(*int32)(at(address)) = value }
func StoreU64(address uint32, value uint64)  { *(*uint64)(at(address)) = value }
func StoreS64(address uint32, value int64)   { *(*int64)(at(address)) = value }
func StoreF32(address uint32, value float32) { *(*float32)(at(address)) = value }
func StoreF64(address uint32, value float64) { *(*float64)(at(address)) = value }

func LoadBool(address uint32) bool   { return LoadU8(address) != 0 }
func LoadU8(address uint32) uint8    { return *(*uint8)(at(address)) }
func LoadS8(address uint32) int8     { return *(*int8)(at(address)) }
func LoadU16(address uint32) uint16  { return *(*uint16)(at(address)) }
func LoadS16(address uint32) int16   { return *(*int16)(at(address)) }
func LoadU32(address uint32) uint32  { return *(*uint32)(at(address)) }
func LoadS32(address uint32) int32   { return *(*int32)(at(address)) }
func LoadU64(address uint32) uint64  { return *(*uint64)(at(address)) }
func LoadS64(address uint32) int64   { return *(*int64)(at(address)) }
func LoadF32(address uint32) float32 { return *(*float32)(at(address)) }
func LoadF64(address uint32) float64 { return *(*float64)(at(address)) }

func StoreEnum[T ~uint8](address uint32, value T) { StoreU8(address, uint8(value)) }
func LoadEnum[T ~uint8](address uint32) T         { return T(LoadU8(address)) }

// StoreString copies a string. Go's strings may be any bytes; the host takes UTF-8 only.
func StoreString(address uint32, value string) {
	if !utf8.ValidString(value) {
		value = strings.ToValidUTF8(value, "\uFFFD")
	}
	size := uint32(len(value))
	start := Alloc(size, 1)
	if size > 0 {
		copy(unsafe.Slice((*byte)(at(start)), size), value)
	}
	StoreU32(address, start)
	StoreU32(address+4, size)
}

// LoadString answers the string that the host wrote. Its bytes are those that the host got from cabi_realloc, and nothing changes them.
func LoadString(address uint32) string {
	size := LoadU32(address + 4)
	if size == 0 {
		return ""
	}
	return unsafe.String((*byte)(at(LoadU32(address))), size)
}

// StoreList stores each element of a list.
func StoreList[T any](address uint32, values []T, size, align uint32, store func(uint32, T)) {
	start := Alloc(uint32(len(values))*size, align)
	for index, value := range values {
		store(start+uint32(index)*size, value)
	}
	StoreU32(address, start)
	StoreU32(address+4, uint32(len(values)))
}

// LoadList loads each element of a list.
func LoadList[T any](address uint32, size uint32, load func(uint32) T) []T {
	start, count := LoadU32(address), LoadU32(address+4)
	values := make([]T, count)
	for index := range values {
		values[index] = load(start + uint32(index)*size)
	}
	return values
}

// StoreOption stores a value that may be absent.
func StoreOption[T any](address uint32, value *T, payload uint32, store func(uint32, T)) {
	if value == nil {
		return
	}
	StoreU8(address, 1)
	store(address+payload, *value)
}

// LoadOption loads a value that may be absent.
func LoadOption[T any](address uint32, payload uint32, load func(uint32) T) *T {
	if LoadU8(address) == 0 {
		return nil
	}
	value := load(address + payload)
	return &value
}
