import { assert, constantFrom, dictionary, integer, property, string } from "fast-check";
import { describe, expect, test } from "vitest";
import { fault } from "../fault/fault.ts";
import { redactorOf, secretValues, withoutStepSecrets } from "./secret-values.ts";
import { cpuMs } from "../../test/lab/cpu-ms.ts";

const secret = 'tr0ub4dor "&" <3>/+';

function redacting(configuration: unknown, args = ""): ReturnType<typeof redactorOf> {
  return redactorOf({ stdin: JSON.stringify(configuration), env: [["CNI_ARGS", args]] });
}

function values(configuration: unknown, args = ""): readonly string[] {
  return [...secretValues({ stdin: JSON.stringify(configuration), env: [["CNI_ARGS", args]] })];
}

describe("the secrets of a configuration", () => {
  test.each<[string, unknown]>([
    ["under a secret key", { pwd: secret }],
    ["at any depth", { ipam: { backend: [{ auth: secret }] } }],
    ["in a list", { apiKeys: [secret] }],
    ["in an object below a secret key", { credentials: { type: "database", user: secret } }],
    ["as an environment variable", { env: [{ name: "DB_PASSWORD", value: secret }] }],
    ["in JSON within a string", { config: JSON.stringify({ token: secret }) }],
  ])("are found %s", (_, configuration) => expect(values(configuration)).toEqual([secret]));

  test("a private key is found by its form, and each of its lines is removed", () => {
    const line = "MIIEvAIBADANBgkqhkiG";
    const redact = redacting({ identity: `# node 7\n-----BEGIN EC PRIVATE KEY-----\n${line}\n-----END EC PRIVATE KEY-----\n` });
    expect(redact(`read ${line}`)).toBe("read [redacted]");
  });

  test("are found within texts and in CNI_ARGS", () => {
    expect(values({ url: "https://svc:hunter2@ipam.example/" })).toEqual(["hunter2"]);
    expect(values({ connection: "host=db password='hunter2' sslmode=on" })).toEqual(["hunter2"]);
    expect(values({ args: ["--token=hunter2"] })).toEqual(["hunter2"]);
    expect(values({}, "K8S_POD_NAME=web;PASSWORD=hunter2=x")).toEqual(["hunter2=x"]);
    expect(values({ pin: { key: 12_345_678 }, auth: 1234 })).toEqual(["12345678"]);
  });

  test("are not short values, ordinary words, harmless keys, or the previous plugin's result", () => {
    expect(values({ auth: "none", token: "abc", key: "  ", keys: ["net/core/x"], tokenFile: "/run/token" })).toEqual([]);
    expect(values({ auth: { type: "kerberos" }, prevResult: { token: "hunter2" } })).toEqual([]);
  });

  test("of a configuration that is nested without end are not searched for without end", () => {
    expect(values({ config: `${"[".repeat(100_000)}${"]".repeat(100_000)}` })).toEqual([]);
  });
});

describe("the output of a step", () => {
  test.each<[string, (text: string) => string]>([
    ["as it is", (text) => text],
    ["in JSON", (text) => JSON.stringify({ detail: text })],
    ["in JSON in JSON", (text) => JSON.stringify(JSON.stringify({ detail: text }))],
    ["in JSON of Go", (text) => JSON.stringify(text).replaceAll(/[<>&]/g, (each) => `\\u00${each.charCodeAt(0).toString(16)}`)],
    ["in a URL", (text) => `GET /?x=${encodeURIComponent(text)}`],
    ["in a form", (text) => new URLSearchParams({ x: text }).toString()],
    ["in base64", (text) => Buffer.from(text).toString("base64")],
    ["in base64url within other data", (text) => Buffer.from(`svc:${text}@`).toString("base64url")],
    ["in base64 after one byte", (text) => Buffer.from(`:${text}x`).toString("base64")],
    ["in hexadecimal", (text) => Buffer.from(text).toString("hex").toUpperCase()],
    ["in other case", (text) => text.toUpperCase()],
  ])("loses a secret that is written %s", (_, write) => {
    for (const value of [secret, "hunter2-plain", "pass\tword\u0007é", "İİstanbul-1453"]) {
      const written = write(value);
      const left = redacting({ pwd: value })(`dial failed: ${written}, giving up`);
      expect(left).toMatch(/^dial failed: .*\[redacted\].*, giving up$/s);
      // The text around the secret remains, and of the secret at most the characters that other data have in common with it.
      expect(left.length).toBeLessThan("dial failed: [redacted], giving up".length + 30);
      expect(left.toLowerCase()).not.toContain(value.slice(0, 8).toLowerCase());
    }
  });

  test("loses each line of a private key", () => {
    const pem = `-----BEGIN KEY-----\n${"MIIEvAIBADANBgkq\n".repeat(3)}-----END KEY-----\n`;
    const redact = redacting({ tls: { keyData: pem } });
    for (const text of [pem, pem.replaceAll("\n", " "), JSON.stringify(pem)])
      expect(redact(text)).not.toContain("MIIEvAIBADANBgkq");
  });

  test("loses a long secret as a whole, and as far as the text has it", () => {
    const long = "0123456789abcdef".repeat(500);
    const redact = redacting({ pwd: long, token: `${long}-other` });
    expect(redact(`dial ${long}: refused`)).toBe("dial [redacted]: refused");
    expect(redact(`dial ${long.slice(0, 5000)}: refused`)).toBe("dial [redacted]: refused");
    expect(redact(`dial ${long.toUpperCase()}-OTHER: refused`)).toBe("dial [redacted]: refused");
  });

  test("loses the beginning of a secret that was cut off", () => {
    const redact = redacting({ pwd: "hunter2-secret" });
    expect(redact('netplugin failed: "dial with hunter2-s"… (200 more): exit status 1')).toBe(
      'netplugin failed: "dial with [redacted]"… (200 more): exit status 1',
    );
    expect(redact("dial with hunter2", true)).toBe("dial with [redacted]");
    expect(redact("dial with hunter2")).toBe("dial with hunter2");
  });

  test("keeps everything else, also right beside a secret", () => {
    const redact = redacting({ pwd: "hunter2", mtu: 1400, name: "pods" });
    expect(redact("network pods: mtu 1400: refused (hunter2)")).toBe("network pods: mtu 1400: refused ([redacted])");
    expect(redact("")).toBe("");
  });

  test("is hidden if the configuration has too many secrets to search for", () => {
    const redact = redacting({ tokens: Array.from({ length: 65 }, (_, number) => `secret-${number}`) });
    const hidden = "[redacted] (the configuration has too many secret values to search for)";
    expect(redact("refused secret-64")).toBe(hidden);
    expect(redacting({ token: "x".repeat(100_000) })("refused")).toBe(hidden);
  });

  test("of a configuration that is no JSON loses values that look like secrets", () => {
    const redact = redactorOf({ stdin: "{", env: [] });
    expect(redact('{"pwd":"hunter2"}')).toBe('{"pwd":"[redacted]"}');
  });

  test("a fault loses secrets in message and details, and keeps kind and code", () => {
    const source = { stdin: '{"pwd":"hunter2"}', env: [] };
    const reason = fault("PLUGIN_FAILED", "no hunter2", { code: 107, details: "stderr: hunter2" });
    expect(withoutStepSecrets(reason, source)).toMatchObject({
      kind: "PLUGIN_FAILED",
      code: 107,
      msg: "no [redacted]",
      details: expect.stringMatching(/^stderr: \[redacted\]\n/),
    });
  });

  test("never has a secret of four characters or more, in any text and under any secret key", () => {
    const key = constantFrom(
      "pwd",
      "pass",
      "auth",
      "token",
      "key",
      "cookie",
      "dsn",
      "client_secret",
      "x-credential",
      "bgpPassword",
    );
    const texts = { minLength: 4, maxLength: 40, unit: "binary" as const };
    assert(
      property(key, string(texts), string(), string(), dictionary(string(), string()), (name, value, before, after, others) => {
        const trimmed = value.trim();
        const ordinary = values({ [name]: value }).length === 0;
        if (ordinary || "[redacted]".includes(trimmed.toLowerCase())) return;
        const left = redacting({ ...others, ipam: { [name]: value } })(`${before}${value}${after} ${JSON.stringify(value)}`);
        // The text around the secret may contain the secret's characters by chance, beside the replacement.
        const joined = `${before}[redacted]${after}`.includes(trimmed);
        expect(!joined && left.includes(trimmed)).toBe(false);
      }),
    );
  });

  test("takes little time, however many secrets are in the configuration", () => {
    const durations: number[] = [];
    assert(
      property(integer({ min: 1, max: 64 }), (count) => {
        const redact = redacting({ tokens: Array.from({ length: count }, (_, number) => `${"a".repeat(1000)}-${number}`) });
        const started = cpuMs();
        redact("a".repeat(64 * 1024));
        redact("password=".repeat(7 * 1024));
        redact('\\"'.repeat(32 * 1024));
        redact("aaaaaaa…".repeat(8 * 1024));
        durations.push(cpuMs() - started);
      }),
      { numRuns: 5 },
    );
    expect(Math.max(...durations)).toBeLessThan(1500);
  });
});
