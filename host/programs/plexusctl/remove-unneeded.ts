// plexusctl install --remove --if-unneeded: removes an installation and, if asked for, the state, unless a pod of this node needs them.

import { rmSync } from "node:fs";
import { removeInstallation, type InstalledPlaces } from "../../node/install/remove-installation.ts";
import { whyFilesStay } from "../../node/uninstall/removal.ts";
import { storeFault } from "../../store/files/durable-file.ts";
import type { RemovedFiles } from "../../node/uninstall/remove-files.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { takeRemovalStep } from "./take-removal-step.ts";

/** The daemon and the state of an installation. */
export interface InstalledState {
  readonly statusSocket: string;
  /** The state directory to remove; undefined: it stays. */
  readonly purgeState: string | undefined;
}

/** Removes the files, or answers why they stay. Faults STORE_FAILED, INSTALL_REFUSED. */
export async function removeUnneeded(
  places: InstalledPlaces,
  { statusSocket, purgeState }: InstalledState,
): Promise<Result<RemovedFiles | { readonly stay: string }>> {
  const report = await takeRemovalStep(statusSocket, "report", false);
  const why = typeof report === "string" ? `the pods that need them are unknown: ${report}` : whyFilesStay(report);
  if (why !== undefined) return ok({ stay: why });
  const removed = removeInstallation(places);
  if (!removed.ok || purgeState === undefined) return removed;
  try {
    if (!places.dryRun) rmSync(purgeState, { recursive: true, force: true });
    return ok({ ...removed.value, removed: [...removed.value.removed, purgeState] });
  } catch (error) {
    return failed(storeFault("removing", purgeState, error));
  }
}
