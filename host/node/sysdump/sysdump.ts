// One archive about this node for a report: what Plexus is, sees and did. Secrets are taken out before anything is packed.

import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { redactText, redactValue } from "../../../src/redact/redact.ts";
import { redactorOf } from "../../../src/text/secret-values.ts";
import { systemClock } from "../../system/clock.ts";
import { archiveName } from "./archive-name.ts";
import { boundFiles, type LeftOut } from "./bounded.ts";
import { kernelFeatures, listing, namesIn, network, versions } from "./node-facts.ts";
import { readTail } from "./read-tail.ts";
import { type ArchivedFile, tarArchive } from "./tar-archive.ts";

/** A document that the caller supplies, such as the status. */
export interface SuppliedDocument {
  readonly name: string;
  /** A JSON value, or a text. May reject: the dump then has the reason. */
  readonly read: () => Promise<unknown>;
  /** Whether a JSON value is written without spaces: a deep value would grow to many times its size. */
  readonly compact?: boolean;
}

/** The settings of a dump. */
export interface DumpSources {
  /** The most important first. */
  readonly documents: readonly SuppliedDocument[];
  /** Directories with configurations: the runtime's and Plexus' own. */
  readonly configurationDirectories: readonly string[];
  /** Directories whose files are listed by name only. */
  readonly listedDirectories: readonly string[];
  /** Logs on the node; of each the end is taken. */
  readonly logs: readonly string[];
  /** Maximum of all files together before compression, in bytes. */
  readonly maxBytes: number;
}

/** The archive (tar, gzip), and what it lacks. */
export interface Sysdump {
  readonly archive: Buffer;
  readonly files: readonly string[];
  readonly leftOut: readonly LeftOut[];
}

/** Configurations and logs: at most this much of each. */
const maxFileBytes = 4 * 1024 * 1024;
const maxListed = 2000;
/** Bytes that are reserved for the list of contents itself. */
const contentsBytes = 64 * 1024;
const configurationName = /\.(?:conf|conflist|json|kubeconfig|yaml|yml|uninstalled)$/;

/** Makes the archive. Whatever cannot be read is named in its file `contents.json`; never rejects for that. */
export async function sysdump(sources: DumpSources): Promise<Sysdump> {
  const unread: LeftOut[] = [];
  const collected: ArchivedFile[] = [];
  const configurations: unknown[] = [];
  const add = async (name: string, read: () => unknown, compact = false): Promise<void> => {
    try {
      const value = await read();
      collected.push({ name, text: typeof value === "string" ? redactText(value) : jsonText(redactValue(value), compact) });
    } catch (error) {
      unread.push({ name, why: redactText(error instanceof Error ? error.message : String(error)) });
    }
  };
  await add("versions.json", versions);
  for (const { name, read, compact } of sources.documents) await add(name, read, compact);
  for (const directory of sources.configurationDirectories) {
    for (const file of namesIn(directory).filter((name) => configurationName.test(name)))
      await add(archiveName("configuration", join(directory, file)), async () => {
        const value = await configuration(join(directory, file));
        configurations.push(value);
        return value;
      });
  }
  await add("kernel.json", kernelFeatures);
  await add("network.json", network);
  for (const directory of sources.listedDirectories)
    await add(archiveName("files", `${directory}.json`), () => listing(directory, maxListed));
  for (const log of sources.logs) await add(archiveName("logs", log), () => logEnd(log, unread));
  // A plugin's message in a log may quote a secret of the configuration without its key.
  const redact = redactorOf({ stdin: JSON.stringify({ configurations }), env: [] });
  const { files, leftOut } = boundFiles(
    collected.map(({ name, text }) => ({ name, text: redact(text) })),
    sources.maxBytes - contentsBytes,
  );
  const missing = [...unread, ...leftOut];
  const contents = { files: files.map(({ name, text }) => ({ name, bytes: Buffer.byteLength(text) })), leftOut: missing };
  const all = [{ name: "contents.json", text: redact(jsonText(contents)) }, ...files];
  const named = all.map(({ name, text }) => ({ name: `plexus-sysdump/${name}`, text }));
  return {
    archive: gzipSync(tarArchive(named, systemClock.date().getTime() / 1000)),
    files: files.map(({ name }) => name),
    leftOut: missing,
  };
}

/** A configuration is JSON, or a text such as YAML. */
async function configuration(path: string): Promise<unknown> {
  const { text, skipped } = readTail(path, maxFileBytes);
  if (skipped > 0) throw new Error(`is larger than ${maxFileBytes} bytes: not a configuration`);
  try {
    return JSON.parse(text);
  } catch {
    // A kubeconfig may be YAML: its structure tells where its secrets are.
  }
  const { parse } = await import("yaml");
  try {
    const value: unknown = parse(text);
    return typeof value === "object" && value !== null ? value : text;
  } catch {
    return text;
  }
}

function logEnd(path: string, leftOut: LeftOut[]): string {
  const { text, skipped } = readTail(path, maxFileBytes);
  if (skipped > 0) leftOut.push({ name: archiveName("logs", path), why: `the first ${skipped} bytes: only the end is taken` });
  // The first line is cut, and a secret in it might not be recognised.
  return skipped > 0 ? text.slice(text.indexOf("\n") + 1) : text;
}

function jsonText(value: unknown, compact = false): string {
  return `${JSON.stringify(value, undefined, compact ? undefined : 2)}\n`;
}
