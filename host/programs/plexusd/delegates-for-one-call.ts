// The part of `plexusd --once` that runs delegates. The build puts it into a separate chunk, which is loaded with the first delegate.

import { realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { poolFeature } from "../../../features/list.ts";
import type { DelegateRunner } from "../../capabilities/delegate-runner.ts";
import { delegateRunner } from "../../engine/steps/delegate-step.ts";
import type { WasmConfiguration } from "../../../src/configuration/wasm-configuration.ts";
import type { Shim } from "../../protocol/shim.ts";
import { LeaseRecords } from "../../capabilities/dhcp/lease-records.ts";
import { takenAddressesIn } from "../../capabilities/leases/taken-addresses.ts";
import type { PoolSource } from "../../capabilities/leases/pool-source.ts";
import { runAsync } from "../../capabilities/leases/effect.ts";
import type { TakeLock } from "../../store/locks/file-lock.ts";
import { Admission, type ComponentAdmission } from "../../sandbox/admission/admit.ts";
import { namedByFile } from "../../sandbox/component-file.ts";
import { ComponentDemands } from "../../sandbox/provenance/component-demands.ts";
import { InProcessRunner } from "../../sandbox/in-process.ts";
import { limitsOf } from "../../sandbox/limits.ts";
import type { GuestRunner } from "../../sandbox/runner.ts";
import { systemClock } from "../../system/clock.ts";

/** The parts of the call that its delegates need. */
interface OneCall {
  readonly shim: Shim;
  readonly takeLock: TakeLock;
  readonly wasm: WasmConfiguration;
  /** Receives whole lines. */
  readonly log: (line: string) => void;
  /** The state directory; undefined if a runtime calls a component directly. */
  readonly cniDir: string | undefined;
}

/** A runner for the delegates of this call. */
export async function delegatesForOneCall({ shim, takeLock, wasm, log, cniDir }: OneCall): Promise<DelegateRunner> {
  return delegateRunner({
    wasm,
    ...(wasm.isolation === "in-process" ? inThisProcess() : await inSandboxProcesses(wasm, cniDir)),
    componentNames: namedByFile,
    demands: new ComponentDemands(),
    shim,
    clock: systemClock,
    runLeaseOperation: (operation) => runAsync(operation, takeLock),
    pools: poolsOf(cniDir),
    taken: cniDir === undefined ? undefined : takenAddressesIn(cniDir, systemClock.date),
    dhcp: cniDir === undefined ? undefined : { records: new LeaseRecords(cniDir), isRenewed: false },
    log: (type, level, message) => log(`${type}: ${level}: ${message}\n`),
  });
}

/** The pools of a call with a state directory; undefined in a build without pools. */
function poolsOf(cniDir: string | undefined): (() => Promise<PoolSource>) | undefined {
  const { ofOneCall } = poolFeature ?? {};
  return cniDir === undefined || ofOneCall === undefined ? undefined : () => ofOneCall(cniDir);
}

/** Where components are admitted and run. */
interface Sandbox {
  readonly admission: ComponentAdmission;
  readonly runner: GuestRunner;
}

/** Sandbox processes for this call, one for each component. They end when the engine's pipes close. */
async function inSandboxProcesses(wasm: WasmConfiguration, cniDir: string | undefined): Promise<Sandbox> {
  const { ProcessPool } = await import("../../sandbox/process/pool.ts");
  const { installedJail } = await import("../../sandbox/launcher/jail.ts");
  const { SandboxAdmission, shareOfLong } = await import("../../sandbox/process/sandbox-admission.ts");
  const { memoryPages, tableEntries } = limitsOf(wasm.limits);
  const jail = installedJail(home(), { level: wasm.isolation, uids: wasm.sandboxUids });
  const processPerCall = wasm.isolation === "strict";
  const pool = new ProcessPool({
    entry: guestProgram(),
    memoryPages,
    tableEntries,
    jail,
    processPerCall,
    warm: 1,
    replacesWarm: false,
    maxProcesses: 1,
  });
  const { AdmittedComponents } = await import("../../sandbox/process/admitted-components.ts");
  const admitted = cniDir === undefined ? undefined : new AdmittedComponents(join(cniDir, "admitted"), shareOfLong);
  return { admission: new SandboxAdmission(() => pool, admitted), runner: pool };
}

/** Only if the administrator has chosen `in-process`: no fault of a sandbox process leads here. */
function inThisProcess(): Sandbox {
  return { admission: new Admission(), runner: new InProcessRunner() };
}

/** Path of the sandbox process' program, which is part of the engine's code. Without symbolic links, because the process may read no other path. */
function guestProgram(): string {
  const path = join(home(), "engine", "guest-process.cjs");
  try {
    return realpathSync(path);
  } catch {
    // The process does not start, and the step fails with SANDBOX_UNAVAILABLE.
    return path;
  }
}

/** The directory of the installation. */
function home(): string {
  return dirname(realpathSync(process.argv[1] ?? ""));
}
