// Everything that a one-shot brain needs to run delegates; a chunk of its own, loaded with the first of them.

import { realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { admitDelegate, type DelegateHost, namedByFile, runDelegateStep } from "../brain/delegate-step.ts";
import type { DelegateRunner } from "../brain/step-runner.ts";
import type { HostConfiguration } from "../../src/configuration/host-configuration.ts";
import { fault } from "../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../src/fault/result.ts";
import type { OneShotHands } from "../hands/one-shot-hands.ts";
import { runSync } from "../leases/effect.ts";
import type { LockAnswer, LockRequest } from "../locks/file-lock.ts";
import { Admission } from "../sandbox/admission/admit.ts";
import { InProcessRunner } from "../sandbox/in-process.ts";
import { limitsOf } from "../sandbox/limits.ts";
import type { GuestRunner } from "../sandbox/runner.ts";

/** A runner of delegates for this call; `log` takes whole lines. */
export async function delegatesForOneCall(
  hands: OneShotHands,
  takeLock: (request: LockRequest) => LockAnswer,
  { wasm }: Pick<HostConfiguration, "wasm">,
  log: (line: string) => void,
): Promise<DelegateRunner> {
  const host: DelegateHost = {
    admission: new Admission(),
    names: namedByFile,
    runner: wasm.isolation === "process" ? await processRunner(wasm) : new InProcessRunner(),
    read: async (path, cap) => readComponent(hands, path, cap),
    hands,
    lease: (operation) => runSync(operation, takeLock),
    log: (type, level, message) => log(`${type}: ${level}: ${message}\n`),
  };
  return {
    run: (...step) => runDelegateStep(host, ...step),
    admit: (configuration, type, file) => admitDelegate(host, configuration, type, file),
  };
}

/** One sandbox process, started for this call; it ends with the brain, whose pipes it reads. */
async function processRunner(wasm: HostConfiguration["wasm"]): Promise<GuestRunner> {
  const { ProcessPool } = await import("../sandbox/process/pool.ts");
  const { memoryPages, tableEntries } = limitsOf(wasm.limits);
  return new ProcessPool({ entry: guestProgram(), memoryPages, tableEntries, warm: 1, most: 1 });
}

/** The program of a sandbox process, which the build puts beside the brain's code; its true path, because it may read no other. */
function guestProgram(): string {
  return realpathSync(join(dirname(realpathSync(process.argv[1] ?? "")), "brain", "guest-process.cjs"));
}

function readComponent(hands: OneShotHands, path: string, cap: number): Result<Uint8Array> {
  const { errno, content } = hands.readSync({ path, cap });
  if (errno === 0) return ok(content);
  return failed(
    fault("COMPONENT_REFUSED", `component ${path} could not be read: errno ${errno} (at most ${cap} bytes are read)`),
  );
}
