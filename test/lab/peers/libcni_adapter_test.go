// Names the running specification for libcni_adapter.go, and notes in the report that the specification called Plexus.
package libcni_test

import (
	"fmt"
	"hash/fnv"
	"os"

	"github.com/containernetworking/cni/libcni"
	"github.com/onsi/ginkgo/v2"
)

func init() {
	libcni.PeerSpecification = func() string {
		report := ginkgo.CurrentSpecReport()
		digest := fnv.New64a()
		fmt.Fprint(digest, report.LeafNodeLocation, report.FullText())
		return fmt.Sprintf("%x", digest.Sum64())
	}
}

var _ = ginkgo.BeforeEach(func() { _ = os.Remove(libcni.PeerCalledFile) })

var _ = ginkgo.AfterEach(func() {
	if _, err := os.Stat(libcni.PeerCalledFile); err == nil {
		ginkgo.AddReportEntry("called Plexus", ginkgo.ReportEntryVisibilityNever)
	}
})
