// Checks of `ensure`.

import { addressesOf, described, demandDone, finalStatuses, isDone, portOf } from "../answer.ts";
import type { ProviderCheck } from "../check.ts";
import type { Lab } from "../lab.ts";
import { demand, Skip, Violation } from "../verdict.ts";

/** The checks. */
export const ensureChecks: readonly ProviderCheck[] = [
  {
    id: "ENS-1",
    title: "ensure makes a port and answers its values in the documented form",
    run: async (lab) => {
      const answer = await lab.ensure(lab.newKey());
      demandDone(answer, "ensure");
      const port = portOf(answer);
      if (typeof port === "string") throw new Violation(`the answer to ensure: ${port}`);
    },
  },
  {
    id: "ENS-2",
    title: "ensure of a port that exists answers the same port",
    run: async (lab) => {
      const key = lab.newKey();
      const first = await lab.port(key);
      const second = portOf(await lab.ensure(key));
      if (typeof second === "string") throw new Violation(`a repeated ensure: ${second}`);
      demand(
        JSON.stringify(second) === JSON.stringify(first),
        `a repeated ensure answers ${JSON.stringify(second)} instead of ${JSON.stringify(first)}`,
      );
    },
  },
  {
    id: "ENS-3",
    title: "two ports have different providerIds and addresses, and different MAC addresses if the fabric tells ports apart",
    run: async (lab) => {
      const [one = "", other = ""] = lab.newKeys(2);
      const first = await lab.port(one);
      const second = await lab.port(other);
      demand(first.providerId !== second.providerId, `two ports have the providerId ${first.providerId}`);
      const twice = addressesOf(first).filter((address) => addressesOf(second).includes(address));
      demand(twice.length === 0, `two ports have the address ${twice.join(", ")}`);
      demand(
        first.binding.type === "address-only" || first.mac !== second.mac,
        `two ports with the binding ${first.binding.type} have the MAC address ${first.mac}`,
      );
    },
  },
  {
    id: "ENS-4",
    title: "requested addresses are the port's, or the request is refused",
    run: async (lab) => {
      const ips = await freeAddresses(lab);
      const answer = await lab.ensure(lab.newKey(), { requested: { ips } });
      if (finalStatuses.includes(answer.status)) return;
      const port = portOf(answer);
      if (typeof port === "string") throw new Violation(`ensure with the free address ${ips.join(", ")}: ${port}`);
      const absent = ips.filter((address) => !addressesOf(port).includes(address));
      demand(absent.length === 0, `the port lacks the requested address ${absent.join(", ")}, and the request was not refused`);
    },
  },
  {
    id: "ENS-5",
    title: "an address of one port is refused to another port",
    run: async (lab) => {
      const [one = "", other = ""] = lab.newKeys(2);
      const [address] = addressesOf(await lab.port(one));
      if (address === undefined) throw new Skip("the ports have no addresses");
      const answer = await lab.ensure(other, { requested: { ips: [address] } });
      if (finalStatuses.includes(answer.status)) return;
      const port = portOf(answer);
      if (typeof port !== "string") demand(!addressesOf(port).includes(address), `two ports have the address ${address}`);
      demand(
        isDone(answer),
        `ensure with the address of another port: ${described(answer)}; expected is ${finalStatuses.join(", ")}`,
      );
    },
  },
  {
    id: "ENS-6",
    title: "a requested MAC address is the port's, or the request is refused",
    run: async (lab) => {
      const key = lab.newKey();
      await lab.demandPorts();
      const digits = key.replaceAll(/[^0-9a-f]/g, "").slice(-10);
      const mac = `02:${(digits.match(/../g) ?? []).join(":")}`;
      const answer = await lab.ensure(key, { requested: { mac } });
      if (finalStatuses.includes(answer.status)) return;
      const port = portOf(answer);
      if (typeof port === "string") throw new Violation(`ensure with the MAC address ${mac}: ${port}`);
      demand(port.mac === mac, `the port has the MAC address ${port.mac} instead of ${mac}, and the request was not refused`);
    },
  },
];

/** Addresses that are free again, because their port was released. */
async function freeAddresses(lab: Lab): Promise<readonly string[]> {
  const key = lab.newKey();
  const port = await lab.port(key);
  const addresses = addressesOf(port);
  if (addresses.length === 0) throw new Skip("the ports have no addresses");
  const released = await lab.release({ key, providerId: port.providerId });
  if (!isDone(released)) throw new Skip(`the check needs a released port, but after release ${described(released)}`);
  return addresses;
}
