// The sandbox of a replay: sandbox processes in their jail, as on a node. No privilege is needed.

import { realpathSync } from "node:fs";
import { join } from "node:path";
import { defaultUids } from "../../../src/configuration/keys/sandbox-uids.ts";
import type { ComponentAdmission } from "../../../host/sandbox/admission/admit.ts";
import { installedJail } from "../../../host/sandbox/launcher/jail.ts";
import { defaultLimits } from "../../../host/sandbox/limits.ts";
import { ProcessPool } from "../../../host/sandbox/process/pool.ts";
import { SandboxAdmission } from "../../../host/sandbox/process/sandbox-admission.ts";
import type { GuestRunner } from "../../../host/sandbox/runner.ts";

/** Where components are examined and run. */
export interface ReplaySandbox {
  readonly admission: ComponentAdmission;
  /** The runner for guests with so many pages of memory. */
  readonly runner: (memoryPages: number) => GuestRunner;
  readonly close: () => Promise<void>;
}

/** Opens the sandbox of the installation in `home`. */
export function openReplaySandbox(home: string): ReplaySandbox {
  const pools = new Map<number, ProcessPool>();
  const entry = realpathSync(join(home, "engine", "guest-process.cjs"));
  const jail = installedJail(home, { level: "process", uids: defaultUids });
  const poolOf = (pages: number): ProcessPool => {
    const memoryPages = Math.max(pages, defaultLimits.memoryPages);
    const known = pools.get(memoryPages);
    if (known !== undefined) return known;
    const pool = new ProcessPool({ entry, memoryPages, jail, processPerCall: false, warm: 1, maxProcesses: 1 });
    pools.set(memoryPages, pool);
    return pool;
  };
  return {
    admission: new SandboxAdmission(({ memoryPages }) => poolOf(memoryPages)),
    runner: poolOf,
    close: async () => void (await Promise.all([...pools.values()].map((pool) => pool.close()))),
  };
}
