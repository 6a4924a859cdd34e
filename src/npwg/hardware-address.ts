// Hardware addresses as selections write them: Ethernet and IP-over-InfiniBand (4.1.2.1.4), InfiniBand GUIDs (4.1.2.1.10).

const colons = /^[0-9a-f]{2}(?::[0-9a-f]{2})*$/i;
const dashes = /^[0-9a-f]{2}(?:-[0-9a-f]{2})*$/i;
const dots = /^[0-9a-f]{4}(?:\.[0-9a-f]{4})*$/i;

/** The longest text of 20 bytes: two digits and a separator for each. */
const longest = 60;

export interface HardwareAddress {
  /** In colon notation (CONVENTIONS.md, `mac` and `infinibandGUID`), the digits as they were written. */
  readonly text: string;
  /** Length in bytes. */
  readonly length: number;
}

/** Reads colon, dash and dotted (`0223.4567.8901`) notation, any number of bytes; undefined for anything else. */
export function parseHardwareAddress(text: string): HardwareAddress | undefined {
  if (text.length > longest) return undefined;
  const digits = digitsOf(text);
  const pairs = digits?.match(/../g);
  return pairs ? { text: pairs.join(":"), length: pairs.length } : undefined;
}

/** Whether the group bit of the first byte is set: no interface can have such an address. */
export function isGroupAddress(address: HardwareAddress): boolean {
  return (Number.parseInt(address.text.slice(0, 2), 16) & 1) === 1;
}

/** Whether two texts name the same address, whatever their case and notation (N1-28). */
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
