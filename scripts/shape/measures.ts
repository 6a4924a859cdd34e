// The measures of a checkout's shape: how much there is, how many types carry a call's context, and how far a call walks.

import { dirname } from "node:path";
import { closure, type ImportKind, type Imports, readImports } from "./imports.ts";
import { allLines, type Checkout, isProductCode } from "./source-files.ts";

/** A row of the table. */
export interface Measure {
  readonly name: string;
  readonly value: string;
}

/** Types that carry a part of a call's context, as issue 32 lists them. */
const contextTypes = [
  "CallHost",
  "EngineDeps",
  "CallInProgress",
  "ChainIdentity",
  "CallContext",
  "PlanContext",
  "CallResources",
  "ChainRunnerInit",
  "ShadowedChain",
  "RuleRunnerInit",
  "ChainContext",
  "NativeStepResources",
  "RunningStep",
  "DelegateHost",
  "CapabilityHost",
  "CallOfDelegates",
  "GuestCall",
  "Need",
];

/** The code that an installed program may contain. */
const installed = /^(?:src|host|features|wit)\//;
const modules = /^(?:(?:host|features)\/[^/]+|delegates\/sdk|[^/]+)(?=\/)/;

/** All measures of a checkout. */
export function measuresOf(checkout: Checkout): readonly Measure[] {
  const code = checkout.files.filter(isProductCode);
  const product = code.filter((file) => installed.test(file));
  const imports = readImports(checkout, code);
  return [
    ...sizes(checkout, code),
    ...contexts(checkout, product),
    ...importCounts(imports, product),
    ...walks(checkout, imports, product),
    ...walkedFiles(checkout),
    ...facts(checkout, product),
  ];
}

/** Files and lines of the whole and of each module; folders. */
function sizes(checkout: Checkout, code: readonly string[]): readonly Measure[] {
  const byModule = Map.groupBy(code, (file) => modules.exec(file)?.[0] ?? "(root)");
  const product = code.filter((file) => installed.test(file));
  return [
    { name: "installed code (`src`, `host`, `features`, `wit`): files, lines", value: sizeOf(checkout, product) },
    ...[...byModule].toSorted().map(([name, files]) => ({ name: `\`${name}\`: files, lines`, value: sizeOf(checkout, files) })),
    { name: "folders with installed code", value: foldersOf(product) },
    { name: "folders of the repository", value: foldersOf(checkout.files) },
  ];
}

function contexts(checkout: Checkout, product: readonly string[]): readonly Measure[] {
  const present = contextTypes.filter((name) => {
    const declaration = new RegExp(`\\b(?:interface|type|class) ${name}\\b(?! *\\})`);
    return product.some((file) => declaration.test(checkout.read(file)));
  });
  const host = product.filter((file) => /^(?:host|features)\//.test(file));
  const names = new Set(product.flatMap((file) => [...checkout.read(file).matchAll(/\b[a-z]\w*Ms\b/g)].map(([name]) => name)));
  return [
    { name: `context types of issue 32 (${contextTypes.length})`, value: String(present.length) },
    { name: "interfaces `…Init` in `host`, `features`", value: count(checkout, host, /\binterface \w+Init\b/g) },
    { name: "lines with `Pick<` in `host`, `features`", value: lineCount(checkout, host, /\bPick</) },
    { name: "names that end in `Ms`", value: String(names.size) },
  ];
}

function importCounts(imports: Imports, product: readonly string[]): readonly Measure[] {
  const importsOfFile = (pattern: RegExp): string => {
    const file = product.find((path) => pattern.test(path));
    return file === undefined ? "no such file" : String(imports.get(file)?.length ?? 0);
  };
  const dynamic = product.flatMap((file) => imports.get(file) ?? []).filter(({ kind }) => kind === "dynamic");
  return [
    { name: "imports of `plan-call.ts`", value: importsOfFile(/\/engine\/plan\/plan-call\.ts$/) },
    { name: "imports of `daemon.ts`", value: importsOfFile(/\/plexusd\/daemon\.ts$/) },
    { name: "dynamic imports", value: String(dynamic.length) },
  ];
}

/** The files that a call may walk: those that its first file imports, over static imports that the build does not erase. */
function walks(checkout: Checkout, imports: Imports, product: readonly string[]): readonly Measure[] {
  const walk = (name: string, pattern: RegExp, kinds: readonly ImportKind[], without: ReadonlySet<string>): Measure => {
    const entry = product.find((file) => pattern.test(file));
    if (entry === undefined) return { name, value: "no such file" };
    const files = [...closure(imports, [entry], kinds)].filter((file) => !without.has(file));
    return { name: `${name}: files, lines`, value: sizeOf(checkout, files) };
  };
  const add = product.find((file) => addEntry.test(file));
  const addFiles = add === undefined ? new Set<string>() : closure(imports, [add], ["static"]);
  return [
    walk("ADD: static imports from `engine/verbs/add.ts`", addEntry, ["static"], new Set()),
    walk("WASM step: further files from `engine/steps/delegate-step.ts`", wasmEntry, ["static"], addFiles),
    walk(
      "any call: static imports from the engine's `call-session.ts`",
      /\/engine\/(?:\w+\/)?call-session\.ts$/,
      ["static"],
      new Set(),
    ),
  ];
}

/** The bounds on the files that an ADD through a daemon runs, which test/node/daemon/walked-files.test.ts counts. */
function walkedFiles(checkout: Checkout): readonly Measure[] {
  const test = checkout.files.find((file) => file.endsWith("/walked-files.test.ts"));
  const bounds = /\bmaxFiles = \{ native: (\d+), wasm: (\d+) \}/.exec(test === undefined ? "" : checkout.read(test));
  return [
    {
      name: "ADD through the daemon: files that run at most, native, with components",
      value: bounds?.slice(1).join(", ") ?? "no test",
    },
  ];
}

const addEntry = /\/engine\/verbs\/add\.ts$/;
const wasmEntry = /\/engine\/steps\/(?:delegate|wasm)-step\.ts$/;

/** Facts that are known in several places. */
function facts(checkout: Checkout, product: readonly string[]): readonly Measure[] {
  const knowing = (name: string): string => {
    const known = [...product, ...checkout.files.filter((file) => /^deploy\/helm\/.*\.(?:yaml|tpl|json)$/.test(file))];
    return String(known.filter((file) => new RegExp(`\\b${name}\\b`).test(checkout.read(file))).length);
  };
  return [
    { name: "lines that call `performance.now()`", value: lineCount(checkout, product, /\bperformance\.now\(\)/) },
    { name: "lines that call `getBuiltinModule`", value: lineCount(checkout, product, /\bgetBuiltinModule\b/) },
    { name: "files that know `callTimeoutMs` (code and chart)", value: knowing("callTimeoutMs") },
    { name: "files that know `externalPorts` (code and chart)", value: knowing("externalPorts") },
  ];
}

function foldersOf(files: readonly string[]): string {
  return String(new Set(files.map((file) => dirname(file))).size);
}

function sizeOf(checkout: Checkout, files: readonly string[]): string {
  const lines = files.reduce((sum, file) => sum + allLines(checkout.read(file)), 0);
  return `${files.length}, ${lines}`;
}

function count(checkout: Checkout, files: readonly string[], pattern: RegExp): string {
  return String(files.reduce((sum, file) => sum + [...checkout.read(file).matchAll(pattern)].length, 0));
}

function lineCount(checkout: Checkout, files: readonly string[], pattern: RegExp): string {
  return String(
    files.reduce(
      (sum, file) =>
        sum +
        checkout
          .read(file)
          .split("\n")
          .filter((line) => pattern.test(line)).length,
      0,
    ),
  );
}
