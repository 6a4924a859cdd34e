import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readHostConfiguration } from "./read-host-configuration.ts";
import { knownKeys, runtimeKeys } from "./keys.ts";
import { idleMultusKeys } from "./multus-keys.ts";
import { isAcceptedBySchema } from "./testing/accepted-by-schema.ts";

const base = { cniVersion: "1.0.0", name: "cluster", type: "plexus" };
const digest = `sha256:${"a".repeat(64)}`;
const pem = "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE\n-----END PUBLIC KEY-----\n";
const delegates = [{ type: "bridge" }];

function message(value: unknown): string {
  const read = readHostConfiguration(value);
  return read.ok ? "accepted" : `${read.fault.code} ${read.fault.msg}`;
}

function lenient(value: object): ReturnType<typeof readHostConfiguration> {
  return readHostConfiguration(value, true);
}

function noticesOf(more: object): number | undefined {
  const read = readHostConfiguration({ ...base, delegates, ...more });
  return read.ok ? read.value.notices.length : undefined;
}

function exempt(more: object): readonly string[] | undefined {
  const read = readHostConfiguration({ ...base, delegates, ...more });
  return read.ok ? read.value.globalNamespaces : undefined;
}

describe("the host configuration", () => {
  test("fills in every default", () => {
    const read = readHostConfiguration({ ...base, delegates });
    expect(read.ok && read.value).toMatchObject({
      cniDir: "/var/lib/cni/plexus",
      confDir: "/etc/cni/multus/net.d",
      runDir: "/run/plexus",
      stepTimeoutMs: 60_000,
      goMaxProcs: 1,
      bounds: { pluginsPerNetwork: 32, attachmentsPerPod: 64 },
      profile: "compat",
      wasm: { prefer: false, isolation: "process", limits: {}, grants: {}, otherGrants: { log: {} } },
      defaultNetworks: [],
      systemNamespaces: ["kube-system"],
      multusNamespace: "kube-system",
      multusCniDir: "/var/lib/cni/multus",
      namespaceIsolation: false,
      globalNamespaces: ["default"],
      readinessTimeoutMs: 45_000,
      readinessDelTimeoutMs: 2000,
      kubernetes: { budgetMs: 20_000 },
      logLevel: "verbose",
      logToStderr: true,
      legacyCniArgs: false,
      notices: [],
      warnings: [],
    });
    expect(read.ok ? read.value : {}).not.toHaveProperty(["readinessindicatorfile"]);
    expect(read.ok ? read.value : {}).not.toHaveProperty(["logFile"]);
    expect(read.ok ? read.value : {}).not.toHaveProperty(["invalidAnnotation"]);
  });

  test("FI-09: an empty cniVersion means 0.1.0, as a missing one does", () => {
    for (const lenientRead of [false, true]) {
      const [empty, missing] = [{ cniVersion: "" }, { cniVersion: undefined }].map((version) => {
        const read = readHostConfiguration({ ...base, ...version, delegates }, lenientRead);
        return read.ok ? read.value.cniVersion : read.fault.msg;
      });
      expect([empty, missing]).toEqual(["0.1.0", "0.1.0"]);
    }
    expect(isAcceptedBySchema({ ...base, cniVersion: "", delegates })).toBe(true);
  });

  test.each([
    [{ ...base }, "delegates"],
    [{ ...base, delegates: [] }, "delegates"],
    [{ ...base, delegates: [5] }, "delegates.0"],
    [{ ...base, clusterNetwork: "" }, "clusterNetwork"],
    [{ ...base, delegates, auxiliaryCNIChainName: "chain" }, "auxiliaryCNIChainName"],
    [{ ...base, clusterNetwork: "/x", auxiliaryCNIChainName: "../x" }, "auxiliaryCNIChainName"],
    [{ ...base, delegates, binDir: "/a:/b" }, "binDir"],
    [{ ...base, delegates, multusNamespace: "a/b" }, "multusNamespace"],
    [{ ...base, delegates, kubernetes: { budget: 5 } }, "did you mean budgetMs?"],
    [{ ...base, delegates, logLevel: "loud" }, "logLevel"],
    [{ ...base, delegates, cniDir: "relative" }, "cniDir"],
    [{ ...base, delegates, manifests: 5 }, "manifests"],
    [{ ...base, delegates, stepTimeoutMs: 0 }, "stepTimeoutMs"],
    [{ ...base, delegates, stepTimeoutMs: 1.5 }, "stepTimeoutMs"],
    [{ ...base, delegates, goMaxProcs: -1 }, "goMaxProcs: must be a whole number from 0 to 4096"],
    [{ ...base, delegates, goMaxProcs: "1" }, "goMaxProcs"],
    [{ ...base, delegates, profile: "loose" }, "profile"],
    [{ ...base, delegates, bounds: 5 }, "bounds: must be an object"],
    [{ ...base, delegates, bounds: { pluginsPerNetwork: 0 } }, "bounds.pluginsPerNetwork: must be a whole number from 1 to 1024"],
    [{ ...base, delegates, bounds: { attachmentPerPod: 5 } }, "did you mean attachmentsPerPod?"],
    [{ ...base, delegates, wasm: { isolation: "none" } }, "wasm.isolation"],
    [{ ...base, delegates, wasm: { sandboxUids: "engine" } }, 'wasm.sandboxUids: must be "same" or an object'],
    [{ ...base, delegates, wasm: { sandboxUids: { first: 5 } } }, "wasm.sandboxUids.count: is missing"],
    [{ ...base, delegates, wasm: { sandboxUids: { first: 0, count: 1 } } }, "wasm.sandboxUids.first"],
    [{ ...base, delegates, wasm: { sandboxUids: { first: 2e9, count: 2e9 } } }, "the largest is 2147483646"],
    [{ ...base, delegates, wasm: { limits: { timeMs: 0 } } }, "wasm.limits.timeMs"],
    [{ ...base, delegates, wasm: { grants: { "*": { leases: { directories: ["../x"] } } } } }, "directories"],
    [{ type: "plexus", delegates }, "name: is missing"],
    [[], "configuration"],
    [null, "configuration"],
  ])("%j is refused, naming %s", (value, field) => {
    expect(message(value)).toMatch(/^7 /);
    expect(message(value)).toContain(field);
  });

  test.each([
    [{ ...base, delegates, wams: {} }, "wams: no such key; did you mean wasm?"],
    [{ ...base, delgates: delegates }, "delgates: no such key; did you mean delegates?"],
    [{ ...base, delegates, wasm: { limits: { timems: 5 } } }, "wasm.limits.timems: no such key; did you mean timeMs?"],
    [{ ...base, delegates, wasm: { grants: { x: { lease: {} } } } }, "wasm.grants.x.lease: no such key; did you mean leases?"],
    [
      { ...base, delegates, wasm: { grants: { x: { network: {} } } } },
      "no such key; valid ones: require, delegation, log, leases, state, ovs,",
    ],
    [{ ...base, delegates, wasm: { grants: { x: { link: {} } } } }, "wasm.grants.x.link: no such key; did you mean links?"],
    [
      { ...base, delegates, wasm: { grants: { x: { links: { bridge: ["plexus0"] } } } } },
      "wasm.grants.x.links.bridge: no such key; did you mean bridges? valid ones: bridges, parents, uplinks, networks, podNetworks, nodeAddresses, replaceAddresses, podLinks, devices, deviceRecords, vfVlans, vfTrust, selinuxContexts, forwarding, vethQueues",
    ],
    [
      { ...base, delegates, wasm: { grants: { x: { delegation: { plugin: ["host-local"] } } } } },
      "wasm.grants.x.delegation.plugin: no such key; did you mean plugins? valid ones: plugins",
    ],
  ])("E-8: a mistyped key names the nearest valid one, or all: %j", (value, text) => {
    expect(message(value)).toContain(text);
  });

  test("E-8: far from all keys, a mistyped key gets those with an effect, the nearest first", () => {
    const valid = (key: string) =>
      /valid ones: ([^()]*) \(/.exec(message({ ...base, delegates, [key]: 1 }))?.[1]?.split(", ") ?? [];
    expect(valid("timeout").slice(0, 3)).toEqual(["stepTimeoutMs", "callTimeoutMs", "readinessTimeoutMs"]);
    expect(valid("network").slice(0, 3)).toEqual(["podNetworks", "clusterNetwork", "defaultNetworks"]);
    const withoutEffect = [...Object.keys(idleMultusKeys), "retryDeleteOnError"];
    const listed = valid("zzz");
    expect(listed.filter((key) => withoutEffect.includes(key) || runtimeKeys.includes(key))).toEqual([]);
    expect(listed).toEqual(expect.arrayContaining(["clusterNetwork", "wasm", "steps", "bounds", "logLevel"]));
    // A key of Multus that is only mistyped is still recognised.
    expect(message({ ...base, delegates, conectionLimit: 1 })).toContain("did you mean connectionLimit?");
  });

  test.each([
    [{ wams: { a: 1 } }, /^2 .*"wams": {"a":1}\)$/],
    [{ wams: 5, stepTimeoutMs: "long" }, /^2 .*stepTimeoutMs: .*wams: .*"wams": 5\)$/],
    [{ wasm: { limit: {} } }, /^7 wasm\.limit: .*"limit": {}\)$/],
    [{ apiKey: "s3cr3t" }, /^2 apiKey: .*"apiKey": "\[redacted\]"\)$/],
    [{ wams: "x".repeat(1000) }, /^2 .*"wams": "x{199}…\)$/],
    [{ "w\u0085\u202e": "\u0085\n" }, /^2 .*"w\\u0085\\u202e": "\\u0085\\n"\)$/],
  ])("CNI section 5: an unknown key has code 2 at the top and 7 below, and is shown with its value: %j", (more, expected) => {
    expect(message({ ...base, delegates, ...more })).toMatch(expected);
  });

  test.each(["cni.dev/attachments", "cni.dev/of-a-later-version"])("CNI section 3: %s is accepted", (key) => {
    const configuration = { ...base, delegates, [key]: { a: 1 } };
    expect(message(configuration)).toBe("accepted");
    expectAgreement(configuration);
  });

  test.each([
    [{ links: { bridges: ["plexus0", "br/0"] } }, "links.bridges.1: must be the name of a link, 1 to 15 ASCII characters"],
    [{ links: { parents: "eth0" } }, "links.parents: must be a list, each the name of a link"],
    [{ links: { networks: ["10.0.0.0"] } }, "links.networks.0: must be a network such as 10.1.0.0/16 or fd00:1::/48"],
    [{ links: { networks: ["10.0.0.0/33"] } }, "links.networks: 10.0.0.0/33 is not a network"],
    [{ links: { forwarding: "yes" } }, 'links.forwarding: must be true or false, but is "yes"'],
    [{ sysctl: { keys: ["net.ipv4.ip_forward"] } }, "sysctl.keys.0: must be a path such as net/ipv4/conf/IFNAME/rp_filter"],
    [{ sysctl: { allowlist: "list" } }, "sysctl.allowlist: must be an absolute path"],
    [{ firewall: { hostPorts: ["0-80"] } }, "firewall.hostPorts.0: must be a port or a range of ports from 1 to 65535"],
    [{ firewall: { hostPorts: ["90-80"] } }, "firewall.hostPorts: the range 90-80 ends before it begins"],
    [{ firewall: { hostPorts: [80] } }, "firewall.hostPorts.0: must be a port or a range of ports"],
    [{ delegation: { plugins: ["../sh"] } }, "delegation.plugins.0: must be the type of a plugin"],
    [{ announce: { always: true } }, "announce.always: no such key"],
    [{ ovs: { bridges: ["br int"] } }, "ovs.bridges.0: must be the name of a link"],
    [{ ovs: { socket: "db.sock" } }, "ovs.socket: must be an absolute path"],
    [{ ovs: { interfaceIds: ["a b"] } }, "ovs.interfaceIds.0: must be an interface ID, 1 to 255 ASCII characters"],
    [{ state: { directories: ["x"] } }, "state.directories: must be a list of absolute paths"],
  ])("E-8: an invalid element of a grant is refused with its position: %j", (grant, text) => {
    expect(message({ ...base, delegates, wasm: { grants: { x: grant } } })).toContain(`wasm.grants.x.${text}`);
  });

  test("E-7: a grant is read unchanged, and replaces the default grants entirely", () => {
    const grant = {
      links: {
        bridges: ["plexus*"],
        parents: ["eth1"],
        uplinks: [],
        networks: ["10.1.0.0/16", "fd00:1::/48"],
        podLinks: ["*"],
        forwarding: true,
        vethQueues: 1,
      },
      sysctl: { keys: ["net/ipv4/conf/IFNAME/*"], allowlist: "/etc/cni/tuning/allowlist.conf" },
      firewall: { masquerade: true, hostPorts: ["80", "30000-32767"] },
      announce: {},
      delegation: { plugins: ["ipam-*"] },
      state: { directories: ["/var/lib/cni/tuning"] },
      ovs: { bridges: ["br-int"], socket: "/run/ovs/db.sock", interfaceIds: ["ovn-*"] },
    };
    const read = readHostConfiguration({ ...base, delegates, wasm: { grants: { x: grant } } });
    expect(read.ok && read.value.wasm.grants["x"]).toEqual(grant);
  });

  test("E-14: demands on a type's component are read beside its grants", () => {
    const wasm = {
      keys: { release: pem, "file.pub": "/etc/plexus/release.pub" },
      grants: { x: { log: {}, digest, signedBy: "release" }, y: {} },
    };
    const read = readHostConfiguration({ ...base, delegates, wasm });
    expect(read.ok && read.value.wasm).toMatchObject({
      grants: { x: { log: {} }, y: {} },
      demands: { x: { digest, signedBy: "release" } },
    });
    expect(read.ok && read.value.wasm.keys).toEqual(wasm.keys);
    expect(read.ok && Object.keys(read.value.wasm.grants["x"] ?? {})).toEqual(["log"]);
  });

  test.each([
    [{ grants: { x: { digest: "sha256:ab" } } }, "wasm.grants.x.digest: must be a digest"],
    [{ grants: { x: { signedBy: "release" } } }, "wasm.grants.x.signedBy: wasm.keys has no key release (it has none)"],
    [{ keys: { other: pem }, grants: { x: { signedBy: "release" } } }, "has no key release (it has other)"],
    [{ keys: { release: pem }, grants: { x: { signedby: "release" } } }, "did you mean signedBy?"],
    [{ keys: { release: "-----BEGIN PRIVATE KEY-----" } }, "wasm.keys.release: must be a public key in PEM"],
    [{ keys: { release: "release.pub" } }, "wasm.keys.release: must be a public key in PEM"],
    [{ keys: { "a/b": pem } }, "wasm.keys.a/b: must be the name of a key"],
  ])("E-14: an invalid demand is refused: %j", (wasm, text) => {
    expect(message({ ...base, delegates, wasm })).toContain(text);
  });

  test("E-14: a requirement of every component is read, and the types that it does not hold for", () => {
    const wasm = {
      keys: { release: pem, team: pem },
      require: { signedBy: ["release", "team"], digests: [digest] },
      grants: { x: { log: {}, require: false }, y: { digest } },
    };
    const read = readHostConfiguration({ ...base, delegates, wasm });
    expect(read.ok && read.value.wasm).toMatchObject({
      require: { anyOf: { signedBy: ["release", "team"], digests: [digest] } },
      exempt: ["x"],
      demands: { y: { digest } },
    });
    expect(read.ok && read.value.wasm.grants["x"]).toEqual({ log: {} });
    expect(readHostConfiguration({ ...base, delegates })).toMatchObject({ ok: true, value: { wasm: { exempt: [] } } });
  });

  test.each([
    [{ require: {} }, "wasm.require: must name keys in signedBy, or digests"],
    [{ require: { signedBy: [], digests: [] } }, "wasm.require: must name keys in signedBy, or digests"],
    [{ require: true }, "wasm.require: must be an object"],
    [{ require: { signedBy: "release" } }, "wasm.require.signedBy: must be a list"],
    [{ require: { signedBy: ["release"] } }, "wasm.require.signedBy: wasm.keys has no key release (it has none)"],
    [{ require: { digests: ["sha256:ab"] } }, "wasm.require.digests.0: must be a digest"],
    [{ require: { digest } }, "did you mean digests?"],
    [{ grants: { x: { require: true } } }, "wasm.grants.x.require: must be false"],
  ])("E-14: an invalid requirement is refused: %j", (wasm, text) => {
    expect(message({ ...base, delegates, wasm })).toContain(text);
  });

  test.each([
    [{ require: true }, { anyOf: { signedBy: [], digests: [] } }],
    [{ require: { signedBy: ["gone", 5], digests: ["x"] } }, { anyOf: { signedBy: ["gone"], digests: [] } }],
  ])("E-14: a DEL keeps a malformed requirement as one that is not weaker: %j", (wasm, required) => {
    const read = readHostConfiguration({ ...base, delegates, wasm: { ...wasm, grants: { x: { require: "no" } } } }, true);
    expect(read.ok && read.value.wasm).toMatchObject({ require: required, exempt: [] });
  });

  test("E-14: a demand in a definition's rule is refused: the demands of wasm.grants hold for definitions, too", () => {
    const definitions = { rules: [{ namespaces: ["shop"], grants: { x: { digest } } }] };
    expect(message({ ...base, delegates, definitions })).toContain("definitions.rules.0.grants.x.digest: no such key");
  });

  test.each([
    [{}, true],
    [{ enabled: true }, true],
    [{ enabled: false }, false],
    [{ enabled: "false" }, false],
    [{ enabled: null }, false],
  ])("E-23: a DEL takes a mistyped emergency switch as off: %j", (wasm, enabled) => {
    const read = lenient({ ...base, delegates, wasm });
    expect(read.ok && read.value.wasm.enabled).toBe(enabled);
  });

  test.each([
    [{ tuning: { failure: "maybe" } }, "steps.tuning.failure: must be one of closed, open, retry"],
    [{ tuning: { failure: "open", retries: 1 } }, 'steps.tuning.retries: needs "failure": "retry"'],
    [{ tuning: { failure: "retry", retries: 11 } }, "steps.tuning.retries: must be a whole number from 1 to 10"],
    [{ tuning: { failure: "retry", retryOn: [] } }, "steps.tuning.retryOn: must be a list of at least one CNI error code"],
    [{ tuning: { failure: "retry", retryOn: [0] } }, "steps.tuning.retryOn: must be a list of at least one CNI error code"],
    [{ tuning: { fail: "open" } }, "steps.tuning.fail: no such key"],
    [{ tuning: { shadow: "a/b" } }, "steps.tuning.shadow: must be the type of a plugin"],
    [{ "a/b": { failure: "open" } }, "steps.a/b: is not the type of a plugin"],
    [{ tuning: "open" }, "steps.tuning: must be an object"],
    [[], "steps: must be an object"],
  ])("E-11: a mistake in a rule for steps is refused, and a DEL takes no rule from it: %j", (steps, text) => {
    expect(message({ ...base, delegates, steps })).toContain(text);
    const read = lenient({ ...base, delegates, steps });
    expect(read.ok ? read.value.steps : "refused").toBeUndefined();
  });

  test("E-11: the default of a rule is to fail the chain; retry means code 11, twice", () => {
    const read = readHostConfiguration({ ...base, delegates, steps: { a: {}, b: { failure: "retry" } } });
    const defaults = { retries: 2, retryOn: [11], shadow: undefined };
    expect(read.ok && read.value.steps).toEqual({ a: { failure: "closed", ...defaults }, b: { failure: "retry", ...defaults } });
  });

  test("E-14: a DEL keeps a malformed demand as one that no component meets", () => {
    const wasm = { grants: { x: { digest: 5, signedBy: "gone" } } };
    const read = readHostConfiguration({ ...base, delegates, wasm }, true);
    expect(read.ok && read.value.wasm.demands).toEqual({ x: { digest: "", signedBy: "gone" } });
  });

  test("E-7: the default grants neither reach the kernel nor other plugins nor files of the delegate's choice", () => {
    const read = readHostConfiguration({ ...base, delegates });
    expect(read.ok && Object.keys(read.value.wasm.otherGrants)).toEqual(["log", "leases", "resolver"]);
  });

  test.each([
    ["/var//lib/cni/", "/var/lib/cni"],
    ["/var/./lib/x/../cni", "/var/lib/cni"],
    ["/../var/lib/cni/.", "/var/lib/cni"],
    ["/", "/"],
  ])("the directory %s is normalized to %s, because paths are compared as text", (written, spelt) => {
    const read = readHostConfiguration({ ...base, delegates, cniDir: written, multusCniDir: written, runDir: written });
    expect(read.ok && read.value).toMatchObject({ cniDir: spelt, multusCniDir: spelt, runDir: spelt });
  });

  test("a runDir is refused if it is too long, or has a character that JSON or Go's encoder escapes", () => {
    for (const runDir of [`/${"r".repeat(256)}`, "run", "/run/a b", '/run/"', "/run/a&b", "/run/<", "/run/a\\b", "/run/é"]) {
      expect(message({ ...base, delegates, runDir })).toMatch(/runDir: must be an absolute path of at most 256 ASCII/);
    }
    expect(readHostConfiguration({ ...base, delegates, runDir: `/run/a:b/${"r".repeat(200)}` }).ok).toBe(true);
  });

  test("A-04: keys of the prototype are ordinary unknown keys", () => {
    expect(message(JSON.parse(`{"name":"a","type":"plexus","delegates":[{}],"constructor":{}}`))).toContain("constructor");
    const polluted: unknown = JSON.parse(`{"name":"a","type":"plexus","delegates":[{}],"__proto__":{"manifests":"/x"}}`);
    const read = readHostConfiguration(polluted);
    expect(read.ok ? read.value.manifests : undefined).toBeUndefined();
  });

  test("MC-11 an empty globalNamespaces names no namespace", () => {
    expect(exempt({})).toEqual(["default"]);
    expect(exempt({ globalNamespaces: "" })).toEqual([]);
    const three = ["default", "namespace-a", "namespace-b"];
    expect(exempt({ globalNamespaces: "default, namespace-a,namespace-b" })).toEqual(three);
  });

  test("MC-05 MC-06 with clusterNetwork and delegates, clusterNetwork counts, with a notice", () => {
    const read = readHostConfiguration({ ...base, delegates, clusterNetwork: "x" });
    expect(read.ok && read.value).toMatchObject({
      clusterNetwork: "x",
      notices: ["configuration: delegates has no effect, because clusterNetwork names the default network"],
    });
  });

  test("MC-02 the thin entrypoint's cniConf is read with a warning; confDir takes precedence", () => {
    const read = readHostConfiguration({ ...base, delegates, cniConf: "/a" });
    expect(read.ok && [read.value.confDir, read.value.notices.length]).toEqual(["/a", 1]);
    const both = readHostConfiguration({ ...base, delegates, cniConf: "/a", confDir: "/b" });
    expect(both.ok && both.value.confDir).toBe("/b");
    const mistaken = readHostConfiguration({ ...base, delegates, cniConf: "/a", confDir: "b" }, true);
    expect(mistaken.ok && mistaken.value.confDir).toBe("/a");
  });

  test.each(Object.keys(idleMultusKeys))("Multus' key %s is accepted with one warning that says why it does nothing", (key) => {
    const read = readHostConfiguration({ ...base, delegates, [key]: { anything: 1 } });
    expect(read.ok && read.value.notices).toEqual([`configuration: ${key} of Multus has no effect: ${idleMultusKeys[key]}`]);
  });

  test("MO-16 each setting of Multus' daemon and of its configuration writer is accepted, and names what replaces it", () => {
    const daemonConf = {
      chrootDir: "/hostroot",
      daemonSocketDir: "/host/run/multus",
      socketDir: "/host/run/multus/socket",
      metricsPort: 9091,
      enablePprof: true,
      connectionLimit: 100,
      perNodeCertificate: { enabled: true, bootstrapKubeconfig: "/x", certDir: "/y", certDuration: "10m" },
      cniConfigDir: "/host/etc/cni/net.d",
      multusConfigFile: "auto",
      multusAutoconfigDir: "/host/etc/cni/net.d",
      multusMasterCNI: "10-flannel.conflist",
      forceCNIVersion: true,
      overrideNetworkName: true,
    };
    const read = readHostConfiguration({ ...base, delegates, ...daemonConf });
    const notices = read.ok ? read.value.notices : [];
    expect(notices.map((notice) => /configuration: (\w+) of Multus has no effect: /.exec(notice)?.[1]).toSorted()).toEqual(
      Object.keys(daemonConf).toSorted(),
    );
    const written = { cniConfigDir: "--cni-config-dir", multusConfigFile: "--cni-config", multusMasterCNI: "--cluster-network" };
    for (const [key, option] of Object.entries({ ...written, perNodeCertificate: "--node-credentials", socketDir: "--socket" }))
      expect(notices.find((notice) => notice.includes(`${key} of Multus`))).toContain(option);
  });

  test("MC-13 retryDeleteOnError: true has no effect; false gets a warning", () => {
    expect(noticesOf({ retryDeleteOnError: true })).toBe(0);
    expect(noticesOf({ retryDeleteOnError: false })).toBe(1);
  });

  test("empty texts, which Multus' generator writes, count as absent paths and names", () => {
    const empty = {
      readinessindicatorfile: "",
      kubeconfig: "",
      logFile: "",
      logLevel: "",
      cniConf: "",
      auxiliaryCNIChainName: "",
    };
    const read = readHostConfiguration({ ...base, clusterNetwork: "x", delegates: [], binDir: "", ...empty });
    expect(read.ok && read.value).toMatchObject({ notices: [] });
    for (const key of ["kubeconfig", "logFile", "readinessindicatorfile", "auxiliaryCNIChainName"])
      expect(read.ok ? read.value : {}).not.toHaveProperty([key]);
  });

  test("every listed key is read", () => {
    const everything = Object.fromEntries(knownKeys.map((key) => [key, 5]));
    expect(message({ ...base, ...everything, clusterNetwork: "/x" })).not.toContain("no such key");
  });

  describe("a DEL or CHECK", () => {
    test("continues with a warning if a key is unknown or invalid", () => {
      const read = lenient({ ...base, delegates, namespaceIsolatoin: true, stepTimeoutMs: "long" });
      expect(read.ok && read.value).toMatchObject({
        stepTimeoutMs: 60_000,
        warnings: [
          'configuration: stepTimeoutMs: must be a whole number from 1 to 240000, but is "long"',
          'configuration: namespaceIsolatoin: no such key; did you mean namespaceIsolation? (found "namespaceIsolatoin": true)',
        ],
      });
    });

    test.each([{ cniDir: "x" }, { runDir: "x" }, { name: 5 }])("is refused if %j hides the state's location", (wrong) => {
      const read = lenient({ ...base, delegates, ...wrong });
      expect(read.ok ? "accepted" : read.fault.msg).toContain(Object.keys(wrong)[0] ?? "");
    });

    test.each([5, { grant: {} }, { grants: { x: 5 } }, { grants: { x: { lease: {} } } }])(
      "grants delegates nothing if wasm is %j",
      (section) => {
        const read = lenient({ ...base, delegates, wasm: section });
        expect(read.ok && read.value.wasm).toMatchObject({ grants: {}, otherGrants: {} });
        expect(read.ok && read.value.wasm.otherGrants).toEqual({});
      },
    );
  });

  test("the reader refuses null and wrongly typed values exactly if the schema does", () => {
    const values = [
      null,
      "",
      "x",
      "/x",
      "/a b",
      "/a:b",
      `/${"x".repeat(83)}`,
      `/${"x".repeat(84)}`,
      0,
      1,
      1.5,
      300_000,
      true,
      [],
      [{}],
      ["/x"],
      {},
      { limits: { timeMs: 5 } },
      { budgetMs: 5 },
      "kube-system",
      "Debug",
      "ignore",
      ["a"],
      { pluginsPerNetwork: 1024, attachmentsPerPod: 1 },
      { pluginsPerNetwork: 1025 },
      { attachmentsPerPod: 0 },
    ];
    for (const key of [...knownKeys, "unknown"]) {
      for (const value of values) {
        for (const network of [{ delegates }, { clusterNetwork: "x" }, { clusterNetwork: "/x" }]) {
          const configuration = { ...base, ...network, [key]: value };
          expectAgreement(configuration);
        }
      }
    }
  });

  test("reader and schema agree on generated rules for steps", () => {
    const scalar = fc.constantFrom<unknown>(undefined, null, 1, 11, 0, "open", "retry", "a", [], [11], [0], ["x"], {});
    const rule = fc.record(
      { failure: scalar, retries: scalar, retryOn: scalar, shadow: scalar, more: scalar },
      { requiredKeys: [] },
    );
    const rules = fc.dictionary(fc.constantFrom("a", "b", "a/b", ".."), fc.oneof(rule, scalar));
    fc.assert(
      fc.property(rules, (steps) => {
        const text = JSON.stringify({ ...base, delegates, steps, definitions: { rules: [{ namespaces: ["x"], steps }] } });
        expectAgreement(JSON.parse(text));
      }),
      { numRuns: 300 },
    );
  });

  test("reader and schema agree on generated wasm sections", () => {
    const scalar = fc.constantFrom<unknown>(
      undefined,
      null,
      true,
      1,
      0,
      2.5,
      100_000,
      "process",
      "strict",
      "same",
      2_147_483_646,
      "/x",
      "x",
      ["/x"],
      ["x"],
      [1],
      ["net/x"],
      ["90-80", "80-90"],
      {},
    );
    const section = fc.record(
      {
        prefer: scalar,
        isolation: scalar,
        sandboxUids: fc.oneof(scalar, fc.record({ first: scalar, count: scalar, more: scalar }, { requiredKeys: [] })),
        limits: fc.record({ timeMs: scalar, memoryMiB: scalar, logBytes: scalar }, { requiredKeys: [] }),
        keys: fc.dictionary(fc.constantFrom("x", "same", "a/b"), fc.oneof(scalar, fc.constant(pem))),
        require: fc.oneof(
          scalar,
          fc.record(
            {
              signedBy: fc.oneof(scalar, fc.array(fc.constantFrom("x", "same"), { maxLength: 2 })),
              digests: fc.oneof(scalar, fc.array(fc.constantFrom(digest, "x"), { maxLength: 2 })),
            },
            { requiredKeys: [] },
          ),
        ),
        grants: fc.dictionary(
          fc.constantFrom("a", "b"),
          fc.record(
            {
              log: scalar,
              leases: fc.record({ directories: scalar }),
              resolver: scalar,
              links: fc.record(
                { bridges: scalar, podLinks: scalar, forwarding: scalar, vethQueues: scalar },
                { requiredKeys: [] },
              ),
              sysctl: fc.record({ keys: scalar, allowlist: scalar }, { requiredKeys: [] }),
              firewall: fc.record({ masquerade: scalar, hostPorts: scalar }, { requiredKeys: [] }),
              announce: scalar,
              delegation: fc.record({ plugins: scalar }),
              state: fc.record({ directories: scalar }),
              ovs: fc.record({ bridges: scalar, socket: scalar, interfaceIds: scalar }, { requiredKeys: [] }),
              digest: fc.oneof(scalar, fc.constant(digest)),
              signedBy: scalar,
              require: scalar,
              typo: scalar,
            },
            { requiredKeys: [] },
          ),
        ),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(section, (wasm) => {
        const text = JSON.stringify({ ...base, delegates, wasm });
        expectAgreement(JSON.parse(text));
      }),
      { numRuns: 400 },
    );
  });
});

/** Rules that JSON Schema does not express: the reader alone has them. */
const beyondSchema =
  /the range .* ends before it begins|is not a network such as|is not an address with|wasm\.keys has no key|must name keys in signedBy|ends at uid|needs "failure": "retry"|needs a clusterNetwork that is a file/;

function expectAgreement(configuration: unknown): void {
  const read = readHostConfiguration(configuration);
  const problems = read.ok ? [] : read.fault.msg.split("; ").filter((problem) => !beyondSchema.test(problem));
  expect({ configuration, ok: problems.length === 0, problems }).toEqual({
    configuration,
    ok: isAcceptedBySchema(configuration),
    problems,
  });
}
