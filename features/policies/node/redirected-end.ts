// Traffic control that takes a pod's packets away from the node's end of its veth before a table sees them: the plugin bandwidth leads them to an ifb. Linux runs no
// hook of netfilter's devices for a packet that comes back from there, neither at this end nor at another pod's (ifb_ri_tasklet in drivers/net/ifb.c).

import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { ask, failure, type NetlinkShim } from "../../../host/capabilities/firewall/kernel.ts";
import { refusalText } from "../../../host/capabilities/firewall/installed-rules.ts";
import { EINVAL, ENOENT, EOPNOTSUPP } from "../../../host/system/errno.ts";
import { filtersRequest, INGRESS_FILTERS, listedIn } from "../../../host/system/netlink/traffic-control.ts";

/** Without traffic control, or without a qdisc at this place, there are no filters. */
const noFilters: ReadonlySet<number> = new Set([0, EINVAL, ENOENT, EOPNOTSUPP]);
const action = "listing the filters of the node's end of the pod's veth";
const encoder = new TextEncoder();
/** The kinds of actions and filters that can lead packets to another device, as the kernel writes them into a filter. */
const leading = { action: encoder.encode("mirred\0"), filter: "bpf" };

/** Whether a filter can lead the packets that come from the pod to another device. `index`: the node's end. Fault: FIREWALL_FAILED. */
export async function isRedirected(shim: NetlinkShim, index: number): Promise<Result<boolean>> {
  const answers = await ask(shim, [filtersRequest(index, INGRESS_FILTERS)], action, "route");
  if (!answers.ok) return answers;
  const [answer] = answers.value;
  if (answer === undefined || !noFilters.has(answer.errno))
    return failed(failure(action, answer === undefined ? "no answer" : refusalText(answer)));
  return ok(
    answer.messages.some((message) => listedIn(message)?.kind === leading.filter || hasBytes(message.body, leading.action)),
  );
}

function hasBytes(bytes: Uint8Array, wanted: Uint8Array): boolean {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes(wanted);
}
