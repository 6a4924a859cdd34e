import { describe, expect, test } from "vitest";
import type { ObservedStep } from "../../../src/chain-trace/step-record.ts";
import { hasTokens, redactTrace } from "./redact-trace.ts";
import { chainTraceText, readChainTrace } from "../../../src/chain-trace/read-chain-trace.ts";
import { exampleStep, exampleTrace } from "../../../src/chain-trace/testing/example-trace.ts";

const stdin = (config: object): Pick<ObservedStep, "stdin"> => ({
  stdin: JSON.stringify({ cniVersion: "1.1.0", name: "pods", type: "vpn", ...config }),
});

describe("redactTrace", () => {
  test("replaces a secret by one token in input, output, imports, stderr, log and verdicts of every step", () => {
    const secret = "hunter2-secret";
    const step = exampleStep({
      ...stdin({ psk: secret }),
      outcome: { ok: true, stdout: JSON.stringify({ cniVersion: "1.1.0", dns: { search: [secret] } }) },
      native: { path: "/opt/cni/bin/vpn", exit: "exit status 0", stderr: `used ${secret}` },
      component: {
        path: "/opt/cni/bin/vpn.wasm",
        digest: "",
        grants: {},
        limits: {},
        calls: [{ capability: "state", func: "put", args: [secret], answer: { ok: { text: secret } }, ms: 0 }],
        log: [`info: ${secret}`],
      },
      verdicts: [{ kind: "grant", text: `refused ${secret}` }],
    });
    const failing = exampleStep({
      outcome: { ok: false, fault: { kind: "DELEGATE_FAILED", code: 1, msg: secret, details: secret } },
    });
    const redacted = redactTrace(exampleTrace([step, failing]));
    expect(JSON.stringify(redacted)).not.toContain(secret);
    expect(redacted.secrets).toBe(1);
    const [first] = redacted.steps;
    expect(JSON.parse(first?.stdin ?? "")).toMatchObject({ psk: "[redacted-1]" });
    expect(first?.result).toMatchObject({ dns: { search: ["[redacted-1]"] } });
    expect(first?.component?.calls[0]).toMatchObject({ args: ["[redacted-1]"], answer: { ok: { text: "[redacted-1]" } } });
    expect(first === undefined ? false : hasTokens(first)).toBe(true);
  });

  test("a trace without secrets stays as it is", () => {
    const trace = exampleTrace([exampleStep({ steps: [exampleStep({ caller: "delegate" })] })]);
    expect(redactTrace(trace)).toEqual(trace);
    expect(hasTokens(exampleStep())).toBe(false);
  });

  test("output of a plugin that is nested without end is cut, and breaks neither the record nor the file", () => {
    const deep = "[".repeat(500_000) + "]".repeat(500_000);
    const step = exampleStep({ outcome: { ok: true, stdout: deep } });
    expect([step.result, step.changes]).toEqual([undefined, []]);
    const text = chainTraceText(redactTrace(exampleTrace([step])));
    expect(readChainTrace(text, "a.json").ok).toBe(true);
  });

  test("a wide value at many levels does not make the file many times as long", () => {
    const prevResult = `${"[".repeat(90)}${"0,".repeat(300_000)}0${"]".repeat(90)}`;
    const step = exampleStep({ stdin: `{"cniVersion":"1.1.0","name":"pods","type":"vpn","prevResult":${prevResult}}` });
    const text = chainTraceText(exampleTrace([step]));
    expect(text.length).toBeLessThan(4 * prevResult.length);
    expect(readChainTrace(text, "a.json").ok).toBe(true);
  });

  test("a configuration with too many secrets hides the texts and says so", () => {
    const passwords = Object.fromEntries(
      Array.from({ length: 100 }, (_, index) => [`password${index}`, `secret-value-${index}`]),
    );
    const redacted = redactTrace(exampleTrace([exampleStep(stdin({ passwords }))]));
    expect(JSON.stringify(redacted)).not.toContain("secret-value-");
    expect(redacted.omitted).toEqual([expect.stringContaining("too many secrets")]);
  });
});
