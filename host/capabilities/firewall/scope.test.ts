// Requests beyond the grant and the attachment are refused before the shim is asked for an effect.

import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { FirewallPortMapping, FirewallRules } from "../../sandbox/abi/generated/delegate-1.1.0.ts";
import type { NetlinkShim } from "./kernel.ts";
import { firewallFor, type FirewallScope } from "./scope.ts";

const scope: FirewallScope = {
  type: "portmap",
  network: "pods",
  verb: "add",
  attachment: { containerId: "pod-1", ifname: "eth0" },
  grant: { masquerade: true, hostPorts: ["80", "8000-8999"] },
  facts: { addresses: ["10.1.0.5/24", "fd00:1::5/64"], hostVeths: [] },
};

/** A shim that must not be asked. */
const unusedShim: NetlinkShim = { netlink: () => Promise.reject(new Error("the kernel was asked")) };
/** A shim that cannot reach netfilter. */
const shimWithoutNetfilter = (errno: number): NetlinkShim => ({
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
      "a grant that is not a range",
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
      "10.1.0.6 is not an address of the attachment, which has 10.1.0.5, fd00:1::5",
    ],
    [
      "another pod's address to masquerade",
      {},
      { masquerades: [{ address: "10.1.0.6/24" }], portMappings: [] },
      999,
      "10.1.0.6 is not an address of the attachment",
    ],
    ["any address where none is known", { facts: { addresses: [], hostVeths: [] } }, mapped(), 999, "which has no known address"],
    [
      "an address without prefix",
      {},
      mapped({ podAddress: "10.1.0.5" }),
      999,
      '"10.1.0.5" is not an IP address with a prefix length',
    ],
    [
      "a host address of another family",
      {},
      mapped({ hostAddress: "::1" }),
      999,
      'host address "::1" is not an IP address of the family',
    ],
    ["a host address that is not an address", {}, mapped({ hostAddress: "lo" }), 999, 'host address "lo" is not an IP address'],
    ["zeros for a host address", {}, mapped({ hostAddress: "0.0.0.0" }), 999, "leave it out to map the port at all addresses"],
    ["port 0", {}, mapped({ podPort: 0 }), 999, "a port mapping has port 0"],
    ["rules on DEL", { verb: "del" }, mapped(), 999, "rules are allowed in ADD only, and this call is DEL"],
  ])("%s", async (_about, more, rules, code, msg) => {
    const refused = await firewallFor({ ...scope, ...more }, unusedShim).replace(rules);
    expect(refused).toMatchObject({ err: { code, msg: expect.stringContaining(msg) } });
  });

  test("removing in CHECK, collecting outside of GC, and rules without an attachment", async () => {
    expect(await firewallFor({ ...scope, verb: "check" }, unusedShim).remove()).toMatchObject({ err: { code: 999 } });
    expect(await firewallFor(scope, unusedShim).retain([])).toMatchObject({ err: { code: 999 } });
    const { attachment: _, ...withoutAttachment } = scope;
    expect(await firewallFor({ ...withoutAttachment, verb: "gc" }, unusedShim).replace(mapped())).toMatchObject({
      err: { code: 999 },
    });
  });

  test("a port is granted exactly if a range contains it", async () => {
    const port = fc.integer({ min: 1, max: 65_535 });
    const range = fc.tuple(port, port).map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const);
    await fc.assert(
      fc.asyncProperty(fc.array(range, { maxLength: 4 }), port, async (ranges, hostPort) => {
        const hostPorts = ranges.map(([low, high]) => (low === high ? `${low}` : `${low}-${high}`));
        const replacing = firewallFor({ ...scope, grant: { hostPorts } }, unusedShim).replace(
          mapped({ hostPort, masquerading: "none" }),
        );
        const granted = ranges.some(([low, high]) => low <= hostPort && hostPort <= high);
        const outcome = await replacing.catch((error: unknown) => String(error));
        const refused = typeof outcome === "object" && "err" in outcome && outcome.err.code === 7;
        expect([outcome === "Error: the kernel was asked", refused]).toEqual([granted, !granted]);
      }),
    );
  });
});

test.each([
  [93, "the kernel has no nftables (EPROTONOSUPPORT"],
  [1, "the shim could not ask the kernel: EPERM"],
])("the fault shows why the kernel could not be asked (errno %d)", async (errno, msg) => {
  for (const request of [
    firewallFor({ ...scope, verb: "status" }, shimWithoutNetfilter(errno)).probe(),
    firewallFor(scope, shimWithoutNetfilter(errno)).replace(masqueraded),
  ])
    expect(await request).toMatchObject({ err: { code: 5, msg: expect.stringContaining(msg) } });
});
