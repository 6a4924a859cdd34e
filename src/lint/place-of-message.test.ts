import { expect, test } from "vitest";
import { offsetOfPath } from "../json/position.ts";
import { mistakesIn, offsetOfMessage } from "./place-of-message.ts";

const text = '{"name":"c","plugins":[{"type":"plexus","wasm":{"limits":{"timeMs":"x"}},"delegates":[{"plugins":[{"ipam":5}]}]}]}';

test.each([
  ["wasm.limits.timeMs: must be a number", ["plugins", 0, "wasm", "limits", "timeMs"]],
  ["delegates[0]: plugins[0]: ipam must be an object", ["plugins", 0, "delegates", 0, "plugins", 0, "ipam"]],
  ["definition shop/x: spec.config: plugins[0]: wasm.limits", ["plugins", 0, "wasm", "limits"]],
  ["wasm.limits.memoryMiB: no such key", ["plugins", 0, "wasm", "limits"]],
  ["nothing known", []],
])("%s", (message, path) => {
  expect(offsetOfMessage(text, message)).toBe(offsetOfPath(text, path));
});

test("a text that is not JSON has its place at the mistake", () => {
  expect(offsetOfMessage('{"a" 5}', "x is not JSON")).toBe(5);
  expect(offsetOfMessage("", "x is empty")).toBe(0);
});

test("a message with several mistakes is divided", () => {
  expect(mistakesIn("a.b: wrong; c: wrong, too")).toEqual(["a.b: wrong", "c: wrong, too"]);
  expect(mistakesIn("a.b: wrong; and so on")).toEqual(["a.b: wrong; and so on"]);
});
