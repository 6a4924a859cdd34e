// The delegate ipam-host-local as the engine runs it: admitted, in the sandbox's in-process runner, with lease files on the disk.

import { fileURLToPath } from "node:url";
import { buildDelegate } from "../../../../delegates/sdk/build/build-delegate.ts";
import { delegateCall, type DelegateCall } from "../../../../host/engine/steps/delegate-request.ts";
import { answerAsPlugin } from "../../../../host/engine/session/component-call.ts";
import { runSync } from "../../../../host/capabilities/leases/testing/run-sync.ts";
import type { LeaseOperation } from "../../../../host/capabilities/leases/effect.ts";
import { leasesFor } from "../../../../host/capabilities/leases/scope.ts";
import { lockSync } from "../../../../host/store/locks/testing/lock-sync.ts";
import { resolverFor } from "../../../../host/capabilities/resolver/scope.ts";
import type { Success } from "../../../../host/sandbox/abi/generated/delegate-1.1.0.ts";
import { successText } from "../../../../host/sandbox/abi/success-record.ts";
import { Admission } from "../../../../host/sandbox/admission/admit.ts";
import { InProcessRunner } from "../../../../host/sandbox/in-process.ts";
import { defaultLimits } from "../../../../host/sandbox/limits.ts";
import type { SyncImports } from "../../../../host/sandbox/runner.ts";
import type { ChainStep, StepOutcome } from "../../../../src/cni/chain-step.ts";
import { ok, type Result } from "../../../../src/fault/result.ts";
import { answerOf, type Ipam } from "./calls.ts";

const delegateDirectory = fileURLToPath(new URL("../../../../delegates/ipam-host-local", import.meta.url));
const outFile = fileURLToPath(new URL("../../../../dist/delegates/ipam-host-local.wasm", import.meta.url));

export interface WasmInit {
  /** Directories that a configuration may name, with their subdirectories; the first is the default. */
  readonly directories: readonly [string, ...string[]];
  readonly resolverFiles?: readonly string[];
}

/** Builds the delegate from its sources and makes it callable as an IPAM plugin. Throws if the build or the admission fails. */
export async function wasm(init: WasmInit): Promise<Ipam> {
  const { bytes } = await buildDelegate({ dir: delegateDirectory, outFile });
  const runner = new InProcessRunner();
  const component = valueOrThrow(new Admission().admit(bytes, { granted: ["leases", "log", "resolver"], limits: defaultLimits }));

  function run(call: DelegateCall, imports: SyncImports): Result<Success | undefined> {
    const callOptions = { component, limits: defaultLimits, deadlineMs: 60_000 };
    // Each branch narrows the request's type to that of its verb.
    switch (call.verb) {
      case "add":
        return valueOf(runner.callNow({ ...callOptions, verb: "add", request: call.request }, imports));
      case "del":
      case "check":
        return valueOf(runner.callNow({ ...callOptions, verb: call.verb, request: call.request }, imports));
      case "gc":
        return valueOf(runner.callNow({ ...callOptions, verb: "gc", request: call.request }, imports));
      case "status":
        return valueOf(runner.callNow({ ...callOptions, verb: "status", request: call.request }, imports));
    }
  }

  function serve(step: ChainStep): StepOutcome {
    const call = valueOrThrow(delegateCall(step, { remainingMs: 60_000, granted: component.capabilities }));
    const { network } = call.request;
    const done = run(call, importsOf(init, network.name, call.verb, step));
    if (!done.ok) return done;
    if (done.value === undefined) return { ok: true, stdout: "" };
    return { ok: true, stdout: valueOrThrow(successText(done.value, network.cniVersion)) };
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
      const { status, stdout } = await answerAsPlugin(request, () => ok(async (step: ChainStep) => serve(step)));
      return answerOf(verb, { status, stdout: Buffer.from(stdout).toString("utf8") });
    },
  };
}

function runBlocking<T>(operation: LeaseOperation<T>): T {
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
      reserve: (...args) => runBlocking(leases.reserve(...args)),
      reserveNext: (...args) => runBlocking(leases.reserveNext(...args)),
      held: (...args) => runBlocking(leases.held(...args)),
      release: (...args) => runBlocking(leases.release(...args)),
      retain: (...args) => runBlocking(leases.retain(...args)),
      count: (...args) => runBlocking(leases.count(...args)),
      probe: (...args) => runBlocking(leases.probe(...args)),
    },
    resolver: resolverFor({ allowedFiles: resolverFiles }),
  };
}

function valueOrThrow<T>(result: Result<T>): T {
  if (!result.ok) throw new Error(result.fault.msg);
  return result.value;
}

function valueOf<T>(answer: Result<{ readonly value: T }>): Result<T> {
  return answer.ok ? ok(answer.value.value) : answer;
}
