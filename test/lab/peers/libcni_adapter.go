// Puts an installed Plexus between libcni and the plugins of a list: libcni executes Plexus only, and Plexus executes the list's plugins. The build
// renames libcni's functions of the verbs, so that its specifications call these ones.
package libcni

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/containernetworking/cni/pkg/invoke"
	"github.com/containernetworking/cni/pkg/types"
)

type object = map[string]any

// settingsFile is written by test/lab/peers/libcni-suites.ts, in the tests' mount namespace.
const settingsFile = "/run/plexus-libcni-peer.json"

// PeerCalledFile exists after a call of Plexus.
const PeerCalledFile = "/run/plexus-libcni-peer.called"

type peerSettings struct {
	Shim, Recorder string
	Host           object
}

// PeerSpecification names the running specification. Each has a journal of its own, because some leave their container attached.
var PeerSpecification = func() string { return "" }

var (
	// attachedPeers has the attachments that an ADD of the running process made.
	attachedPeers = map[string]bool{}
	// peerPlugins has the configurations of Plexus. GCNetworkList calls DelNetworkList with the list that it got.
	peerPlugins = map[*PluginConfig]bool{}
)

// peerExec executes the shim whatever plugin libcni looks for.
type peerExec struct {
	invoke.Exec
	shim string
}

func (e peerExec) FindInPath(string, []string) (string, error) { return e.shim, nil }

// peerCall is a list whose only plugin is Plexus, and a libcni that executes it.
type peerCall struct {
	config *CNIConfig
	list   *NetworkConfigList
	// planned has the plugins' types, for standIns.
	planned  []string
	recorder string
	key      string
}

func (c *CNIConfig) peer(list *NetworkConfigList, rt *RuntimeConf) (*peerCall, error) {
	if len(list.Plugins) > 0 && peerPlugins[list.Plugins[0]] {
		return &peerCall{config: c, list: list}, nil
	}
	text, err := os.ReadFile(settingsFile)
	if err == nil {
		// libcni_adapter_test.go looks for the file after each specification.
		err = os.WriteFile(PeerCalledFile, nil, 0o644)
	}
	if err != nil {
		return nil, err
	}
	var settings peerSettings
	if err := json.Unmarshal(text, &settings); err != nil {
		return nil, err
	}
	call := &peerCall{recorder: settings.Recorder}
	delegates := []any{}
	for _, plugin := range list.Plugins {
		written := struct{ Type string }{}
		if json.Unmarshal(plugin.Bytes, &written) == nil && written.Type != plugin.Network.Type {
			// Some specifications change the type in libcni's structure only.
			if plugin, err = InjectConf(plugin, object{"type": plugin.Network.Type}); err != nil {
				return nil, err
			}
		}
		delegates = append(delegates, json.RawMessage(plugin.Bytes))
		call.planned = append(call.planned, plugin.Network.Type)
	}
	specification := PeerSpecification()
	host, capabilities := settings.Host, map[string]bool{}
	if rt != nil {
		for name := range rt.CapabilityArgs {
			capabilities[name] = true
		}
		call.key = specification + list.Name + rt.ContainerID + rt.IfName
	}
	host["cniVersion"], host["name"], host["capabilities"] = list.CNIVersion, list.Name, capabilities
	host["cniDir"] = filepath.Join(host["cniDir"].(string), specification)
	host["delegates"] = []any{object{"name": list.Name, "cniVersion": list.CNIVersion, "plugins": delegates}}
	bytes, err := json.Marshal(host)
	if err != nil {
		return nil, err
	}
	// libcni names the type in its errors.
	network := &types.PluginConf{Name: list.Plugins[0].Network.Name, CNIVersion: list.CNIVersion, Type: call.planned[0], Capabilities: capabilities}
	plugin := &PluginConfig{Network: network, Bytes: bytes}
	peerPlugins[plugin] = true
	front := *list
	front.Plugins = []*PluginConfig{plugin}
	call.list = &front
	config := *c
	config.exec = peerExec{c.ensureExec(), settings.Shim}
	call.config = &config
	return call, nil
}

// plant attaches the container with plugins that answer the result in libcni's cache, or an empty one. The specifications write the cache and call
// CHECK or DEL without an ADD; Plexus uses its journal. A DEL without a result in the cache needs no attachment.
func (call *peerCall) plant(ctx context.Context, rt *RuntimeConf, needed bool) error {
	if call.key == "" || attachedPeers[call.key] {
		return nil
	}
	result, err := call.config.getCachedResult(call.list.Name, call.list.CNIVersion, rt)
	if err != nil || (result == nil && !needed) {
		return nil // The specification is about this error, or about an attachment that does not exist.
	}
	text := []byte("{}")
	if result != nil {
		if text, err = json.Marshal(result); err != nil {
			return err
		}
	}
	directory, err := os.MkdirTemp("", "stand-ins")
	if err != nil {
		return err
	}
	defer os.RemoveAll(directory)
	program, err := os.ReadFile(call.recorder)
	if err != nil {
		return err
	}
	for _, name := range call.planned {
		file := filepath.Join(directory, name)
		if err := os.WriteFile(file, program, 0o755); err != nil {
			return err
		}
		if err := os.MkdirAll(file+".script", 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file+".script/ADD.out", text, 0o644); err != nil {
			return err
		}
	}
	planting := *call.config
	planting.Path = []string{directory}
	_, err = planting.addNetwork(ctx, call.list.Name, call.list.CNIVersion, call.list.Plugins[0], nil, rt)
	attachedPeers[call.key] = err == nil
	return err
}

// single makes a list of one plugin.
func single(net *PluginConfig) *NetworkConfigList {
	return &NetworkConfigList{
		Name: net.Network.Name, CNIVersion: net.Network.CNIVersion, Plugins: []*PluginConfig{net}, Bytes: net.Bytes,
	}
}

func (c *CNIConfig) AddNetworkList(ctx context.Context, list *NetworkConfigList, rt *RuntimeConf) (types.Result, error) {
	call, err := c.peer(list, rt)
	if err != nil {
		return nil, err
	}
	result, err := call.config.referenceAddNetworkList(ctx, call.list, rt)
	attachedPeers[call.key] = err == nil
	return result, err
}

func (c *CNIConfig) AddNetwork(ctx context.Context, net *PluginConfig, rt *RuntimeConf) (types.Result, error) {
	call, err := c.peer(single(net), rt)
	if err != nil {
		return nil, err
	}
	result, err := call.config.referenceAddNetwork(ctx, call.list.Plugins[0], rt)
	attachedPeers[call.key] = err == nil
	if err == nil {
		// The cache has the configuration that the specification gave, not that of Plexus.
		err = call.config.cacheAdd(result, net.Bytes, net.Network.Name, rt)
	}
	return result, err
}

func (c *CNIConfig) CheckNetworkList(ctx context.Context, list *NetworkConfigList, rt *RuntimeConf) error {
	call, err := c.peer(list, rt)
	if err == nil {
		err = call.plant(ctx, rt, true)
	}
	if err != nil {
		return err
	}
	return call.config.referenceCheckNetworkList(ctx, call.list, rt)
}

func (c *CNIConfig) CheckNetwork(ctx context.Context, net *PluginConfig, rt *RuntimeConf) error {
	call, err := c.peer(single(net), rt)
	if err == nil {
		err = call.plant(ctx, rt, true)
	}
	if err != nil {
		return err
	}
	return call.config.referenceCheckNetwork(ctx, call.list.Plugins[0], rt)
}

func (c *CNIConfig) DelNetworkList(ctx context.Context, list *NetworkConfigList, rt *RuntimeConf) error {
	call, err := c.peer(list, rt)
	if err == nil {
		err = call.plant(ctx, rt, false)
	}
	if err != nil {
		return err
	}
	return call.config.referenceDelNetworkList(ctx, call.list, rt)
}

func (c *CNIConfig) DelNetwork(ctx context.Context, net *PluginConfig, rt *RuntimeConf) error {
	call, err := c.peer(single(net), rt)
	if err == nil {
		err = call.plant(ctx, rt, false)
	}
	if err != nil {
		return err
	}
	return call.config.referenceDelNetwork(ctx, call.list.Plugins[0], rt)
}

func (c *CNIConfig) GCNetworkList(ctx context.Context, list *NetworkConfigList, args *GCArgs) error {
	call, err := c.peer(list, nil)
	if err != nil {
		return err
	}
	return call.config.referenceGCNetworkList(ctx, call.list, args)
}

func (c *CNIConfig) GetStatusNetworkList(ctx context.Context, list *NetworkConfigList) error {
	call, err := c.peer(list, nil)
	if err != nil {
		return err
	}
	return call.config.referenceGetStatusNetworkList(ctx, call.list)
}
