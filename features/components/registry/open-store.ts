// Opens the place that a reference names, with the credentials that a file has for it.

import { homedir } from "node:os";
import { join } from "node:path";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import type { ArtifactPlace } from "../rules/reference.ts";
import { anonymous, readRegistryCredentials, type RegistryCredentials } from "../rules/registry-credentials.ts";
import { storeFault } from "../../../host/store/files/durable-file.ts";
import { errnoOf } from "../../../host/store/files/errno.ts";
import { type RegularFileRules, readRegularFile } from "../../../host/store/files/regular-file.ts";
import type { ArtifactStore } from "./artifact-store.ts";
import { layoutStore } from "./layout-store.ts";
import { RegistrySession } from "./registry-session.ts";
import { registryStore } from "./registry-store.ts";

/** Access to registries: addresses, credentials, certificates. */
export interface RegistryAccess {
  /** A file in the form of Docker's config.json; undefined: the usual places, and no credentials if none of them exists. */
  readonly credentialsFile: string | undefined;
  /** Hosts, with ports, that are spoken to without TLS. */
  readonly plainHttp: readonly string[];
  /** A PEM file of certificates that are trusted in addition to Node's own. */
  readonly authorityFile: string | undefined;
}

/** Links are followed: a Secret's files in a pod are links. */
const rules: RegularFileRules = { maxBytes: 1024 * 1024, foreign: true };

/** Opens stores; each place once, so that a registry's token is used for all of its requests. */
export class ArtifactStores {
  readonly #access: RegistryAccess;
  readonly #stores = new Map<string, ArtifactStore>();
  #credentials: Result<RegistryCredentials> | undefined;

  constructor(access: RegistryAccess) {
    this.#access = access;
  }

  /** The store of a place. Faults STORE_FAILED, REGISTRY_CREDENTIALS_INVALID. */
  open(place: ArtifactPlace): Result<ArtifactStore> {
    const name = JSON.stringify(place);
    const known = this.#stores.get(name);
    if (known !== undefined) return ok(known);
    const opened = place.kind === "layout" ? ok(layoutStore(place.directory)) : this.#openRegistry(place.host, place.repository);
    if (opened.ok) this.#stores.set(name, opened.value);
    return opened;
  }

  #openRegistry(host: string, repository: string): Result<ArtifactStore> {
    this.#credentials ??= readCredentials(this.#access.credentialsFile);
    if (!this.#credentials.ok) return this.#credentials;
    const credential = this.#credentials.value.of(host, repository);
    if (!credential.ok) return credential;
    const { authorityFile, plainHttp } = this.#access;
    const authority = authorityFile === undefined ? ok(undefined) : readText(authorityFile);
    if (!authority.ok) return authority;
    return ok(registryStore(new RegistrySession(host, repository, credential.value, plainHttp, authority.value)));
  }
}

function readCredentials(file: string | undefined): Result<RegistryCredentials> {
  const paths = file === undefined ? usualFiles() : [file];
  for (const path of paths) {
    const text = readText(path);
    if (text.ok) return readRegistryCredentials(text.value, path);
    if (file !== undefined || !text.fault.msg.includes("ENOENT")) return text;
  }
  return ok(anonymous);
}

/** The places that Docker, podman and oras use. */
function usualFiles(): readonly string[] {
  const { REGISTRY_AUTH_FILE: named, DOCKER_CONFIG: docker, XDG_RUNTIME_DIR: runtime } = process.env;
  return [
    ...(named === undefined ? [] : [named]),
    ...(runtime === undefined ? [] : [join(runtime, "containers", "auth.json")]),
    join(docker ?? join(homedir(), ".docker"), "config.json"),
  ];
}

function readText(path: string): Result<string> {
  try {
    return ok(readRegularFile(path, rules));
  } catch (error) {
    const why = errnoOf(error) === "ENOENT" ? new Error("ENOENT: no such file") : error;
    return failed(storeFault("reading", path, why));
  }
}
