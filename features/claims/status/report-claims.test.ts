import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { HostConfiguration } from "../../../src/configuration/host-configuration.ts";
import { systemClock } from "../../../host/system/clock.ts";
import { ok } from "../../../src/fault/result.ts";
import type { PreparedClaim } from "../rules/prepared-claim.ts";
import { ClaimReports } from "./report-claims.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const claim = (name: string): PreparedClaim => ({
  namespace: "shop",
  name,
  uid: name,
  pods: ["u"],
  isShareable: false,
  networks: [
    {
      request: "r",
      pool: "n1",
      device: "d",
      shareId: "",
      isOfClass: false,
      source: { kind: "list", text: "{}" },
      link: { name: "eth1", kind: "link", isExclusive: false },
    },
  ],
});
const failedAdd = new Map([
  ["CNI_COMMAND", "ADD"],
  ["CNI_ARGS", "K8S_POD_NAMESPACE=shop;K8S_POD_NAME=p;K8S_POD_UID=u"],
]);

const object = (path: string): Readonly<Record<string, unknown>> => ({ metadata: { uid: path.split("/").at(-1) } });

/** Reports of failed ADDs of a pod with these claims. `get` plays the API's answer. */
function reports(names: readonly string[], get: (path: string) => "failed" | "conflict"): ClaimReports {
  const journal = { list: () => ok([]), load: () => ok(undefined) };
  return new ClaimReports({
    store: { candidates: () => ok(names.map(claim)) },
    api: () =>
      Promise.resolve({
        get: (path) =>
          Promise.resolve(
            get(path) === "failed"
              ? { kind: "failed", why: "away", waitMs: undefined }
              : { kind: "object", object: object(path) },
          ),
        patch: () => Promise.resolve({ kind: "conflict", why: "changed" }),
      }),
    journal,
    clock: systemClock,
    log: () => undefined,
  });
}

const configuration = { name: "n" } as HostConfiguration;

test("while the API is away, one try follows each pause, however many ADDs fail", async () => {
  let asked = 0;
  const of = reports(["a"], () => {
    asked += 1;
    return "failed";
  });
  for (let call = 0; call < 40; call++) of.noteCall(configuration, failedAdd, { status: 1, stdout: "{}" });
  await vi.advanceTimersByTimeAsync(10_500);
  of.stop();
  expect(asked).toBe(3);
});

test("a claim that changes with each write holds back no other claim", async () => {
  const asked: string[] = [];
  const of = reports(["a", "b"], (path) => {
    asked.push(path.split("/").at(-1) ?? "");
    return "conflict";
  });
  of.noteCall(configuration, failedAdd, { status: 1, stdout: "{}" });
  await vi.advanceTimersByTimeAsync(1);
  of.stop();
  expect(asked).toEqual(["a", "b"]);
});
