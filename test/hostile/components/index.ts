// All hostile components, each with what must come of it. For tests of the sandbox and of the built binary alike.

import { readdirSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { FaultKind } from "../../../src/fault/catalogue.ts";
import { crafted } from "./crafted.ts";
import { buildWat, readWat } from "./wat.ts";

export interface HostileComponent {
  readonly name: string;
  readonly about: string;
  /** The fault that comes of it, or OK where it harms nobody but itself. */
  readonly verdict: FaultKind | "OK";
  /** Whether that shows before anything is compiled, or in the call of ADD. */
  readonly at: "admission" | "call";
  /** A part of the fault's message. */
  readonly message: string;
  /** Capabilities that are granted to it. */
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
  if (verdict === undefined) throw new Error(`no such verdict: ${text}`);
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
