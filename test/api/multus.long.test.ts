// Compares Multus and Plexus with the same configuration, definitions and annotations on a real API server: the configuration that plugins
// get, and the pod's status. Multus is built from its Go module.

import { copyFileSync } from "node:fs";
import { join } from "node:path";

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";

import { multusBinary, realMultus } from "../lab/multus/multus-binary.ts";
import { openRig, type Rig } from "../lab/multus/rig.ts";
import type { ApiServer, CreatedPod } from "../lab/kube/api-server.ts";
import { sharedApiServer } from "../lab/kube/shared-api-server.ts";
import { kubeApi } from "../lab/kube/binaries.ts";
import { createPodNamespace, type PodNamespace } from "../lab/namespaces.ts";
import type { RecordedCall } from "../lab/recorder.ts";
import { iproute2, missing, privateNamespaces } from "../lab/requires.ts";

const selection = "k8s.v1.cni.cncf.io/networks";
const otherDefault = "v1.multus-cni.io/default-network";

/** Annotations that Multus' users write. */
const cases: readonly {
  readonly title: string;
  readonly annotations: Readonly<Record<string, string>>;
  /** Interfaces of the selected networks, in order. `net1` belongs to defaultNetworks. */
  readonly ifnames: readonly string[];
  /** Multus' saved delegates lack the element's requests, so that its DEL lacks them and a plugin cannot undo them. */
  readonly lacksRequestsInDel?: boolean;
}[] = [
  { title: "no selection", annotations: {}, ifnames: [] },
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
    title: "port mappings, which Multus does not pass to DEL",
    ifnames: ["net2"],
    lacksRequestsInDel: true,
    annotations: {
      [selection]: JSON.stringify([{ name: "net-a", portMappings: [{ hostPort: 80, containerPort: 8080, protocol: "tcp" }] }]),
    },
  },
  { title: "another default network", annotations: { [otherDefault]: "calico", [selection]: "net-a" }, ifnames: ["net2"] },
  { title: "a network whose configuration is a file of the node", annotations: { [selection]: "on-disk" }, ifnames: ["net2"] },
];

interface ComparedCall {
  readonly plugin: string | undefined;
  readonly verb: string | undefined;
  readonly ifname: string | undefined;
  readonly args: readonly string[];
  readonly stdin: Readonly<Record<string, unknown>>;
}

/** CNI_ARGS that differ between two pods. */
const ofPod = /^(?:K8S_POD_NAME|K8S_POD_UID|K8S_POD_INFRA_CONTAINER_ID|IgnoreUnknown)=/;

/** The comparable parts of a plugin's call. Multus adds MAC= and IP= to CNI_ARGS, which is off by default in Plexus (MC-23), and repeats pairs. */
function comparedCall({ env, stdin, plugin }: RecordedCall): ComparedCall {
  const { CNI_COMMAND, CNI_IFNAME, CNI_ARGS = "", CNI_CONTAINERID = "", CNI_NETNS = "" } = env;
  const pairs = CNI_ARGS.split(";").filter((pair) => !ofPod.test(pair) && !/^(?:MAC|IP)=/.test(pair));
  const text = stdin.replaceAll(CNI_CONTAINERID, "CONTAINER").replaceAll(CNI_NETNS, "NETNS");
  const args = [...new Set(pairs)];
  return { plugin: plugin.split("/").at(-1), verb: CNI_COMMAND, ifname: CNI_IFNAME, args, stdin: JSON.parse(text) };
}

function withoutRuntimeConfig(calls: readonly ComparedCall[]): readonly ComparedCall[] {
  return calls.map((call) => {
    const { runtimeConfig: _runtimeConfig, ...stdin } = call.stdin;
    return { ...call, stdin };
  });
}

/** Adds members that Multus omits: `default: false`, which the specification requires (N1-53), and an empty `dns` (N1-55). */
function normalizedStatus(status: unknown): unknown {
  if (!Array.isArray(status)) return status;
  return status.map((entry: Readonly<Record<string, unknown>>) => ({ dns: {}, ...entry, default: entry["default"] === true }));
}

describe.skipIf(missing("the comparison of Multus and Plexus", privateNamespaces, iproute2, kubeApi, realMultus))(
  "Multus and Plexus",
  () => {
    let api: ApiServer;
    let rig: Rig;
    let namespaces: PodNamespace[] = [];
    beforeAll(async () => {
      api = await sharedApiServer();
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
    /** Plexus' run directory, and the profile in which definitions may use every plugin. */
    const runDirConfig = (): object => ({ runDir: join(rig.plexus.directory, "run"), profile: "multus" });

    /** Makes each recorder answer an interface in the pod, as a real plugin does. */
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
      rig.succeed(verb, configOf(as === "plexus" ? runDirConfig() : {}), {
        as,
        pod,
        args: `;K8S_POD_UID=${pod.uid}`,
        containerId: `ctr-${pod.name}`,
        netns: pod.netns,
      });

    /** Sends a pod's ADD to `adder` and its DEL to `remover`. */
    async function addAndDelete(
      adder: "multus" | "plexus",
      annotations: Readonly<Record<string, string>>,
      ifnames: readonly string[],
      remover = adder,
    ): Promise<{ readonly added: readonly ComparedCall[]; readonly status: unknown; readonly deleted: readonly ComparedCall[] }> {
      const pod = await podWith(annotations);
      script(pod.netns, ifnames);
      await call("ADD", adder, pod);
      const added = rig.calls().map(comparedCall);
      const status = await api.statusOf(pod.namespace, pod.name);
      await call("DEL", remover, pod);
      return { added, status, deleted: rig.calls().map(comparedCall) };
    }

    it.each(cases)(
      "call the plugins in the same way, publish the same status, and delete in the same way for a pod with $title",
      async ({ annotations, ifnames, lacksRequestsInDel = false }) => {
        const results = {
          multus: await addAndDelete("multus", annotations, ifnames),
          plexus: await addAndDelete("plexus", annotations, ifnames),
        };
        expect(results.plexus.added).toEqual(results.multus.added);
        expect(normalizedStatus(results.plexus.status)).toEqual(normalizedStatus(results.multus.status));
        const { deleted } = results.plexus;
        expect(lacksRequestsInDel ? withoutRuntimeConfig(deleted) : deleted).toEqual(results.multus.deleted);
        expect(JSON.stringify(results.multus.deleted).includes('portMappings":[')).toBe(false);
      },
    );

    it.each(cases)(
      "switching: Plexus deletes Multus' attachments like its own for a pod with $title",
      async ({ annotations, ifnames }) => {
        const unswitched = await addAndDelete("plexus", annotations, ifnames);
        const switched = await addAndDelete("multus", annotations, ifnames, "plexus");
        expect(switched.deleted).toEqual(unswitched.deleted);
      },
    );

    it.each(cases)(
      "going back: Multus deletes Plexus' attachments while the pod is in the API for a pod with $title",
      async ({ annotations, ifnames }) => {
        const unswitched = await addAndDelete("plexus", annotations, ifnames);
        const switched = await addAndDelete("plexus", annotations, ifnames, "multus");
        expect(switched.deleted).toEqual(unswitched.deleted);
      },
    );
  },
);
