// A node whose Open vSwitch belongs to a real OVN, and pods that Plexus plugs into it.

import { expect, vi } from "vitest";
import type { Attaching, Stage } from "../lab/stage.ts";
import type { ApiServer } from "../lab/kube/api-server.ts";
import type { Neutron } from "../lab/neutron/neutron.ts";
import type { PodNamespace } from "../lab/namespaces.ts";
import { connectNode, type Node } from "../lab/kube/node.ts";

/** The components that the node's stage needs. */
export const fabricComponents: readonly string[] = ["external-port"];
/** The plugin of networks whose ports are plugged into OVN's bridge. */
export const fabricPlugin = { type: "external-port", bridge: "br-int", capabilities: { externalPort: true } };

/** The members of a port that a plugged pod has. */
export interface ReadyPort {
  readonly providerId?: string | undefined;
  readonly addresses?: readonly { readonly address: string }[] | undefined;
}

/** A pod with a port that Neutron says is ACTIVE. */
export interface FabricPod {
  readonly attaching: Attaching & { readonly pod: PodNamespace };
  readonly uid: string;
  /** Without its prefix length. */
  readonly address: string;
  /** From Ready until the ADD had ended, in ms. */
  readonly readyToPluggedMs: number;
  /** From the end of the ADD until Neutron said ACTIVE, in ms. */
  readonly pluggedToActiveMs: number;
}

export interface FabricNode extends Node {
  /** Makes a pod of the namespace `shop`, waits for its port, attaches it, and waits until Neutron says ACTIVE. */
  plug(name: string, selection: string | readonly object[], untilReady: (uid: string) => Promise<ReadyPort>): Promise<FabricPod>;
  /** The ports of OVN's bridge, without those that OVN made. */
  ports(): readonly string[];
}

/**
 * Connects the stage to the API server and the fabric. `grants`: those of `external-port` besides `log`. By default it may plug ports into OVN's bridge, and
 * the stage's namespace must be that of Neutron's host.
 */
export function openFabricNode(
  stage: Stage,
  api: ApiServer,
  neutron: Neutron,
  grants: object = { links: {}, ovs: { bridges: ["br-int"], socket: neutron.ovsSocket } },
): FabricNode {
  const node = connectNode(stage, api, api.adminKubeconfig);
  const wasm = { grants: { "external-port": { log: {}, ...grants } } };
  // CHECK of the reference bridge fails once a second pod has changed the bridge's MAC, so the default network is another one.
  const { ipam } = node.bridge("pods", "10.10.0.0/24") as { readonly ipam: object };
  const config = node.network([{ type: "ptp", ipam }], { kubeconfig: api.adminKubeconfig, externalPorts: true, wasm });
  return {
    ...node,
    ports: () => neutron.vsctl("list-ports", "br-int").split("\n").filter(Boolean),
    async plug(name, selection, untilReady) {
      const pod = await api.pod("shop", name, selection);
      const { providerId, addresses } = await untilReady(pod.uid);
      const ready = performance.now();
      const attaching = { ...node.attaching(pod), config };
      await node.succeed("ADD", attaching);
      const plugged = performance.now();
      const isActive = async (): Promise<void> =>
        expect((await neutron.request("GET", `/ports/${providerId}?fields=status`)).port.status).toBe("ACTIVE");
      // Each look takes Neutron some 50 ms of a processor, which OVN needs.
      await vi.waitFor(isActive, { timeout: 300_000, interval: 100 });
      return {
        attaching,
        uid: pod.uid,
        address: addresses?.[0]?.address.split("/")[0] ?? "",
        readyToPluggedMs: plugged - ready,
        pluggedToActiveMs: performance.now() - plugged,
      };
    },
  };
}
