// The template of a delegate in Go, with the package plexus of the kit.

import { goPackagePath, goVersion } from "../language.ts";
import { type Template, type TemplateInit } from "./template.ts";

const source = ({ capabilities }: TemplateInit): string => `// Describe the delegate in one or two sentences.
package main

import (
	"encoding/json"
	"fmt"

	"plexus"
${capabilities.map((each) => `\t// "plexus/${each}"\n`).join("")}	"plexus/log"
)

type delegate struct{}

func init() { plexus.Export(delegate{}) }

// The node does not call main.
func main() {}

func (delegate) Add(request plexus.AttachmentRequest) (plexus.Success, error) {
	greeting, err := greetingIn(request.Network)
	if err != nil {
		return plexus.Success{}, err
	}
	if request.PrevResult == nil {
		return plexus.Success{}, invalidConfig("prevResult", "is missing: put this plugin after others")
	}
	log.Write(log.LevelInfo, fmt.Sprintf("%s, %s", greeting, request.Attachment.ContainerID))
	return *request.PrevResult, nil
}

// Del must succeed if there is nothing to undo, and when it is repeated.
func (delegate) Del(request plexus.AttachmentRequest) error { return nil }

func (delegate) Check(request plexus.AttachmentRequest) error {
	_, err := greetingIn(request.Network)
	return err
}

func (delegate) Gc(request plexus.GcRequest) error { return nil }

func (delegate) Status(request plexus.StatusRequest) error {
	_, err := greetingIn(request.Network)
	return err
}

func greetingIn(network plexus.Network) (string, error) {
	var config struct {
		Greeting any \`json:"greeting"\`
	}
	if err := json.Unmarshal([]byte(network.Config), &config); err != nil {
		return "", invalidConfig("(top)", err.Error())
	}
	switch greeting := config.Greeting.(type) {
	case nil:
		return "hello", nil
	case string:
		return greeting, nil
	default:
		return "", invalidConfig("greeting", "must be a string, is a "+kindOf(greeting))
	}
}

// kindOf answers the JSON name of a value's type.
func kindOf(value any) string {
	switch value.(type) {
	case bool:
		return "boolean"
	case float64:
		return "number"
	case []any:
		return "list"
	default:
		return "object"
	}
}

// A Fault that is returned is the delegate's error. Any other error has the code 999, and a panic ends the call as a defect.
func invalidConfig(field, why string) error {
	return plexus.NewFault(plexus.CodeInvalidConfig, field+": "+why)
}
`;

/** The package of the kit is a directory of node_modules, so Go asks no proxy for it. */
const manifest = ({ name, abi }: TemplateInit): string => `module ${name}

go ${goVersion}

require plexus v0.0.0

replace plexus => ./${goPackagePath(abi)}
`;

/** `go.mod` and `main.go`. */
export const go: Template = {
  files: (init) => [
    ["go.mod", manifest(init)],
    ["main.go", source(init)],
  ],
  manifest: { scripts: { test: "plexus-delegate test" }, devDependencies: {} },
  ignored: [],
};
