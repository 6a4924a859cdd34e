// The requests of `links` that every node refuses: the node's own checks, with the widest grant that an administrator can give.

import { checkNames, checkOperations, type UsedLinks } from "../../../host/capabilities/links/check-operations.ts";
import { type LinkScope, misused } from "../../../host/capabilities/links/link-scope.ts";
import { type LinkFacts, roleRefusal } from "../../../host/capabilities/links/verify-links.ts";
import type { LinksLinkName, LinksOperation } from "../../../host/sandbox/abi/generated/delegate-1.1.0.ts";
import type { LinkGrant } from "../../../src/configuration/keys/grant-keys.ts";
import type { Fault } from "../../../src/fault/fault.ts";
import type { Result } from "../../../src/fault/result.ts";
import { cniVerb, type DelegateCall } from "./records.ts";

/** A link of the simulated node, as far as its roles depend on it. */
export interface HostLink extends LinkFacts {
  /** The link is the node's end of the attachment's veth. */
  readonly isNodeEnd: boolean;
  /** The link is a port of a bridge. */
  readonly isPort: boolean;
}

const widestGrant: LinkGrant = {
  bridges: ["*"],
  parents: ["*"],
  uplinks: ["*"],
  networks: ["0.0.0.0/0", "::/0"],
  podLinks: ["*"],
  devices: ["*", "mac:*", "pci:*", "driver:*"],
  vfVlans: ["0-4095"],
  vfTrust: true,
  selinuxContexts: ["*"],
  forwarding: true,
};

/** The details of a refusal that no grant changes. */
const noGrant = "The kit grants every name, so no grant of an administrator allows this request.";

/** The checks of one call. */
export class EveryNode {
  readonly #scope: LinkScope;

  constructor({ verb, request }: DelegateCall) {
    const type: unknown = JSON.parse(request.network.config)?.type;
    const attachment =
      "attachment" in request ? { ifname: request.attachment.ifname, netns: request.attachment.netns ?? "" } : undefined;
    this.#scope = { type: typeof type === "string" ? type : "", grant: widestGrant, verb: cniVerb(verb), attachment };
  }

  /** The fault of an `apply`. `linkOf`: an existing link of the node. */
  applyRefusal(operations: readonly LinksOperation[], linkOf: (name: string) => HostLink | undefined): Fault | undefined {
    return this.#refusal(checkOperations(this.#scope, operations), linkOf);
  }

  /** The fault of a function that reads these links; undefined: all of the pod's. */
  readRefusal(
    action: string,
    names: readonly LinksLinkName[] | undefined,
    linkOf: (name: string) => HostLink | undefined,
  ): Fault | undefined {
    if (names !== undefined) return this.#refusal(checkNames(this.#scope, names), linkOf);
    return this.#scope.attachment === undefined ? misused(`${action}: a ${this.#scope.verb} call has no pod`) : undefined;
  }

  #refusal(checked: Result<UsedLinks>, linkOf: (name: string) => HostLink | undefined): Fault | undefined {
    if (!checked.ok) return explained(checked.fault);
    for (const [name, usages] of checked.value.host) {
      const link = linkOf(name);
      if (link === undefined) continue;
      const isPort = link.isPort || usages.some(({ use }) => use === "join");
      const refusal = roleRefusal(this.#scope, link, name, usages, { ...link, isPort });
      if (refusal !== undefined) return explained(refusal);
    }
    return undefined;
  }
}

function explained(fault: Fault): Fault {
  return fault.kind === "NOT_GRANTED" ? { ...fault, details: noGrant } : fault;
}
