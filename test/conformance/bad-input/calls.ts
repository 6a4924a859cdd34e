// Bad input in what the runtime passes: environment and stdin (checklist L-01 to L-24, section 7).

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { Call } from "../../harness/plexus.ts";
import type { BadInput, Place } from "./bad-input.ts";

/** A call with some of it changed. */
function calling(change: Partial<Call>): (place: Place) => Call {
  return (place) => ({ ...place.call, ...change });
}

/** A call with some of its configuration changed; `undefined` takes a member away. */
function configuring(change: Readonly<Record<string, unknown>>, call: Partial<Call> = {}): (place: Place) => Call {
  return (place) => ({ ...place.call, ...call, config: { ...place.config, ...change } });
}

/** A call whose stdin is this text. */
function reading(text: string | Buffer, call: Partial<Call> = {}): (place: Place) => Call {
  return (place) => ({ ...place.call, ...call, stdin: text });
}

/** A call with this as the one delegate. */
function delegating(delegate: unknown): (place: Place) => Call {
  return configuring({ delegates: [delegate] });
}

/** A call whose delegate is a list that is valid but for the change. */
function listing(change: Readonly<Record<string, unknown>>): (place: Place) => Call {
  return delegating({ name: "inner", cniVersion: "1.0.0", plugins: [{ type: "rec" }], ...change });
}

const without = (name: string, verb = "ADD"): ((place: Place) => Call) => calling({ verb, env: { [name]: undefined } });

const environment: readonly BadInput[] = [
  { title: "L-05: an unknown verb is refused", call: calling({ verb: "ADDD" }), code: 4, names: /CNI_COMMAND.*ADDD/ },
  { title: "L-05: a verb in lower case is refused", call: calling({ verb: "add" }), code: 4, names: /CNI_COMMAND.*add/ },
  { title: "L-05: a verb with a line end is refused", call: calling({ verb: "ADD\n" }), code: 4, names: "CNI_COMMAND" },
  { title: "L-05: ADD without a container ID is refused", call: without("CNI_CONTAINERID"), code: 4, names: "CNI_CONTAINERID" },
  {
    title: "L-02: ADD with an empty container ID is refused",
    call: calling({ containerId: "" }),
    code: 4,
    names: "CNI_CONTAINERID",
  },
  { title: "L-05: ADD without an interface name is refused", call: without("CNI_IFNAME"), code: 4, names: "CNI_IFNAME" },
  { title: "L-05: ADD without a namespace is refused", call: without("CNI_NETNS"), code: 4, names: "CNI_NETNS" },
  { title: "L-05: ADD without CNI_PATH is refused", call: without("CNI_PATH"), code: 4, names: "CNI_PATH" },
  {
    title: "L-05: all variables that are missing are named in one message",
    call: calling({ env: { CNI_CONTAINERID: undefined, CNI_NETNS: undefined, CNI_IFNAME: undefined } }),
    code: 4,
    names: /CNI_CONTAINERID.*CNI_NETNS.*CNI_IFNAME/,
  },
  {
    title: "L-05: DEL without a container ID is refused",
    call: without("CNI_CONTAINERID", "DEL"),
    code: 4,
    names: "CNI_CONTAINERID",
  },
  { title: "L-05: DEL without an interface name is refused", call: without("CNI_IFNAME", "DEL"), code: 4, names: "CNI_IFNAME" },
  { title: "L-05: CHECK without a namespace is refused", call: without("CNI_NETNS", "CHECK"), code: 4, names: "CNI_NETNS" },
  { title: "L-05: GC without CNI_PATH is refused", call: without("CNI_PATH", "GC"), code: 4, names: "CNI_PATH" },
  { title: "L-05: STATUS without CNI_PATH is refused", call: without("CNI_PATH", "STATUS"), code: 4, names: "CNI_PATH" },
  ...["-leading", "a/b", "../../etc", "a b", "contäiner", "trailing\n", "a;b", "."].map((containerId) => ({
    title: `L-01, L-02: the container ID ${JSON.stringify(containerId)} is refused`,
    call: calling({ containerId }),
    code: 4,
    names: /contain(er ?ID|erID)|CNI_CONTAINERID/,
  })),
  ...["sixteen-bytes-xx", "ééééééé\u00e9", ".", "..", "a/b", "../x", "a:b", "a b", "a\u00a0b", "a\u0085b", "eth0\n"].map(
    (ifname) => ({
      title: `L-03: the interface name ${JSON.stringify(ifname)} is refused`,
      call: calling({ ifname }),
      code: 4,
      names: /interface name|CNI_IFNAME/,
    }),
  ),
];

const json: readonly BadInput[] = [
  { title: "L-06: empty stdin is refused", call: reading(""), code: 6, names: /stdin|configuration/ },
  {
    title: "L-06: text that is no JSON is refused with its place",
    call: reading("hello"),
    code: 6,
    names: /JSON.*(line|offset|position|character)|(line|offset|position|character).*JSON/i,
  },
  { title: "L-06: JSON that ends too early is refused", call: reading('{"cniVersion":"1.0.0","name":'), code: 6, names: /JSON/ },
  {
    title: "L-06: text after the JSON is refused",
    call: reading('{"cniVersion":"1.0.0","name":"n","type":"plexus"} x'),
    code: 6,
    names: /JSON/,
  },
  ...["[]", '"plexus"', "5", "null", "true"].map((text) => ({
    title: `L-06: stdin of ${text} is refused`,
    call: reading(text),
    code: 6,
    names: /object/,
  })),
  {
    title: "A-06: bytes that are no UTF-8 are refused",
    call: reading(Buffer.from('{"name":"\xff\xfe"}', "latin1")),
    code: 6,
    names: /UTF-8/,
  },
  {
    title: "A-06: JSON of 100 000 nested lists is refused",
    call: reading(`{"name":"n","x":${"[".repeat(100_000)}${"]".repeat(100_000)}}`),
    code: 6,
    names: /deep|nest/,
  },
  {
    title: "A-06: stdin beyond 32 MiB is refused",
    call: reading(`{"name":"n","x":"${"x".repeat(34 << 20)}"}`),
    code: 5,
    names: /stdin/,
  },
  {
    title: "A-06: a configuration of 5 MiB is refused",
    call: reading(`{"cniVersion":"1.0.0","name":"n","type":"plexus","delegates":[{"type":"rec","x":"${"x".repeat(5 << 20)}"}]}`),
    code: 6,
    names: /stdin.*(long|bytes|characters)/,
  },
  {
    title: "A-04: a key that occurs twice is refused",
    call: reading('{"cniVersion":"1.0.0","name":"a","name":"b","type":"plexus","delegates":[{"type":"rec"}]}'),
    code: 6,
    names: /name/,
  },
  {
    title: "A-04: __proto__ is an unknown key, not a prototype",
    call: reading('{"cniVersion":"1.0.0","name":"n","type":"plexus","__proto__":{"delegates":[{"type":"rec"}]}}'),
    code: 7,
    names: /__proto__|delegates/,
  },
];

const names: readonly BadInput[] = [
  { title: "L-06: a configuration without a name is refused", call: configuring({ name: undefined }), code: 7, names: "name" },
  ...["", "a/b", "../../etc/x", "-a", "a b", "n\n", "ü"].map((name) => ({
    title: `L-01, A-05: the network name ${JSON.stringify(name)} is refused`,
    call: configuring({ name }),
    code: 7,
    names: /name/,
  })),
  ...[5, null, {}, ["n"]].map((name) => ({
    title: `L-15: a name of ${JSON.stringify(name)} is refused`,
    call: configuring({ name }),
    code: 7,
    names: "name",
  })),
];

const versions: readonly BadInput[] = [
  ...["9.9.9", "1.2.0", "0.1", "banana", "1.0.0.0", "-1.0.0"].map((cniVersion) => ({
    title: `L-06: cniVersion ${cniVersion} is refused`,
    call: configuring({ cniVersion }),
    code: 1,
    names: /cniVersion|version/,
  })),
  { title: "L-15: a cniVersion that is a number is refused", call: configuring({ cniVersion: 1 }), code: 7, names: "cniVersion" },
  { title: "L-06: CHECK needs 0.4.0", call: configuring({ cniVersion: "0.3.1" }, { verb: "CHECK" }), code: 1, names: /CHECK/ },
  { title: "L-06: GC needs 1.1.0", call: configuring({ cniVersion: "1.0.0" }, { verb: "GC" }), code: 1, names: /GC/ },
  { title: "L-06: STATUS needs 1.1.0", call: configuring({ cniVersion: "1.0.0" }, { verb: "STATUS" }), code: 1, names: /STATUS/ },
];

const host: readonly BadInput[] = [
  {
    title: "MC-05: a configuration without delegates or clusterNetwork is refused",
    call: configuring({ delegates: undefined }),
    code: 7,
    names: /clusterNetwork/,
  },
  {
    title: "a clusterNetwork that is nowhere is refused, though there are delegates",
    call: configuring({ clusterNetwork: "x" }),
    code: 7,
    names: /clusterNetwork/,
  },
  ...["rec", {}, [], [null], [5], ["rec"]].map((delegates) => ({
    title: `delegates of ${JSON.stringify(delegates)} is refused`,
    call: configuring({ delegates }),
    code: 7,
    names: "delegates",
  })),
  {
    title: "An unknown key is refused, with the nearest valid one",
    call: configuring({ delegate: [] }),
    code: 7,
    names: /delegate: .*delegates/,
  },
  { title: "A step timeout of a text is refused", call: configuring({ stepTimeoutMs: "5s" }), code: 7, names: "stepTimeoutMs" },
  { title: "A step timeout of 0 is refused", call: configuring({ stepTimeoutMs: 0 }), code: 7, names: "stepTimeoutMs" },
  { title: "A relative state directory is refused", call: configuring({ cniDir: "state" }), code: 7, names: "cniDir" },
  {
    title: "A limit that is unknown is refused",
    call: configuring({ wasm: { limits: { fuel: 5 } } }),
    code: 7,
    names: /wasm\.limits\.fuel/,
  },
  {
    title: "A grant of an unknown capability is refused",
    call: configuring({ wasm: { grants: { x: { network: {} } } } }),
    code: 7,
    names: /wasm\.grants\.x\.network/,
  },
  {
    title: "A-09: a state directory that is a file is refused",
    call: (place) => {
      const file = join(place.scratch, "file");
      writeFileSync(file, "");
      return { ...place.call, config: { ...place.config, cniDir: file } };
    },
    code: 5,
    names: /file/,
  },
  {
    title: "L-24: a clusterNetwork that no configuration has is refused",
    call: (place) => {
      const { delegates: _, ...rest } = place.config;
      mkdirSync(join(place.scratch, "net.d"));
      return { ...place.call, config: { ...rest, clusterNetwork: "nobody", confDir: join(place.scratch, "net.d") } };
    },
    code: 7,
    names: "clusterNetwork",
  },
  {
    title: "L-21: a clusterNetwork that leads out of the configuration directory is refused",
    call: (place) => {
      const { delegates: _, ...rest } = place.config;
      mkdirSync(join(place.scratch, "net.d"));
      writeFileSync(
        join(place.scratch, "out.conflist"),
        JSON.stringify({ name: "out", cniVersion: "1.0.0", plugins: [{ type: "rec" }] }),
      );
      return { ...place.call, config: { ...rest, clusterNetwork: "../out", confDir: join(place.scratch, "net.d") } };
    },
    code: 7,
    names: "clusterNetwork",
  },
];

const lists: readonly BadInput[] = [
  { title: "L-18: a delegate that is an empty object is refused", call: delegating({}), code: 7, names: /type/ },
  { title: "L-18: a plugin list that is empty is refused", call: listing({ plugins: [] }), code: 7, names: "plugins" },
  {
    title: "L-18: a plugin list that is an object is refused",
    call: listing({ plugins: { type: "rec" } }),
    code: 7,
    names: "plugins",
  },
  {
    title: "L-18: a plugin of null is refused by its index",
    call: listing({ plugins: [{ type: "rec" }, null] }),
    code: 6,
    names: /plugins\[1\]|plugins\.1/,
  },
  {
    title: "L-18: a plugin without a type is refused by its index",
    call: listing({ plugins: [{ type: "rec" }, { x: 1 }] }),
    code: 7,
    names: /plugins\[1\].*type|plugins\.1.*type/,
  },
  { title: "L-18: a type that is a number is refused", call: listing({ plugins: [{ type: 5 }] }), code: 7, names: "type" },
  ...["../../bin/sh", "/bin/sh", "sub/rec", ".", ".."].map((type) => ({
    title: `L-08, A-05: the plugin type ${JSON.stringify(type)} is refused`,
    call: listing({ plugins: [{ type }] }),
    code: 7,
    names: /type/,
  })),
  {
    title: "L-08: a plugin that is not installed is named, with the directories searched",
    call: (place) => listing({ plugins: [{ type: "absent" }] })(place),
    code: 7,
    names: /absent.*\/|\/.*absent/,
  },
  {
    title: "L-08: a directory of the plugin's name does not count",
    call: (place) => {
      mkdirSync(join(place.scratch, "dir-type"), { recursive: true });
      return { ...listing({ plugins: [{ type: "dir-type" }] })(place), cniPath: place.scratch };
    },
    code: 7,
    names: "dir-type",
  },
  ...["a/b", "../x", "", "-x"].map((name) => ({
    title: `L-01, L-21: the delegate's name ${JSON.stringify(name)} is refused`,
    call: listing({ name }),
    code: 7,
    names: /name/,
  })),
  {
    title: "L-15: a delegate's cniVersion that is a number is refused",
    call: listing({ cniVersion: 1 }),
    code: 7,
    names: "cniVersion",
  },
  { title: "L-16: cniVersions of a text is refused", call: listing({ cniVersions: "1.0.0" }), code: 7, names: "cniVersions" },
  { title: "L-16: cniVersions with a number is refused", call: listing({ cniVersions: [1] }), code: 7, names: "cniVersions" },
  {
    title: "L-16: cniVersions with a version of words is refused",
    call: listing({ cniVersions: ["one"] }),
    code: 7,
    names: "cniVersions",
  },
  {
    title: "L-16: cniVersions with a version of four parts is refused",
    call: listing({ cniVersions: ["1.0.0.0"] }),
    code: 7,
    names: "cniVersions",
  },
  { title: "L-17: disableCheck of a word is refused", call: listing({ disableCheck: "maybe" }), code: 7, names: "disableCheck" },
  { title: "L-17: disableGC of a number is refused", call: listing({ disableGC: 1 }), code: 7, names: "disableGC" },
  {
    title: "L-17: loadOnlyInlinedPlugins of an object is refused",
    call: listing({ loadOnlyInlinedPlugins: {} }),
    code: 7,
    names: "loadOnlyInlinedPlugins",
  },
  {
    title: "L-18: loadOnlyInlinedPlugins without plugins is refused",
    call: listing({ loadOnlyInlinedPlugins: true, plugins: undefined }),
    code: 7,
    names: /plugins|type/,
  },
  {
    title: "L-27: capabilities of a list is refused",
    call: listing({ plugins: [{ type: "rec", capabilities: ["mac"] }] }),
    code: 7,
    names: "capabilities",
  },
  {
    title: "L-27: a capability of a word is refused",
    call: listing({ plugins: [{ type: "rec", capabilities: { mac: "yes" } }] }),
    code: 7,
    names: /capabilities.*mac/,
  },
  {
    title: "L-18: ipam of a text is refused",
    call: listing({ plugins: [{ type: "rec", ipam: "host-local" }] }),
    code: 7,
    names: "ipam",
  },
  {
    title: "L-08: an ipam.type that leaves the directories is refused",
    call: listing({ plugins: [{ type: "rec", ipam: { type: "../sh" } }] }),
    code: 7,
    names: /ipam.*type/,
  },
  { title: "runtimeConfig of a text is refused", call: configuring({ runtimeConfig: "x" }), code: 7, names: "runtimeConfig" },
  {
    title: "L-43: GC with valid attachments of a text is refused",
    call: configuring({ cniVersion: "1.1.0", "cni.dev/valid-attachments": "all" }, { verb: "GC" }),
    code: 7,
    names: /cni\.dev\/valid-attachments/,
  },
  {
    title: "L-43: GC with a valid attachment of null is refused",
    call: configuring({ cniVersion: "1.1.0", "cni.dev/valid-attachments": [null] }, { verb: "GC" }),
    code: 7,
    names: /cni\.dev\/valid-attachments/,
  },
  {
    title: "L-43: GC with a valid attachment without a container is refused",
    call: configuring({ cniVersion: "1.1.0", "cni.dev/valid-attachments": [{ ifname: "eth0" }] }, { verb: "GC" }),
    code: 7,
    names: /cni\.dev\/valid-attachments/,
  },
  {
    title: "L-43: GC without valid attachments is refused, for all would be stale",
    call: configuring({ cniVersion: "1.1.0" }, { verb: "GC" }),
    code: 7,
    names: /cni\.dev\/valid-attachments/,
  },
];

export const badCalls: readonly BadInput[] = [...environment, ...json, ...names, ...versions, ...host, ...lists];

/** CNI_ARGS that are odd and must not matter, with what plugins get of them: runtimes add what they like (MC-24, A-11). */
export const oddArgs: readonly { readonly title: string; readonly args: string; readonly passed: string }[] = [
  {
    title: "MC-24, MO-32: CNI_ARGS with a value with = in it work",
    args: "IgnoreUnknown=1;A=B=C;K8S_POD_UID=",
    passed: "IgnoreUnknown=1;A=B=C;K8S_POD_UID=",
  },
  { title: "A-11: CNI_ARGS with a pair without = work", args: "A=1;NOVALUE", passed: "A=1" },
  { title: "A-11: CNI_ARGS with a pair without a key work", args: "=x;A=1", passed: "A=1" },
  { title: "A-11: CNI_ARGS with empty pairs work", args: ";;A=1;;", passed: "A=1" },
  { title: "A-11: CNI_ARGS of 64 KiB work", args: `A=${"x".repeat(65_536)}`, passed: `A=${"x".repeat(65_536)}` },
];
