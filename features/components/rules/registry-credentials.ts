// Reads the credentials of registries: the form of Docker's config.json, which is also that of a Secret of type kubernetes.io/dockerconfigjson.

import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { isJsonObject } from "../../../src/json/document.ts";
import { quote } from "../../../src/json/quote.ts";

/** The credentials for one registry. */
export type RegistryCredential =
  | { readonly kind: "password"; readonly username: string; readonly password: string }
  /** A refresh token for the registry's token server. */
  | { readonly kind: "identityToken"; readonly token: string }
  /** A token for the registry itself. */
  | { readonly kind: "registryToken"; readonly token: string };

/** The file's credentials by registry and, optionally, a path in it. */
export interface RegistryCredentials {
  /** The credential for a repository: that of the longest matching entry. Fault REGISTRY_CREDENTIALS_INVALID for an entry that can't be used. */
  readonly of: (host: string, repository: string) => Result<RegistryCredential | undefined>;
}

/** No credentials: every request is anonymous. */
export const anonymous: RegistryCredentials = { of: () => ok(undefined) };

/** Reads the text of such a file; `path` is for messages. Fault REGISTRY_CREDENTIALS_INVALID. No message contains a secret. */
export function readRegistryCredentials(text: string, path: string): Result<RegistryCredentials> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return invalid(path, "the file is not JSON");
  }
  const auths = isJsonObject(value) ? (value["auths"] ?? {}) : undefined;
  if (!isJsonObject(value) || !isJsonObject(auths)) return invalid(path, 'the file must be an object with "auths"');
  const helpers = isJsonObject(value["credHelpers"]) ? value["credHelpers"] : {};
  const byName = new Map(Object.entries(auths).map(([name, entry]) => [normalized(name), entry]));
  return ok({
    of: (host, repository) => {
      for (const name of namesFor(host, repository)) {
        const entry = byName.get(name);
        if (isJsonObject(entry) && Object.keys(entry).length > 0) return credentialOf(entry, name, path);
      }
      if (Object.hasOwn(helpers, host))
        return invalid(
          path,
          `the credentials of ${host} are in the helper ${quote(String(helpers[host]), 40)}, which Plexus does not run`,
        );
      return ok(undefined);
    },
  });
}

/** The names under which a credential may stand: the repository, each path above it, and the host. */
function namesFor(host: string, repository: string): readonly string[] {
  const parts = repository.split("/");
  const names = [...parts.map((_, index) => [host, ...parts.slice(0, parts.length - index)].join("/")), host];
  // Docker's own name for Docker Hub.
  return host === "docker.io" ? [...names, "index.docker.io"] : names;
}

/** Entries may be URLs, as `https://index.docker.io/v1/`. */
function normalized(name: string): string {
  return name.replace(/^https?:\/\//, "").replace(/\/(?:v1|v2)?\/?$/, "");
}

function credentialOf(entry: Readonly<Record<string, unknown>>, name: string, path: string): Result<RegistryCredential> {
  const { auth, username, password, identitytoken, registrytoken } = entry;
  if (isFilled(registrytoken)) return ok({ kind: "registryToken", token: registrytoken });
  if (isFilled(identitytoken)) return ok({ kind: "identityToken", token: identitytoken });
  if (isFilled(username) && typeof password === "string") return ok({ kind: "password", username, password });
  if (!isFilled(auth)) return invalid(path, `the entry of ${name} has neither auth nor username and password`);
  const decoded = decodedBase64(auth);
  const colon = decoded?.indexOf(":") ?? -1;
  if (decoded === undefined || colon < 1) return invalid(path, `auth of ${name} is not the base64 text of USER:PASSWORD`);
  // Docker itself may append a NUL.
  return ok({ kind: "password", username: decoded.slice(0, colon), password: decoded.slice(colon + 1).replace(/\0+$/, "") });
}

function isFilled(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function decodedBase64(text: string): string | undefined {
  try {
    return new TextDecoder().decode(Uint8Array.from(atob(text), (unit) => unit.charCodeAt(0)));
  } catch {
    return undefined;
  }
}

function invalid(path: string, why: string): Result<never> {
  return failed(fault("REGISTRY_CREDENTIALS_INVALID", `${path}: ${why}`));
}
