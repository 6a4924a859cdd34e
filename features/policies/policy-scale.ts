// Policies of many pods by counts: rules, elements, messages and bytes, without a kernel. The numbers are the same on each machine.

import { queriesOf } from "./controller/stored.ts";
import { changeRequests, type PlacedTable, tableRequests } from "./node/table-messages.ts";
import { podTable } from "./node/pod-table.ts";
import { contentSize } from "./rules/address-slice.ts";
import { appliedPolicies } from "./rules/applied-policies.ts";
import { compile } from "./rules/compile.ts";
import type { FindPeers, Peer } from "./rules/peers.ts";
import { type LabelSelector, selects } from "./rules/label-selector.ts";
import { nodeTable } from "./rules/node-table.ts";
import { type Policy, readPolicy } from "./rules/policy.ts";
import type { PolicyTable } from "./rules/table.ts";
import { newTable } from "../../host/capabilities/firewall/nf-tables.ts";
import { encodeRequests, type NetlinkRequest } from "../../host/system/netlink/message.ts";
import { formatAddress, type IpAddress } from "../../src/net/ip.ts";

/** The simulated node and its policies. */
export const scale = { pods: 1_000, workloads: 50, policies: 200 } as const;

/** The messages of one batch. */
export interface Messages {
  readonly count: number;
  readonly bytes: number;
}

/** The counts of one distribution of policies. */
export interface PolicyScale {
  /** Policies that select one pod. */
  readonly ofPod: number;
  /** Tables that differ: pods of one workload have equal ones. */
  readonly tables: number;
  readonly rulesOfPod: number;
  readonly elementsOfPod: number;
  readonly rulesAtEnd: number;
  readonly elementsAtEnd: number;
  /** The messages of one pod's ADD, in its network namespace. */
  readonly add: Messages;
  /** Slices of the API that a node with all pods watches, and their size in the daemon's memory. */
  readonly slices: number;
  readonly sliceBytes: number;
  /** One pod of a workload has another address. */
  readonly change: {
    /** Slices that are written, each by one PATCH. */
    readonly slices: number;
    readonly pods: number;
    /** The messages of one concerned pod. */
    readonly ofPod: Messages;
  };
}

const namespace = "shop";
const network = "shop/red";
const podsOfWorkload = scale.pods / scale.workloads;

interface ScalePod {
  readonly labels: ReadonlyMap<string, string>;
  readonly addresses: readonly IpAddress[];
}

/** The pods; each has an address of both families. `moved`: a pod with another address. */
function podsWith(moved?: number): readonly ScalePod[] {
  return Array.from({ length: scale.pods }, (_, index) => {
    const host = BigInt(index === moved ? 60_000 : index + 1);
    const labels = new Map([["app", `w${Math.floor(index / podsOfWorkload)}`]]);
    const addresses = [
      { family: 4, value: (10n << 24n) + host },
      { family: 6, value: (0xfd00n << 112n) + host },
    ] as const;
    return { labels, addresses };
  });
}

const app = (workload: number): object => ({ podSelector: { matchLabels: { app: `w${workload % scale.workloads}` } } });

/** Four policies for each workload: callers, monitoring, a database, and names. */
function ofWorkloads(): readonly Policy[] {
  return Array.from({ length: scale.workloads }, (_, own) => {
    const selected = app(own);
    const callers = [1, 2, 3].map((step) => app(own + step));
    const database = { to: [app(own + 7), { ipBlock: { cidr: "192.0.2.0/24", except: ["192.0.2.8/29"] } }] };
    return [
      policy(`callers-${own}`, { ...selected, ingress: [{ from: callers, ports: [{ port: 80 }, { port: 443 }] }] }),
      policy(`monitoring-${own}`, { ...selected, ingress: [{ from: [app(0)], ports: [{ port: 9100 }] }] }),
      policy(`database-${own}`, { ...selected, policyTypes: ["Egress"], egress: [{ ...database, ports: [{ port: 5432 }] }] }),
      policy(`names-${own}`, {
        ...selected,
        policyTypes: ["Egress"],
        egress: [{ to: [app(1)], ports: [{ protocol: "UDP", port: 53 }] }],
      }),
    ];
  }).flat();
}

/** As many policies, each of which selects all pods. */
function forAll(): readonly Policy[] {
  return Array.from({ length: scale.policies }, (_, index) =>
    policy(`all-${index}`, { podSelector: {}, ingress: [{ from: [app(index)], ports: [{ port: 8000 + index }] }] }),
  );
}

function policy(name: string, spec: object): Policy {
  const annotations = { "k8s.v1.cni.cncf.io/policy-for": network };
  const read = readPolicy({ metadata: { namespace, name, annotations }, spec }, "MultiNetworkPolicy");
  if (read === undefined || "problem" in read) throw new TypeError(`policy ${name} cannot be read`);
  return read;
}

function peersAmong(pods: readonly ScalePod[]): (selector: LabelSelector) => readonly Peer[] {
  const found = new Map<string, readonly Peer[]>();
  return (selector) => {
    const key = JSON.stringify(selector);
    const peers =
      found.get(key) ??
      pods.flatMap(({ labels, addresses }) => (selects(selector, labels) ? [{ namespace, addresses, ports: [] }] : []));
    found.set(key, peers);
    return peers;
  };
}

const link = { ifname: "net1", networks: [network] };

/** The table of each workload. Workloads with the same policies share one. */
function tablesOf(policies: readonly Policy[], pods: readonly ScalePod[]): readonly PolicyTable[] {
  const find = peersAmong(pods);
  const findPeers: FindPeers = ({ pods: selector }) => find(selector);
  const made = new Map<string, PolicyTable>();
  return Array.from({ length: scale.workloads }, (_, workload) => {
    const { labels } = pods[workload * podsOfWorkload] ?? { labels: new Map<string, string>() };
    const applied = appliedPolicies(policies, { namespace, labels }, link).policies;
    const key = applied.map((each) => each.policy.name).join(" ");
    const known = made.get(key);
    if (known !== undefined) return known;
    const compiled = compile({ interfaces: [{ link, policies: applied }], ports: [], findPeers, established: "keep" });
    if (!compiled.ok || compiled.value === undefined) throw new Error("a workload has no table");
    made.set(key, compiled.value);
    return compiled.value;
  });
}

const rulesOf = ({ chains }: PolicyTable): number => chains.reduce((sum, { rules }) => sum + rules.length, 0);
const elementsOf = ({ sets }: PolicyTable): number => sets.reduce((sum, { elements }) => sum + elements.size, 0);
const messagesOf = (requests: readonly NetlinkRequest[]): Messages => ({
  count: requests.length,
  bytes: encodeRequests(requests).length,
});

/** A pod that many workloads name as their peer. */
const moved = podsOfWorkload;

function countOf(policies: readonly Policy[]): PolicyScale {
  const [before, after] = [podsWith(), podsWith(moved)];
  const [earlier, later] = [tablesOf(policies, before), tablesOf(policies, after)];
  const [table] = earlier;
  if (table === undefined) throw new Error("there is no table");
  const at: PlacedTable = podTable;
  const known = new Map<PolicyTable, Messages>();
  const changes = earlier.map((each, workload) => {
    const changed = later[workload];
    const requests = known.has(each) || changed === undefined ? undefined : changeRequests(at, each, changed);
    const messages = known.get(each) ?? (requests === undefined ? undefined : messagesOf(requests));
    if (messages === undefined) throw new Error("a changed address changes more than elements");
    known.set(each, messages);
    return messages;
  });
  const concerned = changes.filter(({ count }) => count > 0);
  const largest = concerned.toSorted((one, other) => other.bytes - one.bytes)[0] ?? { count: 0, bytes: 0 };
  const end = { ifname: "net1", device: "veth0", mac: [2, 0, 0, 0, 0, 1], addresses: before[0]?.addresses ?? [] };
  const ends = nodeTable([end], table, "keep") ?? table;
  const find = [peersAmong(before), peersAmong(after)] as const;
  const slices = [...new Map(policies.flatMap((each) => [...queriesOf(each)])).entries()].map(([id, query]) => {
    const [own, changed] = find.map((peers) =>
      peers(query.pods).map(({ addresses }) => ({ namespace, addresses: addresses.map(formatAddress) })),
    );
    const size = contentSize({ id, query: id, endpoints: own ?? [] });
    return { size, isChanged: JSON.stringify(own) !== JSON.stringify(changed) };
  });
  return {
    ofPod: appliedPolicies(policies, { namespace, labels: before[0]?.labels ?? new Map() }, link).policies.length,
    tables: new Set(earlier).size,
    rulesOfPod: rulesOf(table),
    elementsOfPod: elementsOf(table),
    rulesAtEnd: rulesOf(ends),
    elementsAtEnd: elementsOf(ends),
    add: messagesOf([newTable(at, true), newTable(at), ...tableRequests(at, table)]),
    slices: slices.length,
    sliceBytes: slices.reduce((sum, { size }) => sum + size, 0),
    change: {
      slices: slices.filter(({ isChanged }) => isChanged).length,
      pods: concerned.length * podsOfWorkload,
      ofPod: largest,
    },
  };
}

/** The counts of both distributions. */
export interface PolicyScales {
  /** Each policy selects one workload. */
  readonly ofWorkloads: PolicyScale;
  /** Each policy selects all pods. */
  readonly forAll: PolicyScale;
}

let scales: PolicyScales | undefined;

/** The counts, made once in a process. */
export function policyScales(): PolicyScales {
  scales ??= { ofWorkloads: countOf(ofWorkloads()), forAll: countOf(forAll()) };
  return scales;
}
