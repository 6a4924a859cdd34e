// The description of a component, and the refusals of a node: by the node's own admission, without a node's configuration.

import { createHash } from "node:crypto";
import { catalogue } from "../../../src/fault/catalogue.ts";
import { Admission } from "../../../host/sandbox/admission/admit.ts";
import { type Declaration, readDeclaration } from "../../../host/sandbox/admission/declaration.ts";
import { evaluateComponent } from "../../../host/sandbox/admission/evaluate.ts";
import { catchRefusal } from "../../../host/sandbox/admission/examine.ts";
import { Shapes } from "../../../host/sandbox/admission/shapes.ts";
import { Reader } from "../../../wit/binary/reader.ts";
import { WorkBudget } from "../../../host/sandbox/binary/work-budget.ts";
import type { Limits } from "../../../host/sandbox/limits.ts";

/** A declared capability. `imported`: the component's code can call it. `optional`: a node loads the component without its grant, too. */
export interface InspectedCapability {
  readonly name: string;
  readonly reason: string;
  readonly imported: boolean;
  readonly optional: boolean;
}

/** The document of `plexus-delegate inspect -o json`. */
export interface Inspection {
  readonly apiVersion: "plexus/v1";
  readonly kind: "ComponentInspection";
  readonly file: string;
  readonly bytes: number;
  /** `sha256:` and 64 hexadecimal digits. */
  readonly digest: string;
  /** The declaration; null if the component has none, or an invalid one. */
  readonly delegate: Omit<Declaration, "capabilities" | "optional"> | null;
  /** Versions of `cni:delegate` in the names of imports and exports. */
  readonly abi: readonly string[];
  readonly imports: readonly string[];
  readonly exports: readonly string[];
  /** The declared capabilities. */
  readonly capabilities: readonly InspectedCapability[];
  /** The limits with which the component was examined. */
  readonly limits: Limits;
  readonly coreModules: number | null;
  /** Whether a node with these limits would run the component, once its capabilities are granted. */
  readonly loads: boolean;
  /** The node's refusal; null if it would run the component. */
  readonly problem: { readonly kind: string; readonly code: number; readonly msg: string; readonly remedy: string } | null;
}

/** Inspects a component's bytes. `file` is its name in the answer. Never throws. */
export function inspectComponent(file: string, bytes: Uint8Array, limits: Limits): Inspection {
  const digest = `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
  const examined = new Admission().examine(bytes, limits, digest);
  const outline = outlineOf(bytes, limits);
  const { declaration } = outline;
  const callable = examined.ok ? examined.value.capabilities : [];
  const { capabilities = {}, optional = [] } = declaration ?? {};
  const problem = examined.ok ? null : examined.fault;
  return {
    apiVersion: "plexus/v1",
    kind: "ComponentInspection",
    file,
    bytes: bytes.length,
    digest,
    delegate: declaration === undefined ? null : outlineOfDelegate(declaration),
    abi: versionsOf([...outline.imports, ...outline.exports]),
    imports: outline.imports,
    exports: outline.exports,
    capabilities: Object.entries(capabilities).map(([name, reason]) => ({
      name,
      reason,
      imported: callable.includes(name),
      optional: optional.includes(name),
    })),
    limits,
    coreModules: examined.ok ? examined.value.modules.length : null,
    loads: problem === null,
    problem:
      problem === null
        ? null
        : { kind: problem.kind, code: problem.code, msg: problem.msg, remedy: catalogue[problem.kind].remedy },
  };
}

function outlineOfDelegate({ name, abi, version, about, cniVersions }: Declaration): Inspection["delegate"] {
  return { name, abi, version, about, cniVersions };
}

interface Outline {
  readonly imports: readonly string[];
  readonly exports: readonly string[];
  readonly declaration: Declaration | undefined;
}

/** Names and declaration, also of a component that is refused: as far as it can be read. */
function outlineOf(bytes: Uint8Array, limits: Limits): Outline {
  const imports: string[] = [];
  const read = catchRefusal(() =>
    evaluateComponent(new Reader(bytes), new Shapes(), (name) => void imports.push(name), new WorkBudget(limits.coreInstances)),
  );
  const declaration = read.ok ? catchRefusal(() => readDeclaration(read.value.customs)) : undefined;
  return {
    // A nested component imports them again.
    imports: [...new Set(imports)],
    exports: read.ok ? [...read.value.exports.keys()] : [],
    declaration: declaration?.ok === true ? declaration.value : undefined,
  };
}

function versionsOf(names: readonly string[]): readonly string[] {
  return [...new Set(names.flatMap((name) => /^cni:delegate\/[^@]+@(.+)$/.exec(name)?.[1] ?? []))];
}
