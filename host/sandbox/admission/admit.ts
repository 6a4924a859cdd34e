// Admission: whether a component may run with an administrator's grants and limits.

import { quote } from "../../../src/json/quote.ts";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { componentLimit, type Limits } from "../limits.ts";
import { examineComponent, type ExaminedComponent } from "./examine.ts";

/** A component that may run. `capabilities` are those that it may call: imported and granted. */
export interface AdmittedComponent extends ExaminedComponent {
  /** Differs for each component and for each of the limits that change its modules. */
  readonly key: string;
  /** Optional capabilities that the component imports and that are not granted. Absent: none. */
  readonly ungranted?: readonly string[];
}

/** The administrator's terms for a component. */
export interface AdmissionTerms {
  /** Names of the capabilities that the administrator grants. */
  readonly granted: readonly string[];
  readonly limits: Limits;
}

/** Admits the components of steps: `Admission` in this process, `SandboxAdmission` in a sandbox process. */
export interface ComponentAdmission {
  /** The remembered result for a file with this name; undefined if the file must be read. */
  recall(name: string, terms: AdmissionTerms): Result<AdmittedComponent> | undefined;
  /**
   * Admits a component, and remembers the result under `name`, which names its content. Faults: COMPONENT_REFUSED, CAPABILITY_NOT_GRANTED,
   * LIMIT_MEMORY; SANDBOX_UNAVAILABLE if the component could not be examined.
   */
  admit(bytes: Uint8Array, terms: AdmissionTerms, name: string): Result<AdmittedComponent> | Promise<Result<AdmittedComponent>>;
}

const maxResults = 64;
/** Maximum bytes of the remembered components' core modules. */
const maxResultBytes = 64 * 1024 * 1024;

/** Remembered results by key, least recently used first. */
export class AdmissionResults {
  readonly #results = new Map<string, Result<AdmittedComponent>>();
  #bytes = 0;

  /** The result under this key; undefined if there is none. */
  get(key: string): Result<AdmittedComponent> | undefined {
    const result = this.#results.get(key);
    if (result === undefined) return undefined;
    this.#results.delete(key);
    this.#results.set(key, result);
    return result;
  }

  /** Adds a result. If there are too many, or if they are too large, the least recently used ones are dropped. */
  add(key: string, result: Result<AdmittedComponent>): void {
    this.#drop(key);
    this.#results.set(key, result);
    this.#bytes += sizeOf(result);
    for (const oldest of this.#results.keys()) {
      if (oldest === key || (this.#results.size <= maxResults && this.#bytes <= maxResultBytes)) return;
      this.#drop(oldest);
    }
  }

  #drop(key: string): void {
    const result = this.#results.get(key);
    if (result === undefined) return;
    this.#results.delete(key);
    this.#bytes -= sizeOf(result);
  }
}

function sizeOf(result: Result<AdmittedComponent>): number {
  return result.ok ? result.value.modules.reduce((sum, { length }) => sum + length, 0) : 0;
}

/**
 * Admits components in this process: for the explicit isolation `in-process`, for `plexusctl explain`, and in a sandbox process. Results are
 * remembered, so that a second admission of the same bytes costs at most a hash.
 */
export class Admission implements ComponentAdmission {
  readonly #results = new AdmissionResults();

  /**
   * Admits a component. Faults, which name the construct and its byte: COMPONENT_REFUSED, CAPABILITY_NOT_GRANTED, LIMIT_MEMORY. The result
   * is remembered under the bytes' digest. The one-shot engine passes the file's `name` instead, which avoids loading node:crypto
   * (14 of 33 ms).
   */
  admit(bytes: Uint8Array, terms: AdmissionTerms, name?: string): Result<AdmittedComponent> {
    return requireGrants(this.examine(bytes, terms.limits, name ?? digestOf(bytes)), terms.granted);
  }

  /** Examines a component without its grants. `name` names its bytes. Faults as `admit`. */
  examine(bytes: Uint8Array, limits: Limits, name: string): Result<AdmittedComponent> {
    const tooLong = lengthFault(bytes.length, limits);
    if (tooLong !== undefined) return tooLong;
    const key = keyOf(name, limits);
    const known = this.#results.get(key);
    if (known !== undefined) return known;
    // A copy: the caller may change its buffer later.
    const examined = examineComponent(Uint8Array.from(bytes), limits);
    const result = examined.ok ? ok({ ...examined.value, key }) : examined;
    this.#results.add(key, result);
    return result;
  }

  recall(name: string, terms: AdmissionTerms): Result<AdmittedComponent> | undefined {
    const result = this.#results.get(keyOf(name, terms.limits));
    return result === undefined ? undefined : requireGrants(result, terms.granted);
  }
}

/** The key of a component's result: its name, and the limits that its modules contain. */
export function keyOf(name: string, { memoryPages, tableEntries, coreInstances }: Limits): string {
  return `${name}/${memoryPages}/${tableEntries}/${coreInstances}`;
}

/** The fault of a component that is too long; undefined for any other. */
export function lengthFault(length: number, { componentBytes }: Limits): Result<never> | undefined {
  if (length <= componentBytes) return undefined;
  return failed(fault("COMPONENT_REFUSED", `component refused: ${length} bytes (${componentLimit(componentBytes)})`));
}

/**
 * The result without the optional capabilities that are not among `granted`; CAPABILITY_NOT_GRANTED if the component imports another one that
 * is not.
 */
export function requireGrants(result: Result<AdmittedComponent>, granted: readonly string[]): Result<AdmittedComponent> {
  if (!result.ok) return result;
  const { declaration, capabilities } = result.value;
  const ungranted = capabilities.filter((name) => !granted.includes(name));
  if (ungranted.length === 0) return result;
  const missing = ungranted.filter((name) => declaration.optional?.includes(name) !== true);
  if (missing.length === 0)
    return ok({ ...result.value, capabilities: capabilities.filter((name) => granted.includes(name)), ungranted });
  const declared = Object.keys(declaration.capabilities);
  const reasons = missing.map((name) => `${name} (${quote(declaration.capabilities[name] ?? "", 120)})`);
  const rest = `granted: ${granted.length === 0 ? "none" : granted.join(", ")}; it declares: ${declared.join(", ")}`;
  const why = `the delegate ${declaration.name} imports ${reasons.join(", ")}, which the administrator did not grant (${rest})`;
  return failed(fault("CAPABILITY_NOT_GRANTED", `component refused: ${why}`));
}

function digestOf(bytes: Uint8Array): string {
  const { hash } = process.getBuiltinModule("node:crypto");
  return `sha256:${hash("sha256", bytes, "hex")}`;
}
