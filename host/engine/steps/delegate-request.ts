// Makes the request for a delegate from a step of a chain: the records of the ABI.

import type { ChainStep } from "../../../src/cni/chain-step.ts";
import { splitCniArgs } from "../../../src/cni/environment.ts";
import { validAttachments } from "../../../src/cni/valid-attachments.ts";
import { type Fault, fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { editMembers, memberValue, parseConfiguration } from "../../../src/json/document.ts";
import { podIdentity } from "../../../src/kube/pod-identity.ts";
import type { AttachmentRequest, Call, GcRequest, Network, StatusRequest } from "../../sandbox/abi/generated/delegate-1.1.0.ts";
import { toSuccess } from "../../sandbox/abi/success-record.ts";
import type { Declaration } from "../../sandbox/admission/declaration.ts";

/** A call of a delegate: the verb with its request. */
export type DelegateCall =
  | { readonly verb: "add" | "del" | "check"; readonly request: AttachmentRequest }
  | { readonly verb: "gc"; readonly request: GcRequest }
  | { readonly verb: "status"; readonly request: StatusRequest };

/**
 * Makes the request from the step's stdin: the network's name and version, and the configuration without `prevResult`. `call`: the terms of
 * the call.
 */
export function delegateCall(step: ChainStep, call: Call): Result<DelegateCall> {
  const document = parseConfiguration(step.stdin, { what: `configuration of ${step.plugin.type}` });
  if (!document.ok) return document;
  const name = memberValue(document.value, "name");
  const version = memberValue(document.value, "cniVersion") ?? "";
  if (typeof name !== "string" || typeof version !== "string") {
    return failed(fault("CONFIG_INVALID", `configuration of ${step.plugin.type}: name and cniVersion must be strings`));
  }
  const config = editMembers(document.value, new Map([["prevResult", undefined]]));
  const network: Network = { cniVersion: version === "" ? "0.1.0" : version, name, config };
  switch (step.verb) {
    case "STATUS":
      return ok({ verb: "status", request: { call, network } });
    case "GC": {
      const valid = validAttachments(document.value);
      return valid.ok ? ok({ verb: "gc", request: { call, network, valid: valid.value } }) : valid;
    }
    case "ADD":
    case "DEL":
    case "CHECK":
      return attachmentCall(step, { call, network }, verbNames[step.verb]);
    case "VERSION":
      return failed(fault("INTERNAL", "VERSION is answered from a delegate's declaration, not by the delegate"));
    default:
      return step.verb satisfies never;
  }
}

const verbNames = { ADD: "add", DEL: "del", CHECK: "check" } as const;

/** The terms of a call, and the network. */
interface Terms {
  readonly call: Call;
  readonly network: Network;
}

function attachmentCall(step: ChainStep, terms: Terms, verb: "add" | "del" | "check"): Result<DelegateCall> {
  const env = new Map(step.env);
  return ok({ verb, request: attachmentRequest(step, terms, env) });
}

function attachmentRequest(step: ChainStep, terms: Terms, env: ReadonlyMap<string, string>): AttachmentRequest {
  const netns = env.get("CNI_NETNS") ?? "";
  const args = env.get("CNI_ARGS") ?? "";
  // The names of the call's pod were checked when the call began. A delegated or recorded step with other ones has no pod.
  const pod = podIdentity(args);
  const attachment = {
    containerId: step.attachment?.containerId ?? "",
    netns: netns === "" ? undefined : netns,
    ifname: step.attachment?.ifname ?? "",
    // A component receives pairs only. Like most native plugins, it does not see parts such as "none" of `CNI_ARGS=none`.
    args: splitCniArgs(args).map(([key, value]) => ({ key, value })),
    pod: pod.ok ? pod.value : undefined,
  };
  const previous = step.prevResult?.result;
  return { ...terms, attachment, prevResult: previous === undefined ? undefined : toSuccess(previous) };
}

/** A delegate's fault, with the step's type in front of its message. */
export function delegateFault(type: string, reason: Fault): Fault {
  return { ...reason, msg: `${type}: ${reason.msg}` };
}

/** The fault of a network in a CNI version that the delegate does not declare; undefined if it declares the version. */
export function versionFault(type: string, { cniVersions }: Declaration, cniVersion: string): Fault | undefined {
  if (cniVersions.includes(cniVersion)) return undefined;
  const why = `${type}: the network's cniVersion is "${cniVersion}", but the delegate supports ${cniVersions.join(", ")}`;
  return fault("VERSION_UNSUPPORTED", why);
}
