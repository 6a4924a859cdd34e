// The forms of a command's output, with texts of state files, objects of the API and plugins in it.

import { describe, expect, test } from "vitest";
import { printed } from "./printed.ts";

const hostile = "shop/web\u001B]0;title\u0007\u001B[2J\u009B31m\u202E\r\u0008";
const line = { args: [], flags: new Set<string>(), values: new Map<string, readonly string[]>() };
const shown = (output: "table" | "wide" | "json" | "yaml" | "name", colour = false): Promise<string> =>
  printed(
    { value: { owner: hostile }, text: () => `ok  conflicts:\n- ${hostile}\n`, names: () => [hostile] },
    { ...line, output, colour, credentials: async () => ({ wrong: "" }) },
  );

describe("the output of a command", () => {
  test.each(["table", "wide", "json", "yaml", "name"] as const)(
    "-o %s has no character that controls a terminal",
    async (output) => {
      // oxlint-disable-next-line no-control-regex
      expect(await shown(output)).not.toMatch(/[\u0000-\u0009\u000B-\u001F\u007F-\u009F\u202A-\u202E]/);
    },
  );

  test("lines of the command stay, and its own marks get their colours", async () => {
    expect(await shown("table")).toBe("ok  conflicts:\n- shop/web\n");
    expect(await shown("table", true)).toBe("\u001B[32mok\u001B[0m  conflicts:\n- shop/web\n");
  });

  test("-o json and -o yaml still have the text", async () => {
    for (const output of ["json", "yaml"] as const) expect(JSON.parse(await shown(output))).toEqual({ owner: hostile });
  });
});
