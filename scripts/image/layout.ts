// `node scripts/image/layout.ts --architecture ARCH --output DIR [--node DIR]`: lays out the files of Plexus in a root directory as they are
// on a node: DIR/opt/plexus with Node, engine and programs, and DIR/opt/plexus/cni with the shim and the components. Needs a build in dist/.

import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";

import { z } from "zod";

import { shelllessCommand } from "../../host/node/install/plexusctl-command.ts";
import { codePrefix, digestOf, type InstalledFile, listName, listText } from "../../host/node/uninstall/installed-files.ts";
import { buildLauncher } from "../../host/sandbox/launcher/build.ts";
import { buildShim } from "../../host/shim/build.ts";
import { bundledPackages, bundledPackagesFile } from "../bundled-packages.ts";
import { type Architecture, architectures, machineArchitecture } from "./debian-packages.ts";
import { downloadNode } from "./node-package.ts";

/** The settings of a layout. */
export interface LayoutInit {
  readonly architecture: Architecture;
  /** The root directory to fill. */
  readonly output: string;
  /** The directory of Node's npm package for the architecture, with `bin/node` and `LICENSE`. */
  readonly node: string;
}

/** Debian's cross compilers by target. Debian has the compiler of the machine itself under such a name, too. */
const compilers: Readonly<Record<Architecture, string>> = { amd64: "x86_64-linux-gnu-gcc", arm64: "aarch64-linux-gnu-gcc" };

const root = resolve(import.meta.dirname, "../..");
const dist = join(root, "dist");
const home = "opt/plexus";
const plugins = "opt/plexus/cni";

/** Fills `output`. Modes do not depend on the umask. Throws the errors of node:fs and of the compiler. */
export async function layOut({ architecture, output, node }: LayoutInit): Promise<void> {
  const programs = await compiledFor(architecture);
  const file = (from: string, to: string, mode: number): void => {
    mkdirSync(dirname(join(output, to)), { recursive: true });
    copyFileSync(from, join(output, to));
    chmodSync(join(output, to), mode);
  };
  file(join(node, "bin", "node"), `${home}/bin/node`, 0o755);
  strip(architecture, join(output, home, "bin", "node"));
  file(join(programs, "bin", "plexus-sandbox"), `${home}/bin/plexus-sandbox`, 0o755);
  file(join(programs, "bin", "plexus-zygote.node"), `${home}/bin/plexus-zygote.node`, 0o644);
  file(join(programs, "plexus"), `${plugins}/plexus`, 0o755);
  for (const program of ["plexusd.cjs", "plexusctl.cjs", "plexus-controller.cjs"])
    file(join(dist, program), `${home}/${program}`, 0o644);
  writeFileSync(join(output, home, "bin", "plexusctl"), shelllessCommand(`/${home}`), { mode: 0o755 });
  const components = readdirSync(join(dist, "delegates"))
    .filter((name) => name.endsWith(".wasm"))
    .toSorted();
  for (const name of components) file(join(dist, "delegates", name), `${plugins}/${name}`, 0o644);
  const code = placeCode(join(output, home));
  symlinkSync(code, join(output, home, "engine"));
  // The shim finds the home directory by this link beside itself.
  symlinkSync("..", join(output, plugins, ".plexus"));
  // The controller runs from the image only, and is not put on nodes.
  const inHome = ["plexusd.cjs", "plexusctl.cjs", "bin/plexusctl", "bin/node", "bin/plexus-sandbox", "bin/plexus-zygote.node"];
  const installed: readonly InstalledFile[] = [
    ...["plexus", ...components].map(
      (name) => ({ place: "cni-bin", name, digest: digestOf(join(output, plugins, name)) }) as const,
    ),
    ...inHome.map((name) => ({ place: "home", name, digest: digestOf(join(output, home, name)) }) as const),
  ];
  writeFileSync(join(output, home, listName), listText(installed));
  placeLicences(join(output, "usr/share/doc/plexus"), node);
  normaliseModes(output);
}

/** Takes out the symbols of functions, a fifth of Node's file, which only a debugger reads. */
function strip(architecture: Architecture, file: string): void {
  const program = architecture === machineArchitecture() ? "strip" : compilers[architecture].replace(/gcc$/u, "strip");
  const { status, stderr, error } = spawnSync(program, [file], { encoding: "utf8" });
  if (status !== 0) throw new Error(`${program} ${file}: ${error?.message ?? stderr}`);
}

/** The directory of shim and launcher: the build's own, or one for another architecture. */
async function compiledFor(architecture: Architecture): Promise<string> {
  if (architecture === machineArchitecture()) return dist;
  if (spawnSync(compilers[architecture], ["--version"]).status !== 0)
    throw new Error(
      `no ${compilers[architecture]} on PATH to compile for ${architecture}: install it (Debian: apt-get install gcc-${compilers[architecture].replace("_", "-").replace(/-gcc$/u, "")} libc6-dev-${architecture}-cross)`,
    );
  const outDir = join(dist, "image", architecture);
  await buildShim({ outDir, cc: compilers[architecture] });
  await buildLauncher({ outDir, cc: compilers[architecture] });
  return outDir;
}

/**
 * Copies the engine's code into a directory that is named by its digest. Answers the name. V8's code caches, in a directory of their own, are left out: they
 * serve one architecture, and no two builds make the same ones. The installation makes them.
 */
function placeCode(directory: string): string {
  const from = join(dist, "engine");
  const names = readdirSync(from, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name)
    .toSorted();
  const hash = createHash("sha256");
  for (const name of names) hash.update(`${name} ${digestOf(join(from, name))}\n`);
  const code = `${codePrefix}${hash.digest("hex").slice(0, 12)}`;
  mkdirSync(join(directory, code), { recursive: true });
  for (const name of names) copyFileSync(join(from, name), join(directory, code, name));
  return code;
}

/** Licences of Plexus, of Node with its own dependencies, and of the packages whose code is in the engine or in the components. */
function placeLicences(directory: string, node: string): void {
  mkdirSync(directory, { recursive: true });
  copyFileSync(join(root, "LICENSE"), join(directory, "LICENSE"));
  copyFileSync(join(node, "LICENSE"), join(directory, "LICENSE.node"));
  // The SBOM is made from this list.
  copyFileSync(join(dist, bundledPackagesFile), join(directory, bundledPackagesFile));
  const texts = bundledPackages(readFileSync(join(dist, bundledPackagesFile), "utf8")).map((path) => {
    return `${path.slice("node_modules/".length)}\n\n${licenceOf(join(root, path))}`;
  });
  writeFileSync(join(directory, "LICENSE.packages"), texts.join(`\n${"-".repeat(80)}\n\n`));
}

/** The texts of a package's licence files; without such files, the licence that the package declares. */
function licenceOf(directory: string): string {
  const names = readdirSync(directory).filter((name) => /^(?:licen[cs]e|notice)/i.test(name));
  if (names.length > 0)
    return names
      .toSorted()
      .map((name) => readFileSync(join(directory, name), "utf8"))
      .join("\n");
  const manifest = Manifest.parse(JSON.parse(readFileSync(join(directory, "package.json"), "utf8")));
  if (manifest.license === undefined) throw new Error(`${directory} declares no licence`);
  return `Licence: ${manifest.license} (the package has no text of its own)\n`;
}

const Manifest = z.looseObject({ license: z.string().optional() });

/** Gives directories mode 755, and files 755 or 644: whatever the umask is, and whoever may write the source. */
function normaliseModes(output: string): void {
  // Not readdir's own recursion, which follows the link `.plexus`.
  for (const entry of readdirSync(output, { withFileTypes: true })) {
    const path = join(output, entry.name);
    if (entry.isDirectory()) {
      chmodSync(path, 0o755);
      normaliseModes(path);
    } else if (entry.isFile()) chmodSync(path, isProgram(path) ? 0o755 : 0o644);
  }
}

function isProgram(path: string): boolean {
  return ["/bin/node", "/bin/plexus-sandbox", "/bin/plexusctl", "/cni/plexus"].some((end) => path.endsWith(end));
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: { architecture: { type: "string" }, output: { type: "string" }, node: { type: "string" } },
  });
  const architecture = architectures.find((each) => each === values.architecture);
  if (architecture === undefined || values.output === undefined)
    throw new Error(`usage: layout.ts --architecture ${architectures.join("|")} --output DIR [--node DIR]`);
  let node = values.node;
  if (node === undefined || !existsSync(node)) {
    node = mkdtempSync(join(tmpdir(), "plexus-node-"));
    await downloadNode(architecture, node);
  }
  await layOut({ architecture, output: values.output, node });
}
