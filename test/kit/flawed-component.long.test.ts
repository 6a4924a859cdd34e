// Each check that applies to components fails for the one defect of test/lab/delegates/flawed/ that breaks its rule, and for no other.

import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { defaultLimits } from "../../host/sandbox/limits.ts";
import { testDelegate } from "../lab/delegates/built.ts";
import { prepared, type PreparedComponent } from "../../delegates/sdk/component/run.ts";
import { catalogue } from "../../delegates/sdk/conformance/catalogue.ts";
import { componentSubject } from "../../delegates/sdk/conformance/component/component-subject.ts";
import { runChecks } from "../../delegates/sdk/conformance/run-checks.ts";
import { type Role, setupOf } from "../../delegates/sdk/conformance/setup.ts";
import { componentDefects, nativeDefects } from "../../delegates/sdk/conformance/testing/defects.ts";

let component: PreparedComponent;

beforeAll(async () => {
  const bytes = readFileSync(await testDelegate("flawed"));
  const made = prepared({ type: "flawed", bytes, granted: undefined, limits: defaultLimits });
  if (!made.ok) throw new Error(made.fault.msg);
  component = made.value;
});

/** The outcomes of a defect, of the checks with this verdict: ID and reason. */
async function outcomesOf(role: Role, flaw: string, verdict: "failed" | "passed"): Promise<Record<string, string>> {
  const ipam = role === "chained" ? {} : { ipam: { type: role === "ipam" ? "flawed" : "any" } };
  const rules = role === "interface" ? { rules: true } : {};
  const configuration = { does: role, flaw, ...ipam, ...rules };
  const sysctl = { "net/core/somaxconn": "4096" };
  const setup = setupOf(
    "test",
    { role, configuration, sysctl, invalid: { invalid: true }, notReady: { ready: false } },
    "flawed",
  );
  const outcomes = await runChecks(componentSubject("flawed", component), setup, catalogue);
  return Object.fromEntries(outcomes.filter((each) => each.verdict === verdict).map(({ check, why }) => [check.id, why]));
}

describe("X-7: the conformance kit on a component", () => {
  test("each check has one defect, of a component or of a native plugin", () => {
    const checks = [...componentDefects, ...nativeDefects].map(([, check]) => check);
    expect(checks.toSorted()).toEqual(catalogue.map(({ id }) => id).toSorted());
  });

  test.each(["interface", "chained", "ipam"] as const)("a correct component of the role %s fails no check", async (role) => {
    expect(await outcomesOf(role, "", "failed")).toEqual({});
  });

  test("each defect fails exactly its check", async () => {
    const found: (readonly [string, readonly string[]])[] = [];
    for (const [flaw, , role] of componentDefects) found.push([flaw, Object.keys(await outcomesOf(role, flaw, "failed"))]);
    expect(found).toEqual(componentDefects.map(([flaw, check]) => [flaw, [check]]));
  });

  test("the correct components pass every check that a defect fails", async () => {
    const passed = await Promise.all((["interface", "chained", "ipam"] as const).map((role) => outcomesOf(role, "", "passed")));
    const ids = new Set(passed.flatMap((each) => Object.keys(each)));
    expect(componentDefects.map(([, check]) => check).filter((id) => !ids.has(id))).toEqual([]);
  });
});
