// An attachment: one network for one container, in the terms of libcni's RuntimeConf.

import { fault } from "../fault/fault.ts";
import { failed, ok, type Result } from "../fault/result.ts";
import { checkContainerId, checkInterfaceName } from "./names.ts";

/** The identity of an attachment within its network (`cni.dev/valid-attachments` of GC). */
export interface AttachmentId {
  readonly containerId: string;
  readonly ifname: string;
}

/** An attachment with the arguments of its calls. */
export interface Attachment extends AttachmentId {
  /** Path of the network namespace; empty if the runtime gives none (DEL). */
  readonly netns: string;
  /** CNI_ARGS, byte for byte as the plugins get them. */
  readonly args: string;
  /** Capability arguments: capability name to the JSON text of its value, which is passed on unchanged (L-27). */
  readonly capabilityArgs: ReadonlyMap<string, string>;
}

/** A key of the id for sets and maps. Neither part can contain "/", so the key is unambiguous. */
export function attachmentKey(id: AttachmentId): string {
  return `${id.containerId}/${id.ifname}`;
}

/**
 * Checks L-01 to L-03, and that no value breaks out of its environment variable. DEL does not call this: an attachment that was
 * added must stay removable (L-04). Faults: CONTAINER_UNKNOWN (3), ENVIRONMENT_INVALID (4).
 */
export function checkAttachment(attachment: Attachment): Result<Attachment> {
  const id = checkContainerId(attachment.containerId);
  if (!id.ok) return id;
  const ifname = checkInterfaceName(attachment.ifname);
  if (!ifname.ok) return ifname;
  return checkPrintable(attachment);
}

/** Checks that no value contains a NUL, which would end it in an environment. Fault: ENVIRONMENT_INVALID (4). */
export function checkPrintable(attachment: Attachment): Result<Attachment> {
  const texts = [attachment.containerId, attachment.ifname, attachment.netns, attachment.args];
  if (!texts.some((text) => text.includes("\0"))) return ok(attachment);
  return failed(fault("ENVIRONMENT_INVALID", "container ID, interface name, namespace or CNI_ARGS contains a NUL character"));
}
