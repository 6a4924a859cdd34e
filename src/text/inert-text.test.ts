import { describe, expect, it } from "vitest";
import { inertLine, inertText } from "./inert-text.ts";
import { cpuMs } from "../../test/lab/cpu-ms.ts";

describe("a guest's text", () => {
  const cases: readonly (readonly [string, string, string])[] = [
    ["colours", "\u001B[1;31mred\u001B[0m", "red"],
    ["a window title", "a\u001B]0;owned\u0007b", "ab"],
    ["a title ended by ST", "a\u001B]8;;http://x\u001B\\b", "ab"],
    ["an unfinished sequence", "a\u001B[12;", "a"],
    ["an unfinished title", "a\u001B]0;never ended", "a"],
    ["C1 controls", "a\u009B31mb\u0085c", "abc"],
    ["a lone escape", "a\u001B", "a"],
    ["a device control string", "a\u001BPq#0\u001B\\b", "ab"],
    ["carriage return and backspace", "good\r\u0008evil", "goodevil"],
    ["text turned around", "\u202Egpj.exe\u2066", "gpj.exe"],
    ["a lone surrogate", "a\uD800b", "a\uFFFDb"],
    ["plain text in any script", "Grüße 你好 𝄞 e\u0301", "Grüße 你好 𝄞 e\u0301"],
  ];
  it.each(cases)("E-15: loses %s", (_, from, to) => {
    expect(inertLine(from, 1000)).toBe(to);
  });

  it("becomes one line if requested, and is cut if it is long", () => {
    expect(inertLine("a\n\tb\u2028c", 100)).toBe("a b c");
    expect(inertText("a\n\tb", 100)).toBe("a\n\tb");
    expect(inertLine("x".repeat(20), 10)).toBe(`${"x".repeat(10)}…`);
  });

  it("takes time in proportion to its length", () => {
    const started = cpuMs();
    inertText("\u001B]".repeat(200_000), 1_000_000);
    expect(cpuMs() - started).toBeLessThan(1000);
  });
});
