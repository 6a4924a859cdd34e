// Examines a component completely before it is compiled: its imports and types, its declaration, its code. Works on untrusted bytes, within a
// budget of work.

import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { capabilitiesOf } from "../abi/versions.ts";
import { readPreamble } from "../binary/component.ts";
import { Reader } from "../../../wit/binary/reader.ts";
import { Refusal, refuse } from "../../../wit/binary/refusal.ts";
import { WorkBudget } from "../binary/work-budget.ts";
import type { LinkPlan } from "../linker/plan.ts";
import { boundModule, type BoundLimits } from "./bound-module.ts";
import { readDeclaration, requireKnown, type Declaration } from "./declaration.ts";
import { evaluateComponent } from "./evaluate.ts";
import { HostInterfaces } from "./host-interfaces.ts";
import { makePlan } from "./make-plan.ts";

/** The result of an examination: everything that a runner and the check of grants need. */
export interface ExaminedComponent {
  readonly declaration: Declaration;
  /** Imported interfaces, including those without functions, for example `cni:delegate/log@1.0.0`. */
  readonly imports: readonly string[];
  /** Capabilities that the component can call. All are declared; `Admission` also requires the grants of those that are not optional. */
  readonly capabilities: readonly string[];
  /** Rewritten core modules with bounded memory, tables and time. */
  readonly modules: readonly Uint8Array[];
  readonly plan: LinkPlan;
}

// Further exports that are allowed and never called: the set-up at build time, `init` of the QuickJS backend and `exports` of componentize-py.
const ignoredExports: readonly string[] = ["init", "exports"];

/**
 * Examines a component. `bytes` must not change afterwards. Faults, which name the construct and its byte: COMPONENT_REFUSED, LIMIT_MEMORY.
 */
export function examineComponent(bytes: Uint8Array, limits: BoundLimits): Result<ExaminedComponent> {
  return catchRefusal(() => examined(bytes, limits));
}

function examined(bytes: Uint8Array, limits: BoundLimits): ExaminedComponent {
  readPreamble(new Reader(bytes));
  const host = new HostInterfaces();
  const budget = new WorkBudget(limits.coreInstances, bytes.length);
  const imports = new Set<string>();
  const hostImport: typeof host.checkImport = (name, exports, at) => {
    host.checkImport(name, exports, at);
    imports.add(name);
  };
  const evaluated = evaluateComponent(new Reader(bytes), host.shapes, hostImport, budget);
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
  const bound = modules.map((module) => boundModule(module, limits, budget));
  const memories = Object.fromEntries(bound.flatMap(({ memory }, number) => (memory === undefined ? [] : [[number, memory]])));
  return {
    declaration,
    imports: [...imports],
    capabilities: plan.capabilities,
    modules: bound.map(({ bytes: rewritten }) => rewritten),
    plan: { ...plan, memories },
  };
}

/** Runs `act`; a Refusal becomes a fault with the byte offset. */
export function catchRefusal<T>(act: () => T): Result<T> {
  try {
    return ok(act());
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const where = error.offset === undefined ? "" : ` (byte ${error.offset})`;
    return failed(fault(error.kind, `component refused: ${error.message}${where}`));
  }
}
