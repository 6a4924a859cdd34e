// The files that an installation copies: a build's `dist/`, an unpacked release, or Plexus' directory in the image.

import { existsSync, readdirSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { plexusctlCommand } from "./plexusctl-command.ts";

/** A file to install. */
export interface SourceFile {
  /** Path relative to the directory in which the file is installed: a file name, or a file name in one subdirectory. */
  readonly name: string;
  /** The file to copy, or the content. */
  readonly content: { readonly path: string } | { readonly text: string };
  readonly mode: number;
}

/** The files of one release. */
export interface Source {
  /** Files of Plexus' home directory without the programs' code. */
  readonly home: readonly SourceFile[];
  /** The directory with the programs' code. */
  readonly code: string;
  readonly shim: SourceFile;
  readonly components: readonly SourceFile[];
}

const programs = ["plexusd.cjs", "plexusctl.cjs"];

/**
 * Finds the files below `from`. A build has the shim beside the programs and the components in `delegates/`; a release and the image have both in
 * `cni/`. A package of npm lacks `bin/node`: `ownNode`, the running executable, then takes its place. Fault INSTALL_REFUSED.
 */
export function readSource(from: string, ownNode: string): Result<Source> {
  const isRelease = existsSync(join(from, "cni"));
  const components = join(from, isRelease ? "cni" : "delegates");
  const shim = join(from, isRelease ? "cni/plexus" : "plexus");
  const code = join(from, "engine");
  const sandbox = join(from, "bin/plexus-sandbox");
  const addon = join(from, "bin/plexus-zygote.node");
  const absent = [shim, code, components, sandbox, addon, ...programs.map((name) => join(from, name))].filter(
    (path) => !existsSync(path),
  );
  if (absent.length > 0)
    return failed(fault("INSTALL_REFUSED", `${from} is not a complete release of Plexus: ${absent.join(", ")} is missing`));
  const bundled = join(from, "bin/node");
  const node = realpathSync(existsSync(bundled) ? bundled : ownNode);
  return ok({
    home: [
      ...programs.map((name) => ({ name, content: { path: join(from, name) }, mode: 0o644 })),
      { name: "bin/plexusctl", content: { text: plexusctlCommand }, mode: 0o755 },
      { name: "bin/node", content: { path: node }, mode: 0o755 },
      { name: "bin/plexus-sandbox", content: { path: sandbox }, mode: 0o755 },
      { name: "bin/plexus-zygote.node", content: { path: addon }, mode: 0o644 },
    ],
    code,
    shim: { name: "plexus", content: { path: shim }, mode: 0o755 },
    components: readdirSync(components)
      .filter((name) => name.endsWith(".wasm"))
      .toSorted()
      .map((name) => ({ name, content: { path: join(components, name) }, mode: 0o644 })),
  });
}

/** The components of `--components`: `all`, `none`, or names separated by commas. Fault INSTALL_REFUSED for an unknown name. */
export function selectComponents(components: readonly SourceFile[], selection: string): Result<readonly SourceFile[]> {
  if (selection === "all") return ok(components);
  if (selection === "none") return ok([]);
  const wanted = selection.split(",").map((name) => (name.endsWith(".wasm") ? name : `${name}.wasm`));
  const unknown = wanted.filter((name) => !components.some((component) => component.name === name));
  if (unknown.length === 0) return ok(components.filter(({ name }) => wanted.includes(name)));
  const available = components.map(({ name }) => name.replace(/\.wasm$/, "")).join(", ");
  return failed(
    fault(
      "INSTALL_REFUSED",
      `--components ${selection}: the release has no ${unknown.join(", ")}; it has ${available}, or give all or none`,
    ),
  );
}
