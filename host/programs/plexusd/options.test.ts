import { expect, test } from "vitest";
import { readOptions } from "./options.ts";

function read(...args: string[]) {
  const options = readOptions(args);
  if (options === "help" || "wrong" in options) throw new Error(JSON.stringify(options));
  return options;
}

test("the status socket is in the socket's directory, unless --status-socket names another path", () => {
  expect(read().statusSocket).toBe("/run/plexus/status.sock");
  expect(read("--socket", "/x/y.sock").statusSocket).toBe("/x/status.sock");
  expect(read("--socket", "/x/y.sock", "--status-socket", "/z.sock").statusSocket).toBe("/z.sock");
});

test.each([
  ["9464", { host: "127.0.0.1", port: 9464 }],
  ["0", { host: "127.0.0.1", port: 0 }],
  ["0.0.0.0:9464", { host: "0.0.0.0", port: 9464 }],
  ["node-1.example:80", { host: "node-1.example", port: 80 }],
  ["[::1]:9464", { host: "::1", port: 9464 }],
])("listens for scrapers on %s", (text, address) => {
  expect(read("--metrics-listen", text).metricsListen).toEqual(address);
});

test.each(["", ":9464", "host", "65536", "1.2.3.4:", "::1:9464", "a b:80", "[::1]", "-1"])(
  "refuses to listen on '%s'",
  (text) => {
    expect(readOptions([`--metrics-listen=${text}`])).toMatchObject({ wrong: expect.stringContaining("--metrics-listen") });
  },
);

test.each([
  ["http://127.0.0.1:4318", "http://127.0.0.1:4318/v1/traces"],
  ["http://collector:4318/", "http://collector:4318/v1/traces"],
  ["https://otlp.example/tenant-7", "https://otlp.example/tenant-7/v1/traces"],
  ["https://otlp.example/v1/traces", "https://otlp.example/v1/traces"],
])("sends spans to the traces of %s", (text, url) => {
  expect(read("--otlp", text).otlp?.href).toBe(url);
});

test.each(["socket", "status-socket", "state-dir", "kubeconfig"])("refuses a relative path in --%s", (name) => {
  expect(readOptions([`--${name}`, "here/below"])).toEqual({
    wrong: expect.stringContaining(`--${name} here/below: must be an absolute path`),
  });
});
