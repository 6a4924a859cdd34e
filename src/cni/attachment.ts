// An attachment: one network for one container, in the terms of libcni's RuntimeConf, and the three names that a runtime chooses for it: container ID, network name
// and interface name (CNI 1.1.0 sections 1 and 2, L-01..L-03).

import { fault } from "../fault/fault.ts";
import { failed, ok, type Result } from "../fault/result.ts";
import { quote } from "../json/quote.ts";

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

// No `m` flag: `$` must not accept a line end.
const NAME = /^[a-zA-Z0-9][a-zA-Z0-9_.-]*$/;

// \p{White_Space}, not \s: the latter lacks U+0085 and has U+FEFF. An environment cannot carry NUL.
const NOT_IN_INTERFACE_NAME = /[/:\0\p{White_Space}]/u;

const MAX_INTERFACE_NAME_BYTES = 15;

/** Names that the kernel refuses: sysctl_dev_name_is_allowed(). */
const RESERVED_BY_KERNEL: ReadonlySet<string> = new Set(["all", "default"]);

/** Length of `text` in UTF-8, in bytes. A lone surrogate counts three, like its replacement character. */
export function utf8Length(text: string): number {
  let bytes = 0;
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    if (code < 0x80) bytes += 1;
    else if (code < 0x800) bytes += 2;
    else if (code < 0x1_0000) bytes += 3;
    else bytes += 4;
  }
  return bytes;
}

/** Checks a container ID. Faults: CONTAINER_UNKNOWN (3) if empty; ENVIRONMENT_INVALID (4) for invalid characters. */
export function checkContainerId(text: string): Result<string> {
  if (text === "") return failed(fault("CONTAINER_UNKNOWN", "missing containerID"));
  if (NAME.test(text)) return ok(text);
  return failed(fault("ENVIRONMENT_INVALID", `invalid characters in containerID: ${quote(text)}`));
}

/** Checks a network name. Fault: CONFIG_INVALID (7). */
export function checkNetworkName(text: string): Result<string> {
  if (text === "") return failed(fault("CONFIG_INVALID", "missing network name"));
  if (NAME.test(text)) return ok(text);
  return failed(fault("CONFIG_INVALID", `invalid characters found in network name: ${quote(text)}`));
}

function refuse(why: string): Result<string> {
  return failed(fault("ENVIRONMENT_INVALID", `interface name ${why}`));
}

/**
 * Checks an interface name by libcni's rule (L-03): at most 15 bytes, not "." or "..", without "/", ":", white space or NUL. For an
 * attachment that may exist already. Fault: ENVIRONMENT_INVALID (4).
 */
export function checkAttachedInterfaceName(text: string): Result<string> {
  if (text === "") return refuse("is empty");
  // Each UTF-16 unit is at least one byte, so the cheap length test comes first and bounds the exact one.
  if (text.length > MAX_INTERFACE_NAME_BYTES || utf8Length(text) > MAX_INTERFACE_NAME_BYTES) {
    return refuse(`is too long: ${quote(text, 60)} has more than ${MAX_INTERFACE_NAME_BYTES} bytes`);
  }
  if (text === "." || text === "..") return refuse("is . or ..");
  if (NOT_IN_INTERFACE_NAME.test(text)) return refuse(`contains / or : or whitespace characters: ${quote(text)}`);
  return ok(text);
}

/**
 * Checks that the kernel can create an interface with exactly this name (NPWG 4.1.2.1.5): libcni's rule, and two rules of the kernel. The
 * kernel refuses `all` and `default` (EINVAL), because /proc/sys/net/ipv4/conf has directories with these names. It replaces `%d` by a
 * number, and refuses every other `%`. Fault: ENVIRONMENT_INVALID (4).
 */
export function checkInterfaceName(text: string): Result<string> {
  const checked = checkAttachedInterfaceName(text);
  if (!checked.ok) return checked;
  if (RESERVED_BY_KERNEL.has(text)) return refuse(`is ${quote(text)}, which the kernel reserves for net/ipv4/conf/${text}`);
  if (text.includes("%")) return refuse(`contains %, which the kernel replaces by a number: ${quote(text)}`);
  return ok(text);
}
