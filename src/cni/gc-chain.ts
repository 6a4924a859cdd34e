// GC (CNI 1.1.0 section 2, L-43): DEL for each cached attachment that the runtime does not list, then GC of every plugin.

import type { Fault } from "../fault/fault.ts";
import type { Attachment, AttachmentId } from "./attachment.ts";
import { chainFailed, delChain, networkStep, wrapFault } from "./chains.ts";
import type { ChainContext, ChainResult, ChainStep, StepOutcome } from "./chain-step.ts";
import { gcStdin } from "./step-request.ts";
import { versionAtLeast } from "./versions.ts";

/** A cached attachment that the runtime no longer lists as valid. */
export interface StaleAttachment {
  /** With the namespace, CNI_ARGS and capability arguments of its ADD. */
  readonly attachment: Attachment;
  /** Text of its cached result, if any. */
  readonly result: string | undefined;
}

/** The result, and the attachments whose DEL succeeded even if a later step failed: their cache entries can be removed. */
export type GcResult = ChainResult<void> & { readonly deleted: readonly AttachmentId[] };

/**
 * GC. All steps run even if some fail; the faults are joined, with the first one's kind and code. With `disableGC` GC succeeds without a
 * step. Plugins get GC from version 1.1.0 on; stale attachments get their DEL in any version. `valid`: mandatory: libcni treats a missing
 * list as empty and deletes everything. `stale`: stale attachments of this network; each gets a DEL with the current list. Empty if the
 * caller has deleted them already.
 */
export function* gcChain(
  context: ChainContext,
  valid: readonly AttachmentId[],
  stale: readonly StaleAttachment[],
): Generator<ChainStep, GcResult, StepOutcome> {
  const { list, capabilities } = context;
  const deleted: AttachmentId[] = [];
  if (list.disableGC) return { ok: true, value: undefined, deleted };
  const failures: { readonly fault: Fault; readonly step: number | undefined }[] = [];
  for (const { attachment, result } of stale) {
    const { containerId, ifname } = attachment;
    const ended = yield* delChain({ ...context, attachment }, result);
    if (ended.ok) {
      deleted.push({ containerId, ifname });
    } else {
      const front = `failed to delete stale attachment ${containerId} ${ifname}`;
      failures.push({ fault: wrapFault(ended.fault, front), step: ended.failedStep });
    }
  }
  const speaks = versionAtLeast(list.cniVersion, "1.1.0");
  if (speaks.ok && speaks.value) {
    for (const [index, plugin] of list.plugins.entries()) {
      const outcome = yield networkStep(context, "GC", index, plugin, gcStdin(list, plugin, valid, capabilities));
      if (!outcome.ok) failures.push({ fault: wrapFault(outcome.fault, `failed to GC plugin ${plugin.type}`), step: index });
    }
  }
  const [first] = failures;
  if (first === undefined) return { ok: true, value: undefined, deleted };
  const msg = failures.map((failure) => failure.fault.msg).join("; ");
  return { ...chainFailed({ ...first.fault, msg }, first.step), deleted };
}
