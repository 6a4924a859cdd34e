import { expect, test } from "vitest";
import { queryId } from "../query-id.ts";
import { policyQueries, queryText } from "../rules/peers.ts";
import { boundedPolicy, policyBounds } from "../rules/policy-bounds.ts";
import { policyObject, readable } from "../rules/testing/policy-objects.ts";
import { AskedQueries } from "./asked-queries.ts";
import { keyOf } from "./query-key.ts";
import { reportMistakes, reportUnanswered } from "./report-mistakes.ts";
import { queriesOf, storedPolicy } from "./stored.ts";

const apps = (count: number, first = 0) => ({
  podSelector: {},
  ingress: Array.from({ length: Math.ceil(count / 128) }, (_, rule) => ({
    from: Array.from({ length: Math.min(128, count - 128 * rule) }, (__, index) => ({
      podSelector: { matchLabels: { app: `a${first + 128 * rule + index}` } },
    })),
  })),
});
const policyOf = (spec: object, networks = "red") => storedPolicy(policyObject(spec, "p", networks))?.value;

test("PO-23: controller and node have the same queries, equal ones once; a policy beyond its bound is unreadable for both, with an Event", () => {
  const seen = policyOf(apps(50), "n0,n1,n2,n3,n4,n5");
  if (seen === undefined || "problem" in seen.policy) throw new Error("unreadable");
  const { policy } = seen;
  const ofNode = policy.networks.flatMap((network) => policyQueries(policy, network));
  expect([...queriesOf(policy).keys()]).toEqual(ofNode.map(queryId));
  expect(queriesOf(policy).size).toBe(300);
  // Equal peers of many rules are one query.
  const repeated = { podSelector: {}, ingress: Array.from({ length: 100 }, () => apps(10).ingress[0]) };
  expect(queriesOf(boundedPolicy(readable(policyObject(repeated)))).size).toBe(10);
  const beyond = policyOf(apps(policyBounds.queries / 2 + 1), "n0,n1");
  if (beyond === undefined) throw new Error("no policy");
  const events: string[] = [];
  const context = {
    event: (_: unknown, { reason, message }: { reason: string; message: string }) => void events.push(`${reason} ${message}`),
  };
  reportMistakes(context, beyond);
  expect([queriesOf(beyond.policy).size, events]).toEqual([
    0,
    [expect.stringMatching(/^PolicyUnreadable .*2 networks × 257.*allows 512/)],
  ]);
  const expressions = Array.from({ length: 8 }, (_, key) => ({
    key: `k${key}`,
    operator: "In",
    values: Array.from({ length: 60 }, (__, value) => `${value}`.padStart(20, "a")),
  }));
  const long = policyOf({ podSelector: {}, ingress: [{ from: [{ podSelector: { matchExpressions: expressions } }] }] });
  expect(long?.policy).toMatchObject({ problem: expect.stringContaining("Plexus allows 4096"), networks: ["a/red"] });
});

const named = (app: string) =>
  queriesOf(readable(policyObject({ podSelector: {}, ingress: [{ from: [{ podSelector: { matchLabels: { app } } }] }] })));

test("PO-23: a namespace's queries are bounded in number and size; a policy beyond the bound has an Event, and is answered when others go", () => {
  const due: string[] = [];
  const asked = new AskedQueries((key) => due.push(key), { queries: 30, characters: 1500 });
  const queries = (count: number, first = 0) => queriesOf(readable(policyObject(apps(count, first))));
  const isAsked = (namespace: string, first: number) =>
    [...queries(1, first).keys()].every((id) => asked.get(keyOf({ namespace, id })) !== undefined);
  expect([asked.set("one", "a", queries(20)), asked.set("two", "a", queries(20)), asked.set("other", "b", queries(20))]).toEqual([
    true,
    true,
    true,
  ]);
  expect([asked.set("three", "a", queries(20, 100)), isAsked("a", 100)]).toEqual([false, false]);
  // Another policy asks the same queries still.
  expect([asked.set("one", "a", queries(0)), isAsked("a", 0), isAsked("a", 100)]).toEqual([true, true, false]);
  expect([asked.set("two", "a", queries(0)), isAsked("a", 0), isAsked("a", 100)]).toEqual([true, false, true]);
  expect([...asked.ofNetwork("a/red")]).toHaveLength(40);
  // A policy that grows beyond the bound asks nothing.
  expect([asked.set("three", "a", queries(31, 100)), isAsked("a", 100)]).toEqual([false, false]);
  const [text = ""] = [...queries(1).values()].map(queryText);
  const few = new AskedQueries(() => undefined, { queries: 30, characters: 2 * text.length });
  expect([few.set("one", "a", queries(2)), few.set("two", "a", queries(1, 9))]).toEqual([true, false]);
  // A policy that asks for as many groups in fewer characters makes way, too.
  const sized = new AskedQueries(() => undefined, { queries: 30, characters: 2 * text.length });
  expect([sized.set("one", "a", named("x".repeat(40))), sized.set("two", "a", named("b"))]).toEqual([true, false]);
  expect(sized.set("one", "a", named("c"))).toBe(true);
  expect([...sized.all()]).toHaveLength(2);
  expect(new Set(due).size).toBe(60);
  const events: string[] = [];
  const seen = policyOf(apps(1));
  if (seen !== undefined) reportUnanswered({ event: (_, { reason }) => void events.push(reason) }, seen);
  expect(events).toEqual(["PolicyNotAnswered"]);
});
