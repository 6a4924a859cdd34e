// The choice of a free address of a subnet. This provider chooses, and not EC2, so that the address is in a tag before EC2 assigns it.

/** EC2 keeps the first four addresses of each subnet, and the last. */
const keptAtBegin = 4;
const keptAtEnd = 1;

/** An IPv4 subnet. */
export interface Subnet {
  readonly first: number;
  readonly size: number;
  readonly prefixLength: number;
}

/** Reads `10.0.0.0/24`. Throws for another form. */
export function readSubnet(cidr: string): Subnet {
  const [network = "", length = ""] = cidr.split("/");
  const prefixLength = Number(length);
  const first = numberOf(network);
  if (first === undefined || !/^\d+$/.test(length) || prefixLength < 8 || prefixLength > 30)
    throw new Error(`${cidr} is no subnet`);
  return { first, size: 2 ** (32 - prefixLength), prefixLength };
}

/** Whether EC2 may assign the address. */
export function isAssignable({ first, size }: Subnet, address: string): boolean {
  const number = numberOf(address);
  return number !== undefined && number >= first + keptAtBegin && number < first + size - keptAtEnd;
}

/** The gateway of the subnet. */
export function gatewayOf({ first }: Subnet): string {
  return textOf(first + 1);
}

/** The first free address from a place on that `seed` chooses, so that two providers seldom choose the same; undefined: the subnet is full. */
export function chooseAddress(subnet: Subnet, seed: number, isUsed: (address: string) => boolean): string | undefined {
  const count = subnet.size - keptAtBegin - keptAtEnd;
  for (let tried = 0; tried < count; tried++) {
    const address = textOf(subnet.first + keptAtBegin + ((seed + tried) % count));
    if (!isUsed(address)) return address;
  }
  return undefined;
}

function numberOf(address: string): number | undefined {
  const parts = address.split(".");
  if (parts.length !== 4 || !parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) < 256)) return undefined;
  return parts.reduce((number, part) => number * 256 + Number(part), 0);
}

function textOf(number: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256).join(".");
}
