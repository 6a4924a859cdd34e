// Serves the calls that go-cni's tests expect of their mock by an installed Plexus: the plugins of the list answer what the mock would. go-cni is built
// with the libcni that libcni_adapter.go changed.
package cni

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"testing"

	cnilibrary "github.com/containernetworking/cni/libcni"
	"github.com/containernetworking/cni/pkg/types"
	types020 "github.com/containernetworking/cni/pkg/types/020"
	types040 "github.com/containernetworking/cni/pkg/types/040"
)

type peer struct {
	*MockCNI
	t       *testing.T
	real    *cnilibrary.CNIConfig
	plugins string
	program []byte
	netns   string
	// versions of results, by the list's name.
	versions map[string]string
}

// throughPlexus stands for a mock, whose expectations it keeps.
func throughPlexus(t *testing.T, expected *MockCNI) cnilibrary.CNI {
	var settings struct{ Recorder, Netns string }
	text, err := os.ReadFile("/run/plexus-libcni-peer.json")
	if err == nil {
		err = json.Unmarshal(text, &settings)
	}
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(settings.Recorder)
	if err != nil {
		t.Fatal(err)
	}
	cnilibrary.PeerSpecification = t.Name
	plugins := t.TempDir()
	real := cnilibrary.NewCNIConfigWithCacheDir([]string{plugins}, t.TempDir(), nil)
	return &peer{expected, t, real, plugins, program, settings.Netns, map[string]string{}}
}

// script makes the list's plugins answer this text for the verb, and fail if failed.
func (p *peer) script(list *cnilibrary.NetworkConfigList, verb string, answer any, failed bool) {
	text, err := json.Marshal(answer)
	if err != nil {
		p.t.Fatal(err)
	}
	for _, plugin := range list.Plugins {
		file := filepath.Join(p.plugins, plugin.Network.Type)
		_ = os.MkdirAll(file+".script", 0o755)
		_ = os.WriteFile(file, p.program, 0o755)
		_ = os.WriteFile(filepath.Join(file+".script", verb+".out"), text, 0o644)
		if failed {
			_ = os.WriteFile(filepath.Join(file+".script", verb+".exit"), []byte("1"), 0o644)
		}
	}
}

// versioned gives a list the version of the mock's result. Some configurations of the tests have no cniVersion, which means 0.1.0, so a plugin's
// result would lose its interfaces.
func (p *peer) versioned(list *cnilibrary.NetworkConfigList) *cnilibrary.NetworkConfigList {
	same := *list
	if version, ok := p.versions[list.Name]; ok {
		same.CNIVersion = version
	}
	return &same
}

func (p *peer) here(rt *cnilibrary.RuntimeConf) *cnilibrary.RuntimeConf {
	p.t.Log("called Plexus")
	here := *rt
	here.NetNS = p.netns
	return &here
}

func (p *peer) AddNetworkList(ctx context.Context, list *cnilibrary.NetworkConfigList, rt *cnilibrary.RuntimeConf) (types.Result, error) {
	expected, err := p.MockCNI.AddNetworkList(ctx, list, rt)
	if err != nil {
		return nil, err
	}
	// No plugin can print those addresses of the mock that have no prefix length.
	host := net.CIDRMask(32, 32)
	switch result := expected.(type) {
	case *types020.Result:
		result.IP4.IP.Mask = host
	case *types040.Result:
		for _, ip := range result.IPs {
			if ip.Address.Mask == nil {
				ip.Address.Mask = host
			}
		}
	}
	if _, old := expected.(*types020.Result); !old {
		p.versions[list.Name] = expected.Version()
	}
	p.script(list, "ADD", expected, false)
	return p.real.AddNetworkList(ctx, p.versioned(list), p.here(rt))
}

func (p *peer) CheckNetworkList(ctx context.Context, list *cnilibrary.NetworkConfigList, rt *cnilibrary.RuntimeConf) error {
	if err := p.MockCNI.CheckNetworkList(ctx, list, rt); err != nil {
		return err
	}
	err := p.real.CheckNetworkList(ctx, p.versioned(list), p.here(rt))
	if errors.Is(err, cnilibrary.ErrorCheckNotSupp) {
		// libcni refuses the list's version before it calls a plugin; the mock does not.
		return nil
	}
	return err
}

func (p *peer) DelNetworkList(ctx context.Context, list *cnilibrary.NetworkConfigList, rt *cnilibrary.RuntimeConf) error {
	if err := p.MockCNI.DelNetworkList(ctx, list, rt); err != nil {
		return err
	}
	return p.real.DelNetworkList(ctx, p.versioned(list), p.here(rt))
}

func (p *peer) GetStatusNetworkList(ctx context.Context, list *cnilibrary.NetworkConfigList) error {
	p.t.Log("called Plexus")
	if err := p.MockCNI.GetStatusNetworkList(ctx, list); err != nil {
		p.script(list, "STATUS", types.NewError(types.ErrInternal, err.Error(), ""), true)
	} else {
		p.script(list, "STATUS", map[string]any{}, false)
	}
	return p.real.GetStatusNetworkList(ctx, list)
}
