// Package plexus is for delegates of Plexus: CNI plugins as sandboxed WebAssembly components. Each capability is a package below it.
package plexus

var plugin Plugin

// Export makes a plugin the delegate's. Call it in a function init of package main: the function main is not called.
func Export(delegate Plugin) { plugin = delegate }

func exported() Plugin {
	if plugin == nil {
		panic("the delegate exports no plugin: call plexus.Export in a function init of package main")
	}
	return plugin
}

// Some answers a pointer to a value, for a member that may be absent.
func Some[T any](value T) *T { return &value }
