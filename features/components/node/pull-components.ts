// Makes a node have the components of a list: fetches, verifies, then installs all of them, and writes the lock file. Nothing is changed
// unless every component is right.

import { rmSync } from "node:fs";
import { join } from "node:path";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import type { ComponentList, ListedComponent } from "../rules/component-list.ts";
import { type LockedComponent, lockText } from "../rules/lock-file.ts";
import { referenceText } from "../rules/reference.ts";
import { maxBundles, type SignedManifest, signaturesSuffix, signaturesText } from "../../../src/oci/signatures-file.ts";
import { digestOf } from "../registry/artifact-store.ts";
import type { ArtifactStores } from "../registry/open-store.ts";
import { Admission } from "../../../host/sandbox/admission/admit.ts";
import { artifactLimits } from "../../../host/sandbox/limits.ts";
import { checkSignature } from "../../../host/sandbox/provenance/signature-check.ts";
import { storeFault } from "../../../host/store/files/durable-file.ts";
import { fetchBundles, fetchBytes, findArtifact } from "./fetch-component.ts";
import { installedSignatures } from "../../../host/sandbox/provenance/installed-signatures.ts";
import { installedDigest } from "./installed-component.ts";
import { readLockFile } from "./read-lock-file.ts";
import { replaceFiles, type StagedFile } from "./staged-files.ts";

/** Where the components come from and go to. */
export interface ComponentPull {
  readonly list: ComponentList;
  readonly stores: ArtifactStores;
  /** The plugin directory. */
  readonly directory: string;
  readonly lockFile: string;
  /** Whether the list has every component that the lock file may have: others are removed. */
  readonly isComplete: boolean;
  /** Whether a component that Plexus did not install may be replaced. */
  readonly force: boolean;
}

/** The components of a pull, by outcome. */
export interface PullReport {
  readonly installed: readonly LockedComponent[];
  readonly unchanged: readonly LockedComponent[];
  readonly removed: readonly LockedComponent[];
  readonly warnings: readonly string[];
}

/** A component that is right: fetched now, or on the node already. */
type Ready =
  | { readonly locked: LockedComponent; readonly fetched: undefined; readonly warning?: string }
  | { readonly locked: LockedComponent; readonly fetched: { readonly bytes: Uint8Array; readonly signed: SignedManifest } };

const maxBytes = artifactLimits.componentBytes;

/** Installs the list. Faults of registries, layouts, signatures, admission and files; the message names the component. */
export async function pullComponents(pull: ComponentPull): Promise<Result<PullReport>> {
  const { list, directory, lockFile } = pull;
  const lock = readLockFile(lockFile);
  if (!lock.ok) return lock;
  const ready: Ready[] = [];
  for (const component of list.components) {
    const each = await prepare(component, lock.value, pull);
    if (!each.ok) return failed({ ...each.fault, msg: `${component.type}: ${each.fault.msg}` });
    ready.push(each.value);
  }
  const listed = new Set(list.components.map(({ type }) => type));
  const others = lock.value.filter(({ type }) => !listed.has(type));
  // Components of another plugin directory are none of this list's.
  const removable = pull.isComplete ? others.filter(({ type, file }) => file === fileOf(directory, type)) : [];
  const kept = others.filter((each) => !removable.includes(each));
  // An entry comes before its file: a component without an entry would count as an administrator's.
  const isNew = ({ type }: LockedComponent): boolean => !lock.value.some((each) => each.type === type);
  const entered = [...lock.value, ...ready.map((each) => each.locked).filter(isNew)];
  const installed = install(ready, entered.length > lock.value.length ? [{ path: lockFile, content: lockText(entered) }] : []);
  if (!installed.ok) return installed;
  // An entry goes after its file: a component whose removal failed, or was interrupted, is removed by the next pull.
  const removals = removable.map((each) => ({ each, kept: removeComponent(each) }));
  const failures = removals.filter((removal) => removal.kept?.again === true);
  const locked = [...kept, ...failures.map(({ each }) => each), ...ready.map((each) => each.locked)];
  const isSame = lockText(locked) === lockText(lock.value);
  const written = isSame ? ok(undefined) : replaceFiles([{ path: lockFile, content: lockText(locked) }]);
  if (!written.ok) return written;
  return ok({
    installed: ready.filter(({ fetched }) => fetched !== undefined).map((each) => each.locked),
    unchanged: ready.filter(({ fetched }) => fetched === undefined).map((each) => each.locked),
    removed: removals.flatMap((removal) => (removal.kept === undefined ? [removal.each] : [])),
    warnings: [
      ...ready.flatMap((each) => (each.fetched === undefined && each.warning !== undefined ? [each.warning] : [])),
      ...removals.flatMap((removal) => (removal.kept === undefined ? [] : [removal.kept.why])),
    ],
  });
}

function fileOf(directory: string, type: string): string {
  return join(directory, `${type}.wasm`);
}

/** Fetches and verifies a component, unless the node has it already. */
async function prepare(
  component: ListedComponent,
  lock: readonly LockedComponent[],
  pull: ComponentPull,
): Promise<Result<Ready>> {
  const { type, reference, digest } = component;
  const file = fileOf(pull.directory, type);
  const source = referenceText(reference);
  let present: string | undefined;
  try {
    present = installedDigest(file, maxBytes);
  } catch (error) {
    return failed(storeFault("reading", file, error));
  }
  const locked = lock.find((each) => each.type === type && each.file === file);
  const isIntact = locked !== undefined && locked.digest === present && (await isStillRight(component, locked, pull.list.keys));
  const isPinned =
    locked !== undefined &&
    (reference.digest === undefined
      ? digest === locked.digest && locked.source === source
      : reference.digest === locked.manifestDigest) &&
    (digest === undefined || digest === locked.digest);
  if (isIntact && isPinned) return ok({ locked: { ...locked, source, signer: component.signedBy }, fetched: undefined });
  const fetched = await fetchVerified(component, pull);
  if (!fetched.ok) {
    // A tag may lead to a newer component, but a node that starts again without its registry keeps what it has.
    const isOther = !isIntact || locked.source !== source || (digest !== undefined && digest !== locked.digest);
    if (fetched.fault.kind !== "REGISTRY_UNREACHABLE" || isOther) return fetched;
    return ok({ locked, fetched: undefined, warning: `${type}: the installed component stays: ${fetched.fault.msg}` });
  }
  const { bytes, signed, manifestDigest } = fetched.value;
  const found = digestOf(bytes);
  if (present !== undefined && locked === undefined && present !== found && !pull.force)
    return failed(fault("COMPONENT_OCCUPIED", `${file} was not installed by plexusctl component; its digest is ${present}`));
  return ok({
    locked: { type, file, digest: found, manifestDigest, source, signer: component.signedBy },
    fetched: { bytes, signed },
  });
}

/** Whether the installed component still has the signature that the list demands. */
async function isStillRight(
  { signedBy }: ListedComponent,
  { file, digest, manifestDigest }: LockedComponent,
  keys: ComponentList["keys"],
) {
  if (signedBy === undefined) return true;
  const manifests = installedSignatures(file);
  if (!manifests.ok) return false;
  const signed = await checkSignature({ digest, manifests: manifests.value, keyName: signedBy, key: keys[signedBy] ?? "" });
  return signed.ok && signed.value === manifestDigest;
}

interface Verified {
  readonly bytes: Uint8Array;
  readonly signed: SignedManifest;
  readonly manifestDigest: string;
}

async function fetchVerified(
  { reference, digest, signedBy }: ListedComponent,
  { list, stores }: ComponentPull,
): Promise<Result<Verified>> {
  const found = await findArtifact(stores, reference);
  if (!found.ok) return found;
  const { layer, manifest } = found.value;
  if (digest !== undefined && layer.digest !== digest)
    return failed(
      fault(
        "COMPONENT_DIGEST_DIFFERS",
        `${referenceText(reference)}: the component is ${layer.digest}, but the list demands ${digest}`,
      ),
    );
  const bundles = await fetchBundles(found.value);
  if (!bundles.ok) return bundles;
  const texts = bundles.value.bundles.map(({ text }) => text);
  const isSignedBy = async (some: readonly string[]): Promise<Result<unknown>> => {
    if (signedBy === undefined) return ok(undefined);
    const manifests = [{ manifest: manifest.text, bundles: some }];
    return checkSignature({ digest: layer.digest, manifests, keyName: signedBy, key: list.keys[signedBy] ?? "" });
  };
  const checked = await isSignedBy(texts);
  if (!checked.ok) {
    const { problem } = bundles.value;
    const why = checked.fault.kind === "SIGNATURE_MISSING" ? (problem ?? checked.fault) : checked.fault;
    return failed({ ...why, msg: `${referenceText(reference)}: ${why.msg}` });
  }
  const signed = { manifest: manifest.text, bundles: await keptBundles(texts, async (each) => (await isSignedBy([each])).ok) };
  // Only after its signature is a component's content looked at.
  const bytes = await fetchBytes(found.value);
  if (!bytes.ok) return bytes;
  const examined = new Admission().examine(bytes.value, artifactLimits, layer.digest);
  return examined.ok ? ok({ bytes: bytes.value, signed, manifestDigest: manifest.digest }) : examined;
}

/** The bundles for the signatures' file, which has a bounded number: first those of the demanded key. */
async function keptBundles(
  bundles: readonly string[],
  isDemanded: (bundle: string) => Promise<boolean>,
): Promise<readonly string[]> {
  if (bundles.length <= maxBundles) return bundles;
  const [demanded, others]: [string[], string[]] = [[], []];
  for (const each of bundles) ((await isDemanded(each)) ? demanded : others).push(each);
  return [...demanded, ...others].slice(0, maxBundles);
}

/**
 * Installs what was fetched. A call may come between two renames, so the signatures' file first has the entries of the installed and of the new
 * component, and loses the former at the end. `before`: a file that is replaced before all of these.
 */
function install(ready: readonly Ready[], before: readonly StagedFile[]): Result<void> {
  const first: StagedFile[] = [...before];
  const final: StagedFile[] = [];
  for (const { locked, fetched } of ready) {
    if (fetched === undefined) continue;
    const path = `${locked.file}${signaturesSuffix}`;
    const earlier = installedSignatures(locked.file);
    const both = [
      fetched.signed,
      ...(earlier.ok ? earlier.value.filter(({ manifest }) => manifest !== fetched.signed.manifest) : []),
    ];
    first.push({ path, content: signaturesText(both) }, { path: locked.file, content: fetched.bytes });
    if (both.length > 1) final.push({ path, content: signaturesText([fetched.signed]) });
  }
  const replaced = first.length === 0 ? ok(undefined) : replaceFiles(first);
  return replaced.ok && final.length > 0 ? replaceFiles(final) : replaced;
}

/** A component that is no longer listed, but stays: why, and whether the next pull tries again. */
interface KeptComponent {
  readonly why: string;
  readonly again: boolean;
}

/** Removes a component that is no longer listed; undefined: the component is gone. */
function removeComponent({ file, digest }: LockedComponent): KeptComponent | undefined {
  try {
    const present = installedDigest(file, maxBytes);
    if (present !== undefined && present !== digest)
      return { why: `${file} is not in the list, but was changed: it stays`, again: false };
    rmSync(file, { force: true });
    rmSync(`${file}${signaturesSuffix}`, { force: true });
    return undefined;
  } catch (error) {
    return { why: `${file} is not in the list, but stays: ${storeFault("removing", file, error).msg}`, again: true };
  }
}
