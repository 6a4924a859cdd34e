// The scenarios of the comparison with Go's libcni (checklist section 2).

import type { Operation, Scenario, Scripted } from "./scenario.ts";

const versions = ["0.1.0", "0.2.0", "0.3.0", "0.3.1", "0.4.0", "1.0.0", "1.1.0"];

const lifecycle: readonly Operation[] = [{ do: "ADD" }, { do: "CHECK" }, { do: "DEL" }];
const noAnswers: readonly Scripted[] = [];
const threePlugins = { one: noAnswers, two: noAnswers, three: noAnswers };

function list(
  cniVersion: string | undefined,
  plugins: readonly unknown[],
  more: Readonly<Record<string, unknown>> = {},
): { list: unknown } {
  return { list: { ...(cniVersion === undefined ? {} : { cniVersion }), name: "net-a", ...more, plugins } };
}

const chainOfThree = [{ type: "one", x: 1 }, { type: "two", y: [true, null, "z"] }, { type: "three" }];

/** A plugin's error as printed on stdout. */
function failing(verb: string, code: number, msg: string, details?: string, nth?: number): Scripted {
  return {
    verb,
    exit: 1,
    stdout: JSON.stringify({ cniVersion: "1.0.0", code, msg, ...(details === undefined ? {} : { details }) }),
    ...(nth === undefined ? {} : { nth }),
  };
}

function adding(result: unknown): Scripted {
  return { verb: "ADD", stdout: typeof result === "string" ? result : JSON.stringify(result) };
}

function failingAt(verb: string, position: 0 | 1 | 2): Readonly<Record<string, readonly Scripted[]>> {
  const names = ["one", "two", "three"];
  return Object.fromEntries(
    names.map((name, i) => [
      name,
      i === position ? [failing(verb, 100 + i, `${name} says no`, `because of ${verb}`)] : noAnswers,
    ]),
  );
}

const richResult = {
  cniVersion: "1.1.0",
  interfaces: [
    { name: "veth0", mac: "0a:58:0a:63:00:02", mtu: 1400 },
    { name: "eth0", mac: "0a:58:0a:63:00:03", sandbox: "/run/netns/none", socketPath: "/run/vhost.sock", pciID: "0000:01:00.0" },
  ],
  ips: [
    { address: "10.99.0.7/24", gateway: "10.99.0.1", interface: 1 },
    { address: "fd00::7/64", interface: 1 },
    { address: "10.99.1.7/24" },
  ],
  routes: [
    { dst: "0.0.0.0/0", gw: "10.99.0.1", mtu: 1300, advmss: 1260, priority: 5, table: 100, scope: 0 },
    { dst: "fd01::/64" },
  ],
  dns: { nameservers: ["10.0.0.53"], domain: "example", search: ["a.example", "b.example"], options: ["ndots:5"] },
};

const routesAndDns = {
  routes: [{ dst: "0.0.0.0/0", gw: "10.1.2.1" }, { dst: "fd01::/64" }],
  dns: { nameservers: ["10.0.0.53"], search: ["a.example"] },
};
const result04x = {
  interfaces: [
    { name: "veth0", mac: "0a:58:0a:63:00:02" },
    { name: "eth0", sandbox: "/run/netns/none" },
  ],
  ips: [
    { version: "4", address: "10.1.2.3/24", gateway: "10.1.2.1", interface: 1 },
    { version: "6", address: "fd00::3/64" },
  ],
  ...routesAndDns,
};

/** A result of each version, without members unknown to that version: libcni would lose those, Plexus keeps them. */
const resultOfVersion = {
  "0.2.0": {
    ip4: { ip: "10.1.2.3/24", gateway: "10.1.2.1", routes: [{ dst: "0.0.0.0/0" }] },
    ip6: { ip: "fd00::3/64" },
    dns: { domain: "d" },
  },
  "0.3.1": result04x,
  "0.4.0": result04x,
  "1.1.0": richResult,
};

const perVersion: Scenario[] = versions.map((version) => ({
  title: `L-25, L-26: a chain of version ${version} through ADD, CHECK and DEL`,
  network: list(version, chainOfThree),
  plugins: threePlugins,
  runtime: {
    args: [
      ["K8S_POD_NAME", "p"],
      ["IgnoreUnknown", "1"],
    ],
  },
  operations: lifecycle,
}));

const failures: Scenario[] = (["ADD", "CHECK", "DEL"] as const).flatMap((verb) =>
  ([0, 1, 2] as const).map((position) => ({
    title: `${verb === "ADD" ? "L-39" : verb === "CHECK" ? "L-41" : "L-40"}: ${verb} stops where plugin ${position + 1} of 3 fails`,
    network: list("1.0.0", chainOfThree),
    plugins: failingAt(verb, position),
    operations: [...lifecycle, { do: "DEL" }],
  })),
);

const configuration: Scenario[] = [
  {
    title: "L-16: a list without cniVersion has 0.1.0",
    network: list(undefined, chainOfThree),
    plugins: threePlugins,
    operations: lifecycle,
  },
  {
    title: "L-16: the highest of cniVersions wins over cniVersion",
    network: list("0.4.0", chainOfThree, { cniVersions: ["0.3.1", "1.0.0", "0.4.0"] }),
    plugins: threePlugins,
    operations: lifecycle,
  },
  {
    title: "L-16: versions above the current one are dropped from cniVersions",
    network: list("1.0.0", chainOfThree, { cniVersions: ["0.4.0", "1.1.0", "1.2.0", "9.0.0"] }),
    plugins: threePlugins,
    operations: lifecycle,
  },
  {
    title: "L-24: a single configuration becomes a list with one plugin",
    network: {
      conf: { cniVersion: "0.4.0", name: "single", type: "one", capabilities: { mac: true }, ipam: { type: "host-local" } },
    },
    plugins: threePlugins,
    runtime: { capabilityArgs: { mac: "02:00:00:00:00:01" } },
    operations: lifecycle,
  },
  {
    title: "L-25: name and cniVersion of the list replace the plugin's name and cniVersion",
    network: list("1.0.0", [{ type: "one", name: "other", cniVersion: "0.2.0" }]),
    plugins: threePlugins,
    operations: lifecycle,
  },
  {
    title: "L-30: unknown members reach the plugins unchanged, also nested ones and unusual values",
    network: list("1.0.0", [
      {
        type: "one",
        "x.y/z": { deep: [[], {}, [{ a: null }], -0.5, 1e3, "<&>\u2028é\u0000"] },
        ipam: { type: "x", ranges: [[]] },
        dns: { search: [] },
      },
    ]),
    plugins: threePlugins,
    operations: lifecycle,
  },
  {
    title: "L-29: args and runtimeConfig of the configuration stay if the runtime does not replace them",
    network: list("1.0.0", [
      {
        type: "one",
        args: { cni: { ips: ["10.0.0.9"] } },
        runtimeConfig: { mac: "02:00:00:00:00:09" },
        capabilities: { ips: true },
      },
    ]),
    plugins: threePlugins,
    operations: lifecycle,
  },
  {
    title: "L-26: a prevResult in the configuration reaches the first plugin of an ADD",
    network: list("1.0.0", [
      { type: "one", prevResult: { cniVersion: "1.0.0", ips: [{ address: "10.1.1.1/24" }] } },
      { type: "two" },
    ]),
    plugins: threePlugins,
    operations: [{ do: "ADD" }],
  },
  {
    title: "L-20: plugins of the sibling directory follow the inlined plugins, in order of their file names",
    network: {
      files: {
        "10-net.conflist": { cniVersion: "1.0.0", name: "net-a", plugins: [{ type: "one" }] },
        "net-a/20-b.conf": { type: "three", from: "b" },
        "net-a/10-a.conf": { type: "two", from: "a" },
        "net-a/30-c.json": { type: "absent" },
        "net-b/10-a.conf": { type: "absent" },
      },
    },
    plugins: threePlugins,
    operations: lifecycle,
  },
  {
    title: "L-22: loadOnlyInlinedPlugins leaves the sibling directory out",
    network: {
      files: {
        "10-net.conflist": { cniVersion: "1.0.0", name: "net-a", loadOnlyInlinedPlugins: true, plugins: [{ type: "one" }] },
        "net-a/10-a.conf": { type: "two" },
      },
    },
    plugins: threePlugins,
    operations: lifecycle,
  },
  {
    title: "L-18: a list without plugins takes all its plugins from the sibling directory",
    network: {
      files: {
        "10-net.conflist": { cniVersion: "1.0.0", name: "net-a" },
        "net-a/10-a.conf": { type: "two", capabilities: { mac: true } },
      },
    },
    plugins: threePlugins,
    runtime: { capabilityArgs: { mac: "02:00:00:00:00:01" } },
    operations: lifecycle,
  },
  {
    title: "L-20: a list without plugins and without a sibling directory is an error",
    network: { files: { "10-net.conflist": { cniVersion: "1.0.0", name: "net-a" } } },
    plugins: threePlugins,
    operations: [{ do: "ADD" }],
  },
  {
    title: "L-20: a file of the sibling directory without a type is an error",
    network: {
      files: {
        "10-net.conflist": { cniVersion: "1.0.0", name: "net-a", plugins: [{ type: "one" }] },
        "net-a/10-a.conf": { x: 1 },
      },
    },
    plugins: threePlugins,
    operations: [{ do: "ADD" }],
  },
];

const capabilities: Scenario[] = [
  {
    title: "L-27: each plugin gets the capability arguments that it declares as true, and no others",
    network: list("1.0.0", [
      { type: "one", capabilities: { mac: true, ips: false } },
      { type: "two", capabilities: { portMappings: true, bandwidth: true } },
      { type: "three" },
    ]),
    plugins: threePlugins,
    runtime: {
      capabilityArgs: {
        mac: "02:00:00:00:00:01",
        ips: ["10.0.0.5/24"],
        portMappings: [{ HostPort: 8080, containerPort: 80, protocol: "tcp", hostIP: "" }],
        unknown: {},
      },
    },
    operations: lifecycle,
  },
  {
    title: "L-27: the derived runtimeConfig replaces the configuration's runtimeConfig",
    network: list("1.0.0", [{ type: "one", capabilities: { mac: true }, runtimeConfig: { mac: "x", ips: ["y"] } }]),
    plugins: threePlugins,
    runtime: { capabilityArgs: { mac: "02:00:00:00:00:01" } },
    operations: lifecycle,
  },
  {
    title: "L-27: a capability argument of null is passed on",
    network: list("1.0.0", [{ type: "one", capabilities: { dns: true, aliases: true } }]),
    plugins: threePlugins,
    runtime: { capabilityArgs: { dns: null, aliases: [] } },
    operations: lifecycle,
  },
  {
    title: "L-27: capability arguments are not derived for GC and STATUS",
    network: list("1.1.0", [{ type: "one", capabilities: { mac: true } }]),
    plugins: threePlugins,
    runtime: { capabilityArgs: { mac: "02:00:00:00:00:01" } },
    operations: [{ do: "STATUS" }, { do: "GC", valid: [{ containerID: "ctr-1", ifname: "eth0" }] }],
  },
];

const results: Scenario[] = [
  {
    title: "L-12: a result of null counts as an empty result",
    network: list("1.0.0", chainOfThree),
    plugins: { ...threePlugins, one: [adding("null")] },
    operations: lifecycle,
  },
  {
    title: "L-12: a success without output is an error",
    network: list("1.0.0", chainOfThree),
    plugins: { ...threePlugins, two: [adding("")] },
    operations: [...lifecycle],
  },
  {
    title: "L-12: a result without cniVersion has the list's cniVersion",
    network: list("0.4.0", chainOfThree),
    plugins: { ...threePlugins, one: [adding({ ips: [{ version: "4", address: "10.1.2.3/24" }] })] },
    operations: lifecycle,
  },
  ...Object.entries(resultOfVersion).map(([version, result]) => ({
    title: `L-12: a result of ${version} in a chain of 1.0.0 is parsed by its own version`,
    network: list("1.0.0", chainOfThree),
    plugins: { ...threePlugins, one: [adding({ cniVersion: version, ...result })] },
    operations: lifecycle,
  })),
  {
    title: "L-54: a rich result of 1.1.0 becomes prevResult of CHECK and DEL in a list of 0.4.0",
    network: list("0.4.0", [{ type: "one" }]),
    plugins: { ...threePlugins, one: [adding(richResult)] },
    operations: lifecycle,
  },
  {
    title: "L-57: a rich result passes a chain of 1.1.0 and comes back from the cache",
    network: list("1.1.0", chainOfThree),
    plugins: { ...threePlugins, one: [adding(richResult)] },
    operations: lifecycle,
  },
  {
    title: "L-12: a result of an unknown version is an error",
    network: list("1.0.0", chainOfThree),
    plugins: { ...threePlugins, one: [adding({ cniVersion: "9.9.9" })] },
    operations: [{ do: "ADD" }],
  },
  {
    title: "L-12: a result that is not JSON is an error",
    network: list("1.0.0", chainOfThree),
    plugins: { ...threePlugins, three: [adding("<html>")] },
    operations: [{ do: "ADD" }, { do: "CHECK" }, { do: "DEL" }],
  },
  {
    title: "L-12: a result with an invalid address is an error",
    network: list("1.0.0", chainOfThree),
    plugins: { ...threePlugins, one: [adding({ cniVersion: "1.0.0", ips: [{ address: "10.0.0.300/24" }] })] },
    operations: [{ do: "ADD" }],
  },
];

const plainFailures: Scenario[] = [
  ["L-11: a failure with neither stdout nor stderr", { verb: "ADD", exit: 3 }],
  ["L-11: a failure with stderr only", { verb: "ADD", exit: 3, stderr: 'the "disk" is on fire\n' }],
  ["L-11: a failure whose output is not JSON", { verb: "ADD", exit: 2, stdout: "panic: out of range\n" }],
  ["L-11: a failure whose error has no code", { verb: "ADD", exit: 1, stdout: '{"msg":"only a message"}' }],
  [
    "L-11: a failure with stdout and stderr takes stdout",
    { verb: "ADD", exit: 1, stdout: '{"code":11,"msg":"later"}', stderr: "noise" },
  ],
  ["L-11: stderr of a success changes nothing", { verb: "ADD", exit: 0, stderr: "warning", stdout: '{"cniVersion":"1.0.0"}' }],
].map(([title, scripted]) => ({
  title: String(title),
  network: list("1.0.0", chainOfThree),
  plugins: { ...threePlugins, two: typeof scripted === "object" ? [scripted] : noAnswers },
  operations: [{ do: "ADD" }, { do: "DEL" }],
}));

const verbs: Scenario[] = [
  ...[true, "true", "TRUE", false, "false"].map((disableCheck) => ({
    title: `L-17, L-41: disableCheck ${JSON.stringify(disableCheck)}`,
    network: list("1.0.0", chainOfThree, { disableCheck }),
    plugins: threePlugins,
    operations: lifecycle,
  })),
  {
    title: "L-41: CHECK without a cached result has no prevResult",
    network: list("1.0.0", chainOfThree),
    plugins: threePlugins,
    operations: [{ do: "CHECK" }],
  },
  {
    title: "L-40: a second DEL finds no cached result",
    network: list("1.0.0", chainOfThree),
    plugins: threePlugins,
    operations: [{ do: "ADD" }, { do: "DEL" }, { do: "DEL" }],
  },
  {
    title: "L-40, RT-09: DEL with an empty netns",
    network: list("1.0.0", chainOfThree),
    plugins: threePlugins,
    operations: [{ do: "ADD" }, { do: "DEL", runtime: { netns: "" } }],
  },
  {
    title: "L-40: DEL of a list whose last plugin is not installed is an error",
    network: list("1.0.0", [{ type: "one" }, { type: "absent" }]),
    plugins: threePlugins,
    operations: [{ do: "DEL" }],
  },
  {
    title: "L-39: ADD of a list whose second plugin is not installed runs the first",
    network: list("1.0.0", [{ type: "one" }, { type: "absent" }, { type: "three" }]),
    plugins: threePlugins,
    operations: [{ do: "ADD" }],
  },
  {
    title: "L-42: STATUS of 1.1.0 calls all plugins in order",
    network: list("1.1.0", chainOfThree),
    plugins: threePlugins,
    operations: [{ do: "STATUS" }],
  },
  {
    title: "L-42: STATUS of 1.0.0 calls no plugin",
    network: list("1.0.0", chainOfThree),
    plugins: threePlugins,
    operations: [{ do: "STATUS" }],
  },
  ...[50, 51, 103].map((code) => ({
    title: `L-42: STATUS keeps the code ${code} and stops`,
    network: list("1.1.0", chainOfThree),
    plugins: { ...threePlugins, two: [failing("STATUS", code, "not available", "no address left")] },
    operations: [{ do: "STATUS" as const }],
  })),
  {
    title: "L-43: GC of 1.1.0 removes the stale attachment and passes the valid attachments to all plugins",
    network: list("1.1.0", chainOfThree),
    plugins: threePlugins,
    runtime: { args: [["A", "1"]] },
    operations: [
      { do: "ADD" },
      { do: "ADD", runtime: { containerID: "ctr-2", ifname: "net1", netns: "/run/netns/two", args: [["B", "2"]] } },
      { do: "GC", valid: [{ containerID: "ctr-1", ifname: "eth0" }] },
      { do: "CHECK" },
    ],
  },
  {
    title: "L-43: GC of 1.0.0 removes stale attachments and calls no plugin's GC",
    network: list("1.0.0", chainOfThree),
    plugins: threePlugins,
    operations: [
      { do: "ADD" },
      { do: "ADD", runtime: { containerID: "ctr-2" } },
      { do: "GC", valid: [{ containerID: "ctr-2", ifname: "eth0" }] },
    ],
  },
  {
    title: "L-43: GC without valid attachments removes every cached attachment of the network",
    network: list("1.1.0", chainOfThree),
    plugins: threePlugins,
    operations: [{ do: "ADD" }, { do: "ADD", runtime: { ifname: "net1" } }, { do: "GC", valid: [] }],
  },
  {
    title: "L-43: GC collects the errors of all plugins",
    network: list("1.1.0", chainOfThree),
    plugins: { one: [failing("GC", 101, "one says no")], two: noAnswers, three: [failing("GC", 102, "three says no")] },
    operations: [{ do: "GC", valid: [] }],
  },
  {
    title: "L-43: GC goes on after a stale attachment that can't be removed",
    network: list("1.1.0", chainOfThree),
    plugins: { ...threePlugins, two: [failing("DEL", 101, "two says no", undefined, 1)] },
    operations: [{ do: "ADD" }, { do: "ADD", runtime: { containerID: "ctr-2" } }, { do: "GC", valid: [] }],
  },
  ...[true, "True"].map((disableGC) => ({
    title: `L-17, L-43: disableGC ${JSON.stringify(disableGC)}`,
    network: list("1.1.0", chainOfThree, { disableGC }),
    plugins: threePlugins,
    operations: [{ do: "ADD" as const }, { do: "GC" as const, valid: [] }],
  })),
  {
    title: "L-14: validation returns the capabilities of all plugins",
    network: list("1.0.0", [
      { type: "one", capabilities: { mac: true, ips: false } },
      { type: "two", capabilities: { ips: true, mac: true } },
    ]),
    plugins: threePlugins,
    operations: [{ do: "VALIDATE" }],
  },
  {
    title: "L-13, L-14: a plugin that lacks the version fails validation",
    network: list("1.1.0", chainOfThree),
    plugins: {
      ...threePlugins,
      two: [{ verb: "VERSION", stdout: '{"cniVersion":"1.0.0","supportedVersions":["0.4.0","1.0.0"]}' }],
    },
    operations: [{ do: "VALIDATE" }],
  },
  {
    title: "L-13: a plugin without VERSION has the version 0.1.0",
    network: list("0.1.0", [{ type: "two" }]),
    plugins: { ...threePlugins, two: [{ verb: "VERSION", exit: 1, stdout: '{"code":4,"msg":"unknown CNI_COMMAND: VERSION"}' }] },
    operations: [{ do: "VALIDATE" }],
  },
  {
    title: "L-13: an answer to VERSION of 0.2.0 without a list means 0.1.0 and 0.2.0",
    network: list("0.2.0", [{ type: "two" }]),
    plugins: { ...threePlugins, two: [{ verb: "VERSION", stdout: '{"cniVersion":"0.2.0"}' }] },
    operations: [{ do: "VALIDATE" }],
  },
  {
    title: "L-08: a type with a slash does not find a plugin in a subdirectory",
    network: list("1.0.0", [{ type: "sub/one" }]),
    plugins: { ...threePlugins, "sub/one": noAnswers },
    operations: [{ do: "ADD" }, { do: "DEL" }],
  },
  ...[
    { containerID: "" },
    { containerID: "-x" },
    { containerID: "a/b" },
    { ifname: "" },
    { ifname: "sixteen-bytes-xx" },
    { ifname: ".." },
    { ifname: "a:b" },
  ].map((runtime) => ({
    title: `L-02, L-03: ADD refuses ${JSON.stringify(runtime)}`,
    network: list("1.0.0", chainOfThree),
    plugins: threePlugins,
    runtime,
    operations: [{ do: "ADD" as const }],
  })),
];

export const scenarios: readonly Scenario[] = [
  ...perVersion,
  ...configuration,
  ...capabilities,
  ...results,
  ...failures,
  ...plainFailures,
  ...verbs,
];
