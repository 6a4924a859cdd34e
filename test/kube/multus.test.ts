// Multus and Plexus side by side: the same configuration, the same definitions and annotations of a real API server, and what
// each of them tells the plugins and the pod. Multus is the real one, built from its Go module.

import { copyFileSync } from "node:fs";
import { join } from "node:path";

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";

import { multusBinary, realMultus } from "../conformance/multus/multus-binary.ts";
import { openRig, type Rig } from "../conformance/multus/rig.ts";
import { type ApiServer, type CreatedPod, startApiServer } from "../harness/kube/api-server.ts";
import { kubeApi } from "../harness/kube/binaries.ts";
import { createPodNamespace, type PodNamespace } from "../harness/namespaces.ts";
import type { RecordedCall } from "../harness/recorder.ts";
import { iproute2, missing, privateNamespaces } from "../harness/requires.ts";

const selection = "k8s.v1.cni.cncf.io/networks";
const otherDefault = "v1.multus-cni.io/default-network";

/** What pods of Multus' users ask for. */
const cases: readonly {
  readonly title: string;
  readonly annotations: Readonly<Record<string, string>>;
  /** Interfaces of what the pod selects, in order: defaultNetworks has net1. */
  readonly ifnames: readonly string[];
  /** Multus' list of delegates lacks what the pod asked for, so its own DEL lacks it, too: a plugin can't undo it then. */
  readonly forgotten?: boolean;
}[] = [
  { title: "nothing", annotations: {}, ifnames: [] },
  { title: "two networks in the comma form", annotations: { [selection]: "net-a, other/net-b@lan0" }, ifnames: ["net2", "lan0"] },
  { title: "one network twice", annotations: { [selection]: "net-a,net-a" }, ifnames: ["net2", "net3"] },
  {
    title: "addresses, an interface and arguments as JSON",
    ifnames: ["data0", "net3"],
    annotations: {
      [selection]: JSON.stringify([
        { name: "net-a", interface: "data0", ips: ["10.20.0.5/24"], "cni-args": { vlan: 5, x: ["y"] } },
        { name: "net-b", namespace: "other" },
      ]),
    },
  },
  {
    title: "port mappings, which Multus forgets until DEL",
    ifnames: ["net2"],
    forgotten: true,
    annotations: {
      [selection]: JSON.stringify([{ name: "net-a", portMappings: [{ hostPort: 80, containerPort: 8080, protocol: "tcp" }] }]),
    },
  },
  { title: "another default network", annotations: { [otherDefault]: "calico", [selection]: "net-a" }, ifnames: ["net2"] },
  { title: "a network that is on the node's disk", annotations: { [selection]: "on-disk" }, ifnames: ["net2"] },
];

interface Told {
  readonly plugin: string | undefined;
  readonly verb: string | undefined;
  readonly ifname: string | undefined;
  readonly args: readonly string[];
  readonly stdin: Readonly<Record<string, unknown>>;
}

/** What tells two calls for two pods apart. */
const ofPod = /^(?:K8S_POD_NAME|K8S_POD_UID|K8S_POD_INFRA_CONTAINER_ID|IgnoreUnknown)=/;

/** What a plugin was told. Multus adds MAC= and IP= to CNI_ARGS, which is off by default here (MC-23), and repeats pairs. */
function told({ env, stdin, plugin }: RecordedCall): Told {
  const { CNI_COMMAND, CNI_IFNAME, CNI_ARGS = "", CNI_CONTAINERID = "", CNI_NETNS = "" } = env;
  const pairs = CNI_ARGS.split(";").filter((pair) => !ofPod.test(pair) && !/^(?:MAC|IP)=/.test(pair));
  const text = stdin.replaceAll(CNI_CONTAINERID, "CONTAINER").replaceAll(CNI_NETNS, "NETNS");
  const args = [...new Set(pairs)];
  return { plugin: plugin.split("/").at(-1), verb: CNI_COMMAND, ifname: CNI_IFNAME, args, stdin: JSON.parse(text) };
}

function withoutRuntimeConfig(calls: readonly Told[]): readonly Told[] {
  return calls.map((call) => {
    const { runtimeConfig: _runtimeConfig, ...stdin } = call.stdin;
    return { ...call, stdin };
  });
}

/** Where Multus leaves out what is false or empty, the specification wants it (N1-53), or doesn't (N1-55). */
function shownAs(status: unknown): unknown {
  if (!Array.isArray(status)) return status;
  return status.map((entry: Readonly<Record<string, unknown>>) => ({ dns: {}, ...entry, default: entry["default"] === true }));
}

describe.skipIf(missing("Multus and Plexus side by side", privateNamespaces, iproute2, kubeApi, realMultus))(
  "Multus and Plexus",
  () => {
    let api: ApiServer;
    let rig: Rig;
    let namespaces: PodNamespace[] = [];
    beforeAll(async () => {
      api = await startApiServer();
      const single = { type: "macvlan", capabilities: { ips: true, mac: true, portMappings: true }, mode: "bridge" };
      await api.network("kube-system", "main", [{ type: "flannel" }, { type: "tuning" }]);
      await api.network("kube-system", "calico", [{ type: "calico" }]);
      await api.network("kube-system", "sidecar", [{ type: "ipvlan" }]);
      await api.network("shop", "net-a", [single]);
      await api.network("other", "net-b", [{ type: "macvlan" }]);
      await api.admin.create({
        apiVersion: "k8s.cni.cncf.io/v1",
        kind: "NetworkAttachmentDefinition",
        metadata: { namespace: "shop", name: "on-disk" },
      });
    });
    afterAll(() => api?.dispose());
    beforeEach(() => {
      rig = openRig("flannel", "tuning", "calico", "ipvlan", "macvlan");
      copyFileSync(multusBinary() ?? "", join(rig.plexus.cniPath, "multus"));
      rig.file("state/conf/10-on-disk.conf", { cniVersion: "1.0.0", name: "on-disk", type: "macvlan", disk: true });
    });
    afterEach(() => {
      for (const each of namespaces) each.dispose();
      namespaces = [];
      rig.dispose();
    });

    const configOf = (more: object = {}): Record<string, unknown> => ({
      cniVersion: "1.0.0",
      name: "multus-cni-network",
      type: "multus",
      kubeconfig: api.adminKubeconfig,
      cniDir: rig.plexus.state("multus"),
      confDir: rig.plexus.state("conf"),
      binDir: rig.plexus.cniPath,
      clusterNetwork: "main",
      defaultNetworks: ["sidecar"],
      systemNamespaces: ["kube-system"],
      ...more,
    });
    /** For Plexus: where a test's own state is. */
    const ownState = (): object => ({ runDir: join(rig.plexus.directory, "run") });

    /** Each plugin answers with an interface in the pod, as a real one does. */
    function script(netns: string, ifnames: readonly string[]): void {
      const answer = (plugin: string, ifname: string, address: string, nth: number): void => {
        const interfaces = [{ name: ifname, mac: "02:00:00:00:00:05", sandbox: netns }];
        const ips = [{ address, interface: 0, gateway: "10.0.0.1" }];
        rig.plugin(plugin).script("ADD", { stdout: JSON.stringify({ cniVersion: "1.0.0", interfaces, ips }) }, nth);
      };
      answer("flannel", "eth0", "10.1.0.2/16", 1);
      answer("calico", "eth0", "10.2.0.2/16", 1);
      answer("ipvlan", "net1", "10.3.0.2/16", 1);
      for (const [index, ifname] of ifnames.entries()) answer("macvlan", ifname, "10.20.0.5/24", index + 1);
    }

    let pods = 0;
    async function podWith(annotations: Readonly<Record<string, string>>): Promise<CreatedPod & { readonly netns: string }> {
      pods += 1;
      const namespace = createPodNamespace();
      namespaces.push(namespace);
      return { ...(await api.pod("shop", `pod-${pods}`, undefined, annotations)), netns: namespace.path };
    }
    const call = (verb: string, as: "multus" | "plexus", pod: CreatedPod & { readonly netns: string }): ReturnType<Rig["call"]> =>
      rig.succeed(verb, configOf(as === "plexus" ? ownState() : {}), {
        as,
        pod,
        args: `;K8S_POD_UID=${pod.uid}`,
        containerId: `ctr-${pod.name}`,
        netns: pod.netns,
      });

    /** A pod's ADD by one and its DEL by the same or the other. */
    async function lifeWith(
      adder: "multus" | "plexus",
      annotations: Readonly<Record<string, string>>,
      ifnames: readonly string[],
      remover = adder,
    ): Promise<{ readonly added: readonly Told[]; readonly status: unknown; readonly deleted: readonly Told[] }> {
      const pod = await podWith(annotations);
      script(pod.netns, ifnames);
      await call("ADD", adder, pod);
      const added = rig.calls().map(told);
      const status = await api.statusOf(pod.namespace, pod.name);
      await call("DEL", remover, pod);
      return { added, status, deleted: rig.calls().map(told) };
    }

    it.each(cases)(
      "tell the plugins and the pod the same, and take the same away, for a pod that asks for $title",
      async ({ annotations, ifnames, forgotten = false }) => {
        const seen = {
          multus: await lifeWith("multus", annotations, ifnames),
          plexus: await lifeWith("plexus", annotations, ifnames),
        };
        expect(seen.plexus.added).toEqual(seen.multus.added);
        expect(shownAs(seen.plexus.status)).toEqual(shownAs(seen.multus.status));
        const { deleted } = seen.plexus;
        expect(forgotten ? withoutRuntimeConfig(deleted) : deleted).toEqual(seen.multus.deleted);
        expect(JSON.stringify(seen.multus.deleted).includes('portMappings":[')).toBe(false);
      },
    );

    it.each(cases)(
      "switching: Plexus takes away what Multus attached, as if it had attached it itself, for a pod that asks for $title",
      async ({ annotations, ifnames }) => {
        const own = await lifeWith("plexus", annotations, ifnames);
        const switched = await lifeWith("multus", annotations, ifnames, "plexus");
        expect(switched.deleted).toEqual(own.deleted);
      },
    );

    it.each(cases)(
      "going back: Multus takes away what Plexus attached, while the pod is in the API, for a pod that asks for $title",
      async ({ annotations, ifnames }) => {
        const own = await lifeWith("plexus", annotations, ifnames);
        const switched = await lifeWith("plexus", annotations, ifnames, "multus");
        expect(switched.deleted).toEqual(own.deleted);
      },
    );
  },
);
