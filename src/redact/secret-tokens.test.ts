import { describe, expect, test } from "vitest";
import { SecretTokens } from "./secret-tokens.ts";

function tokensOf(configuration: object, args = ""): SecretTokens {
  const tokens = new SecretTokens();
  tokens.addFrom({ stdin: JSON.stringify(configuration), env: [["CNI_ARGS", args]] });
  return tokens;
}

describe("SecretTokens", () => {
  test("replace equal secrets by equal tokens, in every text", () => {
    const tokens = tokensOf({ type: "vpn", psk: "hunter2", other: { apiKey: "s3cr3t-key" } }, "TOKEN=argument-token");
    expect(tokens.text('{"psk":"hunter2","note":"uses hunter2"}')).toBe('{"psk":"[redacted-1]","note":"uses [redacted-1]"}');
    expect(tokens.text("key s3cr3t-key of argument-token")).toBe("key [redacted-2] of [redacted-3]");
    expect(tokens.value({ args: [{ name: "hunter2" }] })).toEqual({ args: [{ name: "[redacted-1]" }] });
    expect(tokens.count).toBe(3);
  });

  test("find encoded forms of a secret", () => {
    const tokens = tokensOf({ psk: 'hun"ter2-long' });
    const encoded = Buffer.from('hun"ter2-long').toString("base64");
    expect(tokens.text(JSON.stringify({ a: encoded, b: JSON.stringify('hun"ter2-long') }))).toBe(
      '{"a":"[redacted-1]==","b":"\\"[redacted-1]\\""}',
    );
  });

  test("keep JSON without secrets byte for byte", () => {
    const text = '{ "name" : "pods",\n "n": 12345678901234567890, "config": "{ \\"a\\" : 1 }" }';
    expect(tokensOf({ psk: "hunter2" }).text(text)).toBe(text);
  });

  test("find the first value of a key that occurs twice", () => {
    expect(tokensOf({}).text('{"password":"first","password":5}')).not.toContain("first");
    expect(tokensOf({}).text('{"a":"{\\"password\\":\\"first\\",\\"password\\":5}"}')).not.toContain("first");
  });

  test("replace numbers, objects and texts with the form of a secret", () => {
    const tokens = tokensOf({ password: 123_456_789 });
    expect(tokens.text('{"password":123456789,"id":123456789}')).toBe('{"password":"[redacted-1]","id":"[redacted-1]"}');
    expect(tokens.text('{"credentials":{"a":"b"}}')).toBe('{"credentials":"[redacted-2]"}');
    expect(tokens.text("https://user:pa55@host/ Bearer abcdefgh")).toBe("https://[redacted-4]@host/ Bearer [redacted-3]");
  });

  test("are stable: a second replacement changes nothing", () => {
    const tokens = tokensOf({ psk: "hunter2", url: "https://user:pa55word@host" });
    const text = 'psk=hunter2 {"psk":"hunter2"} https://user:pa55word@host';
    const once = tokens.text(text);
    expect(once).not.toMatch(/hunter2|pa55word/);
    expect(tokens.text(once)).toBe(once);
  });

  test("hide every text if there are too many secrets to search for", () => {
    const tokens = tokensOf({ passwords: Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`p${i}`, `secret-${i}`])) });
    expect(tokens.isTooMany).toBe(true);
    expect(tokens.text("a secret-7")).toContain("[redacted]");
    expect(tokens.text("a secret-7")).not.toContain("secret-7");
  });
});
