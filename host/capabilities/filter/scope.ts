// Binds the capability `filter` to one call: its attachment, its verb, and the delegate's grant. Requests beyond that are refused here, before any change.

import { defaultAdminChain } from "../../../src/configuration/keys/grant-keys.ts";
import { ok, type Result } from "../../../src/fault/result.ts";
import type { IpAddress } from "../../../src/net/ip.ts";
import type { FilterAcceptance, FilterCapability } from "../../sandbox/abi/generated/delegate-1.1.0.ts";
import type { ZoneEffects } from "../../protocol/shim.ts";
import { type NetlinkShim, unlessAbsent } from "../firewall/kernel.ts";
import { forOwner, type Owner } from "../firewall/owner.ts";
import { type Deferred, refuse, type WitOutcome, witOutcome } from "../outcome.ts";
import { difference, probe, remove, replace, retain } from "./filter.ts";
import { enterZone, lackedByZone, leaveZones } from "./firewalld.ts";
import {
  type Acceptance,
  allowedAcceptance,
  attachmentIn,
  type FilterCall,
  isGrantedZone,
  ownAddresses,
  retainDenial,
} from "./requests.ts";

/** The call that the capability is bound to. */
export interface FilterScope extends FilterCall {
  readonly network: string;
}

/** The WIT interface `filter`; its functions answer when the shim has. */
export type Filter = Deferred<FilterCapability>;

/** The effects of the shim that the capability asks for. */
export type FilterShim = NetlinkShim & ZoneEffects;

/** An acceptance for `probe`: an address for documentation (RFC 5737). */
const tried: Acceptance = {
  addresses: [{ family: 4, value: 0xc000_0201n }],
  adminChain: defaultAdminChain,
  separation: undefined,
  zone: undefined,
};

/** The capability for the delegate of one call. */
export function filterFor(scope: FilterScope, shim: FilterShim): Filter {
  const { zones = [] } = scope.grant;
  const leaving = async (addresses: readonly IpAddress[]): Promise<Result<undefined>> =>
    zones.length === 0 || addresses.length === 0
      ? ok(undefined)
      : leaveZones(shim, (zone) => isGrantedZone(zones, zone), addresses);
  return {
    replace: (requested) =>
      forAcceptance(scope, ["ADD"], requested, async (owner, acceptance) => {
        const { zone, addresses } = acceptance;
        const entered = zone === undefined ? ok(undefined) : await enterZone(shim, zone, addresses);
        if (!entered.ok) return entered;
        const replaced = await replace(shim, owner, acceptance);
        // The first fault is reported; a DEL repeats the removal.
        if (!replaced.ok) await leaving(addresses);
        return replaced;
      }),
    difference: (requested) =>
      forAcceptance(scope, ["ADD", "CHECK"], requested, async (owner, acceptance) => {
        const { zone, addresses } = acceptance;
        const differs = await difference(shim, owner, acceptance);
        if (!differs.ok || differs.value !== undefined || zone === undefined) return differs;
        const lacked = await lackedByZone(shim, zone, addresses);
        return lacked.ok && lacked.value !== undefined ? ok(`the zone ${zone} of firewalld lacks ${lacked.value}`) : lacked;
      }),
    remove: () =>
      forOwner(scope, attachmentIn(scope, ["ADD", "DEL"]), async (owner) => {
        const removed = await remove(shim, owner, ownAddresses(scope));
        const left = await leaving(removed.ok ? removed.value : ownAddresses(scope));
        return removed.ok ? left : unlessAbsent(shim, removed, undefined);
      }),
    retain: async (valid) => {
      const denied = retainDenial(scope);
      if (denied !== undefined) return refuse(denied);
      const retained = await retain(shim, scope, valid);
      if (!retained.ok) return witOutcome(await unlessAbsent(shim, retained, 0));
      const left = await leaving(retained.value.addresses);
      return witOutcome(left.ok ? ok(retained.value.attachments) : left);
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
  return forOwner(scope, attachmentIn(scope, verbs), async (owner) => {
    const acceptance = allowedAcceptance(scope, requested);
    return acceptance.ok ? run(owner, acceptance.value) : acceptance;
  });
}
