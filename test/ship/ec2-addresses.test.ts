// The choice of addresses by the EC2 provider of deploy/examples.

import * as fc from "fast-check";
import { expect, test } from "vitest";
import { chooseAddress, gatewayOf, isAssignable, readSubnet } from "../../deploy/examples/ec2-provider/choose-address.ts";

test("a subnet of 16 addresses has 11 that EC2 assigns, and each is chosen once", () => {
  const subnet = readSubnet("10.20.2.16/28");
  const used = new Set<string>();
  for (;;) {
    const address = chooseAddress(subnet, 7, (each) => used.has(each));
    if (address === undefined) break;
    used.add(address);
  }
  expect([...used].toSorted()).toEqual(Array.from({ length: 11 }, (_, index) => `10.20.2.${20 + index}`));
  expect(gatewayOf(subnet)).toBe("10.20.2.17");
});

test("a chosen address is assignable and free, whatever the seed", () => {
  const subnet = readSubnet("10.255.240.0/20");
  const seeds = fc.integer({ min: 0, max: 0xffff_ffff });
  fc.assert(
    fc.property(seeds, seeds, (seed, other) => {
      const taken = chooseAddress(subnet, other, () => false);
      const address = chooseAddress(subnet, seed, (each) => each === taken) ?? "";
      expect([isAssignable(subnet, address), address === taken]).toEqual([true, false]);
    }),
  );
});

test.each(["10.20.2.0", "10.20.2.3", "10.20.2.15", "10.20.3.5", "10.20.2.005", "10.20.2", "fd00::5", ""])(
  "%s is not an address that EC2 assigns in 10.20.2.0/28",
  (address) => expect(isAssignable(readSubnet("10.20.2.0/28"), address)).toBe(false),
);

test.each(["10.20.2.0", "10.20.2.0/31", "10.20.2.0/", "10.20.2.0/4", "fd00::/64", ""])("%s is no subnet", (cidr) => {
  expect(() => readSubnet(cidr)).toThrow("is no subnet");
});
