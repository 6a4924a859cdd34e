// The oracle reads operations as JSON from stdin, runs them in Go's libcni, and prints libcni's answers as JSON.
//
//	{"cniPath": [...], "cacheDir": "...", "operations": [{"do": "ADD", "list": "<conflist text>", "runtime": {...}}, ...]}
//
// prints {"answers": [...]} with one answer for each operation, in order. A failed operation does not end the program:
// its error is an answer too.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sort"

	"github.com/containernetworking/cni/libcni"
	"github.com/containernetworking/cni/pkg/types"
	"github.com/containernetworking/cni/pkg/types/create"
	"github.com/containernetworking/cni/pkg/utils"
	"github.com/containernetworking/cni/pkg/version"
)

type runtimeConf struct {
	ContainerID    string                 `json:"containerID"`
	NetNS          string                 `json:"netns"`
	IfName         string                 `json:"ifname"`
	Args           [][2]string            `json:"args"`
	CapabilityArgs map[string]interface{} `json:"capabilityArgs"`
}

type operation struct {
	Do string `json:"do"`
	// The network's source: exactly one of List, Conf, File and Dir.
	List string `json:"list"` // text of a conflist
	Conf string `json:"conf"` // text of a single configuration
	File string `json:"file"` // path of a conflist
	Dir  string `json:"dir"`  // with Name: looked up as cnitool does
	Name string `json:"name"`

	Runtime    runtimeConf          `json:"runtime"`
	Valid      []types.GCAttachment `json:"valid"` // GC
	Extensions []string             `json:"extensions"`
	Value      string               `json:"value"` // VALIDATE-*, CONVERT: the result's text
	Version    string               `json:"version"`
}

type scenario struct {
	CNIPath    []string    `json:"cniPath"`
	CacheDir   string      `json:"cacheDir"`
	Operations []operation `json:"operations"`
}

type failure struct {
	Code    uint   `json:"code"`
	Msg     string `json:"msg"`
	Details string `json:"details"`
	// The whole chain of messages, as a Go program would print it.
	Text string `json:"text"`
	// libcni's error type, if it has one: "no-configs" or "not-found".
	Kind string `json:"kind,omitempty"`
}

type answer struct {
	Result interface{} `json:"result,omitempty"`
	Error  *failure    `json:"error,omitempty"`
}

type plugin struct {
	Type  string `json:"type"`
	Bytes string `json:"bytes"`
}

type network struct {
	Name                   string   `json:"name"`
	CNIVersion             string   `json:"cniVersion"`
	DisableCheck           bool     `json:"disableCheck"`
	DisableGC              bool     `json:"disableGC"`
	LoadOnlyInlinedPlugins bool     `json:"loadOnlyInlinedPlugins"`
	Plugins                []plugin `json:"plugins"`
	Bytes                  string   `json:"bytes"`
}

type attachment struct {
	ContainerID    string                 `json:"containerID"`
	Network        string                 `json:"network"`
	IfName         string                 `json:"ifname"`
	NetNS          string                 `json:"netns"`
	Config         string                 `json:"config"`
	Args           [][2]string            `json:"args"`
	CapabilityArgs map[string]interface{} `json:"capabilityArgs"`
}

func failed(err error) *failure {
	f := &failure{Text: err.Error()}
	var cni *types.Error
	if errors.As(err, &cni) {
		f.Code, f.Msg, f.Details = cni.Code, cni.Msg, cni.Details
	}
	var none libcni.NoConfigsFoundError
	var absent libcni.NotFoundError
	if errors.As(err, &none) {
		f.Kind = "no-configs"
	} else if errors.As(err, &absent) {
		f.Kind = "not-found"
	}
	return f
}

func load(op operation) (*libcni.NetworkConfigList, error) {
	switch {
	case op.List != "":
		return libcni.ConfListFromBytes([]byte(op.List))
	case op.Conf != "":
		conf, err := libcni.ConfFromBytes([]byte(op.Conf))
		if err != nil {
			return nil, err
		}
		return libcni.ConfListFromConf(conf)
	case op.File != "":
		return libcni.NetworkConfFromFile(op.File)
	default:
		return libcni.LoadNetworkConf(op.Dir, op.Name)
	}
}

func described(list *libcni.NetworkConfigList) network {
	n := network{
		Name: list.Name, CNIVersion: list.CNIVersion, DisableCheck: list.DisableCheck, DisableGC: list.DisableGC,
		LoadOnlyInlinedPlugins: list.LoadOnlyInlinedPlugins, Bytes: string(list.Bytes), Plugins: []plugin{},
	}
	for _, p := range list.Plugins {
		n.Plugins = append(n.Plugins, plugin{Type: p.Network.Type, Bytes: string(p.Bytes)})
	}
	return n
}

func runtimeOf(r runtimeConf) *libcni.RuntimeConf {
	return &libcni.RuntimeConf{ContainerID: r.ContainerID, NetNS: r.NetNS, IfName: r.IfName, Args: r.Args, CapabilityArgs: r.CapabilityArgs}
}

// A typed nil in an error interface is not nil: utils.Validate* return *types.Error.
func asError(err *types.Error) error {
	if err == nil {
		return nil
	}
	return err
}

func run(cni *libcni.CNIConfig, op operation) (interface{}, error) {
	ctx := context.Background()
	switch op.Do {
	case "CONF-FILES":
		return libcni.ConfFiles(op.Dir, op.Extensions)
	case "VALIDATE-CONTAINER-ID":
		return nil, asError(utils.ValidateContainerID(op.Value))
	case "VALIDATE-NETWORK-NAME":
		return nil, asError(utils.ValidateNetworkName(op.Value))
	case "VALIDATE-INTERFACE-NAME":
		return nil, asError(utils.ValidateInterfaceName(op.Value))
	case "PARSE-VERSION":
		major, minor, micro, err := version.ParseVersion(op.Value)
		if err != nil {
			return nil, err
		}
		return []int{major, minor, micro}, nil
	case "CONVERT":
		result, err := create.CreateFromBytes([]byte(op.Value))
		if err != nil {
			return nil, err
		}
		return result.GetAsVersion(op.Version)
	case "CACHED-ATTACHMENTS":
		found, err := cni.GetCachedAttachments(op.Runtime.ContainerID)
		if err != nil {
			return nil, err
		}
		list := []attachment{}
		for _, a := range found {
			list = append(list, attachment{a.ContainerID, a.Network, a.IfName, a.NetNS, string(a.Config), a.CniArgs, a.CapabilityArgs})
		}
		return list, nil
	}

	list, err := load(op)
	if err != nil {
		return nil, err
	}
	rt := runtimeOf(op.Runtime)
	switch op.Do {
	case "LOAD":
		return described(list), nil
	case "ADD":
		return cni.AddNetworkList(ctx, list, rt)
	case "CHECK":
		return nil, cni.CheckNetworkList(ctx, list, rt)
	case "DEL":
		return nil, cni.DelNetworkList(ctx, list, rt)
	case "GC":
		return nil, cni.GCNetworkList(ctx, list, &libcni.GCArgs{ValidAttachments: op.Valid})
	case "STATUS":
		return nil, cni.GetStatusNetworkList(ctx, list)
	case "VALIDATE":
		capabilities, err := cni.ValidateNetworkList(ctx, list)
		sort.Strings(capabilities)
		return capabilities, err
	case "CACHED-RESULT":
		return cni.GetNetworkListCachedResult(list, rt)
	case "CACHED-CONFIG":
		config, cached, err := cni.GetNetworkListCachedConfig(list, rt)
		if err != nil || cached == nil {
			return nil, err
		}
		return attachment{cached.ContainerID, list.Name, cached.IfName, cached.NetNS, string(config), cached.Args, cached.CapabilityArgs}, nil
	}
	return nil, fmt.Errorf("oracle: no such operation: %q", op.Do)
}

func main() {
	var s scenario
	if err := json.NewDecoder(os.Stdin).Decode(&s); err != nil {
		fmt.Fprintln(os.Stderr, "oracle: scenario:", err)
		os.Exit(2)
	}
	answers := []answer{}
	for _, op := range s.Operations {
		cni := libcni.NewCNIConfigWithCacheDir(s.CNIPath, s.CacheDir, nil)
		result, err := run(cni, op)
		if err != nil {
			answers = append(answers, answer{Error: failed(err)})
		} else {
			answers = append(answers, answer{Result: result})
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(map[string]interface{}{"answers": answers}); err != nil {
		fmt.Fprintln(os.Stderr, "oracle: answers:", err)
		os.Exit(2)
	}
}
