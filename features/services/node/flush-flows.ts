// Deletes UDP flows of a pod that lead elsewhere than the table: the kernel looks at NAT rules only for a flow's first packet, and a UDP flow has no end
// that the client notices. TCP and SCTP end by themselves.

import { deleteFlows, deletion, type Flow, flowIn } from "../../../host/capabilities/firewall/conntrack.ts";
import { addressBytes } from "../../../host/capabilities/firewall/packet-values.ts";
import { ask, type NetlinkShim } from "../../../host/capabilities/firewall/kernel.ts";
import { protocolNumbers } from "../../../src/kube/named-ports.ts";
import type { BalancedPort } from "../rules/balance.ts";

const IPCTNL_MSG_CT_GET = (1 << 8) | 1;
const NLM_F_DUMP = 0x300;

/**
 * Deletes the UDP flows to ports of Services, now or earlier, whose server is no endpoint any more. An endpoint that terminates and still serves keeps its flows, as by
 * kube-proxy. Errors are ignored: the rules are in force without it, and idle flows end by themselves.
 */
export async function flushFlows(
  shim: NetlinkShim,
  path: string,
  before: readonly BalancedPort[],
  after: readonly BalancedPort[],
): Promise<void> {
  const fronts = new Map(
    [...before, ...after].filter(isUdp).map((port) => [frontKey(addressBytes(port.address), port.port), port]),
  );
  if (fronts.size === 0) return;
  const servers = new Map(
    after
      .filter(isUdp)
      .map(({ address, port, backends, draining = [] }) => [
        frontKey(addressBytes(address), port),
        new Set([...backends, ...draining].map((each) => frontKey(addressBytes(each.address), each.port))),
      ]),
  );
  // A Service that was made again keeps no flows of the earlier one, even to the same endpoints.
  const uids = new Map(after.filter(isUdp).map(({ address, port, uid }) => [frontKey(addressBytes(address), port), uid]));
  const madeAgain = new Set(
    before.filter(isUdp).flatMap(({ address, port, uid }) => {
      const key = frontKey(addressBytes(address), port);
      return uids.has(key) && uids.get(key) !== uid ? [key] : [];
    }),
  );
  const isStale = ({ protocol, destination, port, server, serverPort }: Flow): boolean => {
    const front = frontKey(destination, port);
    if (protocol !== protocolNumbers.UDP || !fronts.has(front)) return false;
    if (madeAgain.has(front)) return true;
    return servers.get(front)?.has(frontKey(server, serverPort)) !== true;
  };
  const list = { type: IPCTNL_MSG_CT_GET, flags: NLM_F_DUMP, body: new Uint8Array(4) };
  const found = await ask(shim, [list], "listing flows", "netfilter", path);
  if (!found.ok) return;
  const deletions = found.value.flatMap(({ messages }) =>
    messages.flatMap((message) => {
      const flow = flowIn(message);
      return flow !== undefined && isStale(flow) ? [deletion(message)] : [];
    }),
  );
  await deleteFlows(shim, deletions, path);
}

function isUdp({ protocol }: BalancedPort): boolean {
  return protocol === protocolNumbers.UDP;
}

function frontKey(address: Uint8Array, port: number): string {
  return `${address.toHex()} ${port}`;
}
