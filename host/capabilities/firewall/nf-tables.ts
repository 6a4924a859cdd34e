// Requests for tables, chains and rules of nf_tables, and batches of them. No I/O.

import { attribute, type NetlinkRequest } from "../../system/netlink/message.ts";
import { concat, u16 } from "../../system/netlink/bytes.ts";
import { u16be, u32be } from "./big-endian.ts";
import type { Expression } from "./expressions.ts";
import {
  APPEND,
  CREATE,
  EXCLUSIVE,
  familyOf,
  LIST_ELEMENT,
  MESSAGE,
  NF_TABLES,
  NLM_F_DUMP,
  request,
  type Table,
  tableRequest,
  textAttribute,
} from "./nf-request.ts";

/** The hook of a base chain: the kernel calls chains with a lower priority first. */
export interface Hook {
  readonly type: "nat" | "filter";
  readonly hook: "prerouting" | "input" | "forward" | "output" | "postrouting" | "ingress" | "egress";
  readonly priority: number;
  /** The device of a chain in a table of `netdev`. */
  readonly device?: string;
}

const BATCH_BEGIN = 0x10;
const BATCH_END = 0x11;
const hooks = { prerouting: 0, input: 1, forward: 2, output: 3, postrouting: 4, ingress: 0, egress: 1 } as const;
/** The kernel keeps at most 256 bytes with a rule. */
const COMMENT_BYTES = 250;

/**
 * Makes changes one batch: all of them come into force at once, or none does. `commit: false`: the kernel checks them and applies none. `generation`: the
 * kernel refuses the batch with ERESTART if the rule set has another generation.
 */
export function batch(changes: readonly NetlinkRequest[], commit = true, generation?: number): readonly NetlinkRequest[] {
  return [edge(BATCH_BEGIN, generation), ...changes, ...(commit ? [edge(BATCH_END)] : [])];
}

function edge(message: number, generation?: number): NetlinkRequest {
  const condition = generation === undefined ? [] : [attribute(1, u32be(generation))];
  return { type: message, flags: 0, quiet: true, body: concat([u16(0), u16be(NF_TABLES), ...condition]) };
}

/** Requests the rule set's generation. A kernel without nf_tables refuses. */
export function generationRequest(): NetlinkRequest {
  return request(MESSAGE.getGeneration, 0, 0);
}

/** Makes the table unless it exists; with `exclusive`, the kernel refuses if it exists (EEXIST). */
export function newTable(table: Table, exclusive = false): NetlinkRequest {
  return tableRequest(MESSAGE.newTable, exclusive ? EXCLUSIVE : CREATE, table);
}

/** Removes all rules of the table. Chains and sets stay. */
export function flushTable(table: Table): NetlinkRequest {
  return tableRequest(MESSAGE.delRule, 0, table);
}

/** Requests all tables of a family. */
export function tablesRequest(family: Table["family"]): NetlinkRequest {
  return request(MESSAGE.getTable, NLM_F_DUMP, familyOf({ family }));
}

/** Removes the table, with all that it has. */
export function deleteTable(table: Table): NetlinkRequest {
  return tableRequest(MESSAGE.delTable, 0, table);
}

/** Makes a chain; with a `hook`, a base chain. `shared`: the chain may exist already, which is the default for a base chain. */
export function newChain(table: Table, name: string, options: { hook?: Hook; shared?: boolean } = {}): NetlinkRequest {
  const { hook, shared = hook !== undefined } = options;
  const hooked =
    hook === undefined
      ? []
      : [
          attribute(
            4,
            concat([
              attribute(1, u32be(hooks[hook.hook])),
              attribute(2, u32be(hook.priority >>> 0)),
              ...(hook.device === undefined ? [] : [textAttribute(3, hook.device)]),
            ]),
          ),
          textAttribute(7, hook.type),
        ];
  return tableRequest(MESSAGE.newChain, shared ? CREATE : EXCLUSIVE, table, textAttribute(3, name), ...hooked);
}

/** Removes an empty chain. */
export function deleteChain(table: Table, name: string): NetlinkRequest {
  return tableRequest(MESSAGE.delChain, 0, table, textAttribute(3, name));
}

/** Adds a rule at the end of a chain, or at its begin. */
export function newRule(
  table: Table,
  chain: string,
  expressions: readonly Expression[],
  comment = "",
  at: "begin" | "end" = "end",
): NetlinkRequest {
  const list = expressions.map(({ name, data }) => attribute(LIST_ELEMENT, concat([textAttribute(1, name), attribute(2, data)])));
  const userData = comment === "" ? [] : [attribute(7, commentBytes(comment))];
  const place = at === "end" ? APPEND : CREATE;
  return tableRequest(MESSAGE.newRule, place, table, textAttribute(2, chain), attribute(4, concat(list)), ...userData);
}

/** Removes the rule with this handle; without a handle, all rules of the chain. */
export function deleteRules(table: Table, chain: string, handle?: Uint8Array): NetlinkRequest {
  const rule = handle === undefined ? [] : [attribute(3, handle)];
  return tableRequest(MESSAGE.delRule, 0, table, textAttribute(2, chain), ...rule);
}

/** Requests one chain, or without a name all chains of the family, in all tables. */
export function chainsRequest(table: Table, name?: string): NetlinkRequest {
  if (name === undefined) return request(MESSAGE.getChain, NLM_F_DUMP, familyOf(table));
  return tableRequest(MESSAGE.getChain, 0, table, textAttribute(3, name));
}

/** Requests the rules of a chain. */
export function rulesRequest(table: Table, chain: string): NetlinkRequest {
  return tableRequest(MESSAGE.getRule, NLM_F_DUMP, table, textAttribute(2, chain));
}

/** A comment as nft's user data: type 0, size, text, NUL. Long text is cut; quotes and control characters are left out, because nft cannot quote them. */
function commentBytes(comment: string): Uint8Array {
  // oxlint-disable-next-line no-control-regex -- these characters are removed
  const clean = comment.replaceAll(/["\u0000-\u001f\u007f]/g, "");
  const bytes = new Uint8Array(COMMENT_BYTES);
  const { written } = new TextEncoder().encodeInto(clean, bytes);
  return concat([Uint8Array.of(0, written + 1), bytes.subarray(0, written), Uint8Array.of(0)]);
}
