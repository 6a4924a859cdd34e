// Names the running specification for adapter.go.
package main

import (
	"fmt"
	"hash/fnv"

	"github.com/onsi/ginkgo/v2"
)

func init() {
	specification = func() string {
		report := ginkgo.CurrentSpecReport()
		digest := fnv.New64a()
		fmt.Fprint(digest, report.LeafNodeLocation, report.FullText())
		return fmt.Sprintf("%x", digest.Sum64())
	}
}
