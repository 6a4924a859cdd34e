// Hardware addresses in selections: Ethernet and IP-over-InfiniBand (4.1.2.1.4), InfiniBand GUIDs (4.1.2.1.10).

const colons = /^[0-9a-f]{2}(?::[0-9a-f]{2})*$/i;
const dashes = /^[0-9a-f]{2}(?:-[0-9a-f]{2})*$/i;
const dots = /^[0-9a-f]{4}(?:\.[0-9a-f]{4})*$/i;

/** Length of 20 bytes as text: two digits and a separator for each byte. */
const maxLength = 60;

/** A hardware address of any length. */
export interface HardwareAddress {
  /** In colon notation (CONVENTIONS.md, `mac` and `infinibandGUID`), with the original digits. */
  readonly text: string;
  /** Length in bytes. */
  readonly length: number;
}

/** Reads colon, dash and dotted (`0223.4567.8901`) notation of any number of bytes; undefined if malformed. */
export function parseHardwareAddress(text: string): HardwareAddress | undefined {
  if (text.length > maxLength) return undefined;
  const digits = digitsOf(text);
  const pairs = digits?.match(/../g);
  return pairs ? { text: pairs.join(":"), length: pairs.length } : undefined;
}

/** Whether the group bit of the first byte is set: no interface can have a group address. */
export function isGroupAddress(address: HardwareAddress): boolean {
  return (Number.parseInt(address.text.slice(0, 2), 16) & 1) === 1;
}

/** Whether two texts are the same address in any case and notation (N1-28). */
export function sameHardwareAddress(left: string, right: string): boolean {
  const [a, b] = [parseHardwareAddress(left), parseHardwareAddress(right)];
  return a !== undefined && b !== undefined && a.text.toLowerCase() === b.text.toLowerCase();
}

function digitsOf(text: string): string | undefined {
  if (colons.test(text)) return text.replaceAll(":", "");
  if (dashes.test(text)) return text.replaceAll("-", "");
  if (dots.test(text)) return text.replaceAll(".", "");
  return undefined;
}
