// What a delegate asks beyond its grant and its attachment is refused before the kernel is asked for anything.

import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { FirewallPortMapping, FirewallRules } from "../sandbox/abi/generated/delegate-0.1.0.ts";
import type { Asks } from "./kernel.ts";
import { firewallFor, type FirewallScope } from "./scope.ts";

const scope: FirewallScope = {
  type: "portmap",
  network: "pods",
  verb: "add",
  attachment: { containerId: "pod-1", ifname: "eth0" },
  grant: { masquerade: true, hostPorts: ["80", "8000-8999"] },
  addresses: () => ["10.1.0.5/24", "fd00:1::5/64"],
};

/** Hands that must not be asked. */
const untouched: Asks = { netlink: () => Promise.reject(new Error("the kernel was asked")) };
/** Hands that can't reach netfilter. */
const without = (errno: number): Asks => ({
  netlink: () => Promise.resolve({ kind: "done", errno, sent: false, reply: new Uint8Array(0) }),
});

function mapping(more: Partial<FirewallPortMapping> = {}): FirewallPortMapping {
  return { protocol: "tcp", hostPort: 80, podAddress: "10.1.0.5/24", podPort: 80, masquerading: "local", ...more };
}

function mapped(more: Partial<FirewallPortMapping> = {}): FirewallRules {
  return { masquerades: [], portMappings: [mapping(more)] };
}

const masqueraded: FirewallRules = { masquerades: [{ address: "10.1.0.5/24" }], portMappings: [] };

describe("rules are refused by name", () => {
  test.each<[string, Partial<FirewallScope>, FirewallRules, number, string]>([
    [
      "masquerading that is not granted",
      { grant: { hostPorts: ["80"] } },
      masqueraded,
      7,
      "masquerading of 10.1.0.5 is not granted: wasm.grants.portmap.firewall.masquerade has nothing",
    ],
    [
      "a port that is not granted",
      {},
      mapped({ hostPort: 9000 }),
      7,
      "host port 9000/tcp is not granted: wasm.grants.portmap.firewall.hostPorts has 80, 8000-8999",
    ],
    [
      "any port without a grant",
      { grant: {} },
      mapped(),
      7,
      "host port 80/tcp is not granted: wasm.grants.portmap.firewall.hostPorts has nothing",
    ],
    [
      "a grant that is no range",
      { grant: { hostPorts: ["*", "80-", "-80", "http"] } },
      mapped(),
      7,
      "host port 80/tcp is not granted",
    ],
    [
      "another pod's address",
      {},
      mapped({ podAddress: "10.1.0.6/24" }),
      999,
      "10.1.0.6 is not the attachment's: it has 10.1.0.5, fd00:1::5",
    ],
    [
      "another pod's address to masquerade",
      {},
      { masquerades: [{ address: "10.1.0.6/24" }], portMappings: [] },
      999,
      "10.1.0.6 is not the attachment's",
    ],
    ["any address where none is known", { addresses: () => [] }, mapped(), 999, "it has no address that is known"],
    ["an address without prefix", {}, mapped({ podAddress: "10.1.0.5" }), 999, '"10.1.0.5" is no address with a prefix length'],
    [
      "a host address of another family",
      {},
      mapped({ hostAddress: "::1" }),
      999,
      'host address "::1" is no address of the family',
    ],
    ["a host address that is none", {}, mapped({ hostAddress: "lo" }), 999, 'host address "lo" is no address'],
    ["zeros for a host address", {}, mapped({ hostAddress: "0.0.0.0" }), 999, "none stands for any address"],
    ["port 0", {}, mapped({ podPort: 0 }), 999, "the port 0"],
    ["rules on DEL", { verb: "del" }, mapped(), 999, "rules are for ADD only, this call is DEL"],
  ])("%s", async (_what, more, rules, code, msg) => {
    const refused = await firewallFor({ ...scope, ...more }, untouched).replace(rules);
    expect(refused).toMatchObject({ err: { code, msg: expect.stringContaining(msg) } });
  });

  test("removing in CHECK, collecting outside of GC, and rules of no attachment", async () => {
    expect(await firewallFor({ ...scope, verb: "check" }, untouched).remove()).toMatchObject({ err: { code: 999 } });
    expect(await firewallFor(scope, untouched).retain([])).toMatchObject({ err: { code: 999 } });
    const { attachment: _, ...nobody } = scope;
    expect(await firewallFor({ ...nobody, verb: "gc" }, untouched).replace(mapped())).toMatchObject({ err: { code: 999 } });
  });

  test("a port is granted exactly where a range has it", async () => {
    const port = fc.integer({ min: 1, max: 65_535 });
    const range = fc.tuple(port, port).map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const);
    await fc.assert(
      fc.asyncProperty(fc.array(range, { maxLength: 4 }), port, async (ranges, hostPort) => {
        const hostPorts = ranges.map(([low, high]) => (low === high ? `${low}` : `${low}-${high}`));
        const asked = firewallFor({ ...scope, grant: { hostPorts } }, untouched).replace(
          mapped({ hostPort, masquerading: "none" }),
        );
        const granted = ranges.some(([low, high]) => low <= hostPort && hostPort <= high);
        const outcome = await asked.catch((error: unknown) => String(error));
        const refused = typeof outcome === "object" && "err" in outcome && outcome.err.code === 7;
        expect([outcome === "Error: the kernel was asked", refused]).toEqual([granted, !granted]);
      }),
    );
  });
});

test.each([
  [93, "the kernel has no nftables (EPROTONOSUPPORT"],
  [1, "the kernel could not be asked: EPERM"],
])("a kernel that can't be asked (errno %d) is told", async (errno, msg) => {
  for (const asked of [
    firewallFor({ ...scope, verb: "status" }, without(errno)).probe(),
    firewallFor(scope, without(errno)).replace(masqueraded),
  ])
    expect(await asked).toMatchObject({ err: { code: 5, msg: expect.stringContaining(msg) } });
});
