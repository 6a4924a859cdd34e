// Credentials in the form of Docker's config.json.

import { describe, expect, test } from "vitest";
import { readRegistryCredentials } from "./registry-credentials.ts";

function of(file: unknown, host: string, repository = "team/app"): unknown {
  const credentials = readRegistryCredentials(typeof file === "string" ? file : JSON.stringify(file), "config.json");
  if (!credentials.ok) return credentials.fault.msg;
  const found = credentials.value.of(host, repository);
  return found.ok ? found.value : found.fault.msg;
}

const password = { kind: "password", username: "me", password: "a:b" };
const auth = btoa("me:a:b");

describe("the credentials of a registry", () => {
  test.each<[string, unknown, string, unknown]>([
    ["by its host", { auths: { "r.test": { auth } } }, "r.test", password],
    ["by a URL", { auths: { "https://r.test/v1/": { auth } } }, "r.test", password],
    ["of Docker Hub under Docker's name", { auths: { "https://index.docker.io/v1/": { auth } } }, "docker.io", password],
    ["of a user and a password", { auths: { "r.test": { username: "me", password: "a:b" } } }, "r.test", password],
    ["of another registry", { auths: { "r.test": { auth } } }, "other.test", undefined],
    ["of a registry whose name begins alike", { auths: { "r.test": { auth } } }, "r.test.evil.test", undefined],
    ["of another port", { auths: { "r.test:5000": { auth } } }, "r.test", undefined],
    [
      "by the repository before the host",
      { auths: { "r.test": { auth: btoa("x:y") }, "r.test/team": { auth } } },
      "r.test",
      password,
    ],
    [
      "as an identity token",
      { auths: { "r.test": { auth, identitytoken: "t" } } },
      "r.test",
      { kind: "identityToken", token: "t" },
    ],
    ["as a registry token", { auths: { "r.test": { registrytoken: "t" } } }, "r.test", { kind: "registryToken", token: "t" }],
    ["that are empty, as docker leaves them for a helper", { auths: { "r.test": {} } }, "r.test", undefined],
    ["without auths", {}, "r.test", undefined],
  ])("%s", (_, file, host, expected) => {
    expect(of(file, host)).toEqual(expected);
  });

  test.each<[unknown, string]>([
    ["no", "config.json: the file is not JSON"],
    [[], '"auths"'],
    [{ auths: [] }, '"auths"'],
    [{ auths: { "r.test": { auth: "***" } } }, "base64"],
    [{ auths: { "r.test": { auth: btoa("secret-without-colon") } } }, "base64 text of USER:PASSWORD"],
    [{ auths: { "r.test": { email: "x" } } }, "neither auth nor username"],
    [{ credHelpers: { "r.test": "ecr-login" } }, 'the helper "ecr-login", which Plexus does not run'],
  ])("%j is refused without showing a secret: %s", (file, why) => {
    expect(of(file, "r.test")).toContain(why);
    expect(of(file, "r.test")).not.toContain("secret");
  });
});
