// The SBOM (SPDX 2.3, JSON) of an image: npm's rows for the packages whose code is in the image, and rows for Node and the base's packages.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { execa } from "execa";
import { z } from "zod";

import { type Architecture } from "./debian-packages.ts";
import { nodePackage } from "./node-package.ts";

const root = resolve(import.meta.dirname, "../..");

const Package = z.looseObject({
  name: z.string(),
  SPDXID: z.string(),
  versionInfo: z.string(),
  packageFileName: z.string().optional(),
  downloadLocation: z.string(),
  licenseDeclared: z.string().optional(),
});
const Document = z.looseObject({
  spdxVersion: z.literal("SPDX-2.3"),
  dataLicense: z.string(),
  SPDXID: z.string(),
  name: z.string(),
  documentNamespace: z.string(),
  creationInfo: z.object({ created: z.string(), creators: z.array(z.string()) }),
  documentDescribes: z.array(z.string()),
  packages: z.array(Package),
  relationships: z.array(z.object({ spdxElementId: z.string(), relatedSpdxElement: z.string(), relationshipType: z.string() })),
});

/** An SPDX 2.3 document, as far as Plexus' own uses the standard. */
export type SpdxDocument = z.infer<typeof Document>;
type SpdxPackage = z.infer<typeof Package>;

/** The image to describe. */
export interface SbomInit {
  readonly architecture: Architecture;
  /** Digest of the image's manifest. */
  readonly digest: string;
  /** Time of the image, in seconds. */
  readonly time: number;
  /** Packages whose code is in the image, as keys of package-lock.json. */
  readonly bundled: readonly string[];
  /** The base's packages: control files of dpkg. */
  readonly debianPackages: readonly string[];
}

/** Makes the SBOM. Throws with npm's message, or where a bundled package has no row. */
export async function sbomOf({ architecture, digest, time, bundled: paths, debianPackages }: SbomInit): Promise<SpdxDocument> {
  const stdout = await npmSbom(paths);
  const all = Document.parse(JSON.parse(stdout));
  const [product] = all.packages.filter(({ SPDXID }) => all.documentDescribes.includes(SPDXID));
  if (product === undefined) throw new Error("npm sbom describes no package");
  const bundled = paths.map((path) => {
    const found = all.packages.find(({ packageFileName }) => packageFileName === path);
    if (found === undefined) throw new Error(`npm sbom has no row for ${path}, whose code is in the build`);
    return found;
  });
  const contained = [...bundled, nodeRow(architecture), ...debianPackages.map(debianRow)];
  const { name } = product;
  return {
    ...all,
    name: `${name}-${product.versionInfo}-linux-${architecture}`,
    documentNamespace: `https://spdx.org/spdxdocs/${name}-${product.versionInfo}-${architecture}-${digest.slice("sha256:".length)}`,
    creationInfo: { ...all.creationInfo, created: `${new Date(time * 1000).toISOString().slice(0, 19)}Z` },
    packages: [
      { ...product, primaryPackagePurpose: "CONTAINER", checksums: [checksum("SHA256", digest.slice("sha256:".length))] },
      ...contained,
    ],
    relationships: [
      { spdxElementId: all.SPDXID, relatedSpdxElement: product.SPDXID, relationshipType: "DESCRIBES" },
      ...contained.map(({ SPDXID }) => ({
        spdxElementId: product.SPDXID,
        relatedSpdxElement: SPDXID,
        relationshipType: "CONTAINS",
      })),
    ],
  };
}

// Rows of workspaces are links, which have no version.
const LockFile = z.looseObject({ packages: z.record(z.string(), z.looseObject({ version: z.string().optional() })) });

/**
 * npm's SBOM of a project that depends on these packages only, with the rows of package-lock.json. For the project itself npm would list
 * development packages, too, and with `--omit dev` leaves out packages of which a development package is a user as well.
 */
async function npmSbom(paths: readonly string[]): Promise<string> {
  const { packages } = LockFile.parse(JSON.parse(readFileSync(resolve(root, "package-lock.json"), "utf8")));
  const manifest = z.looseObject({ name: z.string(), version: z.string() }).parse(packages[""]);
  const rows = paths.map((path) => {
    const found = packages[path];
    if (found?.version === undefined) throw new Error(`package-lock.json has no version of ${path}, whose code is in the build`);
    const { dependencies: _, peerDependencies: __, optionalDependencies: ___, dev: ____, ...kept } = found;
    return [path, kept] as const;
  });
  const dependencies = Object.fromEntries(rows.map(([path, { version }]) => [path.slice("node_modules/".length), version]));
  const project = { ...manifest, dependencies, devDependencies: {}, bin: {} };
  const lock = {
    name: manifest.name,
    version: manifest.version,
    lockfileVersion: 3,
    packages: { "": project, ...Object.fromEntries(rows) },
  };
  const directory = mkdtempSync(join(tmpdir(), "plexus-sbom-"));
  try {
    writeFileSync(join(directory, "package.json"), JSON.stringify(project));
    writeFileSync(join(directory, "package-lock.json"), JSON.stringify(lock));
    const options = ["sbom", "--package-lock-only", "--sbom-format", "spdx", "--loglevel=error"];
    return (await execa("npm", options, { cwd: directory })).stdout;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function nodeRow(architecture: Architecture): SpdxPackage {
  const { name, version, integrity } = nodePackage(architecture);
  return {
    ...row(`npm-${name}`, name, version, `pkg:npm/${name}@${version}`),
    description: "Node.js",
    // The npm package contains the text, with the licences of V8, OpenSSL and others.
    licenseDeclared: "MIT",
    checksums: [checksum("SHA512", Buffer.from(integrity.slice("sha512-".length), "base64").toString("hex"))],
  };
}

function debianRow(control: string): SpdxPackage {
  const field = (name: string): string => new RegExp(`^${name}: (.+)$`, "mu").exec(control)?.[1] ?? "";
  const [name, version, architecture] = [field("Package"), field("Version"), field("Architecture")];
  const purl = `pkg:deb/debian/${name}@${encodeURIComponent(version)}?arch=${architecture}`;
  // Debian states licences for each file, in usr/share/doc/NAME/copyright of the image.
  return {
    ...row(`deb-${name}`, name, version, purl),
    supplier: `Organization: ${field("Maintainer")}`,
    licenseDeclared: "NOASSERTION",
  };
}

function row(id: string, name: string, versionInfo: string, purl: string): SpdxPackage {
  return {
    name,
    SPDXID: `SPDXRef-Package-${id.replaceAll(/[^\w.-]|_/gu, "-")}`,
    versionInfo,
    downloadLocation: "NOASSERTION",
    filesAnalyzed: false,
    externalRefs: [{ referenceCategory: "PACKAGE-MANAGER", referenceType: "purl", referenceLocator: purl }],
  };
}

function checksum(algorithm: string, checksumValue: string): object {
  return { algorithm, checksumValue };
}

/** Reads an SBOM file. Throws where a required member is missing. */
export function readSbom(path: string): SpdxDocument {
  return Document.parse(JSON.parse(readFileSync(path, "utf8")));
}
