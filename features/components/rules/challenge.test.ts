// A registry's demand for credentials.

import { describe, expect, test } from "vitest";
import { readChallenge } from "./challenge.ts";

describe("WWW-Authenticate", () => {
  test.each<[string, unknown]>([
    [
      'Bearer realm="https://auth.test/token",service="registry",scope="repository:a/b:pull,push"',
      { scheme: "bearer", realm: "https://auth.test/token", service: "registry", scope: "repository:a/b:pull,push" },
    ],
    [
      "bearer realm=https://auth.test/token",
      { scheme: "bearer", realm: "https://auth.test/token", service: undefined, scope: undefined },
    ],
    ['Bearer realm="https://a\\"b/"', { scheme: "bearer", realm: 'https://a"b/', service: undefined, scope: undefined }],
    [
      'Basic realm="x", Bearer realm="https://a.test/"',
      { scheme: "bearer", realm: "https://a.test/", service: undefined, scope: undefined },
    ],
    ['Basic realm="x"', { scheme: "basic" }],
    ["Basic", { scheme: "basic" }],
    ['Bearer service="x"', undefined],
    ['Negotiate realm="basic"', undefined],
    ["", undefined],
    [`Bearer realm="${"a".repeat(5000)}"`, undefined],
  ])("%s", (header, challenge) => {
    expect(readChallenge(header)).toEqual(challenge);
  });
});
