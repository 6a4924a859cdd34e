// The messages that make a table of policies, or change its sets' elements.

import { ok, type Result } from "../../../src/fault/result.ts";
import { type EncodedBatch, type NetlinkShim, type Refusal, sendBatch } from "../../../host/capabilities/firewall/kernel.ts";
import { newChain, newRule } from "../../../host/capabilities/firewall/nf-tables.ts";
import { newSet, setElements } from "../../../host/capabilities/firewall/nf-sets.ts";
import type { Table } from "../../../host/capabilities/firewall/nf-request.ts";
import type { NetlinkRequest } from "../../../host/system/netlink/message.ts";
import { elementChanges, type PolicyTable, shapeOf, type TableChain, type TableRule } from "../rules/table.ts";
import { ruleExpressions, type RulePlace } from "./rule-expressions.ts";
import { keySet, keysOf } from "./set-elements.ts";

/** The family of a table that policies are in. */
export type PolicyFamily = RulePlace;

/** A table of policies in the kernel. */
export interface PlacedTable extends Table {
  readonly family: PolicyFamily;
  readonly name: string;
}

/**
 * The changes that fill a table which has none of its parts: sets and chains before the rules that name them. A chain without rules, as of a policy that isolates
 * and allows nothing, is left out: a packet would return from it. A rule without an end stays for its comment, by which a list of the table names the policy.
 */
export function tableRequests(at: PlacedTable, { chains: all, sets }: PolicyTable): readonly NetlinkRequest[] {
  const empty = new Set(all.flatMap(({ name, hook, rules }) => (hook === undefined && rules.length === 0 ? [name] : [])));
  const chains = all
    .filter(({ name }) => !empty.has(name))
    .map((chain) => ({ ...chain, rules: chain.rules.flatMap((rule) => withoutEmptyChain(rule, empty)) }));
  return [
    ...sets.map((set, index) => newSet(at, keySet(set), index + 1)),
    ...sets.flatMap((set) => setElements(at, set.name, "add", keysOf(set, [...set.elements]))),
    ...chains.map((chain) => newChain(at, chain.name, baseOf(chain))),
    ...chains.flatMap(({ name, rules }) =>
      rules.map((rule) => newRule(at, name, ruleExpressions(rule, at.family), rule.comment)),
    ),
  ];
}

function withoutEmptyChain(rule: TableRule, empty: ReadonlySet<string>): readonly TableRule[] {
  if (rule.end.kind !== "jump" || !empty.has(rule.end.chain)) return [rule];
  return rule.comment === "" ? [] : [{ ...rule, end: { kind: "continue" } }];
}

/** The changes of elements from one form of a table to another; undefined: they differ in more. */
export function changeRequests(at: PlacedTable, before: PolicyTable, after: PolicyTable): readonly NetlinkRequest[] | undefined {
  if (shapeOf(before) !== shapeOf(after)) return undefined;
  return elementChanges(before, after).flatMap(({ set, added, removed }) => [
    ...setElements(at, set.name, "remove", keysOf(set, removed)),
    ...setElements(at, set.name, "add", keysOf(set, added)),
  ]);
}

/** The kernel's refusal of a part of a table. */
export type TableRefusal = Refusal<{ readonly action: string }>;

/** Sends one batch. `path`: the network namespace; empty: the node's. Answers the first refusal; undefined: the batch is in force. */
export async function send(
  shim: NetlinkShim,
  path: string,
  changes: EncodedBatch,
  action: string,
): Promise<Result<TableRefusal | undefined>> {
  const refused = await sendBatch(shim, changes, path);
  if (!refused.ok) return refused;
  const [first] = refused.value;
  return ok(first && { ...first, change: first.index < 0 ? undefined : { action } });
}

function baseOf({ hook }: TableChain): Parameters<typeof newChain>[2] {
  if (hook === undefined) return {};
  const device = "device" in hook ? { device: hook.device } : {};
  return { hook: { type: "filter", hook: hook.at, priority: hook.priority, ...device } };
}
