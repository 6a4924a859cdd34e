// Binds the capability `filter` to one call: its attachment, its verb, and the delegate's grant. Requests beyond that are refused here, before any change.

import { defaultAdminChain } from "../../../src/configuration/keys/grant-keys.ts";
import type { Result } from "../../../src/fault/result.ts";
import type { FilterAcceptance, FilterCapability } from "../../sandbox/abi/generated/delegate-1.1.0.ts";
import { type NetlinkShim, unlessAbsent } from "../firewall/kernel.ts";
import type { Owner } from "../firewall/owner.ts";
import { type Deferred, refuse, type WitOutcome, witOutcome } from "../outcome.ts";
import { difference, probe, remove, replace, retain } from "./filter.ts";
import { type Acceptance, allowedAcceptance, attachmentIn, type FilterCall, ownAddresses, retainDenial } from "./requests.ts";

/** The call that the capability is bound to. */
export interface FilterScope extends FilterCall {
  readonly network: string;
}

/** The WIT interface `filter`; its functions answer when the shim has. */
export type Filter = Deferred<FilterCapability>;

/** An acceptance for `probe`: an address for documentation (RFC 5737). */
const tried: Acceptance = {
  addresses: [{ family: 4, value: 0xc000_0201n }],
  adminChain: defaultAdminChain,
  separation: undefined,
};

/** The capability for the delegate of one call. */
export function filterFor(scope: FilterScope, shim: NetlinkShim): Filter {
  return {
    replace: (requested) => forAcceptance(scope, ["ADD"], requested, (owner, acceptance) => replace(shim, owner, acceptance)),
    difference: (requested) =>
      forAcceptance(scope, ["ADD", "CHECK"], requested, (owner, acceptance) => difference(shim, owner, acceptance)),
    remove: () =>
      onAttachment(scope, ["ADD", "DEL"], async (owner) =>
        unlessAbsent(shim, await remove(shim, owner, ownAddresses(scope)), undefined),
      ),
    retain: async (valid) => {
      const denied = retainDenial(scope);
      return denied === undefined ? witOutcome(await unlessAbsent(shim, await retain(shim, scope, valid), 0)) : refuse(denied);
    },
    probe: async () => witOutcome(await probe(shim, tried)),
  };
}

function forAcceptance<T>(
  scope: FilterScope,
  verbs: readonly FilterCall["verb"][],
  requested: FilterAcceptance,
  run: (owner: Owner, acceptance: Acceptance) => Promise<Result<T>>,
): Promise<WitOutcome<T>> {
  return onAttachment(scope, verbs, async (owner) => {
    const acceptance = allowedAcceptance(scope, requested);
    return acceptance.ok ? run(owner, acceptance.value) : acceptance;
  });
}

/** Runs a request for the call's attachment if its verb allows that. Fault: CAPABILITY_MISUSED. */
async function onAttachment<T>(
  scope: FilterScope,
  verbs: readonly FilterCall["verb"][],
  run: (owner: Owner) => Promise<Result<T>>,
): Promise<WitOutcome<T>> {
  const attachment = attachmentIn(scope, verbs);
  if (!attachment.ok) return refuse(attachment.fault);
  const { containerId, ifname } = attachment.value;
  return witOutcome(await run({ type: scope.type, network: scope.network, containerId, ifname }));
}
