// An attachment: one network for one container, in the terms of libcni's RuntimeConf.

import { fault } from "../fault/fault.ts";
import { failed, ok, type Result } from "../fault/result.ts";
import { type CniArg, printCniArgs } from "./args.ts";
import { checkContainerId, checkInterfaceName } from "./names.ts";

/** What identifies an attachment within its network (GC's `cni.dev/valid-attachments`). */
export interface AttachmentId {
  readonly containerId: string;
  readonly ifname: string;
}

export interface Attachment extends AttachmentId {
  /** Path of the namespace; empty where the runtime has none (DEL). */
  readonly netns: string;
  readonly args: readonly CniArg[];
  /** Capability arguments: the capability's name to the JSON text of its value, passed on unchanged (L-27). */
  readonly capabilityArgs: ReadonlyMap<string, string>;
}

export function sameAttachment(left: AttachmentId, right: AttachmentId): boolean {
  return left.containerId === right.containerId && left.ifname === right.ifname;
}

/** One string for one id, for sets and maps. Neither part may have a "/" in it, so it is unambiguous. */
export function attachmentKey(id: AttachmentId): string {
  return `${id.containerId}/${id.ifname}`;
}

/**
 * Checks L-01 to L-03 and that nothing of it breaks out of an environment variable or out of its pair of CNI_ARGS.
 * Not for DEL: what was once added must stay removable (L-04). Faults: CONTAINER_UNKNOWN (3), ENVIRONMENT_INVALID (4).
 */
export function checkAttachment(attachment: Attachment): Result<Attachment> {
  const id = checkContainerId(attachment.containerId);
  if (!id.ok) return id;
  const ifname = checkInterfaceName(attachment.ifname);
  if (!ifname.ok) return ifname;
  // A value may hold "=": runtimes pass such pairs, and it is the plugin that splits them (MC-24).
  if (attachment.args.some(([key, value]) => /[;=]/.test(key) || value.includes(";") || key === "")) {
    return failed(fault("ENVIRONMENT_INVALID", 'CNI_ARGS: a key has ";" or "=" in it or is empty, or a value has ";" in it'));
  }
  return checkPrintable(attachment);
}

/** That no value has a NUL in it, which would end or split it in an environment. Fault: ENVIRONMENT_INVALID (4). */
export function checkPrintable(attachment: Attachment): Result<Attachment> {
  const texts = [attachment.containerId, attachment.ifname, attachment.netns, printCniArgs(attachment.args)];
  if (!texts.some((text) => text.includes("\0"))) return ok(attachment);
  return failed(fault("ENVIRONMENT_INVALID", "container ID, interface name, namespace or CNI_ARGS has a NUL character in it"));
}
