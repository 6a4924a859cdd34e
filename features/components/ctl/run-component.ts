// plexusctl component: each command and what it prints.

import { basename, extname, resolve } from "node:path";
import { defaultWasm } from "../../../src/configuration/wasm-configuration.ts";
import { type Fault, fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { type ComponentList, readComponentList, typePattern, typeWanted } from "../rules/component-list.ts";
import { type ArtifactReference, readReference, referenceText } from "../rules/reference.ts";
import { ArtifactStores } from "../registry/open-store.ts";
import { fetchBundles, fetchBytes, findArtifact } from "../node/fetch-component.ts";
import { listComponents } from "../node/list-components.ts";
import { pullComponents } from "../node/pull-components.ts";
import { copyComponent, pushComponent, type PushedArtifact } from "../node/push-component.ts";
import { readLockFile } from "../node/read-lock-file.ts";
import { readHostSettings } from "../../../host/node/explain/host-settings.ts";
import { checkSignature } from "../../../host/sandbox/provenance/signature-check.ts";
import { storeFault } from "../../../host/store/files/durable-file.ts";
import { readRegularFile } from "../../../host/store/files/regular-file.ts";
import type { CommandLineMistake } from "../../../src/command-line/read-command-line.ts";
import { type CommandResult, failure, type Invocation } from "../../../host/node/command-line/command.ts";
import { printed } from "../../../host/node/command-line/printed.ts";
import { type ComponentOptions, readComponentOptions } from "./component-options.ts";
import { componentsText, pullText } from "./component-text.ts";

const maxListBytes = 1024 * 1024;

/** Runs a command of `plexusctl component`, such as `push`. */
export async function runComponent(command: string, line: Invocation): Promise<CommandResult | CommandLineMistake> {
  const options = readComponentOptions(command, line);
  if ("wrong" in options) return options;
  const { credentials, plainHttp, authority } = options;
  const stores = new ArtifactStores({ credentialsFile: credentials, plainHttp, authorityFile: authority });
  const result = await run(options, stores);
  return result.ok ? result.value : refused(result.fault);
}

/** The message, and the remedy of the catalogue. */
function refused({ msg, details = "" }: Fault): CommandResult {
  return failure(details === "" ? msg : `${msg}. ${details}`);
}

async function run(options: ComponentOptions, stores: ArtifactStores): Promise<Result<CommandResult>> {
  const { command, args, line } = options;
  const [first = "", second = ""] = args;
  switch (command) {
    case "push": {
      const reference = readReference(second);
      if (!reference.ok) return reference;
      return copied(await pushComponent(stores, first, reference.value), reference.value, options);
    }
    case "save": {
      const source = readReference(first);
      if (!source.ok) return source;
      const tag = source.value.tag ?? (source.value.digest === undefined ? "latest" : undefined);
      const place = { kind: "layout", directory: second } as const;
      const target: ArtifactReference = { place, tag, digest: undefined };
      return copied(await copyComponent(stores, source.value, target), target, options);
    }
    case "load": {
      const target = readReference(second);
      if (!target.ok) return target;
      const source: ArtifactReference = { ...target.value, place: { kind: "layout", directory: first } };
      return copied(await copyComponent(stores, source, target.value), target.value, options);
    }
    case "verify":
      return verify(options, stores);
    case "pull": {
      const list = options.list === undefined ? oneComponent(options) : readList(options.list);
      if (!list.ok) return list;
      const pulled = await pullComponents({
        list: list.value,
        stores,
        directory: resolve(options.to),
        lockFile: resolve(options.lock),
        isComplete: options.list !== undefined,
        force: options.force,
      });
      if (!pulled.ok) return pulled;
      const { value } = pulled;
      const names = (): readonly string[] => [...value.installed, ...value.unchanged].map(({ file }) => file);
      return ok({ stdout: await printed({ value, text: () => pullText(value), names }, line), status: 0 });
    }
    default:
      return listed(options);
  }
}

/** The pinned reference of an artifact that was pushed, and its digests. */
async function copied(
  pushed: Result<PushedArtifact>,
  { place, tag }: ArtifactReference,
  { line }: ComponentOptions,
): Promise<Result<CommandResult>> {
  if (!pushed.ok) return pushed;
  const { manifestDigest, digest, signatures } = pushed.value;
  const reference = referenceText({ place, tag, digest: manifestDigest });
  const signed = signatures === 0 ? "" : `with ${signatures} ${signatures === 1 ? "signature" : "signatures"}\n`;
  const text = `${reference}\ncomponent ${digest}\n${signed}`;
  const printable = { value: { reference, ...pushed.value }, text: () => text, names: () => [reference] };
  return ok({ stdout: await printed(printable, line), status: 0 });
}

async function verify(
  { args: [text = ""], keys, line }: ComponentOptions,
  stores: ArtifactStores,
): Promise<Result<CommandResult>> {
  const reference = readReference(text);
  if (!reference.ok) return reference;
  const found = await findArtifact(stores, reference.value);
  if (!found.ok) return found;
  const { manifest, layer } = found.value;
  const fetched = await fetchBundles(found.value);
  if (!fetched.ok) return fetched;
  const { bundles, problem } = fetched.value;
  const bytes = await fetchBytes(found.value);
  if (!bytes.ok) return bytes;
  const manifests = [{ manifest: manifest.text, bundles: bundles.map(({ text: bundle }) => bundle) }];
  const signers: string[] = [];
  let refusal: Fault | undefined;
  for (const each of keys) {
    const { name, file } = namedKey(each);
    const signed = await checkSignature({ digest: layer.digest, manifests, keyName: name, key: resolve(file) });
    if (signed.ok) signers.push(name);
    else refusal ??= signed.fault.kind === "SIGNATURE_MISSING" ? (problem ?? signed.fault) : signed.fault;
  }
  if (signers.length === 0 && refusal !== undefined) return failed({ ...refusal, msg: `${text}: ${refusal.msg}` });
  const pinned = referenceText({ ...reference.value, digest: manifest.digest });
  const value = { reference: pinned, manifestDigest: manifest.digest, digest: layer.digest, signers };
  const lines = `${pinned}\ncomponent ${layer.digest}\nsigned by ${signers.join(", ")}\n`;
  return ok({ stdout: await printed({ value, text: () => lines, names: () => [pinned] }, line), status: 0 });
}

async function listed({ config, cniPath, lock, line }: ComponentOptions): Promise<Result<CommandResult>> {
  const settings = readHostSettings(config, cniPath);
  if (!settings.ok && settings.fault.kind !== "STORE_FAILED") return settings;
  const host = settings.ok ? settings.value : undefined;
  const locked = readLockFile(lock);
  if (!locked.ok) return locked;
  const found = await listComponents(host?.cniPath ?? cniPath, host?.configuration.wasm ?? defaultWasm, locked.value);
  return ok({
    stdout: await printed(
      { value: found, text: (width) => componentsText(found, width), names: () => found.map(({ type }) => type) },
      line,
    ),
    status: found.some(({ problem }) => problem !== null) ? 1 : 0,
  });
}

/** The list of one component that the arguments name. */
function oneComponent({ args: [text = ""], type, keys: [key] }: ComponentOptions): Result<ComponentList> {
  const reference = readReference(text);
  if (!reference.ok) return reference;
  const { place } = reference.value;
  const last = place.kind === "registry" ? place.repository.split("/").at(-1) : undefined;
  const named = type ?? last;
  if (named === undefined || !typePattern.test(named))
    return failed(fault("REFERENCE_INVALID", `${text}: --type must name the component's plugin type, ${typeWanted}`));
  const { name, file } = key === undefined ? { name: undefined, file: "" } : namedKey(key);
  return ok({
    components: [{ type: named, reference: reference.value, signedBy: name, digest: undefined }],
    keys: name === undefined ? {} : { [name]: resolve(file) },
  });
}

function readList(path: string): Result<ComponentList> {
  try {
    return readComponentList(readRegularFile(path, { maxBytes: maxListBytes, foreign: true }), path);
  } catch (error) {
    return failed(storeFault("reading", path, error));
  }
}

/** `NAME=FILE`, or a file whose name without its suffix is the key's name. */
function namedKey(text: string): { readonly name: string; readonly file: string } {
  const [, name, file] = /^([a-zA-Z0-9][a-zA-Z0-9_.-]{0,62})=(.+)$/s.exec(text) ?? [];
  return name === undefined || file === undefined ? { name: basename(text, extname(text)), file: text } : { name, file };
}
