// Removes the rules that the reference plugins make for an attachment with their backend nftables, in tables of their own: of `bridge` and `ptp` for
// masquerading, of `portmap` for host ports; and the guard of macspoofchk, for which `bridge` always uses nftables. Their comments name the attachment.

import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { readRules } from "./installed-rules.ts";
import { ask, type Change, commit, type NetlinkShim, refusalFault } from "./kernel.ts";
import { chainsRequest, deleteChain, deleteRules } from "./nf-tables.ts";
import { chainIn } from "./nf-answers.ts";
import type { Table } from "./nf-request.ts";
import type { Owner } from "./owner.ts";
import { sha512 } from "./sha512.ts";
import { ENOENT } from "../../system/errno.ts";

/** A chain of a reference plugin, and whether a comment of its rules is of the attachment. */
interface CommentedChain {
  readonly table: Table;
  readonly name: string;
  readonly isOwn: (comment: string) => boolean;
}

/** Length of the reference plugins' hashes in comments. */
const HASH_LENGTH = 16;
const BRIDGE_NAT: Table = { family: "bridge", name: "nat" };

/** Removes the rules, of the kinds that the grant lets the delegate make. Fault: FIREWALL_FAILED. */
export async function removeNativeNft(
  shim: NetlinkShim,
  owner: Owner,
  grant: { readonly masquerade?: boolean | undefined; readonly hostPorts?: readonly string[] | undefined },
): Promise<Result<undefined>> {
  const all = [
    ...(grant.masquerade === true ? [masquerading(owner)] : []),
    ...((grant.hostPorts ?? []).length > 0 ? hostPorts(owner) : []),
    guards(owner),
  ];
  const guardNames = guardChains(owner);
  const asked = [...all, ...guardNames.map((name) => ({ table: BRIDGE_NAT, name }))];
  const action = "looking for the reference plugins' chains";
  const answers = await ask(
    shim,
    asked.map(({ table, name }) => chainsRequest(table, name)),
    action,
  );
  if (!answers.ok) return answers;
  const exists = answers.value.map(({ messages }) => messages.some((message) => chainIn(message) !== undefined));
  const requests: Change["request"][] = [];
  for (const { table, name, isOwn } of all.filter((_, index) => exists[index])) {
    const rules = await readRules(shim, table, name);
    if (!rules.ok) return rules;
    requests.push(...rules.value.filter(({ comment }) => isOwn(comment)).map(({ handle }) => deleteRules(table, name, handle)));
  }
  const guard = guardNames.filter((_, index) => exists[all.length + index]);
  requests.push(...guard.map((name) => deleteRules(BRIDGE_NAT, name)), ...guard.map((name) => deleteChain(BRIDGE_NAT, name)));
  if (requests.length === 0) return ok(undefined);
  const removing = `removing the reference plugins' rules of ${owner.containerId}/${owner.ifname}`;
  const refused = await commit(
    shim,
    requests.map((request) => ({ request, action: removing })),
  );
  if (!refused.ok) return refused;
  // ENOENT: another process removed a rule meanwhile.
  const [first] = refused.value;
  return first === undefined || first.errno === ENOENT ? ok(undefined) : failed(refusalFault(first));
}

function masquerading({ network, ifname, containerId }: Owner): CommentedChain {
  const [ofNetwork, ofAttachment] = [network, `${ifname}:${containerId}`].map((text) => sha512(text).slice(0, HASH_LENGTH));
  return {
    table: { family: "inet", name: "cni_plugins_masquerade" },
    name: "masq_checks",
    isOwn: (comment) => comment.startsWith(`${ofNetwork}-${ofAttachment},`),
  };
}

function hostPorts({ containerId }: Owner): readonly CommentedChain[] {
  return ([4, 6] as const).flatMap((family) =>
    ["hostports", "hostip_hostports", "masquerading"].map((name) => ({
      table: { family, name: "cni_hostport" },
      name,
      isOwn: (comment: string) => comment === containerId,
    })),
  );
}

function guards({ containerId, ifname }: Owner): CommentedChain {
  return { table: BRIDGE_NAT, name: "PREROUTING", isOwn: (comment) => comment === `macspoofchk-${containerId}-${ifname}` };
}

/** The chain that a guard jumps to, and the chain to which that one jumps: the rules of both go before the chains. */
function guardChains({ containerId, ifname }: Owner): readonly string[] {
  const name = `cni-br-iface-${containerId}-${ifname}`;
  return [name, `${name}-mac`];
}
