// The delegate in Go that the test of the Go packages calls: it decodes arguments from its configuration, calls a function, and answers the result as JSON.

import { GoTypes } from "../../../wit/codegen/go/types.ts";
import { goName } from "../../../wit/codegen/go/names.ts";
import { Layout } from "../../../wit/codegen/layout.ts";
import type { TypeRef, WitFunction, WitModel } from "../../../wit/model.ts";

/** A function of a capability. */
export interface CapabilityFunction {
  readonly capability: string;
  readonly name: string;
  readonly definition: WitFunction;
}

/** All functions of the capabilities. */
export function functionsOf(model: WitModel, capabilities: readonly string[]): readonly CapabilityFunction[] {
  return capabilities.flatMap((capability) =>
    Object.entries(model.interfaces[capability]?.functions ?? {}).map(([name, definition]) => ({ capability, name, definition })),
  );
}

/** The text of `main.go`. A verb of another network than `call` answers its request, and an ADD with the configuration `pass` the previous result. */
export function callerProgram(model: WitModel, capabilities: readonly string[]): string {
  const layout = new Layout(model);
  const functions = functionsOf(model, capabilities);
  const types = new GoTypes(layout, "main");
  const decoders = new Map<string, string>();
  const decoded = (type: TypeRef, raw: string): string => {
    const shape = layout.shape(type);
    const element = shape.kind === "list" ? layout.shape(shape.element) : undefined;
    if (element?.kind !== "variant") return `decode[${types.text(type)}](${raw})`;
    const title = types.named(element.name);
    const cases = element.cases.map(([label, payload], index) => {
      const own = types.named(element.name, goName(label));
      return `case ${index}: return ${own}{${payload === null ? "" : `Value: decode[${types.text(payload)}](value.Value)`}}\n`;
    });
    decoders.set(
      title,
      `func variant(value tagged) ${title} { switch value.Case {\n${cases.join("")}}\npanic("no such case") }\n`,
    );
    return `variants(${raw})`;
  };
  const calls = functions.map(({ capability, name, definition }, index) => {
    const args = definition.params.map(([, type], at) => decoded(type, `args[${at}]`)).join(", ");
    const call = `${capability}.${goName(name)}(${args})`;
    if (definition.result === null) return `case ${index}: ${call}; return answer(nil, nil)\n`;
    const shape = layout.shape(definition.result);
    const hasValue = shape.kind === "result" && shape.ok !== null;
    return hasValue
      ? `case ${index}: value, err := ${call}; return answer(value, err)\n`
      : `case ${index}: return answer(nil, ${call})\n`;
  });
  const imports = capabilities.map((capability) => `\t"plexus/${capability}"\n`).join("");
  return `package main

import (
	"encoding/json"
	"errors"

	"plexus"
${imports})

type delegate struct{}

func init() { plexus.Export(delegate{}) }
func main() {}

func must(err error) { if err != nil { panic(err) } }
func decode[T any](raw json.RawMessage) (value T) { must(json.Unmarshal(raw, &value)); return value }
func text(value any) string { bytes, err := json.Marshal(value); must(err); return string(bytes) }
func said(value any) error { return plexus.NewFault(100, text(value)) }

type tagged struct { Case int; Value json.RawMessage }
func variants(raw json.RawMessage) (values []links.Operation) {
	for _, each := range decode[[]tagged](raw) { values = append(values, variant(each)) }
	return values
}
${[...decoders.values()].join("")}
func answer(value any, err error) error {
	var fault *plexus.Fault
	if errors.As(err, &fault) { return said(map[string]any{"err": fault}) }
	return said(map[string]any{"ok": value})
}

func call(function int, args []json.RawMessage) error {
	switch function {
${calls.join("")}	}
	panic("no such function")
}

func (delegate) Add(request plexus.AttachmentRequest) (plexus.Success, error) {
	if request.Network.Config == "pass" { return *request.PrevResult, nil }
	if request.Network.Name != "call" { return plexus.Success{}, said(request) }
	config := decode[struct { Function int; Args []json.RawMessage }](json.RawMessage(request.Network.Config))
	return plexus.Success{}, call(config.Function, config.Args)
}
func (delegate) Del(request plexus.AttachmentRequest) error { return said(request) }
func (delegate) Check(request plexus.AttachmentRequest) error { return said(request) }
func (delegate) Gc(request plexus.GcRequest) error { return said(request) }
func (delegate) Status(request plexus.StatusRequest) error { return said(request) }
`;
}
