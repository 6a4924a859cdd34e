// Reads the links that an apply uses. On the node, a link must be of the kind in the grant, or the node's end of the attachment's veth.

import { failed, ok, type Result } from "../../../src/fault/result.ts";
import type { Fault } from "../../../src/fault/fault.ts";
import { SECOND_NAMESPACE } from "../../system/netlink/exchange.ts";
import { linkRequest, namespaceIdRequest } from "../../system/netlink/link-change.ts";
import { linkStateIn, type LinkState } from "../../system/netlink/link-state.ts";
import { Attributes, type NetlinkAnswer, type NetlinkRequest } from "../../system/netlink/message.ts";
import type { UsedLinks, Usage } from "./check-operations.ts";
import { nodeUseRules, type Use } from "./link-uses.ts";
import type { LinkAliases } from "./link-aliases.ts";
import { denied, isListed, type LinkScope, nodeLinkText, type Role, rolesByName } from "./link-scope.ts";
import { isGone, type Namespaces } from "./namespaces.ts";

/** Existing links by name. */
export interface VerifiedLinks {
  readonly host: ReadonlyMap<string, LinkState>;
  readonly pod: ReadonlyMap<string, LinkState>;
  /** The answers to `furtherRequests`. */
  readonly furtherAnswers: readonly (NetlinkAnswer | undefined)[];
}

/** The members of a link on which its roles depend. */
export type LinkFacts = Pick<LinkState, "kind" | "linkNamespace">;

const NETNSA_NSID = 1;
const RTGENMSG = 4;

/**
 * Reads all used links, with one send in each namespace. `furtherRequests` go to the node's namespace in the same send. `read`: links of
 * the pod that the caller has just read; the pod is asked unless they are all. Faults: NOT_GRANTED for a
 * link of the node that may not be used so, NETLINK_FAILED.
 */
export async function readUsedLinks(
  namespaces: Namespaces,
  scope: LinkScope & { readonly aliases: LinkAliases },
  used: UsedLinks,
  furtherRequests: readonly NetlinkRequest[] = [],
  read: ReadonlyMap<string, LinkState> = new Map(),
): Promise<Result<VerifiedLinks>> {
  const { aliases } = scope;
  // A link that the grant does not name can only be the node's end of the attachment's veth. The pod's end identifies that one.
  const needsPodEnd =
    [...used.host].some(([name, usages]) => needsAttachmentRole(scope, name, usages)) && namespaces.podNetns !== "";
  const ifname = scope.attachment?.ifname;
  const podNames = [...new Set([...used.pod, ...(needsPodEnd && ifname !== undefined ? [ifname] : [])])];
  const asked = podNames.every((name) => read.has(name)) ? [] : podNames;
  const hostRequests = [...[...used.host.keys()].map(linkRequest), ...furtherRequests];
  const ask = needsPodEnd ? [...hostRequests, namespaceIdRequest(SECOND_NAMESPACE)] : hostRequests;
  const [first, inPod] = await Promise.all([
    ask.length === 0 ? undefined : namespaces.exchange("host", ask, needsPodEnd),
    asked.length === 0 ? undefined : namespaces.exchange("pod", asked.map(linkRequest)),
  ]);
  const onHost = needsPodEnd && first !== undefined && isGone(first) ? await namespaces.exchange("host", hostRequests) : first;
  for (const each of [onHost, inPod]) {
    if (each !== undefined && each.errno !== 0 && !isGone(each)) return failed(namespaces.unreachable(each.errno));
  }
  const answers = onHost?.answers ?? [];
  const host = states([...used.host.keys()], answers, aliases);
  const pod = asked.length === 0 ? read : states(podNames, inPod?.answers ?? []);
  const podId = needsPodEnd ? namespaceId(answers[hostRequests.length]) : undefined;
  const podEnd = ifname === undefined ? undefined : pod.get(ifname);
  for (const [name, usages] of used.host) {
    const link = host.get(name);
    if (link === undefined) continue;
    const joins = link.master === undefined && usages.some(({ use }) => use === "join");
    const isPort = joins || isPortOfGranted(scope, link, host);
    const refusal = roleRefusal(scope, link, name, usages, { isNodeEnd: isNodeEnd(link, podEnd, podId), isPort });
    if (refusal !== undefined) return failed(refusal);
  }
  return ok({ host, pod, furtherAnswers: answers.slice(used.host.size, hostRequests.length) });
}

/**
 * Whether a link of the node is the other end of the pod's veth. Only the node's own data count: the namespace id and the index of the other end.
 * A pod can make up everything that its own links show.
 */
export function isNodeEnd(link: LinkState, podEnd: LinkState | undefined, podId: number | undefined): boolean {
  return (
    link.kind === "veth" &&
    podEnd !== undefined &&
    podId !== undefined &&
    link.linkNamespace === podId &&
    link.link === podEnd.index
  );
}

/** The id by which a namespace knows the other one; undefined where it has no id for it. */
export function namespaceId(answer: NetlinkAnswer | undefined): number | undefined {
  const body = answer?.messages[0]?.body;
  const value = (body && new Attributes(body, RTGENMSG).i32(NETNSA_NSID)) ?? -1;
  return value < 0 ? undefined : value;
}

/**
 * Whether a use of the link may depend on the link being the node's end of the attachment's veth. A wildcard of the grant matches the names of veths
 * too, so only a name that the grant spells out settles the role.
 */
function needsAttachmentRole(scope: LinkScope, name: string, usages: readonly Usage[]): boolean {
  const { bridges = [], uplinks = [], parents = [] } = scope.grant;
  const [exactBridges, exactUplinks, exactParents] = [bridges, uplinks, parents].map((each) => each.filter(isSpeltOut));
  const grant = { ...scope.grant, bridges: exactBridges ?? [], uplinks: exactUplinks ?? [], parents: exactParents ?? [] };
  const roles = rolesByName({ ...scope, grant }, name);
  return usages.some(
    ({ use }) => nodeUseRules[use].roles.includes("attachment") && !nodeUseRules[use].roles.some((role) => roles.has(role)),
  );
}

function isSpeltOut(pattern: string): boolean {
  return !pattern.includes("*");
}

/** The states by the names in the requests. `aliases`: learns the alternative names; without it such a name is no link. */
function states(
  names: readonly string[],
  answers: readonly (NetlinkAnswer | undefined)[],
  aliases?: LinkAliases,
): ReadonlyMap<string, LinkState> {
  const found = names.map((name, index) => [name, answers[index]?.messages.map(linkStateIn)[0]] as const);
  return new Map(
    found.flatMap(([name, state]) => {
      if (state === undefined) return [];
      aliases?.learn(name, state);
      return state.name === name || aliases?.realOf(name) === state.name ? [[name, state] as const] : [];
    }),
  );
}

function isPortOfGranted({ grant }: LinkScope, { master }: LinkState, host: ReadonlyMap<string, LinkState>): boolean {
  const bridge = [...host.values()].find(({ index }) => index === master);
  return bridge?.kind === "bridge" && isListed(grant.bridges, bridge.name);
}

/** The fault of a use of a link of the node that none of the link's roles allows; undefined where its roles allow all uses. */
export function roleRefusal(
  scope: LinkScope,
  link: LinkFacts,
  name: string,
  usages: readonly Usage[],
  facts: {
    /** The link is the node's end of the attachment's veth. */
    readonly isNodeEnd: boolean;
    /** The link is a port of a granted bridge, or becomes one in this call. */
    readonly isPort: boolean;
  },
): Fault | undefined {
  const roles = actualRoles(scope, link, name, facts.isNodeEnd);
  for (const { use, label } of usages) {
    const { roles: allowed, key } = nodeUseRules[use];
    if (allowed.some((role) => roles.has(role) && (role !== "uplink" || use !== "vlans" || facts.isPort))) continue;
    const kind = link.kind === "" ? "a device" : `a ${link.kind}`;
    return denied(scope, key, `${label}: ${nodeLinkText(scope, name)}, which is ${kind} and not ${roleText(use, allowed)},`);
  }
  return undefined;
}

const roleTexts: { readonly [R in Role]: string } = {
  bridge: "a granted bridge",
  gateway: "a VLAN gateway of a granted bridge",
  attachment: "the node's end of the attachment's veth",
  uplink: "a granted uplink",
  parent: "a granted parent",
};

function roleText(use: Use, allowed: readonly Role[]): string {
  const texts = allowed.map((role) =>
    role === "uplink" && use === "vlans" ? "an uplink that is a granted bridge's port" : roleTexts[role],
  );
  return texts.join(" or ");
}

/** The roles that the grant gives to the link's name, as far as the link's kind fits. */
function actualRoles(scope: LinkScope, link: LinkFacts, name: string, isNodeEndOfVeth: boolean): ReadonlySet<Role> {
  const byName = rolesByName(scope, name);
  const roles: (Role | false)[] = [
    byName.has("bridge") && link.kind === "bridge" && "bridge",
    byName.has("gateway") && link.kind === "veth" && link.linkNamespace === undefined && "gateway",
    byName.has("uplink") && link.kind !== "bridge" && "uplink",
    byName.has("parent") && "parent",
    isNodeEndOfVeth && "attachment",
  ];
  return new Set(roles.filter((role) => role !== false));
}
