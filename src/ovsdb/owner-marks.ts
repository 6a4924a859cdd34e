// The marks by which Plexus knows its ports again: `external_ids` of the interface. They outlive the call, the daemon and a restart of the node.

import { type AttachmentId, attachmentKey } from "../cni/attachment.ts";

/** The owner of ports: a delegate's type within one network. */
export interface PortOwner {
  /** The delegate's type, which is the key of its grant. */
  readonly type: string;
  readonly network: string;
}

/** The keys of the marks. */
const delegateMark = "plexus-delegate";
const networkMark = "plexus-network";
const attachmentMark = "plexus-attachment";

/** The marks of all ports of an owner. */
export function ownerMarks({ type, network }: PortOwner): readonly (readonly [string, string])[] {
  return [
    [delegateMark, type],
    [networkMark, network],
  ];
}

/** The marks of the ports of one attachment. */
export function attachmentMarks(owner: PortOwner, attachment: AttachmentId): readonly (readonly [string, string])[] {
  return [...ownerMarks(owner), [attachmentMark, attachmentKey(attachment)]];
}

/** Whether the interface has all of the marks. */
export function hasMarks(ids: ReadonlyMap<string, string>, marks: readonly (readonly [string, string])[]): boolean {
  return marks.every(([key, value]) => ids.get(key) === value);
}

/** The attachment that an interface is marked with; undefined without a mark that Plexus could have written. */
export function markedAttachment(ids: ReadonlyMap<string, string>): AttachmentId | undefined {
  const text = ids.get(attachmentMark) ?? "";
  const slash = text.indexOf("/");
  return slash < 1 ? undefined : { containerId: text.slice(0, slash), ifname: text.slice(slash + 1) };
}

/** The owner of an interface, for messages; undefined for an interface that Plexus did not make. */
export function markedOwner(ids: ReadonlyMap<string, string>): string | undefined {
  const [type, network, attachment] = [delegateMark, networkMark, attachmentMark].map((key) => ids.get(key));
  if (type === undefined || network === undefined || attachment === undefined) return undefined;
  return `delegate ${type}, network ${network}, attachment ${attachment}`;
}
