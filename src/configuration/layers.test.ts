import { describe, expect, test } from "vitest";
import { parseDocument } from "../json/document.ts";
import { type LayeredConfiguration, readLayer, withFile } from "./layers.ts";
import type { Result } from "../fault/result.ts";

function layered(stdin: string, file?: string): Result<LayeredConfiguration> {
  const parsed = parseDocument(stdin, { what: "stdin" });
  if (!parsed.ok) return parsed;
  const layer = readLayer(parsed.value);
  return layer.ok && file !== undefined ? withFile(layer.value.document, { path: "/etc/plexus.json", text: file }) : layer;
}

function text(result: Result<LayeredConfiguration>): string {
  return result.ok ? result.value.document.text : result.fault.msg;
}

describe("the configuration file", () => {
  test("supplies the keys that the CNI configuration lacks, byte for byte; a key of both has the CNI configuration's value", () => {
    const stdin = '{"name":"n","stepTimeoutMs":5,"wasm":{}}';
    const file = '{ "stepTimeoutMs": 9, "wasm": {"prefer":true}, "delegates": [ {"type":"x","big":12345678901234567890} ] }';
    expect(text(layered(stdin, file))).toBe(
      '{"name":"n","stepTimeoutMs":5,"wasm":{},"delegates":[ {"type":"x","big":12345678901234567890} ]}',
    );
  });

  test("does not override the CNI configuration's default network", () => {
    expect(text(layered('{"name":"n","delegates":[{}]}', '{"clusterNetwork":"x"}'))).toBe('{"name":"n","delegates":[{}]}');
    expect(text(layered('{"name":"n","clusterNetwork":"x"}', '{"delegates":[{}]}'))).toBe('{"name":"n","clusterNetwork":"x"}');
  });

  test.each(["cniDir", "runDir", "binDir", "configFile", "runtimeConfig", "prevResult", "CNIDIR"])("can't have %s", (key) => {
    const known = key === "CNIDIR" ? "cniDir" : key;
    expect(text(layered("{}", `{"${key}":"/x"}`))).toContain(`/etc/plexus.json: ${known}: only the CNI configuration`);
  });

  test("gets a notice that capabilities in it have no effect", () => {
    const result = layered('{"name":"n"}', '{"capabilities":{"portMappings":true}}');
    expect(text(result)).toBe('{"name":"n"}');
    expect(result.ok && result.value.notices.join()).toContain("capabilities is read by the runtime");
  });

  test("that is not JSON is named", () => {
    expect(text(layered("{}", "{,}"))).toContain("configuration file /etc/plexus.json");
  });
});

describe("keys in another case, which Go's decoder and so Multus accept,", () => {
  test("are read as the known key, with a notice, and unchanged values", () => {
    const result = layered('{"Name":"n","readinessIndicatorFile":"/ready","LOGLEVEL": "debug"}');
    expect(text(result)).toBe('{"name":"n","readinessindicatorfile":"/ready","logLevel":"debug"}');
    expect(result.ok && result.value.notices).toContain("configuration: LOGLEVEL is read as logLevel");
  });

  test("are refused as unknown beside the canonical key", () => {
    const stdin = '{"confdir":"/a","confDir":"/b"}';
    expect(text(layered(stdin))).toBe(stdin);
  });

  test("a configuration with canonical keys stays the same document", () => {
    const stdin = '{ "name" : "n" , "cniVersion":"1.0.0" }';
    expect(text(layered(stdin))).toBe(stdin);
  });
});
