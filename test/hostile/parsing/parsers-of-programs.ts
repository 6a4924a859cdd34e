// The parsers of what runtimes, plugins and components say.

import { readNetworkConfig, readNetworkMetadata } from "../../../features/network-api/rules/network-config.ts";
import { readStoredNetwork } from "../../../features/network-api/rules/stored-network.ts";
import { toConflist } from "../../../features/network-api/rules/to-conflist.ts";
import { FieldReader, FieldWriter } from "../../../host/protocol/fields.ts";
import { checkDeclaration } from "../../../host/sandbox/admission/declaration.ts";
import { parseCniArgs, readKnownArgs, splitCniArgs } from "../../../src/cni/environment.ts";
import { readPluginFailure } from "../../../src/cni/error-json.ts";
import { readPluginRequest } from "../../../src/cni/plugin-request.ts";
import { readResult } from "../../../src/cni/read-result.ts";
import { readVersionAnswer } from "../../../src/cni/version-answer.ts";
import { withoutSecrets } from "../../../src/fault/without-secrets.ts";
import { parseDocument } from "../../../src/json/document.ts";
import { defaultNetworkCapabilityArgs } from "../../../src/npwg/capability-args.ts";
import { readDeviceInfo } from "../../../src/npwg/device-info.ts";
import { inertText } from "../../../src/text/inert-text.ts";
import { redactorOf } from "../../../src/text/secret-values.ts";
import { traceEnvironment } from "../../../src/trace/trace-context.ts";
import { type Parser, attempted } from "./parser.ts";
import { environment, host, list, networkConfig, result } from "./samples.ts";

/** Parsers of what runtimes, plugins and components say. */
// prettier-ignore
export const parsersOfPrograms: readonly Parser[] = [
  // Texts of a runtime.
  { name: "request on stdin", covers: ["readPluginRequest"], kind: "json", sample: host, parse: (text) => readPluginRequest("ADD", text) },
  { name: "CNI_ARGS, strictly", covers: ["parseCniArgs", "readKnownArgs"], kind: "text", sample: "IgnoreUnknown=1;K8S_POD_NAME=a", parse: (text) => {
    const args = parseCniArgs(text);
    return args.ok ? readKnownArgs(args.value, new Set(["IP"])) : args;
  } },
  { name: "CNI_ARGS", covers: ["splitCniArgs"], kind: "text", sample: "IgnoreUnknown=1;K8S_POD_NAME=a", parse: splitCniArgs },
  ...["CNI_CONTAINERID", "CNI_NETNS", "CNI_IFNAME", "CNI_ARGS", "CNI_PATH"].map((name): Parser => ({ name, covers: ["readEnvironment"], kind: "text", sample: "/run/a", parse: environment(name) })),
  // A character beyond U+007F is a byte that is not UTF-8.
  { name: "environment of a call", kind: "text", sample: "A=/run/\u00ff\u00e2\u0082a", parse: (text) => {
    const block = Buffer.from(`${text.replaceAll("\0", "")}\0`, "latin1");
    const read = new FieldReader(new FieldWriter().bytes(block).payload()).environment();
    return new FieldWriter().environment(read).payload();
  } },
  { name: "TRACEPARENT", covers: ["parseTraceparent"], kind: "text", sample: `00-${"a".repeat(32)}-${"b".repeat(16)}-01`, parse: (text) => traceEnvironment(new Map([["TRACEPARENT", text], ["TRACESTATE", text], ["BAGGAGE", text]])) },
  { name: "runtimeConfig", kind: "json", sample: { ...host, capabilities: { portMappings: true }, runtimeConfig: { portMappings: [{ hostPort: 80, containerPort: 80, protocol: "tcp" }] } }, parse: (text) => {
    const document = parseDocument(text, { what: "stdin" });
    return document.ok ? defaultNetworkCapabilityArgs(document.value) : document;
  } },
  { name: "network of the CRI Network API", covers: ["readNetworkConfig", "readNetworkMetadata"], kind: "value", sample: networkConfig, parse: (value) => {
    const read = readNetworkConfig(value);
    return read.ok ? toConflist(read.value) : readNetworkMetadata(value);
  } },
  { name: "stored network of the CRI Network API", covers: ["readStoredNetwork", "readStoredDocument"], kind: "json", sample: { ...networkConfig, list }, parse: (text) => readStoredNetwork(text, "file", "pods") },
  // Texts of a plugin or a component.
  { name: "result", covers: ["readResult"], kind: "json", sample: result, parse: (text) => readResult(text, "1.0.0") },
  { name: "result of 0.4.0", kind: "json", sample: { ...result, cniVersion: "0.4.0", ips: [{ version: "4", address: "10.0.0.2/24", interface: 0 }] }, parse: (text) => readResult(text, "0.4.0") },
  { name: "result of 0.2.0", kind: "json", sample: { cniVersion: "0.2.0", ip4: { ip: "10.0.0.2/24", gateway: "10.0.0.1", routes: [{ dst: "0.0.0.0/0" }] } }, parse: (text) => readResult(text, "0.2.0") },
  { name: "error of a plugin", covers: ["readPluginFailure"], kind: "json", sample: { cniVersion: "1.0.0", code: 7, msg: "no", details: "why" }, parse: (text) => readPluginFailure({ ended: "exit status 1", stdout: text, stderr: text }) },
  { name: "stderr of a plugin", kind: "text", sample: "level=error msg=x token=abcdef", parse: (text) => readPluginFailure({ ended: "exit status 1", stdout: "", stderr: text }) },
  { name: "answer to VERSION", covers: ["readVersionAnswer"], kind: "json", sample: { cniVersion: "1.0.0", supportedVersions: ["1.0.0"] }, parse: (text) => readVersionAnswer({ ok: true, stdout: text }) },
  { name: "device information", covers: ["readDeviceInfo"], kind: "json", sample: { type: "pci", version: "1.1.0", pci: { "pci-address": "0000:00:00.0" } }, parse: (text) => readDeviceInfo(text, "file") },
  { name: "declaration of a component", kind: "value", sample: { name: "a", abi: "1.0.0", version: "1.0.0", about: "b", cniVersions: ["1.0.0"], capabilities: { log: "why" }, optional: ["log"] }, parse: attempted(checkDeclaration) },
  { name: "output without secrets by its shape", kind: "text", sample: 'a --token abcdef "password": "x" https://a:b@c -----BEGIN PRIVATE KEY-----', parse: (text) => withoutSecrets(text) },
  { name: "output without a configuration's secrets", kind: "text", sample: "the password is hunter22hunter", parse: (text) => redactorOf({ stdin: JSON.stringify({ a: { password: "hunter22hunter" } }), env: [] })(text, true) },
  { name: "a configuration's secrets", kind: "json", sample: { type: "a", token: "abcdefgh", url: "https://a:bcdefg@h", env: [{ name: "PASSWORD", value: "abcdefgh" }], text: '{"password":"abcdefgh"}' }, parse: (text) => redactorOf({ stdin: text, env: [] })("the token is abcdefgh", true) },
  { name: "text without control characters", kind: "text", sample: "a\u001b[31mb", parse: (text) => inertText(text, text.length) },
];
