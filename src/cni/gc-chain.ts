// GC (CNI 1.1.0 section 2, L-43): DEL for what the cache knows and the runtime does not, then GC for every plugin.

import type { Fault } from "../fault/fault.ts";
import type { Attachment, AttachmentId } from "./attachment.ts";
import { chainFailed, delChain, networkStep, wrapFault } from "./chains.ts";
import type { ChainContext, ChainResult, ChainStep, StepOutcome } from "./chain-step.ts";
import { gcStdin } from "./step-request.ts";
import { versionAtLeast } from "./versions.ts";

/** A cached attachment that the runtime no longer counts as valid. */
export interface StaleAttachment {
  /** With the namespace, arguments and capability arguments of its ADD. */
  readonly attachment: Attachment;
  /** Text of its cached result, where there is one. */
  readonly result: string | undefined;
}

export interface GcInit {
  /** Mandatory: with libcni, forgetting it means that nothing is valid and everything is deleted. */
  readonly valid: readonly AttachmentId[];
  /** Of this network; each gets a DEL with the current list. Empty where the caller has seen to them. */
  readonly stale: readonly StaleAttachment[];
}

/** What came of it, and whose DEL succeeded, whatever failed after: their cache entries may go. */
export type GcResult = ChainResult<void> & { readonly deleted: readonly AttachmentId[] };

/**
 * GC. All steps run whatever fails; the faults are joined, with the first one's kind and code. `disableGC` is success without
 * a step. Plugins are asked for GC from 1.1.0 on; stale attachments get their DEL in any version.
 */
export function* gcChain(context: ChainContext, init: GcInit): Generator<ChainStep, GcResult, StepOutcome> {
  const { list, capabilities } = context;
  const deleted: AttachmentId[] = [];
  if (list.disableGC) return { ok: true, value: undefined, deleted };
  const failures: { readonly fault: Fault; readonly step: number | undefined }[] = [];
  for (const { attachment, result } of init.stale) {
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
      const outcome = yield networkStep(context, "GC", index, plugin, gcStdin(list, plugin, init.valid, capabilities));
      if (!outcome.ok) failures.push({ fault: wrapFault(outcome.fault, `failed to GC plugin ${plugin.type}`), step: index });
    }
  }
  const [first] = failures;
  if (first === undefined) return { ok: true, value: undefined, deleted };
  const msg = failures.map((failure) => failure.fault.msg).join("; ");
  return { ...chainFailed({ ...first.fault, msg }, first.step), deleted };
}
