// A node in memory: the capabilities of one call, with the state that a vector sets before the call.

import { reportingFacts } from "./attachment-facts.ts";
import { MemoryAnnounce } from "./memory-announce.ts";
import { MemoryDhcp } from "./memory-dhcp.ts";
import { MemoryFilter } from "./memory-filter.ts";
import { MemoryFirewall } from "./memory-firewall.ts";
import { MemoryFlows } from "./memory-flows.ts";
import { MemoryLeases } from "./memory-leases.ts";
import { memoryCall, MemoryLinks } from "./memory-links.ts";
import { MemoryOvs } from "./memory-ovs.ts";
import { MemoryRouting } from "./memory-routing.ts";
import { MemoryShaping } from "./memory-shaping.ts";
import { MemoryState } from "./memory-state.ts";
import { MemorySysctl } from "./memory-sysctl.ts";
import { type CapabilityFunctions, cniVerb, type DelegateCall } from "./records.ts";
import { ScriptedDelegation } from "./scripted-delegation.ts";
import { callOf, plugins } from "./vector-call.ts";
import type { Vector, VectorAnswer } from "./vector.ts";

/** The node of one call. */
export interface SimulatedNode {
  readonly call: DelegateCall;
  readonly capabilities: Required<CapabilityFunctions>;
  /** The lines of log so far, `level: text`. */
  readonly log: readonly string[];
  /** The state now, of the parts that the vector has, in the form of `.out.json`. */
  readonly state: () => VectorAnswer;
}

/** Makes the node for a vector. Throws an Error if a node would not call the delegate at all. */
export function simulatedNode(vector: Vector): SimulatedNode {
  const leases = new MemoryLeases(vector.leases);
  const delegation = new ScriptedDelegation(plugins(vector));
  const sysctl = new MemorySysctl(vector.sysctl);
  const routing = new MemoryRouting(vector.routing, {
    routesAt: (place) => links.routesAt(place),
    vrfs: () => links.vrfs(),
  });
  const kept = new MemoryState(vector.state);
  const announce = new MemoryAnnounce(vector.announce === true ? undefined : vector.announce, vector.verb);
  const call = callOf(vector);
  const links = new MemoryLinks(vector.links, undefined, undefined, memoryCall(call));
  const reporting = reportingFacts(call, links.functions, delegation.functions);
  const attachment = "attachment" in call.request ? call.request.attachment : undefined;
  const dhcp = new MemoryDhcp(vector.dhcp, { verb: call.verb, attachment });
  const firewall = new MemoryFirewall(vector.firewall, { verb: call.verb, attachment, facts: reporting.facts });
  const filter = new MemoryFilter(vector.filter, { verb: cniVerb(call.verb), attachment, facts: reporting.facts });
  const flows = new MemoryFlows(vector.flows, { verb: cniVerb(call.verb), attachment, facts: reporting.facts });
  const ovs = new MemoryOvs(vector.ovs, {
    verb: call.verb,
    attachment,
    facts: reporting.facts,
    config: call.request.network.config,
  });
  const shaping = new MemoryShaping(vector.shaping, {
    verb: cniVerb(call.verb),
    attachment,
    network: call.request.network.name,
    nodeLink: () => links.nodeEnd(),
  });
  const log: string[] = [];
  const capabilities: Required<CapabilityFunctions> = {
    log: { write: (level, message) => void log.push(`${level}: ${message}`) },
    leases: leases.functions({ verb: call.verb, attachment }),
    resolver: {
      read: (path) => {
        const found = vector.resolver[path];
        return found === undefined ? { err: { code: 7, msg: `${path} is not allowed` } } : { ok: found };
      },
    },
    links: reporting.links,
    delegation: reporting.delegation,
    sysctl: sysctl.functions(call.verb),
    state: kept.functions(call.verb, attachment),
    announce: announce.functions,
    dhcp: dhcp.functions,
    firewall: firewall.functions,
    ovs: ovs.functions,
    routing: routing.functions(call.verb),
    shaping: shaping.functions,
    filter: filter.functions,
    flows: flows.functions,
  };
  const state = (): VectorAnswer => {
    const answer: VectorAnswer = {};
    if (vector.leases !== undefined) answer.leases = leases.state();
    // As JSON, because hosts differ between undefined and absent members.
    if (vector.links !== undefined) answer.applied = JSON.parse(JSON.stringify(links.applied()));
    if (vector.plugins !== undefined) answer.called = JSON.parse(JSON.stringify(delegation.called()));
    if (vector.sysctl !== undefined) answer.sysctl = sysctl.values();
    if (vector.routing !== undefined) answer.routing = JSON.parse(JSON.stringify(routing.rules()));
    if (vector.filter !== undefined) answer.filter = JSON.parse(JSON.stringify(filter.state()));
    if (vector.flows !== undefined) answer.flows = JSON.parse(JSON.stringify(flows.entries()));
    if (vector.shaping !== undefined) answer.shapes = JSON.parse(JSON.stringify(shaping.shapes()));
    if (vector.state !== undefined) answer.state = kept.current();
    if (vector.announce !== undefined) answer.announced = announce.announced().map((addresses) => [...addresses]);
    if (vector.announce !== undefined && vector.announce !== true)
      answer.probed = announce.probed().map((probe) => ({ ...probe, addresses: [...probe.addresses] }));
    if (vector.dhcp !== undefined) answer.dhcp = JSON.parse(JSON.stringify(dhcp.state()));
    if (vector.firewall !== undefined) answer.firewall = JSON.parse(JSON.stringify(firewall.rules()));
    if (vector.firewall?.guards !== undefined) answer.guards = firewall.guards();
    if (vector.ovs !== undefined) answer.ports = JSON.parse(JSON.stringify(ovs.ports()));
    return answer;
  };
  return { call, capabilities, log, state };
}
