// The parsers of files of administrators, of the node, and of what servers answer.

import { readLeaseRecord } from "../../../src/dhcp/lease-record.ts";
import { readServerMessage } from "../../../src/dhcp/message.ts";
import { parseResolvConf } from "../../../host/capabilities/resolver/resolv-conf.ts";
import { parseEntry } from "../../../host/store/journal/entry-file.ts";
import { readDeviceSettings } from "../../../features/claims/rules/device-settings.ts";
import { readPreparedClaim } from "../../../features/claims/rules/prepared-claim.ts";
import { readHostLocalLease } from "../../../features/pools/rules/import/host-local.ts";
import { decodeValue } from "../../../src/chain-trace/import-values.ts";
import { readChainTrace } from "../../../src/chain-trace/read-chain-trace.ts";
import { readRecordingQuery } from "../../../features/chain-trace/rules/recording-request.ts";
import { exampleTrace } from "../../../src/chain-trace/testing/example-trace.ts";
import { chainTraceText } from "../../../src/chain-trace/read-chain-trace.ts";
import { cachedResultText } from "../../../src/cni/cache.ts";
import { inlineNetwork } from "../../../src/cni/inline-network.ts";
import { parseNetworkList } from "../../../src/cni/network-list.ts";
import { readCommandLine } from "../../../src/command-line/read-command-line.ts";
import { readWrittenContent } from "../../../src/configuration/foreign-steps.ts";
import { withFile, readLayer } from "../../../src/configuration/layers.ts";
import { readMultusConfiguration } from "../../../src/configuration/multus-configuration.ts";
import { readMultusFlags } from "../../../src/configuration/multus-flags.ts";
import { readHostConfiguration } from "../../../src/configuration/read-host-configuration.ts";
import { readUidOption } from "../../../src/configuration/uid-option.ts";
import { readMark, readTemplate } from "../../../src/configuration/written-configuration.ts";
import { boundedJson } from "../../../src/json/bounded-json.ts";
import { jsonChanges } from "../../../src/json/json-changes.ts";
import { parseDocument } from "../../../src/json/document.ts";
import { readCredentialPlugin, readPluginOutput } from "../../../src/kube/credential-plugin.ts";
import { readKubeconfig } from "../../../src/kube/kubeconfig.ts";
import { readLease } from "../../../src/kube/lease.ts";
import { readListPage, readWatchEvent } from "../../../src/kube/object-list.ts";
import { readNodeTables } from "../../../src/kube/node-tables.ts";
import { readTokenClaims } from "../../../src/kube/token-claims.ts";
import { readAddress, readCidr } from "../../../src/net/ip.ts";
import { readTraffic } from "../../../src/net/link-traffic.ts";
import { parseHardwareAddress } from "../../../src/npwg/hardware-address.ts";
import { indentQuotedScalars } from "../../../src/npwg/quoted-scalars.ts";
import { readChallenge } from "../../../features/components/rules/challenge.ts";
import { readComponentList } from "../../../features/components/rules/component-list.ts";
import { readLock } from "../../../features/components/rules/lock-file.ts";
import { readIndex, readManifest, readReferrers } from "../../../src/oci/manifest.ts";
import { readReference } from "../../../features/components/rules/reference.ts";
import { readRegistryCredentials } from "../../../features/components/rules/registry-credentials.ts";
import { readSignatures } from "../../../src/oci/signatures-file.ts";
import { statementProblem } from "../../../src/oci/statement.ts";
import { checkWasmConfig } from "../../../features/components/rules/wasm-config.ts";
import { readMessage } from "../../../src/ovsdb/messages.ts";
import { readTextMap } from "../../../src/ovsdb/values.ts";
import { redactText } from "../../../src/redact/redact.ts";
import { allowedByList } from "../../../src/sysctl/allowlist.ts";
import { readExpression } from "../../../src/sysctl/expression.ts";
import type { Parser } from "./parser.ts";
import {
  cached,
  credential,
  digest,
  exec,
  execPlugin,
  host,
  key,
  kubeconfig,
  list,
  manifest,
  metadata,
  plan,
  plugin,
  result,
  statement,
  words,
  deviceSettings,
  linkTraffic,
  preparedClaim,
} from "./samples.ts";

/** BOOTREPLY with the magic cookie, a message type and the end of the options, as text of one byte each. */
const dhcpAnswer = `\u0002\u0001\u0006${"\u0000".repeat(233)}c\u0082Sc5\u0001\u0005\u00ff`;

/** Parsers of files and of answers of servers. */
// prettier-ignore
export const parsersOfFiles: readonly Parser[] = [
  // Texts of an administrator, and of files on the node.
  { name: "configuration list", covers: ["parseNetworkList", "parsePluginConf", "parseVersion"], kind: "json", sample: list, parse: (text) => parseNetworkList(text) },
  { name: "configuration within Plexus' own", kind: "json", sample: plugin, parse: (text) => inlineNetwork(text, "delegates[0]", { name: "a", cniVersion: "1.0.0" }) },
  { name: "Plexus' own configuration", covers: ["readHostConfiguration", "readLayer"], kind: "json", sample: host, keys: ["steps", "wasm", "kubeconfig", "readinessindicatorfile"], parse: (text) => {
    const document = parseDocument(text, { what: "stdin" });
    const layer = document.ok ? readLayer(document.value) : document;
    return layer.ok ? readHostConfiguration(layer.value.document.parsed) : layer;
  } },
  { name: "Plexus' configuration file", kind: "json", sample: host, parse: (text) => {
    const stdin = parseDocument('{"cniVersion":"1.0.0","name":"n","type":"plexus"}', { what: "stdin" });
    return stdin.ok ? withFile(stdin.value, { path: "/file", text }) : stdin;
  } },
  { name: "template", covers: ["readTemplate"], kind: "json", sample: { name: "all", logLevel: "debug" }, parse: (text) => readTemplate(text, "/template") },
  {
    name: "written configuration with foreign steps",
    covers: ["readWrittenContent"],
    kind: "json",
    sample: { cniVersion: "1.0.0", name: "all", plugins: [{ type: "plexus" }, { type: "of-a-mesh" }] },
    parse: (text) => readWrittenContent(text, ["plexus"]),
  },
  { name: "written configuration", covers: ["readMark"], kind: "json", sample: { writtenBy: "plexusd", retirement: { held: true } }, parse: readMark },
  { name: "Multus' configuration", covers: ["readMultusConfiguration"], kind: "json", sample: { ...list, type: "multus", delegates: [plugin] }, parse: (text) => readMultusConfiguration(text, "file") },
  { name: "flags of Multus", covers: ["readMultusFlags"], kind: "text", sample: "--cni-version=0.3.1 --namespace-isolation", parse: (text) => readMultusFlags(words(text)) },
  { name: "uids of sandboxes", covers: ["readUidOption"], kind: "text", sample: "2000000000:100", parse: readUidOption },
  { name: "query of a recording", covers: ["readRecordingQuery"], kind: "text", sample: "next=1&pod=a/b", parse: readRecordingQuery },
  { name: "command line", covers: ["readCommandLine"], kind: "text", sample: "status --json", parse: (text) => readCommandLine({ name: "status", summary: "a", attention: "b", options: [{ name: "json", about: "b" }, { name: "json-lines", value: "FILE", about: "c" }] }, words(text)) },
  { name: "cache entry", covers: ["decodeCache", "decodeCacheOf"], kind: "json", sample: JSON.parse(cached), parse: (text) => cachedResultText(key, text) },
  { name: "journal entry", covers: ["parseEntry"], kind: "json", sample: plan, parse: (text) => parseEntry("/journal/x", `${text}\n{"attempted":0}\n`, key) },
  { name: "lines of a journal entry", kind: "text", sample: '{"attempted":0}\n', parse: (text) => parseEntry("/journal/x", `${JSON.stringify(plan)}\n${text}`, key) },
  { name: "chain trace", covers: ["readChainTrace", "readSteps"], kind: "json", sample: JSON.parse(chainTraceText(exampleTrace())), parse: (text) => readChainTrace(text, "trace") },
  { name: "value of a chain trace", covers: ["decodeValue"], kind: "value", sample: { a: [{ b: 1 }] }, parse: decodeValue },
  { name: "differences of two documents", kind: "value", sample: result, parse: (value) => jsonChanges(result, value) },
  { name: "bounded JSON", kind: "json", sample: result, parse: boundedJson },
  { name: "text of a system's dump", kind: "json", sample: { user: { password: "abc" }, text: "token=abcdefgh" }, parse: (text) => redactText(text) },
  { name: "lease of native host-local", covers: ["readHostLocalLease"], kind: "text", sample: "c1\r\neth0", parse: (text) => readHostLocalLease("10.0.0.2", text, "/lease") },
  { name: "resolv.conf", covers: ["parseResolvConf"], kind: "text", sample: "nameserver 10.0.0.1\nsearch a b", parse: parseResolvConf },
  { name: "allow-list of tuning", covers: ["readExpression"], kind: "text", sample: "^net/ipv4/conf/IFNAME/[a-z_]*$\n", parse: (text) => allowedByList({ file: "/list", text }, "net/ipv4/conf/eth0/rp_filter", "eth0", readExpression) },
  { name: "expression of an allow-list", kind: "text", sample: "^net/ipv4/conf/IFNAME/(?:a|b)[a-z_]*$", parse: readExpression },
  { name: "key that an allow-list judges", kind: "text", sample: "net/ipv4/conf/eth0/rp_filter", parse: (text) => allowedByList({ file: "/list", text: "^net.ipv4.conf.IFNAME.[a-z_]*$\n^a*a*a*b" }, text, "eth0", readExpression) },
  { name: "address", covers: ["readAddress"], kind: "text", sample: "fd00::1", parse: readAddress },
  { name: "network", covers: ["readCidr"], kind: "text", sample: "10.0.0.0/24", parse: readCidr },
  { name: "hardware address", covers: ["parseHardwareAddress"], kind: "text", sample: "02:00:00:00:00:01", parse: parseHardwareAddress },
  { name: "kubeconfig", covers: ["readKubeconfig"], kind: "value", sample: kubeconfig, parse: (value) => readKubeconfig(value, "/kubeconfig") },
  { name: "exec of a kubeconfig", covers: ["readCredentialPlugin"], kind: "value", sample: exec, parse: (value) => readCredentialPlugin(value, {}, () => undefined) },
  { name: "output of a credential plugin", covers: ["readPluginOutput"], kind: "json", sample: credential, parse: (text) => readPluginOutput(text, execPlugin, "get") },
  { name: "YAML with quoted configurations", covers: ["indentQuotedScalars"], kind: "text", sample: "spec:\n  config: '{\n\"a\": 1}'\n", parse: indentQuotedScalars },
  // Texts of servers.
  { name: "message of a DHCP server", covers: ["readServerMessage"], kind: "text", sample: dhcpAnswer, parse: (text) => readServerMessage(Buffer.from(text, "latin1")) },
  { name: "record of a DHCP lease", covers: ["readLeaseRecord"], kind: "json", sample: { network: "n", attachment: { containerId: "c", ifname: "eth0" }, lease: { address: "10.0.0.5", options: [{ number: 3, value: [10, 0, 0, 1] }] } }, parse: readLeaseRecord },
  { name: "page of a list", covers: ["readListPage"], kind: "json", sample: { metadata: { resourceVersion: "1", continue: "" }, items: [{ metadata }] }, parse: readListPage },
  { name: "event of a watch", covers: ["readWatchEvent"], kind: "json", sample: { type: "ADDED", object: { metadata } }, parse: readWatchEvent },
  { name: "Lease", covers: ["readLease"], kind: "value", sample: { metadata, spec: { holderIdentity: "a", leaseDurationSeconds: 15, renewTime: "t" } }, parse: readLease },
  { name: "token of a service account", covers: ["readTokenClaims"], kind: "text", sample: `a.${btoa('{"kubernetes.io":{}}')}.c`, parse: readTokenClaims },
  { name: "message of OVSDB", covers: ["readMessage"], kind: "json", sample: { id: 1, result: [{ rows: [{ a: ["map", [["k", "v"]]] }] }], error: null }, parse: (text) => readMessage(text, { id: 1, operations: 1 }) },
  { name: "map of OVSDB", covers: ["readTextMap", "readUuid", "readOptional", "readNamed", "readInterface", "readIntegers", "readPort", "readPortVlans"], kind: "value", sample: ["map", [["k", "v"]]], parse: readTextMap },
  { name: "OCI manifest", covers: ["readManifest"], kind: "json", sample: manifest, parse: readManifest },
  { name: "OCI index", covers: ["readIndex"], kind: "json", sample: { schemaVersion: 2, manifests: [{ mediaType: "a/b", digest, size: 1, annotations: { a: "b" } }] }, parse: readIndex },
  { name: "OCI referrers", covers: ["readReferrers"], kind: "json", sample: { schemaVersion: 2, manifests: [{ mediaType: "a/b", digest, size: 1, annotations: { a: "b" } }] }, parse: readReferrers },
  { name: "OCI configuration", kind: "json", sample: { architecture: "wasm", os: "wasip2", layerDigests: [digest] }, parse: (text) => checkWasmConfig(text, digest) },
  { name: "OCI reference", kind: "text", sample: "registry.example/a/b-c:tag", parse: readReference },
  { name: "challenge of a registry", covers: ["readChallenge"], kind: "text", sample: 'Bearer realm="https://a/b",service="c"', parse: readChallenge },
  { name: "credentials of registries", covers: ["readRegistryCredentials"], kind: "json", sample: { auths: { "a.b/c": { auth: "YTpi" } }, credHelpers: { a: "b" } }, parse: (text) => {
    const read = readRegistryCredentials(text, "/file");
    return read.ok ? read.value.of("a.b", "c") : read;
  } },
  { name: "signatures beside a component", covers: ["readSignatures"], kind: "json", sample: { apiVersion: "plexus/v1", kind: "ComponentSignatures", manifests: [{ manifest: "{}", bundles: ["{}"] }] }, parse: readSignatures },
  { name: "signed statement", kind: "json", sample: statement, parse: (text) => statementProblem(text, digest) },
  { name: "list of components", covers: ["readComponentList"], kind: "json", sample: { keys: { a: "/a.pem" }, components: [{ type: "a", reference: `r.example/a@${digest}`, signedBy: "a", digest }] }, parse: (text) => readComponentList(text, "/list") },
  { name: "devices of claims", covers: ["readDeviceSettings"], kind: "json", sample: deviceSettings, parse: readDeviceSettings },
  { name: "prepared claim", covers: ["readPreparedClaim"], kind: "json", sample: preparedClaim, parse: readPreparedClaim },
  { name: "tables of a node's pods", covers: ["readNodeTables"], kind: "json", sample: { kind: "PolicyTables", isOn: true, pods: [{ pod: "a/b", isKnown: true, isolated: [] }] }, parse: (text) => readNodeTables(text, "PolicyTables", ({ isolated }) => Array.isArray(isolated)) },
  { name: "traffic of links", covers: ["readTraffic"], kind: "json", sample: linkTraffic, parse: readTraffic },
  { name: "lock file", covers: ["readLock"], kind: "json", sample: { kind: "ComponentLock", components: [{ type: "a", file: "/a", digest, manifestDigest: digest, source: "s" }] }, parse: (text) => readLock(text, "/lock") },
];
