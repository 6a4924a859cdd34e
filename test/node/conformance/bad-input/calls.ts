// Bad input from the runtime: environment and stdin (checklist L-01 to L-24).

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { Call } from "../../../lab/plexus.ts";
import type { BadInput, CaseContext } from "./bad-input.ts";

/** A call with changed parts. */
function calling(change: Partial<Call>): (context: CaseContext) => Call {
  return (context) => ({ ...context.call, ...change });
}

/** A call with changed members of the configuration. `undefined` removes a member. */
function configuring(change: Readonly<Record<string, unknown>>, call: Partial<Call> = {}): (context: CaseContext) => Call {
  return (context) => ({ ...context.call, ...call, config: { ...context.config, ...change } });
}

/** A call whose stdin is this text. */
function reading(text: string | Buffer, call: Partial<Call> = {}): (context: CaseContext) => Call {
  return (context) => ({ ...context.call, ...call, stdin: text });
}

/** A call whose only delegate is this value. */
function delegating(delegate: unknown): (context: CaseContext) => Call {
  return configuring({ delegates: [delegate] });
}

/** A call whose delegate is a valid list with changed members. */
function listing(change: Readonly<Record<string, unknown>>): (context: CaseContext) => Call {
  return delegating({ name: "inner", cniVersion: "1.0.0", plugins: [{ type: "rec" }], ...change });
}

const without = (name: string, verb = "ADD"): ((context: CaseContext) => Call) => calling({ verb, env: { [name]: undefined } });

const environment: readonly BadInput[] = [
  { title: "L-05: an unknown verb is refused", call: calling({ verb: "ADDD" }), code: 4, message: /CNI_COMMAND.*ADDD/ },
  { title: "L-05: a verb in lower case is refused", call: calling({ verb: "add" }), code: 4, message: /CNI_COMMAND.*add/ },
  { title: "L-05: a verb with a line end is refused", call: calling({ verb: "ADD\n" }), code: 4, message: "CNI_COMMAND" },
  { title: "L-05: ADD without a container ID is refused", call: without("CNI_CONTAINERID"), code: 4, message: "CNI_CONTAINERID" },
  {
    title: "L-02: ADD with an empty container ID is refused",
    call: calling({ containerId: "" }),
    code: 4,
    message: "CNI_CONTAINERID",
  },
  { title: "L-05: ADD without an interface name is refused", call: without("CNI_IFNAME"), code: 4, message: "CNI_IFNAME" },
  { title: "L-05: ADD without a namespace is refused", call: without("CNI_NETNS"), code: 4, message: "CNI_NETNS" },
  { title: "L-05: ADD without CNI_PATH is refused", call: without("CNI_PATH"), code: 4, message: "CNI_PATH" },
  {
    title: "L-05: one message names all missing variables",
    call: calling({ env: { CNI_CONTAINERID: undefined, CNI_NETNS: undefined, CNI_IFNAME: undefined } }),
    code: 4,
    message: /CNI_CONTAINERID.*CNI_NETNS.*CNI_IFNAME/,
  },
  {
    title: "L-05: DEL without a container ID is refused",
    call: without("CNI_CONTAINERID", "DEL"),
    code: 4,
    message: "CNI_CONTAINERID",
  },
  { title: "L-05: DEL without an interface name is refused", call: without("CNI_IFNAME", "DEL"), code: 4, message: "CNI_IFNAME" },
  { title: "L-05: CHECK without a namespace is refused", call: without("CNI_NETNS", "CHECK"), code: 4, message: "CNI_NETNS" },
  { title: "L-05: GC without CNI_PATH is refused", call: without("CNI_PATH", "GC"), code: 4, message: "CNI_PATH" },
  { title: "L-05: STATUS without CNI_PATH is refused", call: without("CNI_PATH", "STATUS"), code: 4, message: "CNI_PATH" },
  ...["-leading", "a/b", "../../etc", "a b", "contäiner", "trailing\n", "a;b", "."].map((containerId) => ({
    title: `L-01, L-02: the container ID ${JSON.stringify(containerId)} is refused`,
    call: calling({ containerId }),
    code: 4,
    message: "CNI_CONTAINERID",
  })),
  ...["sixteen-bytes-xx", "ééééééé\u00e9", ".", "..", "a/b", "../x", "a:b", "a b", "a\u00a0b", "a\u0085b", "eth0\n"].map(
    (ifname) => ({
      title: `L-03: the interface name ${JSON.stringify(ifname)} is refused`,
      call: calling({ ifname }),
      code: 4,
      message: "CNI_IFNAME",
    }),
  ),
  ...["all", "default", "net%d", "a%b"].map((ifname) => ({
    title: `N1-30: the interface name ${JSON.stringify(ifname)}, which the kernel refuses or expands, is refused`,
    call: calling({ ifname }),
    code: 4,
    message: "CNI_IFNAME",
  })),
];

/** A call whose variable has the value that `printf` writes, because Node cannot set bytes that are not UTF-8. */
function printed(variable: string, value: string): (context: CaseContext) => Call {
  return calling({ through: ["/bin/sh", "-c", `${variable}=$(printf '${value}') exec "$0"`] });
}

const bytes: readonly BadInput[] = [
  ["CNI_ARGS", "K8S_POD_NAME=a\\377b;IgnoreUnknown=1"],
  ["CNI_CONTAINERID", "ctr\\377"],
  ["CNI_IFNAME", "eth\\377"],
  ["CNI_NETNS", "/run/netns/\\355\\240\\200"],
].map(([variable = "", value = ""]) => ({
  title: `CNI section 2: ${variable} with bytes that are not UTF-8 is refused`,
  call: printed(variable, value),
  code: 4,
  message: variable,
}));

const json: readonly BadInput[] = [
  { title: "L-06: empty stdin is refused", call: reading(""), code: 6, message: /stdin|configuration/ },
  {
    title: "L-06: text that is not JSON is refused with its position",
    call: reading("hello"),
    code: 6,
    message: /JSON.*(line|offset|position|character)|(line|offset|position|character).*JSON/i,
  },
  { title: "L-06: truncated JSON is refused", call: reading('{"cniVersion":"1.0.0","name":'), code: 6, message: /JSON/ },
  {
    title: "L-06: text after the JSON is refused",
    call: reading('{"cniVersion":"1.0.0","name":"n","type":"plexus"} x'),
    code: 6,
    message: /JSON/,
  },
  ...["[]", '"plexus"', "5", "null", "true"].map((text) => ({
    title: `L-06: stdin of ${text} is refused`,
    call: reading(text),
    code: 6,
    message: /object/,
  })),
  {
    title: "A-06: bytes that are not UTF-8 are refused",
    call: reading(Buffer.from('{"name":"\xff\xfe"}', "latin1")),
    code: 6,
    message: /UTF-8/,
  },
  {
    title: "A-06: JSON of 100 000 nested lists is refused",
    call: reading(`{"name":"n","x":${"[".repeat(100_000)}${"]".repeat(100_000)}}`),
    code: 6,
    message: /deep|nested/,
  },
  {
    title: "A-06: stdin beyond 32 MiB is refused",
    call: reading(`{"name":"n","x":"${"x".repeat(34 << 20)}"}`),
    code: 5,
    message: /stdin/,
  },
  {
    title: "A-06: a configuration of 5 MiB is refused",
    call: reading(`{"cniVersion":"1.0.0","name":"n","type":"plexus","delegates":[{"type":"rec","x":"${"x".repeat(5 << 20)}"}]}`),
    code: 6,
    message: /stdin.*(long|bytes|characters)/,
  },
  {
    title: "A-04: a repeated key is refused",
    call: reading('{"cniVersion":"1.0.0","name":"a","name":"b","type":"plexus","delegates":[{"type":"rec"}]}'),
    code: 6,
    message: /name/,
  },
  {
    title: "A-04: __proto__ is an unknown key, not a prototype",
    call: reading('{"cniVersion":"1.0.0","name":"n","type":"plexus","__proto__":{"delegates":[{"type":"rec"}]}}'),
    code: 2,
    message: /__proto__.*delegates/,
  },
];

const names: readonly BadInput[] = [
  { title: "L-06: a configuration without a name is refused", call: configuring({ name: undefined }), code: 7, message: "name" },
  ...["", "a/b", "../../etc/x", "-a", "a b", "n\n", "ü"].map((name) => ({
    title: `L-01, A-05: the network name ${JSON.stringify(name)} is refused`,
    call: configuring({ name }),
    code: 7,
    message: /name/,
  })),
  ...[5, null, {}, ["n"]].map((name) => ({
    title: `L-15: a name of ${JSON.stringify(name)} is refused`,
    call: configuring({ name }),
    code: 7,
    message: "name",
  })),
];

const versions: readonly BadInput[] = [
  ...["9.9.9", "1.2.0", "0.1", "banana", "1.0.0.0", "-1.0.0"].map((cniVersion) => ({
    title: `L-06: cniVersion ${cniVersion} is refused`,
    call: configuring({ cniVersion }),
    code: 1,
    message: /cniVersion|version/,
  })),
  {
    title: "L-15: a cniVersion that is a number is refused",
    call: configuring({ cniVersion: 1 }),
    code: 7,
    message: "cniVersion",
  },
  { title: "L-06: CHECK needs 0.4.0", call: configuring({ cniVersion: "0.3.1" }, { verb: "CHECK" }), code: 1, message: /CHECK/ },
  { title: "L-06: GC needs 1.1.0", call: configuring({ cniVersion: "1.0.0" }, { verb: "GC" }), code: 1, message: /GC/ },
  {
    title: "L-06: STATUS needs 1.1.0",
    call: configuring({ cniVersion: "1.0.0" }, { verb: "STATUS" }),
    code: 1,
    message: /STATUS/,
  },
];

const host: readonly BadInput[] = [
  {
    title: "MC-05: a configuration without delegates or clusterNetwork is refused",
    call: configuring({ delegates: undefined }),
    code: 7,
    message: /clusterNetwork/,
  },
  {
    title: "an absent clusterNetwork is refused, even with delegates",
    call: configuring({ clusterNetwork: "x" }),
    code: 7,
    message: /clusterNetwork/,
  },
  ...["rec", {}, [], [null], [5], ["rec"]].map((delegates) => ({
    title: `delegates of ${JSON.stringify(delegates)} is refused`,
    call: configuring({ delegates }),
    code: 7,
    message: "delegates",
  })),
  {
    title: "CNI section 5: an unknown key is refused with code 2, its value and the nearest valid key",
    call: configuring({ delegate: [] }),
    code: 2,
    message: /delegate: .*delegates.*"delegate": \[\]/,
  },
  {
    title: "CNI section 5: the value of an unknown key is shown on one printable line",
    call: configuring({ confdir_: { x: "\u001b[31m\u0085\n\u202e", y: "z".repeat(5000) } }),
    code: 2,
    message: /confdir_: .*did you mean confDir\?.*"confdir_": \{"x":"\\u001b\[31m\\u0085\\n\\u202e","y":"z+…/,
  },
  {
    title: "the value of an unknown key that names a secret is not shown",
    call: configuring({ apiToken: "s3cr3t-value" }),
    code: 2,
    message: /^(?!.*s3cr3t).*"apiToken": "\[redacted\]"/,
  },
  {
    title: "A step timeout of a string is refused",
    call: configuring({ stepTimeoutMs: "5s" }),
    code: 7,
    message: "stepTimeoutMs",
  },
  { title: "A step timeout of 0 is refused", call: configuring({ stepTimeoutMs: 0 }), code: 7, message: "stepTimeoutMs" },
  { title: "A relative state directory is refused", call: configuring({ cniDir: "state" }), code: 7, message: "cniDir" },
  {
    title: "An unknown limit is refused",
    call: configuring({ wasm: { limits: { fuel: 5 } } }),
    code: 7,
    message: /wasm\.limits\.fuel/,
  },
  {
    title: "A grant of an unknown capability is refused",
    call: configuring({ wasm: { grants: { x: { network: {} } } } }),
    code: 7,
    message: /wasm\.grants\.x\.network/,
  },
  {
    title: "A-09: a state directory that is a file is refused",
    call: (context) => {
      const file = join(context.scratch, "file");
      writeFileSync(file, "");
      return { ...context.call, config: { ...context.config, cniDir: file } };
    },
    code: 5,
    message: /file/,
  },
  {
    title: "L-24: a clusterNetwork without a configuration is refused",
    call: (context) => {
      const { delegates: _, ...rest } = context.config;
      mkdirSync(join(context.scratch, "net.d"));
      return { ...context.call, config: { ...rest, clusterNetwork: "nobody", confDir: join(context.scratch, "net.d") } };
    },
    code: 7,
    message: "clusterNetwork",
  },
  {
    title: "L-21: a clusterNetwork with a path outside of confDir is refused",
    call: (context) => {
      const { delegates: _, ...rest } = context.config;
      mkdirSync(join(context.scratch, "net.d"));
      writeFileSync(
        join(context.scratch, "out.conflist"),
        JSON.stringify({ name: "out", cniVersion: "1.0.0", plugins: [{ type: "rec" }] }),
      );
      return { ...context.call, config: { ...rest, clusterNetwork: "../out", confDir: join(context.scratch, "net.d") } };
    },
    code: 7,
    message: "clusterNetwork",
  },
];

const lists: readonly BadInput[] = [
  { title: "L-18: a delegate that is an empty object is refused", call: delegating({}), code: 7, message: /type/ },
  { title: "L-18: an empty plugin list is refused", call: listing({ plugins: [] }), code: 7, message: "plugins" },
  {
    title: "L-18: a plugin list that is an object is refused",
    call: listing({ plugins: { type: "rec" } }),
    code: 7,
    message: "plugins",
  },
  {
    title: "L-18: a plugin of null is refused by its index",
    call: listing({ plugins: [{ type: "rec" }, null] }),
    code: 6,
    message: /plugins\[1\]|plugins\.1/,
  },
  {
    title: "L-18: a plugin without a type is refused by its index",
    call: listing({ plugins: [{ type: "rec" }, { x: 1 }] }),
    code: 7,
    message: /plugins\[1\].*type|plugins\.1.*type/,
  },
  { title: "L-18: a type that is a number is refused", call: listing({ plugins: [{ type: 5 }] }), code: 7, message: "type" },
  ...["../../bin/sh", "/bin/sh", "sub/rec", ".", ".."].map((type) => ({
    title: `L-08, A-05: the plugin type ${JSON.stringify(type)} is refused`,
    call: listing({ plugins: [{ type }] }),
    code: 7,
    message: /type/,
  })),
  {
    title: "L-08: a plugin that is not installed is named, with the directories searched",
    call: (context) => listing({ plugins: [{ type: "absent" }] })(context),
    code: 7,
    message: /absent.*\/|\/.*absent/,
  },
  {
    title: "L-08: a directory of the plugin's name is not a plugin",
    call: (context) => {
      mkdirSync(join(context.scratch, "dir-type"), { recursive: true });
      return { ...listing({ plugins: [{ type: "dir-type" }] })(context), cniPath: context.scratch };
    },
    code: 7,
    message: "dir-type",
  },
  ...["a/b", "../x", "-x"].map((name) => ({
    title: `L-01, L-21: the delegate's name ${JSON.stringify(name)} is refused`,
    call: listing({ name }),
    code: 7,
    message: /name/,
  })),
  {
    title: "L-15: a delegate's cniVersion that is a number is refused",
    call: listing({ cniVersion: 1 }),
    code: 7,
    message: "cniVersion",
  },
  { title: "L-16: cniVersions of a string is refused", call: listing({ cniVersions: "1.0.0" }), code: 7, message: "cniVersions" },
  { title: "L-16: cniVersions with a number is refused", call: listing({ cniVersions: [1] }), code: 7, message: "cniVersions" },
  {
    title: "L-16: cniVersions with a word is refused",
    call: listing({ cniVersions: ["one"] }),
    code: 7,
    message: "cniVersions",
  },
  {
    title: "L-16: cniVersions with a version of four parts is refused",
    call: listing({ cniVersions: ["1.0.0.0"] }),
    code: 7,
    message: "cniVersions",
  },
  {
    title: "L-17: disableCheck of a word is refused",
    call: listing({ disableCheck: "maybe" }),
    code: 7,
    message: "disableCheck",
  },
  { title: "L-17: disableGC of a number is refused", call: listing({ disableGC: 1 }), code: 7, message: "disableGC" },
  {
    title: "L-17: loadOnlyInlinedPlugins of an object is refused",
    call: listing({ loadOnlyInlinedPlugins: {} }),
    code: 7,
    message: "loadOnlyInlinedPlugins",
  },
  {
    title: "L-18: loadOnlyInlinedPlugins without plugins is refused",
    call: listing({ loadOnlyInlinedPlugins: true, plugins: undefined }),
    code: 7,
    message: /plugins|type/,
  },
  {
    title: "L-27: capabilities of a list is refused",
    call: listing({ plugins: [{ type: "rec", capabilities: ["mac"] }] }),
    code: 7,
    message: "capabilities",
  },
  {
    title: "L-27: a capability of a word is refused",
    call: listing({ plugins: [{ type: "rec", capabilities: { mac: "yes" } }] }),
    code: 7,
    message: /capabilities.*mac/,
  },
  {
    title: "L-18: ipam of a string is refused",
    call: listing({ plugins: [{ type: "rec", ipam: "host-local" }] }),
    code: 7,
    message: "ipam",
  },
  {
    title: "L-08: an ipam.type with a path is refused",
    call: listing({ plugins: [{ type: "rec", ipam: { type: "../sh" } }] }),
    code: 7,
    message: /ipam.*type/,
  },
  { title: "runtimeConfig of a string is refused", call: configuring({ runtimeConfig: "x" }), code: 7, message: "runtimeConfig" },
  {
    title: "L-43: GC with valid attachments of a string is refused",
    call: configuring({ cniVersion: "1.1.0", "cni.dev/valid-attachments": "all" }, { verb: "GC" }),
    code: 7,
    message: /cni\.dev\/valid-attachments/,
  },
  {
    title: "L-43: GC with a valid attachment of null is refused",
    call: configuring({ cniVersion: "1.1.0", "cni.dev/valid-attachments": [null] }, { verb: "GC" }),
    code: 7,
    message: /cni\.dev\/valid-attachments/,
  },
  {
    title: "L-43: GC with a valid attachment without a container is refused",
    call: configuring({ cniVersion: "1.1.0", "cni.dev/valid-attachments": [{ ifname: "eth0" }] }, { verb: "GC" }),
    code: 7,
    message: /cni\.dev\/valid-attachments/,
  },
  {
    title: "L-43: GC without valid attachments is refused, because every attachment would be stale",
    call: configuring({ cniVersion: "1.1.0" }, { verb: "GC" }),
    code: 7,
    message: /cni\.dev\/valid-attachments/,
  },
];

export const badCalls: readonly BadInput[] = [...environment, ...bytes, ...json, ...names, ...versions, ...host, ...lists];

/** Unusual CNI_ARGS, which must reach plugins unchanged, because runtimes may add any pairs (MC-24, A-11). */
export const oddArgs: readonly { readonly title: string; readonly args: string }[] = [
  { title: "MC-24, MO-32: CNI_ARGS with a value with = in it", args: "IgnoreUnknown=1;A=B=C;K8S_POD_UID=" },
  { title: "A-11: CNI_ARGS without a pair", args: "FOO" },
  { title: "A-11: CNI_ARGS with a pair without =", args: "A=1;NOVALUE" },
  { title: "A-11: CNI_ARGS with a pair without a key", args: "=x;A=1" },
  { title: "A-11: CNI_ARGS with empty pairs", args: ";;A=1;;B=2;" },
  { title: "A-11: CNI_ARGS with a byte order mark, control characters and U+FFFD", args: "\ufeffA=\u0001\n\ufffd" },
  { title: "A-11: CNI_ARGS of 64 KiB", args: `A=${"x".repeat(65_536)}` },
];
