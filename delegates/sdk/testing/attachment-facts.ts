// The facts of one call on the simulated node: a node lets a delegate make rules for the attachment's own addresses only, and guards for the
// veths that the call made.

import { CallFacts } from "../../../host/capabilities/call-facts.ts";
import type { DelegationCapability, LinksCapability } from "../../../host/sandbox/abi/generated/delegate-1.1.0.ts";
import type { DelegateCall } from "./records.ts";

/** The capabilities that report facts, and the facts. */
export interface ReportingCapabilities {
  readonly facts: CallFacts;
  readonly links: LinksCapability;
  readonly delegation: DelegationCapability;
}

/** Makes the capabilities report what the call learns, as a node does. The addresses of the previous result are known at first. */
export function reportingFacts(
  { request }: DelegateCall,
  links: LinksCapability,
  delegation: DelegationCapability,
): ReportingCapabilities {
  const facts = new CallFacts(undefined);
  if ("prevResult" in request) facts.reportDelegatedAdd(request.prevResult?.ips ?? []);
  return {
    facts,
    links: {
      ...links,
      apply: (operations) => {
        const applied = links.apply(operations);
        if ("ok" in applied) facts.reportLinks(operations, applied.ok);
        return applied;
      },
    },
    delegation: {
      ...delegation,
      add: (type, config) => {
        const added = delegation.add(type, config);
        if ("ok" in added) facts.reportDelegatedAdd(added.ok.ips);
        return added;
      },
    },
  };
}
