// Binds the capability `firewall` to one call: its attachment, its verb, and the delegate's grant. Requests beyond that are refused here, before
// any change.

import { ok, type Result } from "../../../src/fault/result.ts";
import type { FirewallCapability } from "../../sandbox/abi/generated/delegate-1.1.0.ts";
import { type Deferred, refuse, type WitOutcome, witOutcome } from "../outcome.ts";
import { check, probe, remove, replace } from "./firewall.ts";
import { framesGuarded, guardFrames, retainGuards, unguardFrames } from "./frames.ts";
import { type NetlinkShim, unlessAbsent } from "./kernel.ts";
import { removeNativeNft } from "./native-nft-rules.ts";
import { removeNative } from "./native-rules.ts";
import { forOwner, type Owner } from "./owner.ts";
import {
  allowedRules,
  attachmentIn,
  type FirewallCall,
  guardMistake,
  macMistake,
  type RequestedRules,
  retainDenial,
  type Verb,
} from "./requests.ts";
import { retain } from "./retain.ts";
import type { Rules } from "./rules.ts";

/** The scope of one call of `firewall`. */
export interface FirewallScope extends FirewallCall {
  readonly network: string;
}

/** The WIT interface `firewall`; its functions answer when the shim has. */
export type Firewall = Deferred<FirewallCapability>;

/** The capability for the delegate of one call. */
export function firewallFor(scope: FirewallScope, shim: NetlinkShim): Firewall {
  return {
    replace: (rules) => forAttachment(scope, ["add"], { rules }, (owner, allowed) => replace(shim, owner, allowed)),
    check: (rules) => forAttachment(scope, ["add", "check"], { rules }, (owner, allowed) => check(shim, owner, allowed)),
    replaceRestricted: (rules, conditions) =>
      forAttachment(scope, ["add"], { rules, conditions }, (owner, allowed) => replace(shim, owner, allowed)),
    checkRestricted: (rules, conditions) =>
      forAttachment(scope, ["add", "check"], { rules, conditions }, (owner, allowed) => check(shim, owner, allowed)),
    guardFrames: async (link, mac) => {
      const mistake = guardMistake(scope, link, mac);
      if (mistake !== undefined) return refuse(mistake);
      return forAttachment(scope, ["add"], undefined, (owner) => guardFrames(shim, owner, { link, mac }));
    },
    framesGuarded: async (link, mac) => {
      const mistake = macMistake(mac);
      if (mistake !== undefined) return refuse(mistake);
      return forAttachment(scope, ["add", "check"], undefined, (owner) => framesGuarded(shim, owner, { link, mac }));
    },
    remove: () =>
      forAttachment(scope, ["add", "del"], undefined, async (owner) => {
        const all = [
          remove(shim, owner),
          unguardFrames(shim, owner),
          removeNative(shim, owner, scope.grant),
          removeNativeNft(shim, owner, scope.grant),
        ];
        return unlessAbsent(shim, (await Promise.all(all)).find((each) => !each.ok) ?? ok(undefined), undefined);
      }),
    retain: async (valid) => {
      const denied = retainDenial(scope);
      if (denied !== undefined) return refuse(denied);
      const retained = await retain(shim, scope, valid);
      const unguarded = await retainGuards(shim, scope, valid);
      if (!retained.ok) return witOutcome(await unlessAbsent<number>(shim, retained, 0));
      if (!unguarded.ok) return witOutcome(await unlessAbsent<number>(shim, unguarded, 0));
      return witOutcome(ok(new Set([...retained.value, ...unguarded.value]).size));
    },
    probe: async () => witOutcome(await probe(shim)),
  };
}

/** Runs a request for the call's attachment if its verb and its rules are allowed. Faults: CAPABILITY_MISUSED, NOT_GRANTED. */
async function forAttachment<T>(
  scope: FirewallScope,
  verbs: readonly Verb[],
  requested: RequestedRules | undefined,
  run: (owner: Owner, rules: Rules) => Promise<Result<T>>,
): Promise<WitOutcome<T>> {
  return forOwner(scope, attachmentIn(scope, verbs), async (owner) => {
    const rules = requested === undefined ? ok({ masquerades: [], portMappings: [] }) : allowedRules(scope, requested);
    return rules.ok ? run(owner, rules.value) : rules;
  });
}
