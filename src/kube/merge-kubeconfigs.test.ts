import { expect, test } from "vitest";
import { mergeKubeconfigs } from "./merge-kubeconfigs.ts";
import { readKubeconfig } from "./kubeconfig.ts";

const first = {
  clusters: [{ name: "one", cluster: { server: "https://a.example:6443", "certificate-authority": "ca.crt" } }],
  users: [{ name: "u", user: { "client-certificate": "u.crt", "client-key": "/keys/u.key" } }],
};
const second = {
  "current-context": "c",
  contexts: [{ name: "c", context: { cluster: "one", user: "u" } }],
  clusters: [{ name: "one", cluster: { server: "https://b.example:6443" } }],
  users: [
    { name: "u", user: { token: "other" } },
    { name: "w", user: { exec: { command: "./login" } } },
    { name: "p", user: { exec: { command: "aws" }, tokenFile: "" } },
  ],
};

test("the first file that has a name wins, with paths relative to its own directory", () => {
  const merged = mergeKubeconfigs([
    { directory: "/a", value: first },
    { directory: "/b", value: second },
  ]);
  expect(readKubeconfig(merged, "/a/k:/b/k")).toMatchObject({
    ok: true,
    value: {
      server: "https://a.example:6443",
      authority: { file: "/a/ca.crt" },
      certificate: { certificate: { file: "/a/u.crt" }, key: { file: "/keys/u.key" } },
      token: undefined,
    },
  });
  const users = merged["users"] as readonly { readonly name: string; readonly user: object }[];
  expect(users.find(({ name }) => name === "w")?.user).toEqual({ exec: { command: "/b/./login" } });
  expect(users.find(({ name }) => name === "p")?.user).toEqual({ exec: { command: "aws" }, tokenFile: "" });
});

const chosen = (...contexts: readonly unknown[]): unknown =>
  mergeKubeconfigs(contexts.map((context) => ({ directory: "/", value: { "current-context": context } })))["current-context"];

test("the first file with a current context chooses it, and an empty one does not count", () => {
  expect(chosen(undefined, "", "b", "c")).toBe("b");
  expect(chosen("a", "b")).toBe("a");
  expect(chosen()).toBeUndefined();
});

test.each([null, 7, "text", [], { users: 1, clusters: [null, 3, { name: 5 }], contexts: [{ name: "c", context: "x" }] }])(
  "a file with the content %j breaks nothing, and the others count",
  (value) => {
    const merged = mergeKubeconfigs([
      { directory: "/a", value },
      { directory: "/a", value: first },
      { directory: "/b", value: second },
    ]);
    const broken = typeof value === "object" && value !== null && !Array.isArray(value);
    expect(readKubeconfig(merged, "k")).toMatchObject(
      broken ? { ok: false, fault: { kind: "KUBECONFIG_INVALID" } } : { ok: true, value: { server: "https://a.example:6443" } },
    );
  },
);
