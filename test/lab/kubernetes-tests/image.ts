// The image of the pods of Kubernetes' own tests: agnhost, and the tools that its Dockerfile installs, from Debian's packages.

import { spawnSync } from "node:child_process";
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { ClusterNode } from "../cluster/node.ts";
import { makeAuthority } from "../kube/certificates.ts";
import { testCache, unpackPackages } from "../debian-packages.ts";
import { imageTar } from "../oci-image.ts";
import type { Requirement } from "../requires.ts";
import { kubernetesTests } from "./programs.ts";

const unpacked = join(testCache, "debian-kubernetes-tests");

const tools =
  "bash bind9-dnsutils coreutils curl findutils grep hostname iproute2 libc-bin mawk netcat-openbsd sed util-linux".split(" ");

/** The registry of these images, in a domain that cannot exist. */
const registry = "plexus.invalid/kubernetes-tests";

/** Images of e2e.test that this image replaces. */
const replaced = ["agnhost", "glibc-dns-testing", "busybox", "pause"];

/** The base name of the certificate and key with which `agnhost porter` serves TLS. */
const certificateName = "localhost";

/** Requires the tools. */
export const testTools: Requirement = () =>
  existsSync(unpacked) ? undefined : "the tools of Kubernetes' own tests are absent: run node test/lab/kubernetes-tests/get.ts";

/** Unpacks the tools and what they need. Answers the reason of a failure. */
export function unpackTestTools(): string | undefined {
  if (existsSync(unpacked)) return undefined;
  const nothingInstalled = ["-o", "Dir::State::status=/dev/null", "install", "--no-install-recommends"];
  const { stdout, status, stderr } = spawnSync("apt-get", ["-s", ...nothingInstalled, ...tools], { encoding: "utf8" });
  if (status !== 0) return `apt-get -s install: ${(stderr ?? "no apt-get").trim().slice(-300)}`;
  return unpackPackages(
    [...stdout.matchAll(/^Inst (\S+)/gmu)].map(([, name = ""]) => name),
    unpacked,
  );
}

/** Writes the list of registries for KUBE_TEST_REPO_LIST and answers its path. */
export function writeRegistryList(directory: string): string {
  mkdirSync(directory, { recursive: true });
  const path = join(directory, "registries.yaml");
  const names = ["promoterE2eRegistry", "gcRegistry", "dockerLibraryRegistry", "buildImageRegistry", "gcEtcdRegistry"];
  writeFileSync(path, names.map((name) => `${name}: ${registry}\n`).join(""));
  return path;
}

/** Imports the image on the nodes, once, under the names that this program asks for with this list of registries. */
export function importTestImages(nodes: readonly ClusterNode[], program: string, registries: string): void {
  const listed = spawnSync(program, ["--list-images"], {
    env: { ...process.env, KUBE_TEST_REPO_LIST: registries },
    encoding: "utf8",
  });
  const names = listed.stdout.split("\n").filter((name) => replaced.some((each) => name.startsWith(`${registry}/${each}:`)));
  const [name, ...otherNames] = names.toSorted();
  if (name === undefined) throw new Error(`e2e.test lists no image of ${registry}: ${listed.stdout}${listed.stderr}`);
  const tar = testImageTar(name, otherNames);
  for (const node of nodes) node.importImage(tar);
}

function testImageTar(name: string, otherNames: readonly string[]): string {
  const agnhost = kubernetesTests.path("agnhost");
  if (agnhost === undefined) throw new Error("agnhost has not been built: run node test/lab/kubernetes-tests/get.ts");
  return imageTar({
    name,
    otherNames,
    file: "kubernetes-tests",
    inputs: [agnhost, certificateName, ...readdirSync(join(unpacked, "usr", "bin"))],
    config: { Entrypoint: ["/agnhost"], Cmd: ["pause"], Env: ["PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/"] },
    fill(layer) {
      cpSync(unpacked, layer, { recursive: true, verbatimSymlinks: true });
      for (const path of ["tmp", "uploads", "var/registry"]) mkdirSync(join(layer, path), { recursive: true });
      copyFileSync(agnhost, join(layer, "agnhost"));
      addCertificate(layer);
      for (const [link, target] of [
        ["agnhost-2", "agnhost"],
        ["bin/sh", "bash"],
        ["usr/bin/awk", "mawk"],
        ["usr/bin/nc", "/bin/nc.openbsd"],
      ] as const)
        if (!existsSync(join(layer, link))) symlinkSync(target, join(layer, link));
      writeFileSync(join(layer, "etc", "passwd"), "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/sh\n");
      writeFileSync(join(layer, "etc", "group"), "root:x:0:\nnogroup:x:65534:\n");
    },
  });
}

/** Adds a self-signed certificate. The API server's proxy doesn't verify the certificates of pods. */
function addCertificate(layer: string): void {
  const directory = mkdtempSync(join(tmpdir(), "kubernetes-tests-certificate-"));
  try {
    const { certificate, key } = makeAuthority(directory, certificateName);
    copyFileSync(certificate, join(layer, `${certificateName}.crt`));
    copyFileSync(key, join(layer, `${certificateName}.key`));
  } finally {
    rmSync(directory, { recursive: true });
  }
}
