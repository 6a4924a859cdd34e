// Runs the built binary with configurations from Multus' documentation and its generators (MC rows).

import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";

import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { installRecorder, recordedCalls } from "../../../lab/recorder.ts";
import { openRig, stdinOf, web, type Rig } from "../../../lab/multus/rig.ts";

let rig: Rig;
beforeEach(() => {
  rig = openRig("flannel", "macvlan", "tuning");
  rig.pod(web);
});
afterEach(() => rig.dispose());

/** The configuration that the thin plugin's entrypoint writes (cmd/thin_entrypoint), with its misspelt cniConf. */
function thin(more: object): object {
  return rig.config({
    cniVersion: "0.3.1",
    type: "multus",
    logToStderr: false,
    logOptions: { maxAge: 5, maxSize: 100, maxBackups: 5, compress: true },
    cniConf: rig.plexus.state("conf"),
    ...more,
  });
}

describe("a configuration of Multus", () => {
  it("MC-01 MC-02 MC-03 MC-05 MC-16 with delegates works unchanged, under Multus' name", async () => {
    symlinkSync(join(rig.plexus.cniPath, "plexus"), join(rig.plexus.cniPath, "multus"));
    const config = thin({
      delegates: [
        { type: "flannel", hairpinMode: true },
        { name: "second", type: "macvlan" },
      ],
    });
    await rig.succeed("ADD", config, { as: "multus" });
    const calls = rig.calls();
    expect(calls.map(({ env }) => env["CNI_IFNAME"])).toEqual(["eth0", "net1"]);
    expect(stdinOf(calls[0])).toEqual({ type: "flannel", hairpinMode: true, cniVersion: "0.3.1", name: "multus-cni-network" });
    expect(stdinOf(calls[1])).toMatchObject({ type: "macvlan", name: "second", cniVersion: "0.3.1" });
    await rig.succeed("DEL", config, { as: "multus" });
    expect(rig.seen()).toEqual(["DEL macvlan net1", "DEL flannel eth0"]);
  });

  it("MC-02 MC-06 finds a network by name in cniConf, and warns that the key should be confDir", async () => {
    rig.file("state/conf/10-any.conflist", { cniVersion: "1.0.0", name: "cbr0", plugins: [{ type: "flannel" }] });
    const { confDir: _, ...config } = rig.config({ cniConf: rig.plexus.state("conf"), clusterNetwork: "cbr0" });
    const { stderr } = await rig.succeed("ADD", config);
    expect(stderr).toBe("plexus: warning: configuration: cniConf is read as confDir; Multus itself ignores it: rename it\n");
    expect(rig.seen()).toEqual(["ADD flannel eth0"]);
  });

  it("accepts every key of the thick plugin's daemon configuration in the file that configFile names", async () => {
    const conflist = rig.file("net.d/10-flannel.conflist", { cniVersion: "1.0.0", name: "cbr0", plugins: [{ type: "flannel" }] });
    const configFile = rig.file("daemon-config.json", {
      chrootDir: "/hostroot",
      cniVersion: "0.3.1",
      logLevel: "verbose",
      logToStderr: true,
      cniConfigDir: "/host/etc/cni/net.d",
      multusAutoconfigDir: "/host/etc/cni/net.d",
      multusConfigFile: "auto",
      socketDir: "/host/run/multus/",
      connectionLimit: 10,
      perNodeCertificate: {
        enabled: true,
        bootstrapKubeconfig: "/var/lib/kubelet/kubeconfig",
        certDir: "/etc/cni/net.d/multus.d",
      },
      namespaceIsolation: true,
      clusterNetwork: conflist,
    });
    const config = rig.config({ configFile });
    const { stderr } = await rig.succeed("ADD", config);
    expect(rig.seen()).toEqual(["ADD flannel eth0"]);
    expect(stderr.split("\n").filter((line) => line.includes("of Multus has no effect"))).toHaveLength(7);
    // The file's keys take effect: here namespaceIsolation.
    rig.pod(web, { "k8s.v1.cni.cncf.io/networks": "other/net" });
    rig.definition("other", "net", { type: "macvlan" });
    const refused = await rig.call("ADD", config, { containerId: "ctr-2" });
    expect(refused.json).toMatchObject({ code: 7, msg: expect.stringContaining("namespaceIsolation") });
    // Each call reads the file again; the CNI configuration takes precedence.
    await rig.succeed("ADD", { ...config, namespaceIsolation: false }, { containerId: "ctr-3" });
  });

  it("an invalid configuration file fails an ADD, but not a DEL", async () => {
    const configFile = rig.file("plexus.json", { delegates: [{ type: "flannel" }] });
    const config = rig.config({ configFile });
    await rig.succeed("ADD", config);
    rig.file("plexus.json", "{");
    expect((await rig.call("ADD", config, { containerId: "ctr-2" })).json).toMatchObject({ code: 6 });
    const { stderr } = await rig.succeed("DEL", config);
    expect(stderr).toContain("this call goes on without the configuration file");
    expect(rig.seen()).toEqual(["ADD flannel eth0", "DEL flannel eth0"]);
  });

  it.each([
    ["that does not exist", (path: string) => rmSync(path, { force: true })],
    ["that is a directory", (path: string) => mkdirSync(path)],
    ["that is a pipe without a writer", (path: string) => execFileSync("mkfifo", [path])],
    ["that never ends", (path: string) => symlinkSync("/dev/zero", path)],
  ])("A-09 a configuration file %s fails an ADD, and the error names the file", async (_, make) => {
    const configFile = rig.path("odd.json");
    make(configFile);
    const { json } = await rig.call("ADD", rig.config({ configFile }));
    expect(json).toMatchObject({ code: 5, msg: expect.stringContaining(`configuration file ${configFile}: `) });
  });

  it("a mistyped key fails an ADD, whose error suggests the right key; a DEL succeeds", async () => {
    const config = rig.config({ delegates: [{ type: "flannel" }] });
    await rig.succeed("ADD", config);
    const mistyped = { ...config, namespaceIsolatoin: true };
    expect((await rig.call("ADD", mistyped, { containerId: "ctr-2" })).json).toMatchObject({
      code: 2,
      msg: 'namespaceIsolatoin: no such key; did you mean namespaceIsolation? (found "namespaceIsolatoin": true)',
    });
    const { stderr } = await rig.succeed("DEL", mistyped);
    expect(stderr).toContain("did you mean namespaceIsolation?");
    expect(rig.seen()).toEqual(["ADD flannel eth0", "DEL flannel eth0"]);
  });

  it("MC-04 binDir comes before CNI_PATH", async () => {
    const binDir = rig.plexus.state("bin");
    installRecorder(binDir, "flannel");
    await rig.succeed("ADD", rig.config({ delegates: [{ type: "flannel" }], binDir }));
    expect(rig.seen()).toEqual([]);
    const [call] = recordedCalls(join(binDir, "flannel"));
    expect(call?.env["CNI_PATH"]).toBe(`${binDir}:${rig.plexus.cniPath}`);
    const respelled = await rig.call("ADD", rig.config({ delegates: [{ type: "flannel" }], BinDir: binDir }), {
      containerId: "ctr-2",
    });
    expect(respelled.json).toMatchObject({
      code: 7,
      msg: expect.stringContaining("binDir: write the key in exactly this spelling"),
    });
  });
});

function list(name: string, type = "flannel"): object {
  return { cniVersion: "1.0.0", name, plugins: [{ type, from: name }] };
}

/** The member `from` of the configuration that the default network's plugin received. */
async function addedFrom(config: object): Promise<unknown> {
  await rig.succeed("ADD", config);
  const [call] = rig.calls();
  await rig.succeed("DEL", config);
  rig.calls();
  return stdinOf(call)["from"];
}

describe("the default network", () => {
  it("N1-57 MC-05 MC-06 MC-09 is inline, a definition, a name, a directory or a file, in this order of precedence", async () => {
    expect(await addedFrom(rig.config({ delegates: [list("inline")] }))).toBe("inline");

    rig.file("state/conf/10-a.conflist", { ...list("both"), plugins: [{ type: "flannel", from: "disk" }] });
    expect(await addedFrom(rig.config({ clusterNetwork: "both" }))).toBe("disk");
    // Plexus ignores a definition in a namespace other than multusNamespace.
    rig.definition("default", "both", { ...list("both"), plugins: [{ type: "flannel", from: "elsewhere" }] });
    expect(await addedFrom(rig.config({ clusterNetwork: "both" }))).toBe("disk");
    rig.definition("kube-system", "both", { ...list("both"), plugins: [{ type: "flannel", from: "definition" }] });
    expect(await addedFrom(rig.config({ clusterNetwork: "both" }))).toBe("definition");
    expect(await addedFrom(rig.config({ clusterNetwork: "both", multusNamespace: "default" }))).toBe("elsewhere");

    rig.file("net.d/20-b.conf", { ...list("x"), type: "flannel", from: "second", plugins: undefined });
    rig.file("net.d/10-a.conflist", list("first"));
    expect(await addedFrom(rig.config({ clusterNetwork: rig.path("net.d") }))).toBe("first");
    expect(await addedFrom(rig.config({ clusterNetwork: rig.path("net.d/20-b.conf") }))).toBe("second");
    expect(await addedFrom(rig.config({ clusterNetwork: rig.path("net.d/10-a.conflist"), delegates: [list("inline")] }))).toBe(
      "first",
    );
  });

  it("MC-06 the status names a definition by namespace and name; DEL, STATUS and GC need no API for it", async () => {
    rig.definition("kube-system", "calico", list("k8s-pod-network"));
    const config = rig.config({ cniVersion: "1.1.0", clusterNetwork: "calico" });
    await rig.succeed("ADD", config);
    expect(rig.status(web)).toMatchObject([{ name: "kube-system/calico", interface: "eth0", default: true }]);
    rig.calls();
    const { manifests: _, ...offline } = config as Record<string, unknown>;
    await rig.succeed("STATUS", offline);
    await rig.succeed("DEL", offline);
    // containerd sends a second DEL, which finds no journal.
    await rig.succeed("DEL", offline);
    expect(rig.seen()).toEqual(["DEL flannel eth0", "DEL flannel eth0"]);
  });

  it.each([
    ["an unknown name", "nothing", "no NetworkAttachmentDefinition kube-system/nothing is known"],
    ["a path without a file", "/nonexistent/x.conf", "there is no /nonexistent/x.conf"],
    ["a relative path", "net.d/x.conf", "is neither a name nor an absolute path"],
  ])("MC-06 fails ADD with code 7 and STATUS with code 50 if clusterNetwork is %s", async (_, clusterNetwork, msg) => {
    rig.file("state/conf/10-other.conflist", list("other"));
    const config = rig.config({ cniVersion: "1.1.0", clusterNetwork });
    expect((await rig.call("ADD", config)).json).toMatchObject({ code: 7, msg: expect.stringContaining(msg) });
    expect((await rig.call("STATUS", config)).json).toMatchObject({ code: 50 });
    expect(rig.seen()).toEqual([]);
  });

  it("MC-14 a file does not replace the definition of the same name while the definition cannot be read", async () => {
    rig.file("state/conf/10-a.conflist", list("both"));
    rig.definition("kube-system", "both", list("both"));
    rig.file("state/manifests/second.json", {
      apiVersion: "k8s.cni.cncf.io/v1",
      kind: "NetworkAttachmentDefinition",
      metadata: { namespace: "kube-system", name: "both" },
    });
    expect((await rig.call("ADD", rig.config({ clusterNetwork: "both" }))).json).toMatchObject({ code: 11 });
    expect(rig.seen()).toEqual([]);
  });

  it("MO-24 is never Plexus itself, under any of its names; Plexus skips its own file in a directory", async () => {
    const plexusConfig = rig.config({ delegates: [list("inline")] });
    rig.file("net.d/00-multus.conf", { ...plexusConfig, type: "multus" });
    rig.file("net.d/01-plexus.conflist", { cniVersion: "1.0.0", name: "p", plugins: [{ ...plexusConfig, type: "plexus" }] });
    rig.file("net.d/10-flannel.conflist", list("cbr0"));
    expect(await addedFrom(rig.config({ clusterNetwork: rig.path("net.d") }))).toBe("cbr0");
    for (const file of ["00-multus.conf", "01-plexus.conflist"]) {
      const refused = await rig.call("ADD", rig.config({ clusterNetwork: rig.path(`net.d/${file}`) }), { containerId: "ctr-2" });
      expect(refused.json).toMatchObject({ code: 7, msg: expect.stringContaining("it would be plexus itself") });
    }
    rig.definition("shop", "again", { cniVersion: "1.0.0", type: "multus" });
    rig.pod(web, { "k8s.v1.cni.cncf.io/networks": "again" });
    const selected = await rig.call("ADD", rig.config({ delegates: [list("inline")] }), { containerId: "ctr-3" });
    expect(selected.json).toMatchObject({ code: 7, msg: expect.stringContaining("it would be plexus itself") });
    expect(rig.seen()).toEqual([]);
  });

  it("MC-21 the sibling directory extends a list's file, but not a single configuration's, with a warning", async () => {
    const conflist = rig.file("net.d/10-a.conflist", list("cbr0"));
    // The file's content decides, not its extension.
    const named = rig.file("net.d/20-a.conf", list("cbr0"));
    const single = rig.file("net.d/30-b.conf", { cniVersion: "1.0.0", name: "cbr0", type: "flannel" });
    const inlined = rig.file("net.d/40-c.conflist", { ...list("cbr0"), loadOnlyInlinedPlugins: true });
    rig.file("net.d/cbr0/50-tuning.conf", { type: "tuning" });
    const chains: (readonly string[])[] = [];
    for (const [index, clusterNetwork] of [conflist, named, single, inlined].entries()) {
      const { stderr } = await rig.succeed("ADD", rig.config({ clusterNetwork }), { containerId: `ctr-${index}` });
      expect(stderr.includes("has no effect")).toBe(clusterNetwork === single);
      chains.push(rig.seen());
    }
    const extended = ["ADD flannel eth0", "ADD tuning eth0"];
    expect(chains).toEqual([extended, extended, ["ADD flannel eth0"], ["ADD flannel eth0"]]);
  });

  it("MC-20 auxiliaryCNIChainName adds a chain from a directory's files, with an empty prevResult, absent from the status", async () => {
    const clusterNetwork = rig.file("net.d/10-a.conflist", list("cbr0"));
    rig.definition("shop", "extra", list("extra", "macvlan"));
    rig.pod(web, { "k8s.v1.cni.cncf.io/networks": "extra" });
    const config = rig.config({ clusterNetwork, auxiliaryCNIChainName: "cni-chain-config" });
    await rig.succeed("ADD", config);
    expect(rig.seen()).toEqual(["ADD flannel eth0", "ADD macvlan net1"]);
    await rig.succeed("DEL", config);
    rig.calls();

    // A file added to the directory takes effect for the next pod.
    rig.file("net.d/cni-chain-config/mytuning.conf", { name: "mytuning", type: "tuning", sysctl: {} });
    await rig.succeed("ADD", config);
    const calls = rig.calls();
    expect(calls.map(({ env }) => env["CNI_IFNAME"])).toEqual(["eth0", "net1", "net2"]);
    expect(stdinOf(calls[2])).toEqual({
      name: "cni-chain-config",
      type: "tuning",
      sysctl: {},
      cniVersion: "1.0.0",
      prevResult: { cniVersion: "1.0.0", interfaces: [], ips: [], routes: [], dns: {} },
    });
    expect(rig.status(web)?.map(({ name }) => name)).toEqual(["cbr0", "shop/extra"]);
    await rig.succeed("DEL", config);
    expect(rig.seen()).toEqual(["DEL tuning net2", "DEL macvlan net1", "DEL flannel eth0"]);
  });

  it("MC-22 gets as prevResult the result of the plugins before Plexus in the runtime's list, in the network's version", async () => {
    const prevResult = {
      cniVersion: "1.0.0",
      interfaces: [{ name: "eth0", sandbox: "/var/run/netns/none" }],
      ips: [{ address: "10.1.2.3/24", interface: 0 }],
      extra: 12345,
    };
    const chain = { cniVersion: "1.0.0", name: "cbr0", plugins: [{ type: "flannel" }, { type: "tuning" }] };
    const plexusConfig = { cniVersion: "1.0.0", ips: [{ address: "10.9.9.9/24" }] };
    rig.plugin("flannel").script("ADD", { stdout: JSON.stringify(plexusConfig) }, 1);
    await rig.succeed("ADD", rig.config({ delegates: [chain], prevResult }));
    const [first, second] = rig.calls();
    expect(stdinOf(first)["prevResult"]).toEqual(prevResult);
    expect(stdinOf(second)["prevResult"]).toEqual(plexusConfig);
    const old = { ...chain, cniVersion: "0.4.0" };
    await rig.succeed("ADD", rig.config({ delegates: [old], prevResult }), { containerId: "ctr-2" });
    const [converted] = rig.calls();
    expect(stdinOf(converted)["prevResult"]).toMatchObject({
      cniVersion: "0.4.0",
      ips: [{ version: "4", address: "10.1.2.3/24", interface: 0 }],
    });
  });
});
