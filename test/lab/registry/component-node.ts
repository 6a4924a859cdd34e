// A node's directories and `plexusctl component`, for tests. The command runs as a child, so that servers of the test can answer it.

import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { dist } from "../plexus.ts";
import { bundleArtifact } from "./cosign-bundle.ts";

/** Output of a command. */
export interface Ran {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The digest of content. */
export function sha256(content: string | Buffer): string {
  return `sha256:${createHash("sha256").update(content).digest("hex")}`;
}

/** Runs a program to its end. */
export function runProgram(
  program: string,
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv } = {},
): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"], ...options });
    const [stdout, stderr]: [Buffer[], Buffer[]] = [[], []];
    child.stdout.on("data", (chunk: Buffer) => stdout.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => stderr.push(chunk));
    child.on("error", reject);
    child.on("close", (status) =>
      resolve({ status, stdout: Buffer.concat(stdout).toString(), stderr: Buffer.concat(stderr).toString() }),
    );
  });
}

/** A node in a directory of its own. */
export class ComponentNode {
  readonly directory = mkdtempSync(join(tmpdir(), "plexus-components-"));
  readonly bin = join(this.directory, "bin");
  readonly lock = join(this.directory, "etc", "components.lock.json");

  constructor() {
    mkdirSync(this.bin);
  }

  /** Runs `plexusctl component` without any credentials of the machine's user. */
  run(...args: readonly string[]): Promise<Ran> {
    const env = { PATH: process.env["PATH"], HOME: this.directory };
    return runProgram(process.execPath, [join(dist, "plexusctl.cjs"), "component", ...args], { env });
  }

  /** `pull` into this node's directories. */
  pull(...args: readonly string[]): Promise<Ran> {
    return this.run("pull", "--to", this.bin, "--lock", this.lock, ...args);
  }

  /** Writes a file and answers its path. */
  file(name: string, content: unknown): string {
    const path = join(this.directory, name);
    writeFileSync(path, typeof content === "string" || Buffer.isBuffer(content) ? content : JSON.stringify(content));
    return path;
  }

  /** All files of the plugin directory, hidden ones too. */
  files(): readonly string[] {
    return readdirSync(this.bin).toSorted();
  }

  read(name: string): Buffer {
    return readFileSync(join(this.bin, name));
  }

  dispose(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }
}

/** Puts a bundle into a registry without TLS and authentication as cosign does: blobs, then the manifest, then the fallback tag if needed. */
export async function attachBundle(host: string, repository: string, bundle: string, subject: string): Promise<string> {
  const base = `http://${host}/v2/${repository}`;
  const { blobs, manifest } = bundleArtifact(bundle, { text: subject });
  for (const blob of blobs) {
    const started = await fetch(`${base}/blobs/uploads/`, { method: "POST" });
    const upload = new URL(started.headers.get("location") ?? "", `${base}/blobs/uploads/`);
    upload.searchParams.set("digest", sha256(blob));
    const put = await fetch(upload, { method: "PUT", body: blob, headers: { "Content-Type": "application/octet-stream" } });
    if (put.status !== 201) throw new Error(`blob: ${put.status} ${await put.text()}`);
  }
  const type = "application/vnd.oci.image.manifest.v1+json";
  const put = await fetch(`${base}/manifests/${sha256(manifest)}`, {
    method: "PUT",
    body: manifest,
    headers: { "Content-Type": type },
  });
  if (put.status !== 201) throw new Error(`manifest: ${put.status} ${await put.text()}`);
  if (put.headers.get("oci-subject") === null) {
    const tag = sha256(subject).replace(":", "-");
    const indexType = "application/vnd.oci.image.index.v1+json";
    const existing = await fetch(`${base}/manifests/${tag}`, { headers: { Accept: indexType } });
    const listed = existing.status === 200 ? ((await existing.json()) as { manifests: object[] }).manifests : [];
    // As cosign writes it: the annotations are missing (sigstore/cosign#4641).
    const artifactType = "application/vnd.dev.sigstore.bundle.v0.3+json";
    const descriptor = { mediaType: type, digest: sha256(manifest), size: manifest.length, artifactType };
    const index = JSON.stringify({ schemaVersion: 2, mediaType: indexType, manifests: [...listed, descriptor] });
    const stored = await fetch(`${base}/manifests/${tag}`, {
      method: "PUT",
      body: index,
      headers: { "Content-Type": indexType },
    });
    if (stored.status !== 201) throw new Error(`index: ${stored.status} ${await stored.text()}`);
  }
  return sha256(manifest);
}
