// Runs checks of a provider, one after the other, and leaves no port.

import { systemClock } from "../../../host/system/clock.ts";
import type { OwnedPort } from "../controller/provider.ts";
import type { ProviderCheck, ProviderOutcome } from "./check.ts";
import { Lab, type LabInit } from "./lab.ts";
import { Skip, Violation } from "./verdict.ts";

/** A run of the checks on one provider. */
export interface ProviderReport {
  readonly url: string;
  readonly outcomes: readonly ProviderOutcome[];
  /** Ports of this run that could not be released. */
  readonly remaining: readonly OwnedPort[];
}

/** Runs the checks. Rejects for a defect of the checks only. */
export async function runProviderChecks(init: LabInit, checks: readonly ProviderCheck[]): Promise<ProviderReport> {
  const lab = new Lab(init);
  const outcomes: ProviderOutcome[] = [];
  for (const check of checks) {
    const started = systemClock.now();
    const judged = await judge(lab, check);
    outcomes.push({ check, ...judged, ms: systemClock.now() - started });
    await lab.releaseUsed();
  }
  return { url: init.url, outcomes, remaining: await lab.releaseAll() };
}

/** The number of outcomes with a verdict. */
export function countOf({ outcomes }: ProviderReport, verdict: ProviderOutcome["verdict"]): number {
  return outcomes.filter((outcome) => outcome.verdict === verdict).length;
}

async function judge(lab: Lab, check: ProviderCheck): Promise<Pick<ProviderOutcome, "verdict" | "why">> {
  const stop = check.judgesAll === true ? undefined : lab.reasonToStop();
  if (stop !== undefined) return { verdict: "skipped", why: stop };
  try {
    await check.run(lab);
    return { verdict: "passed", why: "" };
  } catch (error) {
    if (error instanceof Violation) return { verdict: "failed", why: error.message };
    if (error instanceof Skip) return { verdict: "skipped", why: error.message };
    throw error;
  }
}
