// A kernel without a part of netfilter or without traffic control: an ADD that needs the part fails, and a DEL or a GC has nothing to remove. Without that a
// pod whose list has portmap, firewall or bandwidth could never be deleted.

import { expect, test } from "vitest";
import type { Done } from "../protocol/messages.ts";
import { attribute } from "../system/netlink/message.ts";
import { concat, cString, u16, u32, u32At } from "../system/netlink/bytes.ts";
import { IFLA_IFNAME, ifinfomsg } from "../system/netlink/link-attributes.ts";
import { linkStateIn } from "../system/netlink/link-state.ts";
import { filterFor } from "./filter/scope.ts";
import { firewallFor } from "./firewall/scope.ts";
import { flowsFor } from "./flows/scope.ts";
import { remove } from "./shaping/replace.ts";
import { EINVAL, EOPNOTSUPP, EPERM, EPROTONOSUPPORT } from "../system/errno.ts";

const NLMSG_ERROR = 2;
const HEADER = 16;
const RTM_GETLINK = 18;

const answer = (errno: number, reply: Uint8Array = new Uint8Array(0)): Done => ({
  kind: "done",
  errno,
  sent: errno === 0,
  reply,
});

/** The kernel's refusal of each request. */
function refusals(requests: Uint8Array, errnoOf: (type: number) => number): Uint8Array {
  const answers: Uint8Array[] = [];
  for (let at = 0; at < requests.length; at += (u32At(requests, at) + 3) & ~3) {
    const errno = errnoOf(u32At(requests, at + 4) & 0xffff);
    const body = concat([u32(-errno >>> 0), new Uint8Array(HEADER)]);
    answers.push(concat([u32(HEADER + body.length), u16(NLMSG_ERROR), u16(0), u32(answers.length + 1), u32(0), body]));
  }
  return concat(answers);
}

const kernels = {
  "without NETLINK_NETFILTER": { netlink: async () => answer(EPROTONOSUPPORT) },
  "without the module": {
    netlink: async ({ request }: { readonly request: Uint8Array }) =>
      answer(
        0,
        refusals(request, () => EINVAL),
      ),
  },
} as const;

const attachment = { containerId: "pod-1", ifname: "eth0" };
const facts = { addresses: ["10.1.0.5/24"], hostVeths: [] };
const network = "pods";
const firewallGrant = { masquerade: true, hostPorts: ["1-65535"] };

/** Without the grant `zones` firewalld is not asked. */
const zone = async (): Promise<never> => {
  throw new Error("firewalld is asked");
};

test.each(Object.entries(kernels))("a kernel %s has no rules and flows to remove", async (_, kernel) => {
  const shim = { ...kernel, zone };
  const firewall = { type: "portmap", network, grant: firewallGrant, facts } as const;
  const filter = { type: "firewall", network, grant: {}, facts } as const;
  expect(await firewallFor({ ...firewall, verb: "del", attachment }, shim).remove()).toEqual({ ok: undefined });
  expect(await firewallFor({ ...firewall, verb: "gc" }, shim).retain([])).toEqual({ ok: 0 });
  expect(await filterFor({ ...filter, verb: "DEL", attachment }, shim).remove()).toEqual({ ok: undefined });
  expect(await filterFor({ ...filter, verb: "GC", attachment: undefined }, shim).retain([])).toEqual({ ok: 0 });
  expect(await flowsFor({ verb: "DEL", attachment, facts }, shim).forget(["10.1.0.5"], [])).toEqual({ ok: 0 });
  const rules = { masquerades: [{ address: "10.1.0.5/24" }], portMappings: [] };
  expect(await firewallFor({ ...firewall, verb: "add", attachment }, shim).replace(rules)).toMatchObject({ err: { code: 5 } });
  expect(await firewallFor({ ...firewall, verb: "status" }, shim).probe()).toMatchObject({ err: { code: 5 } });
});

test("a kernel that could not be asked may have rules", async () => {
  const shim = { netlink: async () => answer(EPERM), zone };
  const firewall = firewallFor({ type: "portmap", network, grant: firewallGrant, facts, verb: "del", attachment }, shim);
  const filter = filterFor({ type: "firewall", network, grant: {}, facts, verb: "DEL", attachment }, shim);
  const flows = flowsFor({ verb: "DEL", attachment, facts }, shim);
  for (const each of [firewall.remove(), filter.remove(), flows.forget(["10.1.0.5"], [])])
    expect(await each).toMatchObject({ err: { code: 5 } });
});

test("a kernel without traffic control has no bounds to remove", async () => {
  const shim = {
    netlink: async ({ request }: { readonly request: Uint8Array }) =>
      answer(
        0,
        refusals(request, (type) => (type === RTM_GETLINK ? 0 : EOPNOTSUPP)),
      ),
    tap: async () => answer(EPERM),
  };
  const link = linkStateIn({ type: 16, body: concat([ifinfomsg(7), attribute(IFLA_IFNAME, cString("veth1"))]) });
  expect(link?.name).toBe("veth1");
  expect(await remove(shim, { type: "bandwidth", network, ...attachment }, link)).toEqual({ ok: true, value: undefined });
});
