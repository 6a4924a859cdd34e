// `node scripts/image/base.ts --architecture ARCH --output DIR [--packages DIR]`: makes the root directory of the image's base from
// Debian packages: the shared libraries that Node needs, user names, and nothing that can be executed by itself.

import { cpSync, existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { execa } from "execa";

import { type Architecture, architectures, downloadPackages } from "./debian-packages.ts";

/** The packages of the base. Their dependencies bring the rest. */
export const basePackages = ["libatomic1", "libc6", "libgcc-s1", "libstdc++6"] as const;

/** Node's shared libraries and the interpreter; a test compares them with the ELF file. Files may have a longer version in the name. */
const libraries: readonly RegExp[] = [
  /\/ld-linux[\w-]*\.so\.\d$/u,
  /\/lib(?:c|m)\.so\.6$/u,
  /\/libdl\.so\.2$/u,
  /\/libpthread\.so\.0$/u,
  /\/libgcc_s\.so\.1$/u,
  /\/libatomic\.so\.1[\d.]*$/u,
  /\/libstdc\+\+\.so\.6[\d.]*$/u,
];

/** Files that are not in packages. Root has no shell. */
const texts: Readonly<Record<string, string>> = {
  "etc/passwd": "root:x:0:0:root:/:/sbin/nologin\n",
  "etc/group": "root:x:0:\n",
  "etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
};

/** Makes the base's root in `output` from the `.deb` files of `packages`. Throws with the message of dpkg-deb. */
export async function makeBase(packages: string, output: string): Promise<void> {
  const work = mkdtempSync(join(tmpdir(), "plexus-base-"));
  try {
    const names = new Set<string>();
    const copied: string[] = [];
    for (const file of readdirSync(packages)
      .filter((name) => name.endsWith(".deb"))
      .toSorted()) {
      const root = join(work, basename(file, ".deb"));
      await execa("dpkg-deb", ["-x", join(packages, file), root]);
      const found = copyLibraries(root, output);
      if (found.length === 0) continue;
      copied.push(...found);
      const { stdout: control } = await execa("dpkg-deb", ["-f", join(packages, file)]);
      const name = /^Package: (.+)$/m.exec(control)?.[1] ?? basename(file);
      names.add(name);
      // Scanners of images read the versions of packages from these files.
      place(output, `var/lib/dpkg/status.d/${name}`, `${control}\n`);
    }
    const absent = libraries.filter((each) => !copied.some((name) => each.test(name)));
    if (absent.length > 0)
      throw new Error(
        `the packages in ${packages} lack ${absent.map(String).join(", ")}; expected are ${basePackages.join(", ")}`,
      );
    copyCopyrights(work, names, output);
    for (const [name, text] of Object.entries(texts)) place(output, name, text);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function place(output: string, name: string, text: string): void {
  mkdirSync(dirname(join(output, name)), { recursive: true });
  writeFileSync(join(output, name), text);
}

function copyLibraries(root: string, output: string): readonly string[] {
  const files = readdirSync(root, { recursive: true, encoding: "utf8" }).map((name) => `/${name}`);
  const found = files.filter((name) => libraries.some((each) => each.test(name)));
  for (const name of found) {
    mkdirSync(dirname(join(output, name)), { recursive: true });
    cpSync(join(root, name), join(output, name), { verbatimSymlinks: true });
  }
  return found;
}

/** Copies the licences. A package may have a link to another package's directory in place of its own. */
function copyCopyrights(work: string, names: ReadonlySet<string>, output: string): void {
  const roots = readdirSync(work);
  const directoryOf = (name: string): string | undefined =>
    roots.map((root) => join(work, root, "usr/share/doc", name)).find((path) => lstatSync(path, { throwIfNoEntry: false }));
  for (const name of names) {
    const directory = directoryOf(name);
    const link = directory !== undefined && lstatSync(directory).isSymbolicLink() ? readlinkSync(directory) : name;
    const copyright = join(directoryOf(link) ?? "", "copyright");
    if (!existsSync(copyright)) throw new Error(`no package has the copyright of ${name}`);
    const target = join(output, "usr/share/doc", name, "copyright");
    mkdirSync(dirname(target), { recursive: true });
    cpSync(copyright, target, { dereference: true });
  }
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: { architecture: { type: "string" }, output: { type: "string" }, packages: { type: "string" } },
  });
  const architecture: Architecture | undefined = architectures.find((each) => each === values.architecture);
  if (architecture === undefined || values.output === undefined)
    throw new Error(`usage: base.ts --architecture ${architectures.join("|")} --output DIR [--packages DIR]`);
  let packages = values.packages;
  if (packages === undefined || !existsSync(packages)) {
    packages = mkdtempSync(join(tmpdir(), "plexus-packages-"));
    await downloadPackages({ packages: basePackages, architecture, directory: packages });
  }
  await makeBase(packages, values.output);
}
