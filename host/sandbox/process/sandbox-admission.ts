// Admission in a sandbox process: a component is examined where its guests will run, under that process' limits and without the engine's rights.

import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import {
  type AdmissionTerms,
  AdmissionResults,
  type AdmittedComponent,
  type ComponentAdmission,
  keyOf,
  lengthFault,
  requireGrants,
} from "../admission/admit.ts";
import type { Limits } from "../limits.ts";
import type { AdmittedComponents } from "./admitted-components.ts";
import type { ProcessPool } from "./pool.ts";

/** An admission with this share of its time limit took long. */
export const shareOfLong = 0.1;

/** Admits components in the processes of pools. A component's first admission costs one message; later ones are answered from memory. */
export class SandboxAdmission implements ComponentAdmission {
  readonly #results = new AdmissionResults();
  /** Admissions that have not ended, by key: calls of the same component wait for one examination. */
  readonly #running = new Map<string, Promise<Result<AdmittedComponent>>>();
  readonly #admitted: AdmittedComponents | undefined;
  readonly #poolOf: (limits: Limits) => ProcessPool;

  /** `poolOf` answers the pool whose processes run guests with these limits; `admitted` remembers components over restarts. */
  constructor(poolOf: (limits: Limits) => ProcessPool, admitted?: AdmittedComponents) {
    this.#poolOf = poolOf;
    this.#admitted = admitted;
  }

  recall(name: string, terms: AdmissionTerms): Result<AdmittedComponent> | undefined {
    const result = this.#known(keyOf(name, terms.limits), terms.limits);
    return result === undefined ? undefined : requireGrants(result, terms.granted);
  }

  async admit(bytes: Uint8Array, terms: AdmissionTerms, name: string): Promise<Result<AdmittedComponent>> {
    return requireGrants(await this.examine(bytes, terms.limits, name), terms.granted);
  }

  /** Examines a component without its grants, for a component that is not called yet. `name` names its bytes. Faults as `admit`. */
  async examine(bytes: Uint8Array, limits: Limits, name: string): Promise<Result<AdmittedComponent>> {
    const tooLong = lengthFault(bytes.length, limits);
    if (tooLong !== undefined) return tooLong;
    const key = keyOf(name, limits);
    const known = this.#known(key, limits) ?? this.#running.get(key);
    if (known !== undefined) return known;
    const running = this.#start(key, bytes, limits, name);
    this.#running.set(key, running);
    try {
      return await running;
    } finally {
      this.#running.delete(key);
    }
  }

  /** A refusal for the time of the admission holds for its limit only. */
  #known(key: string, limits: Limits): Result<AdmittedComponent> | undefined {
    return this.#results.get(key) ?? this.#results.get(timeKey(key, limits));
  }

  async #start(key: string, bytes: Uint8Array, limits: Limits, name: string): Promise<Result<AdmittedComponent>> {
    const pool = this.#poolOf(limits);
    const admitted = this.#admitted;
    const outcome = await pool.admit({ key, bytes, limits, wasAdmitted: () => admitted?.has(name, bytes, limits) === true });
    if (outcome === undefined) {
      const { startProblem } = pool;
      const why = startProblem === undefined ? "all were busy until the deadline" : `a process ${startProblem}`;
      return failed(fault("SANDBOX_UNAVAILABLE", `the component got no sandbox process for its admission: ${why}`));
    }
    const result = outcome.result.ok ? ok({ ...outcome.result.value, key }) : outcome.result;
    if (outcome.isFinal) this.#results.add(outcome.isTimeLimit ? timeKey(key, limits) : key, result);
    if (result.ok) {
      const kept = admitted?.keep(name, bytes, limits, outcome.cpuMs);
      // A call waits only if its admission took long: a one-shot engine ends after its call.
      if ((outcome.cpuMs ?? 0) >= shareOfLong * limits.admissionMs) await kept;
    }
    return result;
  }
}

function timeKey(key: string, { admissionMs }: Limits): string {
  return `${key}/${admissionMs} ms`;
}
