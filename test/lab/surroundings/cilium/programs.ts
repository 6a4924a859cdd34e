// Cilium's agent and CNI plugin, built from the module github.com/cilium/cilium, and the compiler of the agent's BPF programs: Debian's clang.

import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

import { testCache, unpackPackages } from "../../debian-packages.ts";
import type { Requirement } from "../../requires.ts";
import { modulePrograms } from "../module-programs.ts";

/** The command that gets the programs. */
export const command = "node test/lab/surroundings/cilium/get.ts";
const cilium = "github.com/cilium/cilium";

/** The program `daemon` is cilium-agent. `bpf` has the sources of the agent's BPF programs, `v2` and `v2alpha1` the CustomResourceDefinitions. */
export const ciliumPrograms = modulePrograms({
  name: "cilium",
  module: join(import.meta.dirname, "..", "go", "cilium"),
  packages: [`${cilium}/daemon`, `${cilium}/plugins/cilium-cni`],
  files: ["bpf", "pkg/k8s/apis/cilium.io/client/crds/v2", "pkg/k8s/apis/cilium.io/client/crds/v2alpha1"],
  command,
});

const unpacked = join(testCache, "debian-clang-19");
const compiler = join(unpacked, "usr", "lib", "llvm-19");
/** Libraries of clang that a node may lack. */
const libraries = ["libz3-4", "libedit2", "libbsd0", "libmd0", "libxml2", "libicu72"];

/** Unpacks clang if it is absent. Answers the reason of a failure. */
export const unpackClang = (): string | undefined =>
  existsSync(compiler)
    ? undefined
    : unpackPackages(["clang-19", "libclang-cpp19", "libllvm19", "libclang-common-19-dev", ...libraries], unpacked);

/** Requires the unpacked clang. */
export const clangRequirement: Requirement = () =>
  existsSync(compiler) ? undefined : `Debian's clang 19 has not been unpacked: run ${command}`;

/** The regular files below `directory`, by their paths below `target`. */
function filesBelow(directory: string, target: string): Readonly<Record<string, string>> {
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return Object.fromEntries(
    entries.map(({ parentPath, name }) => [join(target, parentPath.slice(directory.length), name), join(parentPath, name)]),
  );
}

/** The path of Cilium's sources in images, where the agent looks for them. */
const sources = "/var/lib/cilium/bpf";

/** Files of the agent's image, by their path there. */
export function agentFiles(): Readonly<Record<string, string | undefined>> {
  const shared = join(unpacked, "usr", "lib", `${process.arch === "arm64" ? "aarch64" : "x86_64"}-linux-gnu`);
  const names = readdirSync(shared).filter((name) => /\.so\.[\d.]+$/u.test(name));
  return {
    "/opt/cilium/cilium-agent": ciliumPrograms.path("daemon"),
    "/opt/cilium/cilium-cni": ciliumPrograms.path("cilium-cni"),
    "/opt/llvm/bin/clang": join(compiler, "bin", "clang"),
    ...filesBelow(join(compiler, "lib", "clang"), "/opt/llvm/lib/clang"),
    ...Object.fromEntries(names.map((name) => [join("/opt/llvm/lib", name), join(shared, name)])),
    ...filesBelow(ciliumPrograms.path("bpf") ?? "", sources),
  };
}
