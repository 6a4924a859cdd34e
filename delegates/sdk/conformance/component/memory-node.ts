// A node in memory that keeps its state from call to call: links of the node and of pods, leases, rules, sysctls and stored texts.

import { type RuleSpec, ruleText } from "../../../../host/system/netlink/rule.ts";
import { earlierResult, hostLink, podAddress, podLink, podMac } from "../earlier-result.ts";
import type { Setup } from "../setup.ts";
import type { State, StateKind } from "../subject.ts";
import { reportingFacts } from "../../testing/attachment-facts.ts";
import { LinkTable, type KnownLink } from "../../testing/link-table.ts";
import type { DhcpLease, ShapingShape } from "../../../../host/sandbox/abi/generated/delegate-1.1.0.ts";
import { MemoryAnnounce } from "../../testing/memory-announce.ts";
import { MemoryDhcp } from "../../testing/memory-dhcp.ts";
import { FilterTable, MemoryFilter } from "../../testing/memory-filter.ts";
import { MemoryFirewall, RuleTable } from "../../testing/memory-firewall.ts";
import { MemoryFlows } from "../../testing/memory-flows.ts";
import { MemoryLeases } from "../../testing/memory-leases.ts";
import { addLinks, memoryCall, MemoryLinks } from "../../testing/memory-links.ts";
import { MemoryOvs, type MemoryPort } from "../../testing/memory-ovs.ts";
import { MemoryRouting, type NamespaceRules } from "../../testing/memory-routing.ts";
import { MemoryShaping } from "../../testing/memory-shaping.ts";
import { MemoryState } from "../../testing/memory-state.ts";
import { MemorySysctl } from "../../testing/memory-sysctl.ts";
import { type AttachmentIdRecord, cniVerb } from "../../testing/records.ts";
import type { SimulatedNode } from "../../testing/simulated-node.ts";
import { callOf } from "../../testing/vector-call.ts";
import type { Vector } from "../../testing/vector.ts";
import { MemoryIpam } from "./memory-ipam.ts";

/** The namespace of calls whose pod is gone. */
const noPod = "gone";

/** The lease that the DHCP server of a check's network gives. */
const offeredLease: DhcpLease = {
  address: "10.123.0.7/24",
  gateway: "10.123.0.1",
  routes: [{ dst: "0.0.0.0/0", gw: "10.123.0.1" }],
  dns: { nameservers: ["10.123.0.1"], search: [], options: [] },
  options: [],
};

/** The node of one check. */
export class MemoryNode {
  readonly ipam = new MemoryIpam();
  readonly #dhcpLeases = new Map<string, DhcpLease>();
  readonly #setup: Setup;
  readonly #links = new LinkTable({ strict: true });
  readonly #rules = new RuleTable();
  readonly #ports = new Map<string, MemoryPort>();
  readonly #leases: MemoryLeases;
  readonly #sysctls = new Map<string, MemorySysctl>();
  /** Policy rules by namespace; the node's is `host`. */
  readonly #policies = new Map<string, NamespaceRules>([["host", []]]);
  readonly #filter = new FilterTable();
  readonly #shapes = new Map<string, ShapingShape>();
  readonly #kept = new Map<string, MemoryState>();
  #pods = 0;

  constructor(setup: Setup) {
    this.#setup = setup;
    this.#leases = new MemoryLeases({ directory: textOf(setup.configuration["ipam"], "dataDir"), held: {}, last: {} });
    const host = setup.links.map(({ name, addresses, kind }) => ({
      name,
      addresses,
      ...(kind === "veth" ? { kind } : {}),
      up: true,
      running: true,
    }));
    addLinks({ host, pod: [] }, this.#links, noPod);
    this.#links.removePod(noPod);
  }

  /** Makes a pod. A chained plugin's pod has the link of the earlier plugin. */
  makePod(): string {
    this.#pods += 1;
    const netns = `/run/netns/kit-${this.#pods}`;
    const lo = { name: "lo", mac: "00:00:00:00:00:00", mtu: 65536, addresses: ["127.0.0.1/8", "::1/128"] };
    const pod = this.#setup.role === "chained" ? [lo, this.#earlierLink(netns)] : [lo];
    const outside = hostLink(this.#pods);
    const host = this.#setup.role === "chained" ? [{ name: outside, kind: "veth", up: true, running: true }] : [];
    addLinks({ host, pod }, this.#links, netns);
    for (const known of this.#links.linksAt(netns)) if (known.link.kind === "veth") known.peerKey = `host ${outside}`;
    this.#sysctls.set(netns, new MemorySysctl({ values: this.#setup.sysctl }));
    this.#policies.set(netns, []);
    return netns;
  }

  /** Removes a pod's namespace. */
  removePod(netns: string): void {
    this.#links.removePod(netns);
    this.#sysctls.delete(netns);
    this.#policies.delete(netns);
  }

  /** The node for one call. Throws an Error if a node would not call the delegate at all. */
  forCall(vector: Vector): SimulatedNode {
    const call = callOf(vector);
    const attachment = "attachment" in call.request ? call.request.attachment : undefined;
    const netns = attachment?.netns ?? "";
    const pod = this.#sysctls.has(netns) ? netns : noPod;
    const log: string[] = [];
    const links = new MemoryLinks({ host: [], pod: [] }, this.#links, pod, memoryCall(call));
    if (pod === noPod) this.#links.removePod(noPod);
    const { facts, ...reporting } = reportingFacts(call, links.functions, this.ipam.functions(attachment));
    const { verb } = call;
    const capabilities = {
      log: { write: (level: string, message: string) => void log.push(`${level}: ${message}`) },
      leases: this.#leases.functions({ verb, attachment }),
      resolver: {
        read: (path: string) => {
          const found = this.#setup.resolver[path];
          return found === undefined ? { err: { code: 7, msg: `${path} is not allowed` } } : { ok: found };
        },
      },
      ...reporting,
      sysctl: (this.#sysctls.get(pod) ?? new MemorySysctl()).functions(verb),
      state: this.#keptBy(attachment).functions(verb, attachment),
      announce: new MemoryAnnounce(undefined, vector.verb).functions,
      dhcp: new MemoryDhcp({ offered: offeredLease }, { verb, attachment }, this.#dhcpLeases).functions,
      firewall: new MemoryFirewall(undefined, { verb, attachment, facts }, this.#rules).functions,
      ovs: new MemoryOvs(this.#setup.ovs, { verb, attachment, facts, config: call.request.network.config }, this.#ports)
        .functions,
      routing: new MemoryRouting({}, links, {
        host: this.#policies.get("host") ?? [],
        pod: this.#policies.get(pod) ?? [],
      }).functions(verb),
      filter: new MemoryFilter({}, { verb: cniVerb(verb), attachment, facts }, this.#filter).functions,
      flows: new MemoryFlows({}, { verb: cniVerb(verb), attachment, facts }).functions,
      shaping: new MemoryShaping(
        {},
        { verb: cniVerb(verb), attachment, network: call.request.network.name, nodeLink: () => links.nodeEnd() },
        this.#shapes,
      ).functions,
    };
    return { call, capabilities, log, state: () => ({}) };
  }

  /** The state of a pod and of the node. */
  state(netns: string): State {
    const state = new Map<string, string>();
    for (const { link, routes } of this.#links.linksAt(netns)) {
      state.set(`link pod ${link.name}`, link.kind);
      state.set(`attribute pod ${link.name}`, JSON.stringify(attributesOf(link)));
      for (const { address } of link.addresses) state.set(`address pod ${link.name} ${address}`, "");
      for (const { dst, gw, table } of routes) state.set(routeKey(link.name, dst, table), gw ?? "");
    }
    for (const { link } of this.#links.linksAt("host")) state.set(`link host ${link.name}`, link.kind);
    for (const [key, value] of Object.entries(this.#sysctls.get(netns)?.values() ?? {})) state.set(`sysctl ${key}`, value);
    for (const rule of this.#policies.get(netns) ?? []) state.set(policyKey("route pod policy", rule), "");
    for (const rule of this.#policies.get("host") ?? []) state.set(policyKey("rules policy", rule), "");
    for (const [address, owner] of Object.entries(this.#leases.state().held)) state.set(`lease ${address}`, owner);
    for (const [owner, rules] of this.#rules.rules) state.set(`rules ${owner}`, JSON.stringify(rules));
    for (const [owner, guard] of this.#rules.guards) state.set(`rules guard of ${owner}`, guard);
    for (const [link, port] of this.#ports) state.set(`rules port ${link}`, JSON.stringify(port));
    for (const [owner, addresses] of this.#filter.accepted) state.set(`rules acceptance of ${owner}`, addresses.join(" "));
    for (const [owner, shape] of this.#shapes) state.set(`rules shape of ${owner}`, JSON.stringify(shape));
    for (const [owner, kept] of this.#kept) {
      const { text } = kept.current();
      if (text !== undefined) state.set(`kept ${owner}`, text);
    }
    return state;
  }

  /** Undoes each change of a kind since `before`. */
  restore(netns: string, kind: StateKind, before: State): void {
    const pod = this.#links.linksAt(netns);
    switch (kind) {
      case "link":
        for (const { link } of pod) if (!before.has(`link pod ${link.name}`)) this.#links.removeLink(`${netns} ${link.name}`);
        break;
      case "address":
        for (const { link } of pod) {
          link.addresses = link.addresses.filter(({ address }) => before.has(`address pod ${link.name} ${address}`));
        }
        break;
      case "route":
        for (const known of pod) {
          known.routes = known.routes.filter(({ dst, table }) => before.has(routeKey(known.link.name, dst, table)));
        }
        this.#policies.set(
          netns,
          (this.#policies.get(netns) ?? []).filter((rule) => before.has(policyKey("route pod policy", rule))),
        );
        break;
      case "attribute":
        for (const { link } of pod) Object.assign(link, JSON.parse(before.get(`attribute pod ${link.name}`) ?? "{}"));
        break;
      case "sysctl":
        this.#sysctls.set(netns, new MemorySysctl({ values: this.#setup.sysctl }));
        break;
      case "lease":
        this.#leases.keepOnly((address) => before.has(`lease ${address}`));
        break;
      case "rules":
        for (const owner of this.#rules.rules.keys()) if (!before.has(`rules ${owner}`)) this.#rules.rules.delete(owner);
        for (const owner of this.#rules.guards.keys())
          if (!before.has(`rules guard of ${owner}`)) this.#rules.guards.delete(owner);
        for (const owner of this.#filter.accepted.keys())
          if (!before.has(`rules acceptance of ${owner}`)) this.#filter.accepted.delete(owner);
        for (const owner of this.#shapes.keys()) if (!before.has(`rules shape of ${owner}`)) this.#shapes.delete(owner);
        for (const link of this.#ports.keys()) if (!before.has(`rules port ${link}`)) this.#ports.delete(link);
        break;
      default:
        kind satisfies never;
    }
  }

  #earlierLink(netns: string) {
    const name = this.#setup.ifname === "lo" ? podLink : this.#setup.ifname;
    const { routes } = earlierResult({ netns, number: this.#pods }, name);
    return {
      name,
      kind: "veth",
      mac: podMac(this.#pods),
      mtu: 1500,
      up: true,
      running: true,
      addresses: [podAddress(this.#pods)],
      routes: routes.map(route),
    };
  }

  #keptBy(attachment: AttachmentIdRecord | undefined): MemoryState {
    const key = attachment === undefined ? "" : `${attachment.containerId} ${attachment.ifname}`;
    const found = this.#kept.get(key) ?? new MemoryState({ directory: textOf(this.#setup.configuration, "dataDir") });
    this.#kept.set(key, found);
    return found;
  }
}

function route({ dst, gw }: { readonly dst: string; readonly gw?: string }) {
  return { dst, gw, mtu: undefined, advmss: undefined, priority: undefined, table: undefined, scope: undefined };
}

/** The priority is the kernel's choice, and differs with the rules of other attachments. */
function policyKey(kind: string, rule: RuleSpec): string {
  return `${kind} ${ruleText({ ...rule, priority: undefined })}`;
}

function routeKey(link: string, dst: string, table: number | undefined): string {
  return `route pod ${link} ${dst}${table === undefined ? "" : ` table ${table}`}`;
}

function attributesOf({ mac, mtu, up, promiscuous, allMulticast, txQueueLength }: KnownLink["link"]): object {
  return { mac, mtu, up, promiscuous, allMulticast, txQueueLength };
}

function textOf(object: unknown, member: string): string | undefined {
  const value: unknown = typeof object === "object" && object !== null ? Reflect.get(object, member) : undefined;
  return typeof value === "string" ? value.replaceAll("$STATE", "/state") : undefined;
}
