// The `routing` capability in memory: a vector sets the rules before the call and shows those after it. Routes are those of the simulated links.
// kernel-agrees-routing.test.ts compares it with the kernel.

import { refuse } from "../../../host/capabilities/outcome.ts";
import {
  freeTablesBeside,
  freeTablesDenial,
  listDenial,
  readRules,
  type RoutingCall,
  routesDenial,
} from "../../../host/capabilities/routing/requests.ts";
import { ruleAnswer } from "../../../host/capabilities/routing/scope.ts";
import type {
  Fault,
  LinksInstalledRoute,
  LinksPlace,
  LinksVrf,
  RoutingCapability,
  RoutingRule,
} from "../../../host/sandbox/abi/generated/delegate-1.1.0.ts";
import { ruleText, type RuleSpec } from "../../../host/system/netlink/rule.ts";
import { cniVerb, type DelegateCall } from "./records.ts";

/** The state before a call. Rules without a priority get one, as from the kernel. */
export interface RoutingState {
  readonly host?: readonly RoutingRule[] | undefined;
  readonly pod?: readonly RoutingRule[] | undefined;
  /** The fault of every change of rules. */
  readonly fault?: Fault | undefined;
}

/** The links of a call, by which tables are used. */
export interface RoutedLinks {
  readonly routesAt: (place: LinksPlace) => readonly LinksInstalledRoute[];
  readonly vrfs: () => readonly LinksVrf[];
}

/** The priority of the rule for the table `main`, before which the kernel puts rules without a priority. */
const mainPriority = 32_766;
const mainTable = 254;

/** The rules of a namespace, besides those that every namespace has. */
export type NamespaceRules = RuleSpec[];

/** Adds the rules that do not exist, as the kernel does. */
function add(rules: NamespaceRules, wanted: readonly RuleSpec[]): void {
  for (const rule of wanted) {
    if (rules.some((existing) => isSame(existing, rule))) continue;
    const before = rules.flatMap((each) => (each.family === rule.family ? (each.priority ?? []) : []));
    rules.push({ ...rule, priority: rule.priority ?? Math.min(mainPriority, ...before) - 1 });
  }
  rules.sort((a, b) => a.family - b.family || (a.priority ?? 0) - (b.priority ?? 0));
}

/** Whether a rule has exactly the members of `wanted`, at any priority if that names none. */
function isSame(rule: RuleSpec, wanted: RuleSpec): boolean {
  return (
    ruleText({ ...rule, priority: wanted.priority === undefined ? undefined : rule.priority }) === ruleText(wanted) &&
    rule.family === wanted.family
  );
}

/** The rules of one call. */
export class MemoryRouting {
  readonly #rules: Readonly<Record<LinksPlace, NamespaceRules>>;
  readonly #fault: Fault | undefined;
  readonly #links: RoutedLinks;

  /** `rules`: those of earlier calls. */
  constructor(
    { host = [], pod = [], fault }: RoutingState = {},
    links: RoutedLinks,
    rules: Readonly<Record<LinksPlace, NamespaceRules>> = { host: [], pod: [] },
  ) {
    this.#rules = rules;
    this.#fault = fault;
    this.#links = links;
    for (const [place, stated] of [
      ["host", host],
      ["pod", pod],
    ] as const) {
      const read = readRules({ type: "", verb: "ADD", hasPod: true, grant: "all" }, "add-rules", place, numbered(stated, place));
      if (!read.ok) throw new Error(`routing.${place}: ${read.fault.msg}`);
      add(rules[place], read.value);
    }
  }

  /** The current rules. */
  rules(): Readonly<Record<LinksPlace, readonly RoutingRule[]>> {
    return { host: this.#rules.host.map(ruleAnswer), pod: this.#rules.pod.map(ruleAnswer) };
  }

  /** The capability in a call of this verb. */
  functions(verb: DelegateCall["verb"]): RoutingCapability {
    const call: RoutingCall = { type: "", verb: cniVerb(verb), hasPod: verb !== "gc" && verb !== "status", grant: "all" };
    const change = (
      request: "add-rules" | "delete-rules",
      place: LinksPlace,
      rules: readonly RoutingRule[],
      act: (wanted: readonly RuleSpec[]) => void,
    ): ReturnType<RoutingCapability["addRules"]> => {
      const read = readRules(call, request, place, rules);
      if (!read.ok) return refuse(read.fault);
      if (this.#fault !== undefined) return { err: this.#fault };
      act(read.value);
      return { ok: undefined };
    };
    return {
      addRules: (place, rules) => change("add-rules", place, rules, (wanted) => add(this.#rules[place], wanted)),
      deleteRules: (place, rules) =>
        change("delete-rules", place, rules, (wanted) => {
          const kept = this.#rules[place].filter((rule) => !wanted.some((each) => isSame(rule, each)));
          this.#rules[place].splice(0, Infinity, ...kept);
        }),
      listRules: (place) => {
        const denied = listDenial(call, place);
        return denied === undefined ? { ok: this.#rules[place].map(ruleAnswer) } : refuse(denied);
      },
      routes: (place, table) => {
        const denied = routesDenial(call, place, table);
        if (denied !== undefined) return refuse(denied);
        return { ok: this.#links.routesAt(place).filter((route) => (route.table ?? mainTable) === table) };
      },
      freeTables: (count) => {
        const denied = freeTablesDenial(call, count);
        if (denied !== undefined) return refuse(denied);
        const used = [...this.#rules.pod, ...this.#links.routesAt("pod"), ...this.#links.vrfs()].flatMap(
          ({ table }) => table ?? [],
        );
        return { ok: freeTablesBeside(new Set(used), count) };
      },
    };
  }
}

/** A vector need not say a priority of the node's rules either. */
function numbered(rules: readonly RoutingRule[], place: LinksPlace): readonly RoutingRule[] {
  return place === "pod"
    ? rules
    : rules.map((rule, at) => ({ ...rule, priority: rule.priority ?? mainPriority - rules.length + at }));
}
