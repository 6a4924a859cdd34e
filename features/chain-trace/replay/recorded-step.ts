// The step of a chain trace as the engine runs it, with the recorded grants and limits.

import type { ComponentRecord, StepRecord } from "../../../src/chain-trace/chain-trace.ts";
import type { ChainStep } from "../../../src/cni/chain-step.ts";
import { parsePluginConf } from "../../../src/cni/network-list.ts";
import { readResult } from "../../../src/cni/read-result.ts";
import type { PluginResult } from "../../../src/cni/result.ts";
import { toVersion } from "../../../src/cni/versions.ts";
import { ObjectReader } from "../../../src/configuration/object-reader.ts";
import { type WasmConfiguration, wasmSection } from "../../../src/configuration/wasm-configuration.ts";
import { grantsOf } from "../../../src/configuration/definition-policy.ts";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { memberText, memberValue, parseDocument } from "../../../src/json/document.ts";
import type { Step } from "../../../host/capabilities/step.ts";

/** The step, and the configuration with its grants and limits. */
export interface RecordedStep {
  readonly running: Step;
  readonly wasm: WasmConfiguration;
}

/** Milliseconds of a native plugin; a replay runs none. */
const timeoutMs = 60_000;

/** Reads the step. Faults: those of its configuration, result, grants and limits. */
export function recordedStep(record: StepRecord, component: ComponentRecord): Result<RecordedStep> {
  const { type, verb, stdin, env, network, ifname, caller } = record;
  const wasm = readRecordedWasm(type, component);
  if (!wasm.ok) return wasm;
  const plugin = parsePluginConf(JSON.stringify({ type }), type);
  if (!plugin.ok) return plugin;
  const prevResult = verb === "VERSION" ? ok(undefined) : prevResultOf(stdin);
  if (!prevResult.ok) return prevResult;
  const isAttachment = verb === "ADD" || verb === "DEL" || verb === "CHECK";
  const attachment = { containerId: env["CNI_CONTAINERID"] ?? "", ifname: env["CNI_IFNAME"] ?? ifname };
  const step: ChainStep = {
    index: 0,
    plugin: plugin.value,
    verb,
    stdin,
    env: Object.entries(env),
    prevResult: prevResult.value,
    attachment: isAttachment ? attachment : undefined,
  };
  const running: Step = {
    step,
    origin: caller,
    network,
    ifname,
    callers: [],
    grants: grantsOf(wasm.value, type),
    timeoutMs,
    maxMs: Infinity,
    runDelegated: async () => ({ ok: false, fault: fault("INTERNAL", "a replay runs no further plugin") }),
  };
  return ok({ running, wasm: wasm.value });
}

/** The grants and limits by the rules of a configuration: they come from a file. */
function readRecordedWasm(type: string, { grants, limits }: ComponentRecord): Result<WasmConfiguration> {
  const reader = new ObjectReader({ grants: Object.fromEntries([[type, grants]]), limits }, "component");
  const wasm = wasmSection.readObject(reader);
  const [problem] = reader.problems;
  return problem === undefined && wasm !== undefined ? ok(wasm) : failed(fault("TRACE_INVALID", `${type}: ${problem}`));
}

function prevResultOf(stdin: string): Result<PluginResult | undefined> {
  const document = parseDocument(stdin, { what: "the recorded configuration", kind: "TRACE_INVALID" });
  if (!document.ok) return document;
  const text = memberText(document.value, "prevResult");
  if (text === undefined || text === "null") return ok(undefined);
  const named = memberValue(document.value, "cniVersion");
  const version = toVersion(typeof named === "string" && named !== "" ? named : "0.1.0");
  return version.ok ? readResult(text, version.value, "the recorded prevResult") : version;
}
