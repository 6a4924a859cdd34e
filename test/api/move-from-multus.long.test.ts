// Moving a node from Multus to Plexus, and back, by the steps of docs/how-to/replace-multus.md, with the real Multus: pods come and go all
// the time, and each gets all of its networks.

import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { migrateFromMultus } from "../../src/configuration/multus-migration.ts";
import { readMultusConfiguration } from "../../src/configuration/multus-configuration.ts";
import { isJsonObject } from "../../src/json/document.ts";
import { startDaemon, type TestDaemon } from "../lab/daemon.ts";
import type { ApiServer } from "../lab/kube/api-server.ts";
import { sharedApiServer } from "../lab/kube/shared-api-server.ts";
import { kubeApi } from "../lab/kube/binaries.ts";
import { createPodNamespace, filesBelow, hostLinks, inHost, type PodNamespace } from "../lab/namespaces.ts";
import { type Answer, callBinary, type Installation, installPlexus } from "../lab/plexus.ts";
import { iproute2, linkType, missing, privateNamespaces, referencePlugins } from "../lab/requires.ts";
import { everyMultus, multusBinary } from "../lab/multus/multus-binary.ts";
import { missingServiceAccount, startThickMultus } from "../lab/multus/thick-multus.ts";

const native = ["bridge", "host-local"] as const;
const within = { timeout: 60_000, interval: 50 };
const networks = ["net-a", "net-b", "net-c"] as const;
const defaultFile = "10-default.conflist";
const multusName = "multus-cni-network";

/** A running Multus. */
interface RunningMultus {
  /** The configurations that an administrator passes to `plexusctl migrate`. */
  readonly configurations: () => Readonly<Record<string, string>>;
  /** Ends it as the kubelet does. */
  readonly terminate: () => Promise<unknown>;
}

interface NetworkPod {
  readonly id: string;
  readonly selected: readonly string[];
  readonly args: string;
  readonly namespace: PodNamespace;
}

describe.skipIf(
  missing(
    "moving from Multus",
    privateNamespaces,
    iproute2,
    linkType("bridge"),
    linkType("veth"),
    referencePlugins(...native),
    kubeApi,
    everyMultus,
    missingServiceAccount,
  ),
)("moving from Multus", () => {
  let api: ApiServer;
  let plexus: Installation;
  let daemon: TestDaemon | undefined;
  let multus: RunningMultus | undefined;
  let pods: NetworkPod[];
  /** The number of pods so far, which makes names unique on the API server that all tests share. */
  let count = 0;
  beforeAll(async () => {
    api = await sharedApiServer({ alsoAllowed: ["get daemonsets", "get namespaces", "get nodes"] });
  });
  afterAll(() => api?.dispose());
  beforeEach(async () => {
    plexus = installPlexus({ native });
    copyFileSync(multusBinary("multus") ?? "", join(plexus.cniPath, "multus"));
    for (const directory of [serviceAccount(), netD(), leaseDirectory(), join(plexus.directory, "template")])
      mkdirSync(directory);
    writeFileSync(join(serviceAccount(), "token"), await api.token());
    copyFileSync(api.authority.certificate, join(serviceAccount(), "ca.crt"));
    writeFileSync(join(netD(), defaultFile), JSON.stringify(defaultNetwork()));
    for (const [index, name] of networks.entries()) await api.network("shop", name, [bridge(index + 1)]);
    pods = [];
  });
  afterEach(async () => {
    await daemon?.stop();
    await multus?.terminate();
    [daemon, multus] = [undefined, undefined];
    for (const { namespace } of pods) namespace.dispose();
    for (const { name } of hostLinks().filter(({ name: each }) => each.startsWith("mv"))) inHost(["ip", "link", "del", name]);
    plexus.dispose();
  });

  const netD = (): string => join(plexus.directory, "net.d");
  const serviceAccount = (): string => join(plexus.directory, "service-account");
  const leaseDirectory = (): string => join(plexus.directory, "leases");
  const bridge = (index: number): object => ({
    type: "bridge",
    bridge: `mv${index}`,
    ipam: { type: "host-local", subnet: `10.${60 + index}.0.0/16`, dataDir: leaseDirectory() },
  });
  const defaultNetwork = (): object => ({ cniVersion: "1.0.0", name: "pods", plugins: [bridge(0)] });

  /** The configuration that a runtime uses now: the directory's first one, as libcni sorts. */
  async function current(): Promise<Readonly<Record<string, unknown>>> {
    for (;;) {
      const [first] = readdirSync(netD())
        .filter((name) => /\.(?:conf|conflist|json)$/.test(name))
        .toSorted();
      // Thick Multus does not write its file atomically. A runtime goes on with the last good one.
      const config = first === undefined ? undefined : objectIn(join(netD(), first));
      if (config !== undefined) return config;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  async function call(verb: string, { id, args, namespace }: NetworkPod): Promise<Answer & { readonly by: string }> {
    const config = await current();
    const by = String(config["type"]);
    const env = { PLEXUS_SOCKET: socket(), PLEXUS_HOME: "/nowhere" };
    const request = { verb, containerId: id, netns: namespace.path, ifname: "eth0", args, config, env };
    return { ...(await callBinary(join(plexus.cniPath, by), request, plexus.cniPath)), by };
  }

  /** Attaches a new pod, and fails the test if it lacks a network. Answers the program that attached it. */
  async function addPod(selected: readonly string[]): Promise<{ readonly pod: NetworkPod; readonly by: string }> {
    count += 1;
    const id = `pod-${count}-of-the-test`;
    const { args } = await api.pod("shop", id, selected.join(","));
    const pod = { id, selected, args, namespace: createPodNamespace() };
    pods.push(pod);
    const { status, stdout, by } = await call("ADD", pod);
    const links = pod.namespace.links().map(({ name }) => name);
    const published = await api.statusOf("shop", id);
    const names = (Array.isArray(published) ? published : []).map((each: { readonly name?: unknown }) => each.name);
    expect({ id, by, error: status === 0 ? "" : stdout, links: links.toSorted(), further: names.slice(1) }).toEqual({
      id,
      by,
      error: "",
      links: ["eth0", ...selected.map((_, index) => `net${index + 1}`)],
      further: selected.map((name) => `shop/${name}`),
    });
    return { pod, by };
  }

  async function deletePod(pod: NetworkPod, attachedBy: string): Promise<string> {
    const { status, stdout, by } = await call("DEL", pod);
    expect({ id: pod.id, by, error: status === 0 ? "" : stdout }).toEqual({ id: pod.id, by, error: "" });
    // Multus may leave the default network of a pod that Plexus attached. The runtime removes the namespace with its links.
    const mayLeaveLinks = attachedBy === "plexus" && by !== "plexus";
    expect(mayLeaveLinks ? [] : pod.namespace.links()).toEqual([]);
    await api.deletePod("shop", pod.id);
    pod.namespace.dispose();
    pods = pods.filter((each) => each !== pod);
    return by;
  }

  /** Leases of a container's addresses, as NETWORK/ADDRESS. */
  const leasesOf = ({ id }: NetworkPod): readonly string[] =>
    filesBelow(leaseDirectory()).filter((path) => ownerOf(join(leaseDirectory(), path)) === id);

  /** A container's leases, and files of its state. */
  const leftOf = (pod: NetworkPod): readonly string[] => [
    ...leasesOf(pod),
    ...["cni", "multus"].flatMap((name) => filesBelow(state(name)).filter((path) => path.includes(pod.id))),
  ];

  const state = (name: string): string => join(plexus.directory, "state", name);
  const socket = (): string => join(plexus.directory, "daemon", "plexus.sock");
  const ours = (): string => join(netD(), "00-multus-plexus.conflist");

  /** Starts Plexus' daemon as the chart does with the migrated values. */
  async function startPlexus(): Promise<void> {
    const read = Object.entries(multus?.configurations() ?? {}).map(([name, text]) => readMultusConfiguration(text, name));
    const migration = migrateFromMultus(read.flatMap((each) => (each.ok ? [each.value] : [])));
    const values = migration.ok ? migration.value.values : {};
    const template = {
      ...(isJsonObject(values["config"]) ? values["config"] : {}),
      // The test's directories. In a cluster both have their default paths.
      multusCniDir: state("multus"),
      cniDir: state("cni"),
      runDir: join(plexus.directory, "run"),
      kubeconfig: api.plexus,
    };
    writeFileSync(join(plexus.directory, "template", "config.json"), JSON.stringify(template));
    const cni = isJsonObject(values["cni"]) ? values["cni"] : {};
    daemon = await startDaemon({
      socket: socket(),
      // The daemon has no right to read a DaemonSet: its stop counts as the removal of Plexus.
      env: { DAEMONSET: "plexus", POD_NAMESPACE: "kube-system" },
      args: [
        ["--state-dir", state("cni"), "--node-name", "node"],
        ["--service-account", serviceAccount(), "--api-server", api.url],
        ["--cni-config-dir", netD(), "--cni-config", join(plexus.directory, "template", "config.json")],
        ["--cni-config-name", String(cni["configName"]), "--cni-bin-dir", plexus.cniPath],
      ].flat(),
    });
    await expect.poll(() => existsSync(ours()), within).toBe(true);
  }

  async function startThick(): Promise<RunningMultus> {
    const { terminate, daemonConfig } = await startThickMultus(api, plexus, defaultNetwork(), {
      configurations: netD(),
      cniDir: state("multus"),
    });
    return {
      terminate,
      configurations: () => ({
        "daemon-config.json": JSON.stringify(daemonConfig),
        "00-multus.conf": readFileSync(join(netD(), "00-multus.conf"), "utf8"),
      }),
    };
  }

  /** Does the work of thin Multus' entry point, which by default leaves its file behind when it ends. */
  async function startThin(): Promise<RunningMultus> {
    const file = join(netD(), "00-multus.conflist");
    const plugin = {
      type: "multus",
      cniDir: state("multus"),
      binDir: plexus.cniPath,
      kubeconfig: api.adminKubeconfig,
      delegates: [defaultNetwork()],
    };
    writeFileSync(file, JSON.stringify({ cniVersion: "1.0.0", name: multusName, plugins: [plugin] }));
    return {
      terminate: async () => rmSync(file, { force: true }),
      configurations: () => ({ "00-multus.conflist": readFileSync(file, "utf8") }),
    };
  }

  /** Pods that come and go until `end`, which answers the programs that attached them, in order. */
  function churn(): { several(): Promise<void>; end(): Promise<readonly string[]> } {
    const churning = { ended: false };
    const [attached, left]: [string[], string[]] = [[], []];
    const worker = async (): Promise<void> => {
      while (!churning.ended) {
        const { pod, by } = await addPod(["net-a"]);
        attached.push(by);
        const deletedBy = await deletePod(pod, by);
        // Thick Multus 4.3.0 forgets the default network's configuration, so that its own DEL keeps the address.
        if (by === "plexus" && deletedBy === "plexus") left.push(...leftOf(pod));
      }
    };
    const workers = Promise.all([worker(), worker()]);
    // A failure is reported by end().
    workers.catch(() => (churning.ended = true));
    return {
      /** Resolves when six more pods are attached: at least four of them by calls that began after this one. */
      async several() {
        const more = attached.length + 6;
        await expect.poll(() => churning.ended || attached.length >= more, within).toBe(true);
      },
      async end() {
        churning.ended = true;
        await workers;
        expect(left).toEqual([]);
        return attached;
      },
    };
  }

  test.each([
    { kind: "thick", start: startThick, type: "multus-shim" },
    { kind: "thin", start: startThin, type: "multus" },
  ])(
    "$kind: each pod has all networks at every moment, and pods of before leave nothing",
    async ({ start, type }) => {
      multus = await start();
      const selections = [["net-a"], ["net-a", "net-b"], [...networks]];
      const old: NetworkPod[] = [];
      for (const selected of selections) old.push((await addPod(selected)).pod);
      const moving = churn();
      await moving.several();

      // Step 1: Plexus comes first. Step 2: a Multus that restarts meanwhile does not delegate to Plexus.
      await startPlexus();
      await moving.several();
      await multus.terminate();
      multus = await start();
      const generated = Object.entries(multus.configurations()).map(([, text]) => text);
      expect(generated.join("\n")).not.toContain("plexus.conflist");
      await moving.several();
      // Step 3: Multus goes.
      await multus.terminate();
      multus = undefined;
      await moving.several();
      const attachedBy = await moving.end();
      expect([...new Set(attachedBy)]).toEqual([type, "plexus"]);
      for (const pod of old) {
        expect(await deletePod(pod, type)).toBe("plexus");
        expect(leftOf(pod)).toEqual([]);
      }
    },
    180_000,
  );

  test("thick, back: each pod has all networks at every moment, and no call meets a daemon that is gone", async () => {
    multus = await startThick();
    await startPlexus();
    const moving = churn();
    await moving.several();
    // Plexus removes its file and goes on for the calls of runtimes that have read it just before. No one-shot engine would serve them.
    await daemon?.stop();
    daemon = undefined;
    expect(existsSync(ours())).toBe(false);
    await moving.several();
    const attachedBy = await moving.end();
    expect([...new Set(attachedBy)]).toEqual(["plexus", "multus-shim"]);
  });
});

/** The container of a lease; undefined if the lease ended meanwhile. */
function ownerOf(lease: string): string | undefined {
  try {
    return readFileSync(lease, "utf8").split(/\s/)[0];
  } catch {
    return undefined;
  }
}

/** The plugin's configuration in a file as a runtime passes it; undefined if the file is incomplete or gone. */
function objectIn(path: string): Readonly<Record<string, unknown>> | undefined {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return undefined;
  }
  if (!isJsonObject(value)) return undefined;
  const { plugins, ...list } = value;
  const [plugin]: readonly unknown[] = Array.isArray(plugins) ? plugins : [];
  return isJsonObject(plugin) ? { ...plugin, name: list["name"], cniVersion: list["cniVersion"] } : value;
}
