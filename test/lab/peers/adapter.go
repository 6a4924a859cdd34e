// Serves the verbs of a reference plugin's own specifications by an installed Plexus. The build renames the plugin's functions, so that the
// specifications call these ones. A file describes the installation, because some specifications start the plugin with an environment of their own.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/containernetworking/cni/pkg/skel"
	"github.com/containernetworking/cni/pkg/types"
	"github.com/containernetworking/plugins/pkg/ns"
)

type object = map[string]any

// settingsFile is written by test/lab/peers/reference-suites.ts, in the tests' mount namespace.
const settingsFile = "/run/plexus-peer.json"
const calledFile = "/run/plexus-peer.called"

var settings struct {
	Shim, CNIPath, Recorder, Netns, Node, Type, Socket string
	Host                                               object
}

// attachment has the container and the network of an interface's ADD. Some specifications send CHECK and DEL with others, which the plugins never
// read.
type attachment struct{ container, network string }

var (
	attached   = map[string]attachment{}
	isAttached = map[string]bool{}
)

// specification names the running specification. Each has a journal of its own, because some leave their container attached.
var specification = func() string { return "" }

// throughPlexus calls the shim as a runtime does, in the network namespace of the calling thread or in another one that stands for the node's.
func throughPlexus(verb string, args *skel.CmdArgs) error {
	text, err := os.ReadFile(settingsFile)
	if err == nil {
		// adapter_test.go looks for the file after each specification. Some specifications start the plugin as a program.
		err = os.WriteFile(calledFile, nil, 0o644)
	}
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, &settings); err != nil {
		return err
	}
	netns := args.Netns
	if _, err := os.Stat(netns); netns != "" && err != nil {
		// Specifications of IPAM plugins name a namespace that does not exist.
		netns = settings.Netns
	}
	container, network := args.ContainerID, nameOf(args.StdinData)
	place := specification() + netns + args.IfName
	if known, ok := attached[place]; ok && verb != "ADD" {
		if !isAttached[specification()+"container "+container] {
			container = known.container
		}
		if !isAttached[specification()+"network "+network] {
			network = known.network
		}
	}
	stdin, err := hostConfiguration(args.StdinData, network)
	if err != nil {
		return err
	}
	var stdout, stderr bytes.Buffer
	shim := exec.Command(settings.Shim)
	shim.Stdin, shim.Stdout, shim.Stderr = bytes.NewReader(stdin), &stdout, &stderr
	shim.Env = []string{
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		"CNI_COMMAND=" + verb,
		"CNI_CONTAINERID=" + container,
		"CNI_NETNS=" + netns,
		"CNI_IFNAME=" + args.IfName,
		// The specifications hand CNI_ARGS to the plugin only, so an IPAM plugin never sees the keys of its caller.
		"CNI_ARGS=" + strings.Trim(args.Args+";IgnoreUnknown=1", ";"),
		"CNI_PATH=" + settings.CNIPath,
	}
	if settings.Socket != "" {
		shim.Env = append(shim.Env, "PLEXUS_SOCKET="+settings.Socket)
	}
	run := shim.Run
	if settings.Node != "" {
		run = func() error { return ns.WithNetNSPath(settings.Node, func(ns.NetNS) error { return shim.Run() }) }
	}
	if err := run(); err != nil {
		failure := &types.Error{}
		if json.Unmarshal(stdout.Bytes(), failure) == nil && failure.Msg != "" {
			return failure
		}
		return fmt.Errorf("plexus %s: %w: %s%s", verb, err, stdout.String(), stderr.String())
	}
	if verb == "ADD" {
		attached[place] = attachment{container, network}
		isAttached[specification()+"container "+container] = true
		isAttached[specification()+"network "+network] = true
	}
	_, err = os.Stdout.Write(stdout.Bytes())
	return err
}

// nameOf reads the network's name in a configuration.
func nameOf(stdin []byte) string {
	var named struct{ Name string }
	_ = json.Unmarshal(stdin, &named)
	return named.Name
}

// hostConfiguration makes the plugin's configuration the only network of a configuration of Plexus, under the name in network. A prevResult becomes the
// result of a recorder that runs before.
func hostConfiguration(stdin []byte, network string) ([]byte, error) {
	var step object
	host := settings.Host
	if err := json.Unmarshal(stdin, &step); err != nil {
		return stdin, nil // Plexus refuses the text itself.
	}
	if network != nameOf(stdin) {
		step["name"] = network
	}
	for _, key := range []string{"cniVersion", "name"} {
		if value, ok := step[key]; ok {
			host[key] = value
		}
	}
	host["cniDir"] = filepath.Join(host["cniDir"].(string), specification())
	if ipam, ok := step["ipam"].(object); ok {
		allowResolverFile(host, ipam["resolvConf"])
	}
	list := object{"name": host["name"]}
	if version, ok := step["cniVersion"]; ok {
		list["cniVersion"] = version
	}
	plugins := []any{}
	if previous, ok := step["prevResult"].(object); ok {
		recorder := settings.Recorder
		if _, ok := previous["cniVersion"]; !ok {
			previous["cniVersion"] = step["cniVersion"]
		}
		text, err := json.Marshal(previous)
		if err != nil {
			return nil, err
		}
		if err := os.MkdirAll(recorder+".script", 0o755); err != nil {
			return nil, err
		}
		if err := os.WriteFile(recorder+".script/ADD.out", text, 0o644); err != nil {
			return nil, err
		}
		plugins = append(plugins, object{"type": "recorder"})
	}
	if arguments, ok := step["runtimeConfig"].(object); ok {
		host["runtimeConfig"] = arguments
		capabilities := object{}
		for key := range arguments {
			capabilities[key] = true
		}
		host["capabilities"] = capabilities
		step["capabilities"] = capabilities
	}
	for _, key := range []string{"cniVersion", "name", "prevResult", "runtimeConfig"} {
		delete(step, key)
	}
	step["type"] = settings.Type
	list["plugins"] = append(plugins, step)
	host["delegates"] = []any{list}
	return json.Marshal(host)
}

// allowResolverFile grants the file that a specification makes for itself.
func allowResolverFile(host object, file any) {
	grants := host["wasm"].(object)["grants"].(object)
	if local, ok := grants["host-local"].(object); ok && file != nil && file != "" {
		local["resolver"] = object{"files": []any{"/etc/resolv.conf", file}}
	}
}

func cmdAdd(args *skel.CmdArgs) error    { return throughPlexus("ADD", args) }
func cmdDel(args *skel.CmdArgs) error    { return throughPlexus("DEL", args) }
func cmdCheck(args *skel.CmdArgs) error  { return throughPlexus("CHECK", args) }
func cmdStatus(args *skel.CmdArgs) error { return throughPlexus("STATUS", args) }
