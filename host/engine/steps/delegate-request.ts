// What a delegate is given for a step: the ABI's records, made from the chain's step and back.

import { callArgs } from "./pod-identity.ts";
import { validAttachments } from "./valid-attachments.ts";
import type { ChainStep } from "../../src/cni/chain-step.ts";
import { printResult } from "../../src/cni/convert-result.ts";
import type { CniResult } from "../../src/cni/result.ts";
import { toVersion } from "../../src/cni/versions.ts";
import { type Fault, fault } from "../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../src/fault/result.ts";
import { editMembers, memberValue, parseConfiguration } from "../../src/json/document.ts";
import type { AttachmentRequest, GcRequest, Network, Success } from "../sandbox/abi/generated/delegate-0.1.0.ts";

/** A call of a delegate: the verb with its request. */
export type DelegateCall =
  | { readonly verb: "add" | "del" | "check"; readonly request: AttachmentRequest }
  | { readonly verb: "gc"; readonly request: GcRequest }
  | { readonly verb: "status"; readonly request: Network };

/** The network's name and version as the step's stdin has them, and the plugin's configuration without `prevResult`. */
export function delegateCall(step: ChainStep): Result<DelegateCall> {
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
      return ok({ verb: "status", request: network });
    case "GC": {
      const valid = validAttachments(document.value);
      return valid.ok ? ok({ verb: "gc", request: { network, valid: valid.value } }) : valid;
    }
    case "ADD":
    case "DEL":
    case "CHECK":
      return ok({ verb: verbNames[step.verb], request: attachmentRequest(step, network) });
    case "VERSION":
      return failed(fault("INTERNAL", "VERSION is answered from a delegate's declaration, not by the delegate"));
    default:
      return step.verb satisfies never;
  }
}

const verbNames = { ADD: "add", DEL: "del", CHECK: "check" } as const;

function attachmentRequest(step: ChainStep, network: Network): AttachmentRequest {
  const env = new Map(step.env);
  const netns = env.get("CNI_NETNS") ?? "";
  const attachment = {
    containerId: step.attachment?.containerId ?? "",
    netns: netns === "" ? undefined : netns,
    ifname: step.attachment?.ifname ?? "",
    args: callArgs(env.get("CNI_ARGS") ?? "").map(([key, value]) => ({ key, value })),
  };
  const previous = step.prevResult?.result;
  return { network, attachment, prevResult: previous === undefined ? undefined : toSuccess(previous) };
}

/** A result of the core as the ABI's record. */
export function toSuccess({ interfaces, ips, routes, dns }: CniResult): Success {
  return {
    interfaces: interfaces.map(({ pciID, ...rest }) => ({ ...rest, pciId: pciID })),
    ips,
    routes,
    dns,
  };
}

/** A delegate's ADD answer as JSON text in the version of the configuration, as a native plugin would have printed it. */
export function successText(success: Success, cniVersion: string): Result<string> {
  const version = toVersion(cniVersion);
  if (!version.ok) return version;
  return printResult({ ...withoutAbsent(success), cniVersion: version.value }, version.value);
}

/** The ABI's records have absent members as `undefined`, the core's leave them out. */
function withoutAbsent({ interfaces, ips, routes, dns }: Success): Omit<CniResult, "cniVersion"> {
  return {
    interfaces: interfaces.map(({ pciId, ...rest }) => present({ ...rest, pciID: pciId })),
    ips: ips.map(present),
    routes: routes.map(present),
    ...(dns === undefined ? {} : { dns: present(dns) }),
  };
}

type Present<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

function present<T extends object>(record: T): Present<T> {
  const told: Record<string, unknown> = {};
  for (const key in record) {
    const value: unknown = record[key];
    if (value !== undefined) told[key] = value;
  }
  return told as Present<T>;
}

/** A delegate's fault, with the step's type in front of its message. */
export function delegateFault(type: string, reason: Fault): Fault {
  return { ...reason, msg: `${type}: ${reason.msg}` };
}
