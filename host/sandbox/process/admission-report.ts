// Checks the answer of a sandbox process that has examined a component. The component may have taken over the process, so the answer is
// untrusted. It decides nothing about other components: the plan and the modules run only in processes of this component, the engine compares
// the capabilities with the grants, and it refuses every import of a capability that is not among them.

import type { FaultKind } from "../../../src/fault/catalogue.ts";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { inertLine } from "../../../src/text/inert-text.ts";
import { NonConforming } from "../abi/conform.ts";
import { abiVersions, capabilitiesOf } from "../abi/versions.ts";
import { checkDeclaration } from "../admission/declaration.ts";
import { catchRefusal, type ExaminedComponent } from "../admission/examine.ts";
import { maxWork } from "../binary/work-budget.ts";
import { maxLimits } from "../limits.ts";
import { type LinkPlan } from "../linker/plan.ts";
import type { Frame } from "./frames.ts";

const maxMessage = 2_000;
const maxNames = 100;
const maxName = 256;

/** Maximum bytes of an answer: a rewritten module has at most some 20 bytes more for each metered place. The plan has the names of the imports. */
export function maxReportBytes(componentBytes: number): number {
  return 2 * componentBytes + 20 * maxWork.meteredPlaces;
}

const refusals: readonly FaultKind[] = ["COMPONENT_REFUSED", "LIMIT_MEMORY"];

/** The examined component, or the fault of its refusal. Throws NonConforming for an answer that no intact process sends. */
export function readReport({ json, raw }: Frame): Result<ExaminedComponent> {
  const { refused, declaration, imports, capabilities, plan, sizes } = fields(json);
  if (refused !== undefined) {
    const { fault: kind, message } = fields(refused);
    const known = refusals.find((each) => each === kind);
    if (known === undefined || typeof message !== "string") throw new NonConforming("a refusal of an unknown kind");
    return failed(fault(known, inertLine(message, maxMessage)));
  }
  const declared = catchRefusal(() => checkDeclaration(declaration));
  if (!declared.ok) throw new NonConforming("a declaration that is not valid");
  const abi = Object.hasOwn(abiVersions, declared.value.abi) ? abiVersions[declared.value.abi] : undefined;
  const { abi: planned, instances, verbs, memories } = fields(plan);
  if (abi === undefined || planned !== abi.version || !Array.isArray(instances) || !isObject(verbs) || !isObject(memories))
    throw new NonConforming("a plan that is not valid");
  const known = capabilitiesOf(abi);
  const callable = namesOf(capabilities);
  if (!callable.every((name) => known.includes(name) && Object.hasOwn(declared.value.capabilities, name)))
    throw new NonConforming("a capability that is not declared or does not exist");
  const sandboxPlan = { abi: abi.version, instances, verbs, memories, capabilities: callable };
  return ok({
    declaration: declared.value,
    imports: namesOf(imports),
    capabilities: callable,
    modules: modulesOf(raw, sizes),
    // Only processes of this component read the rest of the plan.
    plan: sandboxPlan as LinkPlan,
  });
}

function namesOf(value: unknown): readonly string[] {
  if (!Array.isArray(value) || value.length > maxNames) throw new NonConforming("names that are not a short list");
  return value.map((name: unknown) => {
    if (typeof name !== "string" || name.length > maxName) throw new NonConforming("a name that is not a short text");
    return inertLine(name, maxName);
  });
}

function modulesOf(raw: Buffer, sizes: unknown): readonly Uint8Array[] {
  if (!Array.isArray(sizes) || sizes.length > maxLimits.coreInstances) throw new NonConforming("too many core modules");
  let at = 0;
  const modules = sizes.map((size: unknown) => {
    if (typeof size !== "number" || !Number.isInteger(size) || size < 0 || size > raw.length - at)
      throw new NonConforming("a core module beyond the frame");
    at += size;
    return raw.subarray(at - size, at);
  });
  if (at !== raw.length) throw new NonConforming("bytes after the core modules");
  return modules;
}

function fields(json: unknown): Readonly<Record<string, unknown>> {
  if (isObject(json)) return json;
  throw new NonConforming("a value that is not an object");
}

function isObject(json: unknown): json is Readonly<Record<string, unknown>> {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}
