import { describe, expect, test } from "vitest";
import { parseDocument } from "../json/document.ts";
import { type LayeredConfiguration, readLayer, withFile } from "./layers.ts";
import type { Result } from "../fault/result.ts";

function layered(stdin: string, file?: string): Result<LayeredConfiguration> {
  const parsed = parseDocument(stdin, { what: "stdin" });
  if (!parsed.ok) return parsed;
  const own = readLayer(parsed.value);
  return own.ok && file !== undefined ? withFile(own.value.document, { path: "/etc/plexus.json", text: file }) : own;
}

function text(result: Result<LayeredConfiguration>): string {
  return result.ok ? result.value.document.text : result.fault.msg;
}

describe("the configuration file", () => {
  test("fills in what the CNI configuration doesn't say, byte for byte; where both say something, the latter wins", () => {
    const stdin = '{"name":"n","stepTimeoutMs":5,"wasm":{}}';
    const file = '{ "stepTimeoutMs": 9, "wasm": {"prefer":true}, "delegates": [ {"type":"x","big":12345678901234567890} ] }';
    expect(text(layered(stdin, file))).toBe(
      '{"name":"n","stepTimeoutMs":5,"wasm":{},"delegates":[ {"type":"x","big":12345678901234567890} ]}',
    );
  });

  test("doesn't name another default network than the CNI configuration's", () => {
    expect(text(layered('{"name":"n","delegates":[{}]}', '{"clusterNetwork":"x"}'))).toBe('{"name":"n","delegates":[{}]}');
    expect(text(layered('{"name":"n","clusterNetwork":"x"}', '{"delegates":[{}]}'))).toBe('{"name":"n","clusterNetwork":"x"}');
  });

  test.each(["cniDir", "runDir", "binDir", "configFile", "runtimeConfig", "prevResult", "CNIDIR"])("can't have %s", (key) => {
    const known = key === "CNIDIR" ? "cniDir" : key;
    expect(text(layered("{}", `{"${key}":"/x"}`))).toContain(`/etc/plexus.json: ${known}: only the CNI configuration`);
  });

  test("tells that capabilities in it are read by nobody", () => {
    const result = layered('{"name":"n"}', '{"capabilities":{"portMappings":true}}');
    expect(text(result)).toBe('{"name":"n"}');
    expect(result.ok && result.value.notices.join()).toContain("capabilities is read by the runtime");
  });

  test("that is no JSON is named", () => {
    expect(text(layered("{}", "{,}"))).toContain("configuration file /etc/plexus.json");
  });
});

describe("keys in another case, which Go's decoder takes and so Multus does,", () => {
  test("are read as the key, with a notice, values byte for byte", () => {
    const result = layered('{"Name":"n","readinessIndicatorFile":"/ready","LOGLEVEL": "debug"}');
    expect(text(result)).toBe('{"name":"n","readinessindicatorfile":"/ready","logLevel":"debug"}');
    expect(result.ok && result.value.notices).toContain("configuration: LOGLEVEL is read as logLevel");
  });

  test("stay as they are beside the key's own spelling, so that they are refused as unknown", () => {
    const stdin = '{"confdir":"/a","confDir":"/b"}';
    expect(text(layered(stdin))).toBe(stdin);
  });

  test("a configuration in the keys' own spelling stays the same document", () => {
    const stdin = '{ "name" : "n" , "cniVersion":"1.0.0" }';
    expect(text(layered(stdin))).toBe(stdin);
  });
});
