// The nodes of a simulated cluster: each has the watch of a daemon, collects changes at a daemon's pace, and balances the Services of its networks. A node writes
// no kernel's table: service-endpoint-change measures this part.

import { Connection } from "../host/cluster/kube/connection.ts";
import { kubeconfigCredentials } from "../host/cluster/kube/credentials.ts";
import { Reflector } from "../host/cluster/kube/reflector.ts";
import { ChangePace } from "../host/cluster/work/change-pace.ts";
import { PacedChanges } from "../host/node/running-pods/paced-changes.ts";
import { systemClock } from "../host/system/clock.ts";
import { networkId } from "../features/services/network-id.ts";
import { keptSlice, sliceSelector } from "../features/services/node/service-source.ts";
import { backendText, balance, type KeptSlice, keptSize } from "../features/services/rules/balance.ts";
import { endpointSlicesPath } from "../features/services/rules/service-slice.ts";

/** The pause in which a daemon collects changes, in ms (`host/node/running-pods/follow-pods.ts`). */
const collectMs = 50;
const bounds = { maxObject: 512 * 1024, maxTotal: 16 * 1024 * 1024 };

interface Begin {
  readonly kubeconfig: string;
  /** The networks of each node. */
  readonly networks: readonly (readonly string[])[];
}

interface Question {
  readonly ask: "listed" | "all";
  readonly address?: string;
  readonly isBalanced?: boolean;
}

class Node {
  readonly reflector: Reflector<KeptSlice>;
  /** Addresses that the node balances on the first network. */
  #balanced: ReadonlySet<string> = new Set();
  readonly #first: string;

  constructor(kubeconfig: string, networks: readonly string[], onChange: () => void) {
    const ids = networks.map(networkId);
    this.#first = ids[0] ?? "";
    const pace = new ChangePace(() => systemClock.now());
    const changes = new PacedChanges<string>(
      (network) => pace.pauseMs(network, collectMs),
      (due) => {
        if (!due.has(this.#first)) return;
        const slices = [...this.reflector.stored()].map(({ value }) => value).filter(({ network }) => network === this.#first);
        const { ports } = balance(slices, "shop");
        this.#balanced = new Set(ports.flatMap(({ backends }) => backends.map((each) => backendText(each).split(" ")[0] ?? "")));
        onChange();
      },
    );
    this.reflector = new Reflector<KeptSlice>({
      connection: new Connection(systemClock),
      credentials: kubeconfigCredentials(kubeconfig),
      what: "EndpointSlices of further networks",
      path: endpointSlicesPath(""),
      query: { labelSelector: sliceSelector(ids) },
      metadataOnly: false,
      consistent: true,
      bounds,
      warn: (text) => process.stderr.write(`${text}\n`),
      read: (object) => {
        const kept = keptSlice(object);
        const { metadata } = object as { readonly metadata: { readonly namespace: string; readonly name: string } };
        return kept && { namespace: metadata.namespace, name: metadata.name, value: kept, size: keptSize(kept) };
      },
      onChange: (namespace, name) => {
        const network = this.reflector.lastSeen(namespace, name)?.network;
        if (network !== undefined) changes.add(network);
      },
    });
    this.reflector.start();
  }

  balances(address: string): boolean {
    return this.#balanced.has(address);
  }
}

const nodes: Node[] = [];
let holds: (() => boolean) | undefined;

function look(): void {
  if (holds?.() !== true) return;
  holds = undefined;
  process.send?.("yes");
}

process.on("message", (message: Begin | Question) => {
  if ("networks" in message) {
    for (const networks of message.networks) nodes.push(new Node(message.kubeconfig, networks, look));
    return;
  }
  const { ask, address = "", isBalanced } = message;
  holds =
    ask === "listed"
      ? () => nodes.every(({ reflector }) => reflector.live)
      : () => nodes.every((node) => node.balances(address) === isBalanced);
  look();
});
setInterval(look, 100);
