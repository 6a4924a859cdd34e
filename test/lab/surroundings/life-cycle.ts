// The life of a node with Plexus and the program of its default network: installation before and after Plexus, ten pods with two networks, hot-plug,
// host ports, restarts and upgrades, a reboot, and the removal of either.

import { expect } from "vitest";

import { statusAnnotation } from "../cluster/fault-pods.ts";
import { leftOn } from "../cluster/left.ts";
import { toolsPod } from "../cluster/pods.ts";
import { breakPlexus, deployPlexus, removePlexus } from "../cluster/release.ts";
import { storage } from "../cluster/storage.ts";
import { referencePlugins } from "../requires.ts";
import { besideCluster, type BesideCluster, missingBeside } from "./beside-cluster.ts";
import * as beside from "./beside.ts";
import type { DefaultNetwork } from "./default-network.ts";

const plexusFile = "00-plexus.conflist";
/** Pods with two networks that are deleted while the default network's program is away. */
const early = ["pod-3", "pod-4", "before-plexus"] as const;

/** A stage of the life. The stages run in their order, each on what the ones before have left. */
export interface Stage {
  readonly title: string;
  run(): Promise<void>;
}

export interface LifeCycle {
  /** Whether this machine lacks a requirement. */
  readonly skip: boolean;
  /** For `test.each`. */
  readonly stages: readonly Stage[];
  /** Starts the cluster before the tests of the group, and ends it after them. */
  start(): void;
}

/** Waits of one stage on a busy machine end after this time. */
export const stageMs = 900_000;

/** A node beside the program, and its states that the stages compare. */
interface Life {
  readonly network: DefaultNetwork;
  readonly at: () => BesideCluster;
  /** The steps of both configurations of the runtime. */
  readonly lists: () => object;
  readonly allocated: () => Promise<number>;
  /** Creates pods, and waits for them. */
  readonly start: (...names: readonly string[]) => Promise<void>;
  readonly connected: (...names: readonly string[]) => Promise<void>;
}

/** The stages with both programs on the node. */
function stagesTogether({ network, at, lists, allocated, start, connected }: Life): readonly Stage[] {
  const { title, list, daemon } = network;
  return [
    {
      title: `installed before Plexus, ${title} is the default network of ten pods with a second network`,
      async run() {
        const { cluster } = at();
        await network.deploy(cluster, "v1");
        await cluster.nodesReady();
        await start("before-plexus");
        await deployPlexus(cluster, "install", "v1", ...beside.chartSettings);
        await cluster.apply(storage);
        expect(lists()).toEqual({ plexus: ["plexus"], network: list.steps });
        await start(...beside.tenPods);
        await connected(...beside.tenPods);
        const { metadata, status } = await cluster.core.readNamespacedPod({ namespace: "default", name: "pod-1" });
        expect(status?.podIP).toMatch(network.addresses);
        const [first] = JSON.parse(metadata?.annotations?.[statusAnnotation] ?? "[]");
        expect(first).toEqual({ ...(network.status ?? first), ips: [status?.podIP], default: true });
        await cluster.succeed("exec", "pod-0", "--", "ping", "-c", "1", "-W", "60", status?.podIP ?? "");
        expect(await allocated()).toBe(11);
      },
    },
    {
      title: "hot-plug attaches and detaches a further network",
      async run() {
        expect(await beside.hotPlugged(at().cluster, "pod-0")).toEqual(beside.hotPlugging);
      },
    },
    {
      title: `a host port is mapped by a step of ${title}'s list, and freed at the pod's deletion`,
      async run() {
        const { cluster, node } = at();
        await cluster.apply(beside.servingPod("web"));
        await beside.ready(cluster, ["web"]);
        await expect.poll(() => beside.hostPortStatus(node), beside.patient).toBe("404");
        await beside.deleted(cluster, "web");
        expect(beside.hostPortStatus(node)).toBe("000");
      },
    },
    {
      title: "restarts and upgrades of either change no pod, and hot-plug works afterwards",
      async run() {
        const { cluster } = at();
        await beside.restarted(cluster, daemon.namespace, daemon.name);
        await beside.restarted(cluster, "kube-system", "plexus");
        await network.deploy(cluster, "v2");
        await deployPlexus(cluster, "upgrade", "v2", ...beside.chartSettings);
        await connected(...beside.tenPods);
        expect(await beside.hotPlugged(cluster, "pod-2")).toEqual(beside.hotPlugging);
        await start("upgraded");
        await connected("upgraded");
        expect(lists()).toEqual({ plexus: ["plexus"], network: list.steps });
      },
    },
    {
      title: "after a reboot each pod has both networks, and the addresses of before are free",
      async run() {
        const { cluster, node } = at();
        await beside.rebooted(cluster, node);
        await connected(...beside.tenPods);
        await expect.poll(allocated, beside.patient).toBe(12);
      },
    },
  ];
}

/** The stages without one of the programs. */
function stagesApart({ network, at, lists, allocated, start, connected }: Life): readonly Stage[] {
  const { title, list } = network;
  return [
    {
      title: `without ${title} deleted pods wait; they end, with no address left, once ${title} is there again`,
      async run() {
        const { cluster } = at();
        const paths = early.map((name) => `pod/${name}`);
        await network.remove(cluster);
        await expect.poll(lists, beside.patient).toEqual({ plexus: undefined, network: undefined });
        await cluster.succeed("delete", ...paths, "--wait=false");
        await network.deploy(cluster, "v1");
        await expect.poll(lists, beside.patient).toEqual({ plexus: ["plexus"], network: list.steps });
        await cluster.succeed("wait", "--for=delete", "--timeout=240s", ...paths);
        await expect.poll(allocated, beside.patient).toBe(9);
        await start("again");
        await connected("again");
      },
    },
    {
      title: `without Plexus, ${title} detaches the default network, and new pods have ${title} alone`,
      async run() {
        const { cluster, node } = at();
        await cluster.apply(toolsPod("single"));
        await beside.ready(cluster, ["single"]);
        // The uninstallation of Plexus waits for pods with further networks.
        const left = beside.tenPods.filter((name) => early.every((each) => each !== name));
        await beside.deleted(cluster, ...left, "upgraded", "again");
        await removePlexus(cluster);
        expect(lists()).toEqual({ plexus: undefined, network: list.steps });
        await beside.deleted(cluster, "single");
        await start("alone");
        expect(await beside.addresses(cluster, "alone")).not.toContain("data0");
        await beside.deleted(cluster, "alone");
        expect(await allocated()).toBe(0);
        expect(leftOn(node).links.filter((name) => name.startsWith(network.links))).toEqual([]);
      },
    },
    {
      title: `installed after Plexus, ${title} becomes the default network of an empty node`,
      async run() {
        const { cluster } = at();
        await network.remove(cluster);
        await breakPlexus(cluster, "v1", "--install", ...beside.chartSettings);
        await network.deploy(cluster, "v1");
        await expect.poll(lists, beside.patient).toEqual({ plexus: ["plexus"], network: list.steps });
        await start("last");
        await connected("last");
        await beside.deleted(cluster, "last");
      },
    },
  ];
}

/** The whole life of a node beside this program. */
export function lifeCycle(network: DefaultNetwork): LifeCycle {
  const { title, plugins, list } = network;
  let place: BesideCluster | undefined;
  const at = (): BesideCluster => {
    if (place === undefined) throw new Error("the life cycle has not been started");
    return place;
  };
  const allocated = (): Promise<number> => network.allocated(at().cluster, at().node);
  const lists = (): object => ({
    plexus: beside.stepsOf(at().node, plexusFile),
    network: beside.stepsOf(at().node, list.file),
  });
  const start = async (...names: readonly string[]): Promise<void> => {
    await at().cluster.apply(...names.map((name) => beside.besidePod(name)));
    await beside.ready(at().cluster, names);
  };
  const connected = async (...names: readonly string[]): Promise<void> => {
    for (const name of names) await beside.connected(at().cluster, name);
  };
  const life: Life = { network, at, lists, allocated, start, connected };
  const stages = [...stagesTogether(life), ...stagesApart(life)];
  return {
    skip: missingBeside(title, referencePlugins(...plugins), ...network.requirements),
    stages,
    start() {
      place = besideCluster(async (cluster) => {
        for (const node of cluster.nodes)
          for (const plugin of new Set(["bridge", "host-local", "loopback", ...plugins])) node.installPlugin(plugin);
        await network.prepare(cluster);
      });
    },
  };
}
