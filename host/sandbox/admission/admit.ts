// Admission: examines a component completely before it is compiled.

import { quote } from "../../../src/json/quote.ts";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { capabilitiesOf } from "../abi/versions.ts";
import { readPreamble } from "../binary/component.ts";
import { Reader } from "../binary/reader.ts";
import { Refusal, refuse } from "../binary/refusal.ts";
import type { Limits } from "../limits.ts";
import type { LinkPlan } from "../linker/plan.ts";
import { boundModule } from "./bound-module.ts";
import { readDeclaration, requireKnown, type Declaration } from "./declaration.ts";
import { evaluateComponent } from "./evaluate.ts";
import { HostInterfaces } from "./host-interfaces.ts";
import { makePlan } from "./make-plan.ts";

/** A component that may run, and the capabilities that it may call. */
export interface AdmittedComponent {
  /** Computes the SHA-256 of the component's bytes: `sha256:` and 64 hexadecimal digits. */
  readonly digest: () => string;
  /** Differs for each component and for each of the limits that change its modules. */
  readonly key: string;
  readonly bytes: number;
  readonly declaration: Declaration;
  /** Imported interfaces, including those without functions, for example `cni:delegate/log@0.1.0`. */
  readonly imports: readonly string[];
  /** Capabilities that the component can call. All are declared; `admit` also requires that they are granted. */
  readonly capabilities: readonly string[];
  /** Rewritten core modules with bounded memory, tables and time. */
  readonly modules: readonly Uint8Array[];
  readonly plan: LinkPlan;
}

/** The administrator's terms for a component. */
export interface AdmissionTerms {
  /** Names of the capabilities that the administrator grants. */
  readonly granted: readonly string[];
  readonly limits: Limits;
}

// Further exports that are allowed and never called: `init` is the set-up of the QuickJS backend.
const ignoredExports: readonly string[] = ["init"];
const maxResults = 64;

/** Admits components. Results are remembered, so that a second admission of the same bytes costs at most a hash. */
export class Admission {
  private readonly known = new Map<string, Result<AdmittedComponent>>();

  /**
   * Admits a component. Faults, which name the construct and its byte: COMPONENT_REFUSED, CAPABILITY_NOT_GRANTED, LIMIT_MEMORY. The result
   * is remembered under the bytes' digest. The one-shot engine passes the file's `identity` instead, which avoids loading node:crypto
   * (14 of 33 ms).
   */
  admit(bytes: Uint8Array, terms: AdmissionTerms, identity?: string): Result<AdmittedComponent> {
    if (bytes.length > terms.limits.componentBytes) {
      const msg = `component refused: ${bytes.length} bytes (at most ${terms.limits.componentBytes})`;
      return failed(fault("COMPONENT_REFUSED", msg));
    }
    return requireGrants(this.examine(bytes, terms.limits, identity ?? digestOf(bytes)), terms.granted);
  }

  /** Examines a component without its grants, for a component that is not called yet. `name` names its bytes. Faults as `admit`. */
  examine(bytes: Uint8Array, limits: Limits, name: string): Result<AdmittedComponent> {
    const key = keyOf(name, limits);
    let result = this.known.get(key);
    if (result === undefined) {
      result = catchRefusal(() => examineComponent(bytes, key, limits));
      this.remember(key, result);
    }
    return result;
  }

  /** The remembered result for a file with this identity; undefined if the file must be read. */
  recall(identity: string, terms: AdmissionTerms): Result<AdmittedComponent> | undefined {
    const result = this.known.get(keyOf(identity, terms.limits));
    return result === undefined ? undefined : requireGrants(result, terms.granted);
  }

  private remember(key: string, result: Result<AdmittedComponent>): void {
    const [oldest] = this.known.keys();
    if (this.known.size >= maxResults && oldest !== undefined) this.known.delete(oldest);
    this.known.set(key, result);
  }
}

function keyOf(name: string, { memoryPages, tableEntries }: Limits): string {
  return `${name}/${memoryPages}/${tableEntries}`;
}

function requireGrants(result: Result<AdmittedComponent>, capabilities: readonly string[]): Result<AdmittedComponent> {
  if (!result.ok) return result;
  const component = result.value;
  return catchRefusal(() => {
    refuseMissingGrants(component, capabilities);
    return component;
  });
}

function digestOf(bytes: Uint8Array): string {
  const { hash } = process.getBuiltinModule("node:crypto");
  return `sha256:${hash("sha256", bytes, "hex")}`;
}

function examineComponent(bytes: Uint8Array, key: string, limits: Limits): AdmittedComponent {
  // A copy: the caller may change its buffer later.
  const copy = Uint8Array.from(bytes);
  readPreamble(new Reader(copy));
  const host = new HostInterfaces();
  const imports = new Set<string>();
  const evaluated = evaluateComponent(new Reader(copy), host.shapes, (name, exports, at) => {
    host.checkImport(name, exports, at);
    imports.add(name);
  });
  const declaration = readDeclaration(evaluated.customs);
  const [main, second] = [...evaluated.exports].filter(([name]) => !ignoredExports.includes(name));
  if (second !== undefined) refuse(`export "${second[0]}": a delegate exports only its plugin interface`, second[1].at);
  if (main === undefined) refuse("the component exports nothing");
  const exported = host.checkExport(main[0], main[1].item, main[1].at);
  const { abi } = host;
  if (declaration.abi !== abi.version)
    refuse(`the declaration says ABI ${declaration.abi}, the component's imports and exports ABI ${abi.version}`);
  requireKnown(Object.keys(declaration.capabilities), capabilitiesOf(abi), "the declaration asks for");
  const { plan, modules } = makePlan(abi, evaluated.instantiations, exported);
  const undeclared = plan.capabilities.find((name) => !Object.hasOwn(declaration.capabilities, name));
  if (undeclared !== undefined) refuse(`imports the capability "${undeclared}" without declaring it`);
  const bound = modules.map((module) => boundModule(module, limits));
  const memories = Object.fromEntries(bound.flatMap(({ memory }, number) => (memory === undefined ? [] : [[number, memory]])));
  return {
    digest: () => digestOf(copy),
    key,
    bytes: copy.length,
    declaration,
    imports: [...imports],
    capabilities: plan.capabilities,
    modules: bound.map(({ bytes: rewritten }) => rewritten),
    plan: { ...plan, memories },
  };
}

function refuseMissingGrants(component: AdmittedComponent, capabilities: readonly string[]): void {
  const declared = Object.keys(component.declaration.capabilities);
  const missing = component.capabilities.filter((name) => !capabilities.includes(name));
  if (missing.length === 0) return;
  const reasons = missing.map((name) => `${name} (${quote(component.declaration.capabilities[name] ?? "", 120)})`);
  const rest = `granted: ${capabilities.length === 0 ? "none" : capabilities.join(", ")}; it declares: ${declared.join(", ")}`;
  refuse(
    `the delegate ${component.declaration.name} imports ${reasons.join(", ")}, which the administrator did not grant (${rest})`,
    undefined,
    "CAPABILITY_NOT_GRANTED",
  );
}

/** Runs `act`; a Refusal becomes a fault with the byte offset. */
function catchRefusal<T>(act: () => T): Result<T> {
  try {
    return ok(act());
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const where = error.offset === undefined ? "" : ` (byte ${error.offset})`;
    return failed(fault(error.kind, `component refused: ${error.message}${where}`));
  }
}
