// Admission: everything about a component that can be known before any of it is compiled.

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

/** A component that may run, with what it may call. */
export interface AdmittedComponent {
  /** `sha256:` and 64 hexadecimal digits, of the component's bytes; computed when asked for. */
  readonly digest: () => string;
  /** Tells apart components, and what the same bytes became under other limits. */
  readonly key: string;
  readonly bytes: number;
  readonly declaration: Declaration;
  /** Interfaces that it imports, those without functions included, e.g. `cni:delegate/log@0.1.0`. */
  readonly imports: readonly string[];
  /** Capabilities that it can call: all declared and granted. */
  readonly capabilities: readonly string[];
  /** Core modules with bounded memory, tables and time. */
  readonly modules: readonly Uint8Array[];
  readonly plan: LinkPlan;
}

export interface AdmissionTerms {
  /** Names of the capabilities that the administrator grants. */
  readonly granted: readonly string[];
  readonly limits: Limits;
}

// Exports beside the delegate's interface that are left alone: set-up of the QuickJS backend, which is never called.
const leftAlone: readonly string[] = ["init"];
const cacheSize = 64;

/** Admits components; remembers what their bytes are, so that a second admission costs a hash or less. */
export class Admission {
  private readonly known = new Map<string, Result<AdmittedComponent>>();

  /**
   * Admits a component or says why not, by name and byte (COMPONENT_REFUSED, CAPABILITY_NOT_GRANTED, LIMIT_MEMORY). What is
   * remembered goes under the bytes' digest; a brain that lives for one call gives the `identity` of the file instead, which
   * spares it the loading of node:crypto (14 ms of 33).
   */
  admit(bytes: Uint8Array, terms: AdmissionTerms, identity?: string): Result<AdmittedComponent> {
    if (bytes.length > terms.limits.componentBytes) {
      const msg = `component refused: ${bytes.length} bytes (at most ${terms.limits.componentBytes})`;
      return failed(fault("COMPONENT_REFUSED", msg));
    }
    return granted(this.examined(bytes, terms.limits, identity ?? digestOf(bytes)), terms.granted);
  }

  /** What the bytes are, whatever is granted: for a component that nobody calls yet. */
  examined(bytes: Uint8Array, limits: Limits, name: string): Result<AdmittedComponent> {
    const key = keyOf(name, limits);
    let result = this.known.get(key);
    if (result === undefined) {
      result = refusing(() => examine(bytes, key, limits));
      this.remember(key, result);
    }
    return result;
  }

  /** What was said of the file of this identity before; undefined where it has to be read. */
  recall(identity: string, terms: AdmissionTerms): Result<AdmittedComponent> | undefined {
    const result = this.known.get(keyOf(identity, terms.limits));
    return result === undefined ? undefined : granted(result, terms.granted);
  }

  private remember(key: string, result: Result<AdmittedComponent>): void {
    const [oldest] = this.known.keys();
    if (this.known.size >= cacheSize && oldest !== undefined) this.known.delete(oldest);
    this.known.set(key, result);
  }
}

function keyOf(name: string, { memoryPages, tableEntries }: Limits): string {
  return `${name}/${memoryPages}/${tableEntries}`;
}

function granted(result: Result<AdmittedComponent>, capabilities: readonly string[]): Result<AdmittedComponent> {
  if (!result.ok) return result;
  const component = result.value;
  return refusing(() => {
    requireGranted(component, capabilities);
    return component;
  });
}

function digestOf(bytes: Uint8Array): string {
  const { hash } = process.getBuiltinModule("node:crypto");
  return `sha256:${hash("sha256", bytes, "hex")}`;
}

function examine(bytes: Uint8Array, key: string, limits: Limits): AdmittedComponent {
  // A copy, so that nothing that the caller does to its buffer later changes what was examined.
  const own = Uint8Array.from(bytes);
  readPreamble(new Reader(own));
  const host = new HostInterfaces();
  const imports = new Set<string>();
  const evaluated = evaluateComponent(new Reader(own), host.shapes, (name, exports, at) => {
    host.checkImport(name, exports, at);
    imports.add(name);
  });
  const declaration = readDeclaration(evaluated.customs);
  const [main, second] = [...evaluated.exports].filter(([name]) => !leftAlone.includes(name));
  if (second !== undefined) refuse(`export "${second[0]}" is one too many: a delegate exports its plugin only`, second[1].at);
  if (main === undefined) refuse("the component exports nothing");
  const exported = host.checkExport(main[0], main[1].item, main[1].at);
  const { abi } = host;
  if (declaration.abi !== abi.version)
    refuse(`the declaration says ABI ${declaration.abi}, the component's names ${abi.version}`);
  requireKnown(Object.keys(declaration.capabilities), capabilitiesOf(abi), "the declaration asks for");
  const { plan, modules } = makePlan(abi, evaluated.instantiations, exported);
  const undeclared = plan.capabilities.find((name) => !Object.hasOwn(declaration.capabilities, name));
  if (undeclared !== undefined) refuse(`imports the capability "${undeclared}" without declaring it`);
  const bound = modules.map((module) => boundModule(module, limits));
  const memories = Object.fromEntries(bound.flatMap(({ memory }, number) => (memory === undefined ? [] : [[number, memory]])));
  return {
    digest: () => digestOf(own),
    key,
    bytes: own.length,
    declaration,
    imports: [...imports],
    capabilities: plan.capabilities,
    modules: bound.map(({ bytes: rewritten }) => rewritten),
    plan: { ...plan, memories },
  };
}

function requireGranted(component: AdmittedComponent, capabilities: readonly string[]): void {
  const valid = Object.keys(component.declaration.capabilities);
  const missing = component.capabilities.filter((name) => !capabilities.includes(name));
  if (missing.length === 0) return;
  const reasons = missing.map((name) => `${name} (${quote(component.declaration.capabilities[name] ?? "", 120)})`);
  const rest = `granted: ${capabilities.length === 0 ? "none" : capabilities.join(", ")}; it declares: ${valid.join(", ")}`;
  refuse(
    `the delegate ${component.declaration.name} imports ${reasons.join(", ")}, which the administrator did not grant (${rest})`,
    undefined,
    "CAPABILITY_NOT_GRANTED",
  );
}

function refusing<T>(act: () => T): Result<T> {
  try {
    return ok(act());
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const where = error.offset === undefined ? "" : ` (byte ${error.offset})`;
    return failed(fault(error.kind, `component refused: ${error.message}${where}`));
  }
}
