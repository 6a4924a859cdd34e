// The verbs in which a delegate may call the functions of a capability that belong to the call's attachment. The node and the kit have the same rules.

import type { AttachmentId } from "../../src/cni/attachment.ts";
import type { Verb } from "../../src/cni/environment.ts";
import type { Fault } from "../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../src/fault/result.ts";

/** The call of a delegate. */
export interface VerbCall {
  readonly verb: Verb;
  /** Undefined for GC and STATUS. */
  readonly attachment: AttachmentId | undefined;
}

/** The rules of one capability. */
export interface VerbRules {
  /** The call's attachment in one of `verbs`. Fault: CAPABILITY_MISUSED in another verb. */
  readonly attachmentIn: (call: VerbCall, verbs: readonly Verb[]) => Result<AttachmentId>;
  /** The fault of `retain` in another verb than GC; undefined in GC. */
  readonly retainDenial: (call: VerbCall) => Fault | undefined;
}

/** Makes the rules. `misused` makes the capability's fault. */
export function verbRules(misused: (why: string) => Fault): VerbRules {
  return {
    attachmentIn: ({ attachment, verb }, verbs) =>
      attachment !== undefined && verbs.includes(verb)
        ? ok(attachment)
        : failed(misused(`this function is allowed in ${verbs.join(" and ")} only, and this call is ${verb}`)),
    retainDenial: ({ verb }) => (verb === "GC" ? undefined : misused(`retain is allowed in GC only, and this call is ${verb}`)),
  };
}
