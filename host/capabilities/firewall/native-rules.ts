// Removes the rules of the reference plugins for an attachment: of `bridge` and `ptp` for masquerading, of `portmap` for host ports. A DEL
// after the migration of a node must remove them, as the reference plugin's DEL would. The rules are in nftables, made by iptables-nft; rules of
// iptables-legacy stay. native-nft-rules.ts removes those of the backend nftables.

import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { chainOfJump } from "./expressions.ts";
import { readRules } from "./installed-rules.ts";
import { ask, type NetlinkShim, type Change, commit, refusalFault } from "./kernel.ts";
import { chainsRequest, deleteChain, deleteRules } from "./nf-tables.ts";
import { chainIn } from "./nf-answers.ts";
import type { Table } from "./nf-request.ts";
import type { Owner } from "./owner.ts";
import { sha512 } from "./sha512.ts";
import { ENOENT } from "../../system/errno.ts";

/** Length of the reference plugins' generated chain names. */
const NAME_LENGTH = 28;
const NAT = "nat";

/** A reference plugin's chain for one attachment: the prefix of its name, and the chain that jumps to it. */
interface NativeChain {
  readonly prefix: string;
  readonly from: string;
}

const masquerading: NativeChain = { prefix: "CNI-", from: "POSTROUTING" };
const ports: readonly NativeChain[] = [
  { prefix: "CNI-DN-", from: "CNI-HOSTPORT-DNAT" },
  { prefix: "CNI-SN-", from: "CNI-HOSTPORT-SNAT" },
];

/** Removes the reference plugins' chains for this attachment, of the kinds that the grant lets the delegate make. */
export async function removeNative(
  shim: NetlinkShim,
  owner: Owner,
  grant: { readonly masquerade?: boolean | undefined; readonly hostPorts?: readonly string[] | undefined },
): Promise<Result<undefined>> {
  const kinds = [...(grant.masquerade === true ? [masquerading] : []), ...((grant.hostPorts ?? []).length > 0 ? ports : [])];
  const tables = ([4, 6] as const).map((family): Table => ({ family, name: NAT }));
  const origins = tables.flatMap((table) => kinds.map(({ prefix, from }) => ({ table, prefix, from })));
  const origin = await existing(
    shim,
    origins.map(({ table, from }) => ({ table, name: from })),
  );
  if (!origin.ok) return origin;
  const candidates = origins.filter((_, index) => origin.value[index]);
  if (candidates.length === 0) return ok(undefined);
  const hash = sha512(owner.network + owner.containerId);
  const named = candidates.map(({ prefix, ...rest }) => ({ ...rest, name: `${prefix}${hash}`.slice(0, NAME_LENGTH) }));
  const found = await existing(shim, named);
  if (!found.ok) return found;
  for (const chain of named.filter((_, index) => found.value[index])) {
    const removed = await removeChain(shim, chain);
    if (!removed.ok) return removed;
  }
  return ok(undefined);
}

/** For each chain, whether it exists. */
async function existing(
  shim: NetlinkShim,
  chains: readonly { readonly table: Table; readonly name: string }[],
): Promise<Result<readonly boolean[]>> {
  if (chains.length === 0) return ok([]);
  const requests = chains.map(({ table, name }) => chainsRequest(table, name));
  const answers = await ask(shim, requests, "looking for the reference plugins' chains");
  if (!answers.ok) return answers;
  return ok(answers.value.map(({ messages }) => messages.some((message) => chainIn(message) !== undefined)));
}

async function removeChain(
  shim: NetlinkShim,
  { table, from, name }: { readonly table: Table; readonly from: string; readonly name: string },
): Promise<Result<undefined>> {
  const rules = await readRules(shim, table, from);
  if (!rules.ok) return rules;
  const jumps = rules.value.filter(({ expressions }) => expressions.some((each) => chainOfJump(each) === name));
  const requests = [
    ...jumps.map(({ handle }) => deleteRules(table, from, handle)),
    deleteRules(table, name),
    deleteChain(table, name),
  ];
  const changes = requests.map((request): Change => ({ request, action: `removing the reference plugins' chain ${name}` }));
  const refused = await commit(shim, changes);
  if (!refused.ok) return refused;
  // ENOENT: another process removed the chain meanwhile.
  const [first] = refused.value;
  return first === undefined || first.errno === ENOENT ? ok(undefined) : failed(refusalFault(first));
}
