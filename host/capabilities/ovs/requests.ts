// The requests to the capability `ovs` that a call may make. The node and the kit for authors have the same rules. No I/O.

import type { Verb } from "../../../src/cni/environment.ts";
import { matchesPattern, vlanRange } from "../../../src/configuration/grant-patterns.ts";
import { notGranted } from "../../../src/configuration/not-granted.ts";
import type { OvsGrant } from "../../../src/configuration/keys/grant-keys.ts";
import type { Fault } from "../../../src/fault/fault.ts";
import { quote } from "../../../src/json/quote.ts";
import { isLinkName, requestProblem } from "../../../src/ovsdb/port-request.ts";
import { maxVlan } from "../../../src/ovsdb/port-vlans.ts";
import type { OvsNewPort } from "../../sandbox/abi/generated/delegate-1.1.0.ts";
import type { KnownVeths } from "../call-facts.ts";
import { misuseOf } from "../outcome.ts";
import { type VerbCall, verbRules } from "../verb-rules.ts";

/** The call that makes the request, and its grant. */
export interface OvsCall extends VerbCall {
  /** The delegate's type, which is the key of its grant. */
  readonly type: string;
  readonly grant: OvsGrant;
  /** The links that the call made. */
  readonly facts: KnownVeths;
  /** The interface ID of the fabric's port in the call's configuration; undefined if there is none that the node trusts. */
  readonly providedInterfaceId: string | undefined;
}

const misused = misuseOf("ovs");

/** Verbs that may read ports. */
export const attachmentVerbs: readonly Verb[] = ["ADD", "DEL", "CHECK"];

/** The rules about verbs. */
export const { attachmentIn, retainDenial } = verbRules(misused);

/** The fault of a text that is not a link's name; undefined for one. */
export function linkMistake(link: string): Fault | undefined {
  return isLinkName(link) ? undefined : misused(`${quote(link, 40)} is not the name of a link`);
}

/** The fault of a wait for a port that the attachment does not have. */
export function noPortToAwait(link: string): Fault {
  return misused(`the attachment has no port ${quote(link, 40)} that could be awaited`);
}

/** Why the call may not make this port; undefined if it may. Faults: CAPABILITY_MISUSED, NOT_GRANTED. */
export function portDenial(call: OvsCall, port: OvsNewPort): Fault | undefined {
  const { type, grant, facts } = call;
  const { bridge, link } = port;
  const problem = requestProblem(port);
  if (problem !== undefined) return misused(problem);
  const { bridges = [] } = grant;
  if (!bridges.some((pattern) => matchesPattern(pattern, bridge))) {
    return notGranted({ type, key: "ovs.bridges", request: `ovs: bridge ${quote(bridge, 40)}`, granted: bridges });
  }
  if (!facts.hostVeths.includes(link)) {
    const made = facts.hostVeths.length === 0 ? "this call made no veth" : `this call made ${facts.hostVeths.join(", ")}`;
    return misused(`${quote(link, 40)} is not the node's end of a veth that this call made: ${made}`);
  }
  return interfaceIdDenial(call, port) ?? vlanDenial(call, port);
}

function interfaceIdDenial({ type, grant, providedInterfaceId }: OvsCall, { interfaceId }: OvsNewPort): Fault | undefined {
  const { interfaceIds = [] } = grant;
  if (interfaceId === "") return undefined;
  if (interfaceId === providedInterfaceId || interfaceIds.some((pattern) => matchesPattern(pattern, interfaceId)))
    return undefined;
  const provided = providedInterfaceId === undefined ? "has none" : `has ${quote(providedInterfaceId, 60)}`;
  const request = `ovs: interface ID ${quote(interfaceId, 60)} (the attachment's external port ${provided})`;
  return notGranted({ type, key: "ovs.interfaceIds", request, granted: interfaceIds });
}

/** The fabric chooses the VLANs of a port with an interface ID, unless the request has some. All other ports need a grant of their VLANs. */
function vlanDenial({ type, grant: { vlans = [] } }: OvsCall, { interfaceId, tag, trunks }: OvsNewPort): Fault | undefined {
  const isAll = tag === undefined && trunks === undefined;
  if (isAll && interfaceId !== "") return undefined;
  const wanted = isAll
    ? [{ first: 0, last: maxVlan }]
    : [...(tag === undefined ? [] : [{ first: tag, last: tag }]), ...(trunks ?? [])];
  const granted = vlans.flatMap((text) => vlanRange(text) ?? []);
  const isGranted = (vlan: number): boolean => granted.some(({ first, last }) => vlan >= first && vlan <= last);
  for (const { first, last } of wanted) {
    for (let vlan = first; vlan <= last; vlan++) {
      if (isGranted(vlan)) continue;
      const of = isAll ? " (a port without tag and trunks carries all VLANs, 0 to 4095)" : "";
      return notGranted({ type, key: "ovs.vlans", request: `ovs: VLAN ${vlan}${of}`, granted: vlans });
    }
  }
  return undefined;
}
