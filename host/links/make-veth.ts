// `add-veth`: one message makes both ends, the pod's straight in its namespace.

import { ok, type Result } from "../../src/fault/result.ts";
import { portChange, vlanAddition, vlanRemoval } from "../netlink/bridge-port.ts";
import { linkChange } from "../netlink/link-change.ts";
import { newVeth } from "../netlink/link-creation.ts";
import type { LinksVeth } from "../sandbox/abi/generated/delegate-0.1.0.ts";
import { type Acting, randomMac, randomVethName } from "./acting.ts";
import { linkText } from "./link-scope.ts";
import { takesNoAdvertisements } from "./make-bridge.ts";

const ENOENT = 2;

export async function addVeth(acting: Acting, veth: LinksVeth): Promise<Result<void>> {
  const { name, hostName = randomVethName(), mac = randomMac(), hostMac = randomMac(), mtu, master } = veth;
  const { links, transaction } = acting;
  links.name("pod", name);
  links.name("host", hostName);
  const bridge = master === undefined ? ok(undefined) : acting.link({ place: "host", name: master });
  if (!bridge.ok) return bridge;
  const near = { name: hostName, mac: hostMac, mtu, master: bridge.value?.index };
  const request = newVeth({ near, far: { name, mac, mtu }, farIn: "second namespace", queues: acting.scope.grant.vethQueues });
  const made = await acting.make("host", hostName, request, { mac: hostMac });
  if (!made.ok) return made;
  const { index = 0, link = 0 } = made.value ?? {};
  const host = { place: "host", name: hostName, index, state: made.value, made: true } as const;
  links.learn(host);
  links.learn({ place: "pod", name, index: link, state: undefined, made: true });
  if (veth.port !== undefined)
    transaction.send("host", { request: portChange(index, veth.port), what: `setting the port ${hostName}` });
  if (veth.vlans.length > 0 && bridge.value !== undefined) {
    const pvid = bridge.value.state?.defaultPvid ?? 1;
    const standard = { first: pvid, last: pvid, pvid: false, untagged: false };
    if (!veth.keepDefaultVlan && pvid !== 0)
      transaction.send("host", {
        request: vlanRemoval(index, standard, false),
        what: `taking VLAN ${pvid} off the port ${hostName}`,
        fine: [ENOENT],
      });
    for (const vlan of veth.vlans) {
      const what = `putting the port ${hostName} into VLANs ${vlan.first} to ${vlan.last}`;
      transaction.send("host", { request: vlanAddition(index, vlan, false), what });
    }
  }
  takesNoAdvertisements(acting, host);
  if (veth.up) transaction.send("pod", { request: linkChange(link, { up: true }), what: `setting ${linkText("pod", name)} up` });
  return ok(undefined);
}
