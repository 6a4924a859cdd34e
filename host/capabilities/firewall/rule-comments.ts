// The comments of an attachment's rules: the mapping or the masquerade as text, from which its map elements are derived again. No I/O.

import { formatAddress, formatCidr, readAddress, readCidr } from "../../../src/net/ip.ts";
import type { Condition, Masquerade, PortMapping } from "./mappings.ts";

/** The end of a rule's comment where the map's element of its address belongs to another attachment. */
const SHARED_ADDRESS = "(address shared)";

/** A mapping as text, which `mappingIn` reads. */
export function mappingText({ protocol, hostAddress, hostPort, pod, podPort, masquerading, conditions }: PortMapping): string {
  const host = hostAddress === undefined ? "any" : formatAddress(hostAddress);
  const text = `${protocol} ${host} ${hostPort} to ${formatCidr(pod)} ${podPort} masquerading ${masquerading}`;
  return conditions.length === 0 ? text : `${text} if ${conditions.map(conditionText).join(",")}`;
}

/** A condition as text without spaces, with nft's words: `daddr!=10.96.0.0/12`. */
function conditionText({ which, operation, network }: Condition): string {
  return `${which === "source" ? "saddr" : "daddr"}${operation === "is" ? "==" : "!="}${formatCidr(network)}`;
}

function conditionIn(text: string): Condition | undefined {
  const [, field, operator, cidr = ""] = /^([sd])addr([=!])=(.+)$/.exec(text) ?? [];
  const network = readCidr(cidr);
  if (network === undefined) return undefined;
  return { which: field === "s" ? "source" : "destination", operation: operator === "=" ? "is" : "is not", network };
}

/** The comment of a rule whose map element of the pod's address belongs to another attachment. */
export function withSharedAddress(comment: string): string {
  return `${comment} ${SHARED_ADDRESS}`;
}

/** Whether a rule's comment says that its map element of the pod's address belongs to another attachment. */
export function marksSharedAddress(comment: string): boolean {
  return comment.endsWith(SHARED_ADDRESS);
}

/** The mapping in a rule's comment, which may mark a shared address; undefined where the comment is not from Plexus. */
export function mappingIn(comment: string): PortMapping | undefined {
  const text = marksSharedAddress(comment) ? comment.slice(0, -SHARED_ADDRESS.length - 1) : comment;
  const [protocol, host = "", hostPort, , podText = "", podPort, , masquerading, ...more] = text.split(" ");
  const [word, conditionTexts = ""] = more;
  if (more.length > 0 && (word !== "if" || more.length > 2)) return undefined;
  const conditions = more.length === 0 ? [] : conditionTexts.split(",").map(conditionIn);
  const readConditions = conditions.filter((condition) => condition !== undefined);
  if (readConditions.length < conditions.length) return undefined;
  const pod = readCidr(podText);
  const hostAddress = host === "any" ? undefined : readAddress(host);
  if (pod === undefined || (host !== "any" && hostAddress === undefined)) return undefined;
  if (protocol !== "tcp" && protocol !== "udp" && protocol !== "sctp") return undefined;
  if (masquerading !== "none" && masquerading !== "local" && masquerading !== "all") return undefined;
  const [hostNumber, podNumber] = [Number(hostPort), Number(podPort)];
  return { protocol, hostAddress, hostPort: hostNumber, pod, podPort: podNumber, masquerading, conditions: readConditions };
}

/** The masquerade in a rule's comment; undefined where the comment is not from Plexus, or marks a shared address. */
export function masqueradeIn(comment: string): Masquerade | undefined {
  const address = readCidr(comment);
  return address === undefined ? undefined : { address };
}
