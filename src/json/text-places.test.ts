import { expect, test } from "vitest";
import { nearestOffset, offsetOfMistake, offsetOfPath, positionAt } from "./position.ts";
import { placesOf, TextPlaces } from "./text-places.ts";

const text =
  '{\n "name": "a", "name": "b",\n "plugins": [{"type": "x", "ipam": {"ranges": [[{"subnet": "10.0.0.0/8"}]]}}, 7, "s"]\n}';

test.each([
  [[]],
  [["name"]],
  [["plugins"]],
  [["plugins", 0, "type"]],
  [["plugins", 0, "ipam", "ranges", 0, 0, "subnet"]],
  [["plugins", 0, "ipam", "ranges", 0, 1, "subnet"]],
  [["plugins", 1, "type"]],
  [["plugins", 2, 0]],
  [["plugins", "0"]],
  [["absent", "deeper"]],
])("the places of %j are those of a look at the whole text", (path) => {
  const places = new TextPlaces(text);
  expect([places.offsetOf(path), places.nearest(path)]).toEqual([offsetOfPath(text, path), nearestOffset(text, path)]);
});

test("each offset has the line and the column of a look at the whole text", () => {
  const places = new TextPlaces(text);
  const offsets = Array.from({ length: text.length + 1 }, (_, offset) => offset);
  expect(offsets.map((offset) => places.position(offset))).toEqual(offsets.map((offset) => positionAt(text, offset)));
});

test("the mistake is the repeated key, or the first character that is not JSON", () => {
  expect(new TextPlaces(text).mistake()).toBe(offsetOfMistake(text));
  expect(new TextPlaces('{"a": }').mistake()).toBe(6);
  expect(new TextPlaces("{}").mistake()).toBeUndefined();
});

test("the length of an array is known, and another value has none", () => {
  expect([["plugins"], ["name"], ["absent"]].map((path) => placesOf(text).lengthOf(path))).toEqual([3, 0, 0]);
  expect(placesOf(text)).toBe(placesOf(text));
});
