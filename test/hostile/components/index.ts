// All hostile components with their expected verdicts, for tests of the sandbox and of the built binary.

import { readdirSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { FaultKind } from "../../../src/fault/catalogue.ts";
import { crafted } from "./crafted.ts";
import { buildWat, readWat } from "./wat.ts";

export interface HostileComponent {
  readonly name: string;
  readonly about: string;
  /** The expected fault kind, or OK for a component that harms only itself. */
  readonly verdict: FaultKind | "OK";
  /** Whether the fault occurs at admission, before compilation, or in the call of ADD. */
  readonly at: "admission" | "call";
  /** A part of the fault's message. */
  readonly message: string;
  /** Capabilities that the component is granted. */
  readonly granted: readonly string[];
  readonly build: () => Promise<Uint8Array>;
}

const verdicts: readonly HostileComponent["verdict"][] = [
  "OK",
  "ABI_VIOLATED",
  "CAPABILITY_NOT_GRANTED",
  "COMPONENT_REFUSED",
  "DELEGATE_FAILED",
  "DELEGATE_TRAPPED",
  "LIMIT_LOG",
  "LIMIT_MEMORY",
  "LIMIT_OUTPUT",
  "LIMIT_RECURSION",
  "LIMIT_TIME",
];

const fromWat = readdirSync(new URL("./wat/", import.meta.url))
  .filter((file) => file.endsWith(".wat"))
  .sort()
  .map((file): HostileComponent => {
    const name = file.slice(0, -4);
    const { about, headers } = readWat(name);
    return {
      name,
      about,
      verdict: verdictOf(headers["verdict"]),
      at: headers["at"] === "admission" ? "admission" : "call",
      message: headers["message"] ?? "",
      granted: (headers["granted"] ?? "log,leases").split(","),
      build: () => buildWat(name),
    };
  });

export const hostileComponents: readonly HostileComponent[] = [
  ...fromWat,
  ...crafted.map((it): HostileComponent => ({
    name: it.name,
    about: it.about,
    verdict: it.kind ?? "COMPONENT_REFUSED",
    at: it.at ?? "admission",
    message: it.message,
    granted: ["log", "leases"],
    build: it.build,
  })),
];

function verdictOf(text: string | undefined): HostileComponent["verdict"] {
  const verdict = verdicts.find((it) => it === text);
  if (verdict === undefined) throw new Error(`unknown verdict: ${text}`);
  return verdict;
}

/** Writes every component as `<name>.wasm` into a directory and answers the paths by name. */
export async function writeHostileComponents(directory: string): Promise<ReadonlyMap<string, string>> {
  mkdirSync(directory, { recursive: true });
  const paths = new Map<string, string>();
  for (const { name, build } of hostileComponents) {
    const path = join(directory, `${name}.wasm`);
    writeFileSync(path, await build());
    paths.set(name, path);
  }
  return paths;
}
