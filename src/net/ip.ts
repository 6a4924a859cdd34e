// IP addresses as Go's net package reads and prints them, because existing CNI plugins use it: no leading zeros, no zones,
// IPv4-mapped IPv6 is IPv4, and RFC 5952 for output.

/** IPv4 or IPv6. */
export type Family = 4 | 6;

/** An IP address. */
export interface IpAddress {
  readonly family: Family;
  /** 32 or 128 bits, big endian. */
  readonly value: bigint;
}

/** An address with its prefix length; host bits are kept. */
export interface Cidr {
  readonly address: IpAddress;
  readonly prefix: number;
}

const GROUPS = 8;

/** The 32 bits of an address in dotted decimal; -1 if malformed. */
function readDotted(text: string): number {
  let value = 0;
  let fields = 0;
  let digits = 0;
  let field = 0;
  for (let index = 0; index <= text.length; index++) {
    const code = index === text.length ? 0x2e : text.charCodeAt(index);
    if (code === 0x2e) {
      if (digits === 0 || fields === 4) return -1;
      value = value * 256 + field;
      fields++;
      digits = 0;
      field = 0;
    } else {
      const digit = code - 0x30;
      if (digit < 0 || digit > 9 || (digits > 0 && field === 0)) return -1;
      field = field * 10 + digit;
      digits++;
      if (field > 255) return -1;
    }
  }
  return fields === 4 ? value : -1;
}

function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}

/** The eight 16-bit groups of an IPv6 address; undefined if malformed. */
function readGroups(text: string): number[] | undefined {
  const groups: number[] = [];
  let gap = -1;
  let index = 0;
  if (text.startsWith("::")) {
    gap = 0;
    index = 2;
  }
  while (index < text.length) {
    if (groups.length === GROUPS) return undefined;
    let group = 0;
    const start = index;
    for (; index < text.length; index++) {
      const digit = hexDigit(text.charCodeAt(index));
      if (digit === -1) break;
      group = group * 16 + digit;
      if (index - start === 4) return undefined;
    }
    if (text[index] === ".") {
      const dotted = groups.length <= GROUPS - 2 ? readDotted(text.slice(start)) : -1;
      if (dotted === -1) return undefined;
      groups.push(Math.floor(dotted / 0x1_0000), dotted % 0x1_0000);
      index = text.length;
      break;
    }
    if (index === start) return undefined;
    groups.push(group);
    if (index === text.length) break;
    if (text[index] !== ":") return undefined;
    index++;
    if (text[index] === ":") {
      if (gap !== -1) return undefined;
      gap = groups.length;
      index++;
    } else if (index === text.length) {
      return undefined;
    }
  }
  if (gap === -1) return groups.length === GROUPS ? groups : undefined;
  if (groups.length === GROUPS) return undefined;
  const zeros = Array.from({ length: GROUPS - groups.length }, () => 0);
  return [...groups.slice(0, gap), ...zeros, ...groups.slice(gap)];
}

function joinGroups(groups: readonly number[]): bigint {
  let value = 0n;
  for (const group of groups) value = (value << 16n) | BigInt(group);
  return value;
}

/** Reads an address; undefined if malformed. IPv4-mapped IPv6 gives family 4. The fast form, without a message. */
export function readAddress(text: string): IpAddress | undefined {
  // The longest spelling has 45 characters: eight groups, the last two in dotted decimal.
  if (text.length > 45) return undefined;
  if (!text.includes(":")) {
    const value = readDotted(text);
    return value === -1 ? undefined : { family: 4, value: BigInt(value) };
  }
  const groups = readGroups(text);
  if (groups === undefined) return undefined;
  const value = joinGroups(groups);
  return value >> 32n === 0xffffn ? { family: 4, value: value & 0xffff_ffffn } : { family: 6, value };
}

/**
 * Reads an address with prefix length ("10.1.2.3/24"); undefined if malformed. An IPv4-mapped address needs a prefix of at least
 * 96.
 */
export function readCidr(text: string): Cidr | undefined {
  const slash = text.indexOf("/");
  if (slash === -1) return undefined;
  const literal = text.slice(0, slash);
  const digits = text.slice(slash + 1);
  if (!/^(?:0|[1-9][0-9]{0,2})$/.test(digits)) return undefined;
  const address = readAddress(literal);
  if (address === undefined) return undefined;
  const written = Number(digits);
  const mapped = address.family === 4 && literal.includes(":");
  const prefix = mapped ? written - 96 : written;
  if (prefix < 0 || prefix > bitsOf(address.family)) return undefined;
  return { address, prefix };
}

/** The number of bits in an address of the family. */
function bitsOf(family: Family): 32 | 128 {
  return family === 4 ? 32 : 128;
}

function hex(groups: readonly number[]): string {
  return groups.map((group) => group.toString(16)).join(":");
}

function formatV6(value: bigint): string {
  const groups: number[] = [];
  for (let shift = 96n; shift >= 0n; shift -= 32n) {
    const word = Number((value >> shift) & 0xffff_ffffn);
    groups.push(word >>> 16, word & 0xffff);
  }
  // RFC 5952: the longest run of two or more zero groups is shortened; of equal runs, the first.
  let gap = -1;
  let gapLength = 1;
  for (let start = 0; start < GROUPS; start++) {
    let end = start;
    while (end < GROUPS && groups[end] === 0) end++;
    if (end - start > gapLength) {
      gap = start;
      gapLength = end - start;
    }
    start = Math.max(start, end - 1);
  }
  return gap === -1 ? hex(groups) : `${hex(groups.slice(0, gap))}::${hex(groups.slice(gap + gapLength))}`;
}

/** Canonical text: dotted decimal, or RFC 5952. */
export function formatAddress(address: IpAddress): string {
  if (address.family === 6) return formatV6(address.value);
  const value = Number(address.value);
  return `${value >>> 24}.${(value >>> 16) & 255}.${(value >>> 8) & 255}.${value & 255}`;
}

/** Canonical text with the prefix length, host bits kept. */
export function formatCidr(cidr: Cidr): string {
  return `${formatAddress(cidr.address)}/${cidr.prefix}`;
}

/** Negative, zero or positive, as `sort` expects: IPv4 before IPv6, then by value. */
export function compareAddresses(left: IpAddress, right: IpAddress): number {
  if (left.family !== right.family) return left.family - right.family;
  if (left.value === right.value) return 0;
  return left.value < right.value ? -1 : 1;
}

/** The first and the last address of the network of `cidr`. */
export function networkOf(cidr: Cidr): { readonly first: IpAddress; readonly last: IpAddress } {
  const { family, value } = cidr.address;
  const hostMask = (1n << BigInt(bitsOf(family) - cidr.prefix)) - 1n;
  return { first: { family, value: value & ~hostMask }, last: { family, value: value | hostMask } };
}

/** Whether `address` is in the network of `cidr`; false across families. */
export function cidrContains(cidr: Cidr, address: IpAddress): boolean {
  if (cidr.address.family !== address.family) return false;
  const shift = BigInt(bitsOf(address.family) - cidr.prefix);
  return cidr.address.value >> shift === address.value >> shift;
}
