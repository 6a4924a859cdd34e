// GC (CNI 1.1.0 section 2, L-43, L-44): DEL for what the cache knows and the runtime does not, then GC for every plugin.

import type { Fault } from "../fault/fault.ts";
import { type AttachmentId, type Attachment, attachmentKey } from "./attachment.ts";
import { chainFailed, delChain, networkStep, wrapFault } from "./chains.ts";
import type { Chain, ChainContext } from "./chain-step.ts";
import { gcStdin } from "./step-request.ts";
import { versionAtLeast } from "./versions.ts";

/** A cached attachment that the runtime no longer counts as valid. */
export interface StaleAttachment {
  /** With the namespace, arguments and capability arguments of its ADD. */
  readonly attachment: Attachment;
  /** Text of its cached result, where there is one. */
  readonly result: string | undefined;
}

/** Those of a network's attachments that are not valid. */
export function staleAmong<T extends AttachmentId>(attachments: readonly T[], valid: readonly AttachmentId[]): readonly T[] {
  const keys = new Set(valid.map(attachmentKey));
  return attachments.filter((attachment) => !keys.has(attachmentKey(attachment)));
}

/**
 * The runtime's list in a delegated network's own terms (L-44): the runtime names the attachments that it asked for
 * ("id, eth0"), the network knows those that were made for them ("id, net1"). What was made for nothing valid is left out.
 */
export function translateValid(
  valid: readonly AttachmentId[],
  made: readonly { readonly requested: AttachmentId; readonly own: AttachmentId }[],
): readonly AttachmentId[] {
  const keys = new Set(valid.map(attachmentKey));
  return made.filter(({ requested }) => keys.has(attachmentKey(requested))).map(({ own }) => own);
}

export interface GcInit {
  /** Mandatory: with libcni, forgetting it means that nothing is valid and everything is deleted (L-43). */
  readonly valid: readonly AttachmentId[];
  /** Of this network; each gets a DEL with the current list. */
  readonly stale: readonly StaleAttachment[];
}

export interface GcOutcome {
  /** Whose DEL succeeded: their cache entries may go. Filled as the chain runs, so it is right after a failure too. */
  readonly deleted: readonly AttachmentId[];
}

/**
 * GC. All steps run whatever fails; the faults are joined, with the first one's kind and code. `disableGC` is success without
 * a step. Plugins are asked from 1.1.0 on; stale attachments get their DEL in any version.
 */
export function* gcChain(context: ChainContext, init: GcInit): Chain<GcOutcome> {
  const { list } = context;
  const deleted: AttachmentId[] = [];
  if (list.disableGC) return { ok: true, value: { deleted } };
  const failures: { readonly fault: Fault; readonly step: number | undefined }[] = [];
  for (const { attachment, result } of init.stale) {
    const { containerId, ifname } = attachment;
    const ended = yield* delChain({ ...context, attachment }, result);
    if (ended.ok) deleted.push({ containerId, ifname });
    else
      failures.push({
        fault: wrapFault(ended.fault, `failed to delete stale attachment ${containerId} ${ifname}`),
        step: ended.failedStep,
      });
  }
  const speaks = versionAtLeast(list.cniVersion, "1.1.0");
  if (speaks.ok && speaks.value) {
    for (const [index, plugin] of list.plugins.entries()) {
      const outcome = yield networkStep(context, "GC", index, plugin, gcStdin(list, plugin, init.valid, context.capabilities));
      if (!outcome.ok) failures.push({ fault: wrapFault(outcome.fault, `failed to GC plugin ${plugin.type}`), step: index });
    }
  }
  const [first] = failures;
  if (first === undefined) return { ok: true, value: { deleted } };
  const msg = failures.map((failure) => failure.fault.msg).join("; ");
  return chainFailed({ ...first.fault, msg }, first.step);
}
