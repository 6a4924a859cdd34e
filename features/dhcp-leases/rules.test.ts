import { expect, test } from "vitest";
import { leaseNeed } from "./rules.ts";

const terms = { renewSeconds: 1800, rebindSeconds: 3150, leaseSeconds: 3600 };
const at = (seconds: number) => leaseNeed(terms, 1_000_000, 1_000_000 + seconds * 1000);

test("a lease is renewed from T1 on, rebound from T2 on, and ends", () => {
  expect(at(0)).toEqual({ need: "nothing", renewAt: 2_800_000 });
  expect(at(1800)).toEqual({ need: "renew", nextAt: 2_860_000 });
  expect(at(3149)).toEqual({ need: "renew", nextAt: 4_150_000 });
  expect(at(3150)).toEqual({ need: "rebind", nextAt: 4_210_000 });
  expect(at(3599)).toEqual({ need: "rebind", nextAt: 4_600_000 });
  expect(at(3600)).toEqual({ need: "end" });
});

test("a clock that was set back renews the lease", () => {
  expect(at(-3600)).toMatchObject({ need: "renew" });
});
