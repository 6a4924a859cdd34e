import { expect, test } from "vitest";
import { fault } from "../../../src/fault/fault.ts";
import { verdictsOf } from "./step-verdicts.ts";

test("a limit, and an import that a grant refused, are verdicts", () => {
  const { code, msg, details } = fault("NOT_GRANTED", "links: bridge br0 is not granted");
  const call = { capability: "links", func: "apply", args: [], answer: { err: { code, msg, details } }, ms: 0 };
  const { kind, ...rest } = fault("LIMIT_TIME", "the delegate took too long");
  expect(verdictsOf({ ok: false, fault: { kind, ...rest } }, { calls: [call] })).toEqual([
    { kind: "grant", text: "links.apply: links: bridge br0 is not granted" },
    { kind: "limit", text: "the delegate took too long" },
  ]);
});

test("an ordinary failure, and an ordinary error of an import, are none", () => {
  const { code, msg, details } = fault("NETLINK_FAILED", "no such link");
  const call = { capability: "links", func: "get", args: [], answer: { err: { code, msg, details } }, ms: 0 };
  const { kind, ...rest } = fault("DELEGATE_FAILED", "no");
  expect(verdictsOf({ ok: false, fault: { kind, ...rest } }, { calls: [call] })).toEqual([]);
  expect(verdictsOf({ ok: true, stdout: "" }, undefined)).toEqual([]);
});
