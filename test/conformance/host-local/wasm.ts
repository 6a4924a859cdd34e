// The delegate as the brain serves it: admitted, in the sandbox's in-process runner, on the disk backend.

import { fileURLToPath } from "node:url";
import { buildDelegate } from "../../../delegates/sdk/build/build-delegate.ts";
import { delegateCall, successText, type DelegateCall } from "../../../host/brain/delegate-request.ts";
import { answerAsPlugin } from "../../../host/brain/nested-call.ts";
import { runSync, type LeaseOperation } from "../../../host/leases/effect.ts";
import { leasesFor } from "../../../host/leases/scope.ts";
import { lockSync } from "../../../host/locks/file-lock.ts";
import { resolverFor } from "../../../host/resolver/scope.ts";
import type { Success } from "../../../host/sandbox/abi/generated/delegate-0.1.0.ts";
import { Admission } from "../../../host/sandbox/admission/admit.ts";
import { InProcessRunner } from "../../../host/sandbox/in-process.ts";
import { defaultLimits } from "../../../host/sandbox/limits.ts";
import type { SyncImports } from "../../../host/sandbox/runner.ts";
import type { ChainStep, StepOutcome } from "../../../src/cni/chain-step.ts";
import { ok, type Result } from "../../../src/fault/result.ts";
import { answerOf, type Ipam } from "./calls.ts";

const delegate = fileURLToPath(new URL("../../../delegates/ipam-host-local", import.meta.url));
const outFile = fileURLToPath(new URL("../../../dist/delegates/ipam-host-local.wasm", import.meta.url));

export interface WasmInit {
  /** Directories that a configuration may name, each with what lies beneath it; the first is the default. */
  readonly directories: readonly [string, ...string[]];
  readonly resolverFiles?: readonly string[];
}

/** The delegate, built from its sources. */
export async function wasm(init: WasmInit): Promise<Ipam> {
  const { bytes } = await buildDelegate({ dir: delegate, outFile });
  const runner = new InProcessRunner();
  const component = value(new Admission().admit(bytes, { granted: ["leases", "log", "resolver"], limits: defaultLimits }));

  function run(call: DelegateCall, imports: SyncImports): Result<Success | undefined> {
    const terms = { component, limits: defaultLimits, deadlineMs: 60_000 };
    switch (call.verb) {
      case "add":
        return valueOf(runner.callNow({ ...terms, verb: "add", request: call.request }, imports));
      case "del":
      case "check":
        return valueOf(runner.callNow({ ...terms, verb: call.verb, request: call.request }, imports));
      case "gc":
        return valueOf(runner.callNow({ ...terms, verb: "gc", request: call.request }, imports));
      case "status":
        return valueOf(runner.callNow({ ...terms, verb: "status", request: call.request }, imports));
    }
  }

  function serve(step: ChainStep): StepOutcome {
    const call = value(delegateCall(step));
    const network = call.verb === "status" ? call.request : call.request.network;
    const done = run(call, importsOf(init, network.name, call.verb, step));
    if (!done.ok) return done;
    if (done.value === undefined) return { ok: true, stdout: "" };
    return { ok: true, stdout: value(successText(done.value, network.cniVersion)) };
  }

  return {
    name: "wasm",
    async call({ verb, containerId, ifname, args, stdin }) {
      const environment = new Map([
        ["CNI_COMMAND", verb],
        ["CNI_CONTAINERID", containerId],
        ["CNI_NETNS", "/var/run/netns/none"],
        ["CNI_IFNAME", ifname],
        ["CNI_ARGS", args],
        ["CNI_PATH", "/opt/cni/bin"],
      ]);
      const request = { name: "ipam-host-local", environment, stdin: Buffer.from(stdin) };
      const { status, stdout } = await answerAsPlugin(request, () => async (step) => serve(step));
      return answerOf(verb, { status, stdout: Buffer.from(stdout).toString("utf8") });
    },
  };
}

function now<T>(operation: LeaseOperation<T>): T {
  return runSync(operation, lockSync);
}

function importsOf(init: WasmInit, network: string, verb: DelegateCall["verb"], step: ChainStep): SyncImports {
  const { directories, resolverFiles = [] } = init;
  const leases = leasesFor({
    network,
    verb,
    ...(step.attachment === undefined ? {} : { attachment: step.attachment }),
    defaultDirectory: directories[0],
    allowedDirectories: directories.map((directory) => `${directory}/`),
  });
  return {
    log: { write: () => {} },
    leases: {
      reserve: (...args) => now(leases.reserve(...args)),
      reserveNext: (...args) => now(leases.reserveNext(...args)),
      held: (...args) => now(leases.held(...args)),
      release: (...args) => now(leases.release(...args)),
      retain: (...args) => now(leases.retain(...args)),
      count: (...args) => now(leases.count(...args)),
      probe: (...args) => now(leases.probe(...args)),
    },
    resolver: resolverFor({ allowedFiles: resolverFiles }),
  };
}

function value<T>(result: Result<T>): T {
  if (!result.ok) throw new Error(result.fault.msg);
  return result.value;
}

function valueOf<T>(answer: Result<{ readonly value: T }>): Result<T> {
  return answer.ok ? ok(answer.value.value) : answer;
}
