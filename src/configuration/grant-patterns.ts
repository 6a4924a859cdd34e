// The elements that a grant's lists may contain: names and keys in which `*` is a wildcard, and port ranges.

/** The rule for one kind of list element: its pattern, and the pattern in plain language for messages. */
export interface ElementRule {
  readonly pattern: RegExp;
  readonly wanted: string;
}

/** A link's name (Linux: at most 15 bytes, no space, `/` or `:`), or a pattern of such names. */
export const linkPattern: ElementRule = {
  pattern: /^(?!\.{1,2}$)[!-.0-9;-~]{1,15}$/,
  wanted: "the name of a link, 1 to 15 ASCII characters without space, / and :, in which * stands for anything",
};

/** A link's name as in `linkPattern`, or a property of a device: its MAC, its PCI address or its driver. */
export const devicePattern: ElementRule = {
  pattern: /^(?:(?!\.{1,2}$)[!-.0-9;-~]{1,15}|mac:[0-9a-fA-F:*]{1,59}|pci:[0-9a-fA-F:.*]{1,16}|driver:[\w*-]{1,64})$/,
  wanted:
    "the name of a link, or mac:, pci: or driver: with a device's MAC, PCI address or driver, in which * stands for anything",
};

/** An SELinux context, or a pattern of contexts. */
export const contextPattern: ElementRule = {
  pattern: /^[!-.0-~]{1,255}$/,
  wanted: "an SELinux context, 1 to 255 ASCII characters without space and /, in which * stands for anything",
};

/** The name of a chain of iptables (at most 28 characters), or a pattern of such names. */
export const chainPattern: ElementRule = {
  pattern: /^[a-zA-Z0-9_*][a-zA-Z0-9_.*-]{0,27}$/,
  wanted: "the name of a chain of iptables, 1 to 28 letters, digits, _, . and -, in which * stands for anything",
};

/** The name of a zone of firewalld (at most 17 characters), or a pattern of such names. */
export const zonePattern: ElementRule = {
  pattern: /^[a-zA-Z0-9_*-]{1,17}$/,
  wanted: "the name of a zone of firewalld, 1 to 17 letters, digits, _ and -, in which * stands for anything",
};

/** The name by which a fabric knows a port, or a pattern of such names. */
export const interfaceIdPattern: ElementRule = {
  pattern: /^[!-~]{1,255}$/,
  wanted: "an interface ID, 1 to 255 ASCII characters without space, in which * stands for anything but /",
};

/** A path below `net`. No part is `.` or `..`, so that a key cannot leave `net`. */
export const sysctlPattern: ElementRule = {
  pattern: /^net(?:\/(?!\.{1,2}(?:\/|$))[!-.0-~]{1,64}){1,8}$/,
  wanted: "a path such as net/ipv4/conf/IFNAME/rp_filter, in which * stands for anything but /",
};

/** One port, or the first and last of a range. */
export const portsPattern: ElementRule = {
  pattern: portRanges(),
  wanted: "a port or a range of ports from 1 to 65535, such as 8080 or 30000-32767",
};

/** One number of a routing table or a policy rule, or the first and last of a range. Numbers have 32 bits; the kernel gives 0 a meaning of its own. */
export const numbersPattern: ElementRule = {
  pattern: /^[1-9]\d{0,9}(?:-[1-9]\d{0,9})?$/,
  wanted: "a number or a range of numbers from 1 to 4294967295, such as 100 or 1000-1099",
};

/** A VLAN of a port of Open vSwitch, or the first and last of a range. */
export const vlansPattern: ElementRule = {
  pattern: /^\d{1,4}(?:-\d{1,4})?$/,
  wanted: "a VLAN or a range of VLANs from 0 to 4095, such as 100 or 1000-1099",
};

/** The characters of a network; `readCidr` decides whether the text is a valid network. */
export const networkPattern: ElementRule = {
  pattern: /^[0-9a-fA-F.:]{2,45}\/\d{1,3}$/,
  wanted: "a network such as 10.1.0.0/16 or fd00:1::/48",
};

/** A plugin's type, which is a file name. */
export const pluginPattern: ElementRule = {
  pattern: /^(?!\.{1,2}$)[!-.0-~]{1,255}$/,
  wanted: "the type of a plugin, in which * stands for anything",
};

/** The name of an AddressPool, or a pattern of such names. */
export const poolPattern: ElementRule = {
  pattern: /^[-a-z0-9*]{1,40}$/,
  wanted: "the name of an AddressPool, in which * stands for anything",
};

/** A place in a result of CNI 1.1.0: names of members and positions in lists, separated by `/`. */
export const resultPlacePattern: ElementRule = {
  pattern: /^(?:interfaces|ips|routes|dns)(?:\/[a-zA-Z0-9*]{1,32}){0,4}$/,
  wanted: "a place in a result, such as dns, ips/*/gateway or routes, in which * stands for an element of a list",
};

/** The name of a Kubernetes namespace, or a pattern of such names. */
export const namespacesPattern: ElementRule = {
  pattern: /^[-a-z0-9*]{1,63}$/,
  wanted: "the name of a namespace, in which * stands for anything",
};

/** The name of a CNI network, or a pattern of such names. */
export const namePattern: ElementRule = {
  pattern: /^[a-zA-Z0-9*][a-zA-Z0-9_.*-]{0,254}$/,
  wanted: "the name of a network, in which * stands for anything",
};

/** An address with its prefix length, as it stands on a link. */
export const addressPattern: ElementRule = {
  pattern: /^[0-9a-fA-F.:]{2,45}\/\d{1,3}$/,
  wanted: "an address with a prefix length, such as 10.8.0.1/24",
};

function portRanges(): RegExp {
  const port = "(?:[1-9]\\d{0,3}|[1-5]\\d{4}|6[0-4]\\d{3}|65[0-4]\\d{2}|655[0-2]\\d|6553[0-5])";
  return new RegExp(`^${port}(?:-${port})?$`);
}

/** First and last port of an element of `hostPorts`; undefined for an invalid element. */
export function portRange(text: string): readonly [first: number, last: number] | undefined {
  if (!portsPattern.pattern.test(text)) return undefined;
  const [first, last] = text.split("-").map(Number);
  return first === undefined ? undefined : [first, last ?? first];
}

/** First and last number of an element of `tables` or `priorities`; undefined for an invalid element. */
export function numberRange(text: string): readonly [first: number, last: number] | undefined {
  if (!numbersPattern.pattern.test(text)) return undefined;
  const [first = 0, last = first] = text.split("-").map(Number);
  return last > 0xffff_ffff || first > last ? undefined : [first, last];
}

/** First and last VLAN of an element of `vlans`; undefined for an invalid element. */
export function vlanRange(text: string): { readonly first: number; readonly last: number } | undefined {
  if (!vlansPattern.pattern.test(text)) return undefined;
  const [first = 0, last = first] = text.split("-").map(Number);
  return last > 4095 || first > last ? undefined : { first, last };
}

/**
 * Whether the name matches the pattern. `*` stands for any number of characters except `/`; every other character stands for
 * itself. The time is proportional to the product of both lengths at most.
 */
export function matchesPattern(pattern: string, name: string): boolean {
  let [at, from] = [0, 0];
  let star: { readonly at: number; from: number } | undefined;
  while (from < name.length) {
    if (pattern[at] === "*") {
      star = { at, from };
      at++;
    } else if (pattern[at] === name[from]) {
      at++;
      from++;
    } else if (star !== undefined && name[star.from] !== "/") {
      star.from++;
      [at, from] = [star.at + 1, star.from];
    } else {
      return false;
    }
  }
  while (pattern[at] === "*") at++;
  return at === pattern.length;
}
