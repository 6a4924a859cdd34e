// Binds the capability `shaping` to one call: its attachment and its verb. Requests beyond that are refused here, before any change.

import type { AttachmentId } from "../../../src/cni/attachment.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import type { ShapingCapability } from "../../sandbox/abi/generated/delegate-1.1.0.ts";
import type { LinkState } from "../../system/netlink/link-state.ts";
import { attachmentPart, forOwner } from "../firewall/owner.ts";
import { type Deferred, refuse, witOutcome } from "../outcome.ts";
import { difference, traffic } from "./compare.ts";
import { deviceRemoval, devicesOf } from "./devices.ts";
import { send, type ShapingShim } from "./kernel.ts";
import { findNodeLink } from "./node-link.ts";
import { remove, replace } from "./replace.ts";
import { attachmentIn, noNodeLink, readShape, retainDenial, type ShapingCall } from "./requests.ts";

/** The call that the capability is bound to. */
export interface ShapingScope extends ShapingCall {
  /** The delegate's type. */
  readonly type: string;
  readonly network: string;
  /** Path of the pod's network namespace; empty if the namespace is gone. */
  readonly netns: string;
}

/** The WIT interface `shaping`; its functions answer when the shim has. */
export type Shaping = Deferred<ShapingCapability>;

/** The capability for the delegate of one call. */
export function shapingFor(scope: ShapingScope, shim: ShapingShim): Shaping {
  const nodeLink = ({ ifname }: AttachmentId): Promise<Result<LinkState | undefined>> => findNodeLink(shim, scope.netns, ifname);
  return {
    nodeLink: () =>
      forOwner(scope, attachmentIn(scope, ["ADD", "CHECK"]), async (owner) => {
        const found = await nodeLink(owner);
        return found.ok ? ok(found.value?.name) : found;
      }),
    replace: (requested) =>
      forOwner(scope, attachmentIn(scope, ["ADD"]), async (owner) => {
        const shape = readShape(requested);
        if (!shape.ok) return shape;
        const found = await nodeLink(owner);
        if (!found.ok) return found;
        if (found.value === undefined) return failed(noNodeLink(owner.ifname));
        return replace(shim, owner, found.value, shape.value);
      }),
    difference: (requested) =>
      forOwner(scope, attachmentIn(scope, ["ADD", "CHECK"]), async (owner) => {
        const shape = readShape(requested);
        if (!shape.ok) return shape;
        const found = await nodeLink(owner);
        if (!found.ok) return found;
        if (found.value === undefined) return failed(noNodeLink(owner.ifname));
        return difference(shim, owner, found.value, shape.value);
      }),
    usage: () =>
      forOwner(scope, attachmentIn(scope, ["ADD", "CHECK"]), async (owner) => {
        const found = await nodeLink(owner);
        return found.ok ? traffic(shim, owner, found.value) : found;
      }),
    remove: () =>
      forOwner(scope, attachmentIn(scope, ["ADD", "DEL"]), async (owner) => {
        const found = await nodeLink(owner);
        // The device goes even if the pod's namespace cannot be entered: the veth may be gone with it.
        const removed = await remove(shim, owner, found.ok ? found.value : undefined);
        return found.ok ? removed : found;
      }),
    retain: async (valid) => {
      const denied = retainDenial(scope);
      return denied === undefined ? witOutcome(await removeStale(shim, scope, valid)) : refuse(denied);
    },
  };
}

/** Removes the delegate's devices of attachments that are not valid, and answers the number of these attachments. */
async function removeStale(
  shim: ShapingShim,
  { type, network }: ShapingScope,
  valid: readonly AttachmentId[],
): Promise<Result<number>> {
  const all = await devicesOf(shim, { type, network });
  if (!all.ok) return all;
  const kept = new Set(valid.map(attachmentPart));
  const stale = all.value.filter(({ attachment }) => !kept.has(attachment));
  const removed = await send(
    shim,
    stale.map(({ device }) => deviceRemoval(device)),
  );
  return removed.ok ? ok(new Set(stale.map(({ attachment }) => attachment)).size) : removed;
}
