// `add-veth`: one message makes both ends, the pod's end in the pod's namespace.

import { ok, type Result } from "../../../src/fault/result.ts";
import { portChange, vlanAddition, vlanRemoval } from "../../system/netlink/bridge-port.ts";
import { linkChange } from "../../system/netlink/link-change.ts";
import { newVeth } from "../../system/netlink/link-creation.ts";
import type { LinksVeth } from "../../sandbox/abi/generated/delegate-1.1.0.ts";
import { type LinkTransaction, randomMac, randomVethName } from "./link-transaction.ts";
import { linkText } from "./link-scope.ts";
import { refuseRouterAdvertisements } from "./make-bridge.ts";
import { ENOENT } from "../../system/errno.ts";

/**
 * Makes a veth between the node and the pod; the node's end becomes a bridge's port where the operation has a master. Names and MACs that the
 * operation lacks are random. Fault: NETLINK_FAILED.
 */
export async function addVeth(transaction: LinkTransaction, veth: LinksVeth): Promise<Result<void>> {
  const { name, hostName = randomVethName(), mac = randomMac(), hostMac = randomMac(), mtu, master } = veth;
  const { links, effects } = transaction;
  links.name("pod", name);
  links.name("host", hostName);
  const bridge = master === undefined ? ok(undefined) : transaction.link({ place: "host", name: master });
  if (!bridge.ok) return bridge;
  const near = { name: hostName, mac: hostMac, mtu, master: bridge.value?.index };
  const request = newVeth({
    near,
    far: { name, mac, mtu },
    farIn: "second namespace",
    queues: transaction.scope.grant.vethQueues,
  });
  const made = await transaction.make("host", hostName, request, { mac: hostMac, otherEnd: { place: "pod", name } });
  if (!made.ok) return made;
  const { index = 0, link = 0 } = made.value ?? {};
  const host = { place: "host", name: hostName, index, state: made.value, isNew: true } as const;
  links.learn(host);
  links.learn({ place: "pod", name, index: link, state: undefined, isNew: true });
  if (veth.port !== undefined)
    effects.send("host", { request: portChange(index, veth.port), action: `changing the port ${hostName}` });
  if (veth.vlans.length > 0 && bridge.value !== undefined) {
    const pvid = bridge.value.state?.defaultPvid ?? 1;
    const defaultVlan = { first: pvid, last: pvid, pvid: false, untagged: false };
    if (!veth.keepDefaultVlan && pvid !== 0)
      effects.send("host", {
        request: vlanRemoval(index, defaultVlan, false),
        action: `removing VLAN ${pvid} from the port ${hostName}`,
        ignoredErrnos: [ENOENT],
      });
    for (const vlan of veth.vlans) {
      const action = `adding VLANs ${vlan.first} to ${vlan.last} to the port ${hostName}`;
      effects.send("host", { request: vlanAddition(index, vlan, false), action });
    }
  }
  refuseRouterAdvertisements(transaction, host);
  if (veth.up) effects.send("pod", { request: linkChange(link, { up: true }), action: `setting ${linkText("pod", name)} up` });
  return ok(undefined);
}
