// Each check of providers fails for the provider with the one defect that breaks its rule, and for no other.

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, test } from "vitest";
import { providerChecks } from "./catalogue.ts";
import { type ProviderReport, runProviderChecks } from "./run-checks.ts";
import {
  type Defect,
  defects,
  forbiddenParameters,
  serverParameters,
  serverToken,
  slowMs,
  startProviderServer,
} from "./testing/provider-server.ts";

async function reportOf(defect?: Defect): Promise<ProviderReport & { readonly left: number }> {
  const server = await startProviderServer(defect);
  try {
    const init = {
      url: `${server.url}/`,
      owner: "plexus-conformance",
      token: serverToken,
      parameters: serverParameters,
      forbidden: [forbiddenParameters],
      nodeName: "node-1",
      ports: 6,
      answerMs: slowMs,
      now: server.now,
    };
    return { ...(await runProviderChecks(init, providerChecks)), left: server.count() };
  } finally {
    server.close();
  }
}

/** Settings without a token and parameters. */
const alone = { owner: "o", token: undefined, parameters: {}, forbidden: [], nodeName: "n", ports: 2 };

function failedOf({ outcomes }: ProviderReport): Record<string, string> {
  return Object.fromEntries(outcomes.filter(({ verdict }) => verdict === "failed").map(({ check, why }) => [check.id, why]));
}

describe.concurrent("the checks of providers", () => {
  test("a provider without a defect passes each check and has no port left", async () => {
    const report = await reportOf();
    expect(report.outcomes.filter(({ verdict }) => verdict !== "passed")).toEqual([]);
    expect(report).toMatchObject({ remaining: [], left: 0 });
  });

  test.each(Object.entries(defects) as [Defect, string][])("a provider that %s fails %s alone", async (defect, id) => {
    const report = await reportOf(defect);
    expect(failedOf(report)).toEqual({ [id]: expect.any(String) });
  });

  test("each check has a defect that the check alone reports", () => {
    expect(Object.values(defects)).toEqual(providerChecks.map(({ id }) => id));
  });

  test("a provider that ends is reported as one that does not answer, and the run ends", async () => {
    const server = await startProviderServer();
    server.close();
    const init = { ...alone, url: server.url, answerMs: 120_000 };
    const report = await runProviderChecks(init, providerChecks);
    expect(failedOf(report)).toHaveProperty("ENS-1", expect.stringContaining("there is no answer"));
    expect(report.outcomes.at(-2)?.why).toBe("the provider does not answer any more");
  });

  test("a provider whose answers are all late does not hold the run up, and fails TIM-1", async () => {
    let nowMs = 0;
    const server = createServer((_, response) => {
      nowMs += 120_000;
      response.end("{}");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const init = { ...alone, url: `http://127.0.0.1:${port}`, answerMs: 120_000, now: () => nowMs };
    const report = await runProviderChecks(init, providerChecks);
    server.close();
    expect(failedOf(report)).toHaveProperty("TIM-1", expect.stringContaining("/v1/ensure took"));
    expect(report.outcomes.at(-2)?.why).toBe("the provider is too slow");
  });
});
